"""What numba has no words for: reading text by words of 64 bits and by vectors, counting zero bits, wide products.

Parsers hand addresses to their helpers, not arrays: an array given to a function that is not inlined costs two locked
instructions for its reference count, and each index a test for being negative; together more than parsing a number.
The kernel that takes the addresses has the arrays as arguments, which keeps them alive. Nothing is checked here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

_BYTE, _WORD, _WIDE = ir.IntType(8), ir.IntType(64), ir.IntType(128)


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


def _marks64(typingctx: Any, text: Any, at: Any, highest: Any, a: Any, b: Any) -> Any:
    """Bit k = 0..63 is set where byte text + at + k is at most `highest`, or a or b."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = ir.VectorType(_BYTE, 64)
        bytes_ = builder.load(_pointer(builder, args[0], args[1], vector), align=1)

        def all64(x: Any) -> Any:
            one = builder.insert_element(ir.Constant(vector, ir.Undefined), x, ir.Constant(ir.IntType(32), 0))
            zeros = ir.Constant(ir.VectorType(ir.IntType(32), 64), [0] * 64)
            return builder.shuffle_vector(one, ir.Constant(vector, ir.Undefined), zeros)

        found = builder.icmp_unsigned("<=", bytes_, all64(args[2]))
        for sign in args[3:]:
            found = builder.or_(found, builder.icmp_unsigned("==", bytes_, all64(sign)))
        return builder.bitcast(found, _WORD)

    return types.uint64(types.int64, types.int64, types.uint8, types.uint8, types.uint8), codegen


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
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.uint64), codegen


address: Callable[..., Any] = intrinsic(_address)
load64: Callable[..., Any] = intrinsic(_load64)
marks64: Callable[..., Any] = intrinsic(_marks64)
trailing_zeros: Callable[..., Any] = intrinsic(_trailing_zeros)
leading_zeros: Callable[..., Any] = intrinsic(_leading_zeros)
ones: Callable[..., Any] = intrinsic(_ones)
high_product: Callable[..., Any] = intrinsic(_high_product)
as_float: Callable[..., Any] = intrinsic(_as_float)
get_byte, _ = _element(types.uint8, 1)
get_int32, put_int32 = _element(types.int32, 4)
get_int64, put_int64 = _element(types.int64, 8)
get_word, put_word = _element(types.uint64, 8)
get_float, put_float = _element(types.float64, 8)
