"""What numba has no words for: reading text by words of 64 bits and by vectors, counting zero bits, wide products.

Parsers hand addresses to their helpers, not arrays: an array given to a function that is not inlined costs two locked
instructions for its reference count, and each index a test for being negative; together more than parsing a number.
The kernel that takes the addresses has the arrays as arguments, which keeps them alive. Nothing is checked here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 8
MOST = float(np.finfo(np.float32).max)
_BYTE, _INT, _WORD, _WIDE = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.IntType(128)
_FLOAT, _DOUBLE = ir.FloatType(), ir.DoubleType()


def _pointer(builder: Any, address: Any, at: Any, kind: Any, size: int = 1) -> Any:
    """Pointer to `kind`, `at` times `size` bytes behind the address."""
    place = builder.add(address, builder.mul(at, ir.Constant(_WORD, size)))
    return builder.inttoptr(place, kind.as_pointer())


def _address(typingctx: Any, array: Any) -> Any:
    """Where the data of an array begin."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.ptrtoint(data, _WORD)

    return types.int64(array), codegen


def _element(kind: Any, size: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """(get, put): get(address, i) and put(address, i, x) for arrays of this type. Signed integers come as int64."""
    given = types.int64 if kind == types.int32 else kind

    def get(typingctx: Any, address: Any, i: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            x = builder.load(_pointer(builder, args[0], args[1], context.get_data_type(kind), size))
            return context.cast(builder, x, kind, given)

        return given(types.int64, types.int64), codegen

    def put(typingctx: Any, address: Any, i: Any, x: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            builder.store(args[2], _pointer(builder, args[0], args[1], context.get_data_type(kind), size))
            return context.get_dummy_value()

        return types.void(types.int64, types.int64, kind), codegen

    return intrinsic(get), intrinsic(put)


def _load64(typingctx: Any, text: Any, at: Any) -> Any:
    """The eight bytes from text + at as one word, the first byte lowest."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_pointer(builder, args[0], args[1], _WORD), align=1)

    return types.uint64(types.int64, types.int64), codegen


def _all(builder: Any, x: Any, n: int) -> Any:
    """A vector of n times the same."""
    nothing = ir.Constant(ir.VectorType(x.type, n), ir.Undefined)
    one = builder.insert_element(nothing, x, ir.Constant(_INT, 0))
    return builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(_INT, n), [0] * n))


def _marks64(typingctx: Any, text: Any, at: Any, highest: Any, a: Any, b: Any) -> Any:
    """Bit k = 0..63 is set where byte text + at + k is at most `highest`, or a or b."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = ir.VectorType(_BYTE, 64)
        bytes_ = builder.load(_pointer(builder, args[0], args[1], vector), align=1)
        found = builder.icmp_unsigned("<=", bytes_, _all(builder, args[2], 64))
        for sign in args[3:]:
            found = builder.or_(found, builder.icmp_unsigned("==", bytes_, _all(builder, sign, 64)))
        return builder.bitcast(found, _WORD)

    return types.uint64(types.int64, types.int64, types.uint8, types.uint8, types.uint8), codegen


def _scale_lanes(typingctx: Any, single: Any, at: Any, column: Any, factor: Any) -> Any:
    """Multiply LANES float32 from single[at] on by the factors (float64) of their columns (int32), in place.

    Each product is formed in float64, and rounded; tells whether all products are within float32. Written out, since a
    loop that looks up and writes is not vectorised: what is written might be what is looked up.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        single, at, column, factor = args
        words, floats, doubles, bits = (ir.VectorType(kind, LANES) for kind in (_WORD, _FLOAT, _DOUBLE, ir.IntType(1)))
        columns = builder.load(_pointer(builder, column, at, ir.VectorType(_INT, LANES), 4), align=4)
        offsets = builder.mul(builder.zext(columns, words), ir.Constant(words, [8] * LANES))
        places = builder.inttoptr(
            builder.add(offsets, _all(builder, factor, LANES)), ir.VectorType(_DOUBLE.as_pointer(), LANES)
        )
        kind = ir.FunctionType(doubles, [places.type, _INT, bits, doubles])
        gather: Any = cgutils.get_or_insert_function(  # type: ignore[no-untyped-call]
            builder.module, kind, f"llvm.masked.gather.v{LANES}f64.v{LANES}p0"
        )
        every, nothing = ir.Constant(bits, [1] * LANES), ir.Constant(doubles, ir.Undefined)
        factors = builder.call(gather, [places, ir.Constant(_INT, 8), every, nothing])
        where = _pointer(builder, single, at, floats, 4)
        product = builder.fmul(builder.fpext(builder.load(where, align=4), doubles), factors)
        builder.store(builder.fptrunc(product, floats), where, align=4)
        most, least = (ir.Constant(doubles, [x] * LANES) for x in (MOST, -MOST))
        good = builder.and_(builder.fcmp_ordered("<=", product, most), builder.fcmp_ordered(">=", product, least))
        mask = builder.bitcast(good, ir.IntType(LANES))
        return builder.icmp_unsigned("==", mask, ir.Constant(ir.IntType(LANES), (1 << LANES) - 1))

    return types.boolean(types.int64, types.int64, types.int64, types.int64), codegen


def _trailing_zeros(typingctx: Any, word: Any) -> Any:
    """Zero bits below the lowest one; 64 for 0."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), codegen


def _leading_zeros(typingctx: Any, word: Any) -> Any:
    """Zero bits above the highest one; 64 for 0."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctlz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), codegen


def _ones(typingctx: Any, word: Any) -> Any:
    """Number of bits set."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


def _high_product(typingctx: Any, a: Any, b: Any) -> Any:
    """Upper 64 bits of the product of two words."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        product = builder.mul(builder.zext(args[0], _WIDE), builder.zext(args[1], _WIDE))
        return builder.trunc(builder.lshr(product, ir.Constant(_WIDE, 64)), _WORD)

    return types.uint64(types.uint64, types.uint64), codegen


def _as_float(typingctx: Any, word: Any) -> Any:
    """The float64 with these bits."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], _DOUBLE)

    return types.float64(types.uint64), codegen


address: Callable[..., Any] = intrinsic(_address)
load64: Callable[..., Any] = intrinsic(_load64)
marks64: Callable[..., Any] = intrinsic(_marks64)
trailing_zeros: Callable[..., Any] = intrinsic(_trailing_zeros)
leading_zeros: Callable[..., Any] = intrinsic(_leading_zeros)
ones: Callable[..., Any] = intrinsic(_ones)
scale_lanes: Callable[..., Any] = intrinsic(_scale_lanes)
high_product: Callable[..., Any] = intrinsic(_high_product)
as_float: Callable[..., Any] = intrinsic(_as_float)
get_byte, _ = _element(types.uint8, 1)
get_int32, put_int32 = _element(types.int32, 4)
get_int64, put_int64 = _element(types.int64, 8)
get_word, put_word = _element(types.uint64, 8)
get_float, put_float = _element(types.float64, 8)
get_single, put_single = _element(types.float32, 4)
