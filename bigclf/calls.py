"""A kernel that another kernel calls by its address: the very code that Python calls.

A kernel that calls another one by name would get a copy, compiled into it, whose sums may be in another order. Here the
arguments of each call are a row of a table: of an array its address and its sizes, of a number its bits. Arrays must
outlive the calls.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from bigclf.core import Array
from bigclf.jit import INTERPRETED, intrinsic, typeof, types


class Entry(NamedTuple):
    """A kernel, compiled for arguments of these types."""

    address: int
    like: Any  # such arguments
    reached: int | None  # 0: it returns the row that it reached; None: it goes through


def entry(kernel: Any, args: tuple[Any, ...]) -> Entry:
    """The kernel, ready to be called with arguments like these."""
    if INTERPRETED:
        return Entry(id(kernel), args, None)
    kinds = tuple(map(typeof, args))
    kernel.compile(kinds)
    made = kernel.overloads[kinds]
    address, told = made.library.get_pointer_to_function(made.fndesc.llvm_func_name), made.signature.return_type
    assert told == types.none or isinstance(told, types.Integer)
    return Entry(address, args, None if told == types.none else 0)


def arrays(args: Any) -> list[Array]:
    """All arrays of nested arguments, in their order."""
    if isinstance(args, tuple):
        return [a for part in args for a in arrays(part)]
    return [args] if isinstance(args, np.ndarray) else []


def address(a: Array) -> int:
    """Where the numbers of an array are; 0 where it has none. In C order, and to be written to: TypeError if not."""
    return ctypes.addressof(ctypes.c_char.from_buffer(a.data)) if a.size else 0


def words(args: Any) -> list[int]:
    """A row of the table.

    >>> words((3, (0.5, True)))
    [3, 4602678819172646912, 1]
    """
    if isinstance(args, tuple):
        return [word for part in args for word in words(part)]
    if isinstance(args, np.ndarray):
        return [address(args), *args.shape]
    if isinstance(args, float):
        return list(struct.unpack("Q", struct.pack("d", args)))
    return [int(args) & 0xFFFFFFFFFFFFFFFF]


def _call(typingctx: Any, entry: Any, table: Any, k: Any) -> Any:
    """Call with the arguments in row k of the table (calls, words) of uint64; False where it stopped at a row."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _, like, reached = entry.types
        rows = context.make_array(table)(context, builder, args[1])
        start = builder.mul(args[2], builder.extract_value(rows.shape, 1))
        at = count()

        def number(n: int) -> Any:
            return context.get_constant(types.intp, n)

        def word() -> Any:
            return builder.load(builder.gep(rows.data, [builder.add(start, number(next(at)))]))

        def array(kind: Any, address: Any, shape: list[Any]) -> Any:
            item, sizes = context.get_data_type(kind.dtype), types.Tuple([types.intp] * kind.ndim)  # type: ignore[no-untyped-call]
            made, stride = context.make_array(kind)(context, builder), [number(context.get_abi_sizeof(item))]
            for extent in shape[::-1]:
                stride.insert(0, builder.mul(stride[0], extent))
            made.data, made.itemsize = builder.inttoptr(address, item.as_pointer()), stride[-1]
            made.nitems = builder.sdiv(stride[0], stride[-1])
            made.shape, made.strides = (context.make_tuple(builder, sizes, v) for v in (shape, stride[1:]))
            made.meminfo, made.parent = made.meminfo.type(None), made.parent.type(None)  # nobody counts who refers
            return made._getvalue()

        def value(kind: Any) -> Any:
            if isinstance(kind, types.BaseTuple):
                return context.make_tuple(builder, kind, [value(t) for t in kind.types])  # type: ignore[attr-defined]
            if isinstance(kind, types.Array):
                assert kind.layout == "C"
                return array(kind, word(), [word() for _ in range(kind.ndim)])
            found, real = word(), context.get_value_type(kind)
            if isinstance(kind, types.Float):
                return builder.bitcast(found, real)
            return found if real == found.type else builder.trunc(found, real)

        convention = context.call_conv
        given = [value(kind) for kind in like.types]
        pointer = convention.get_function_type(reached, like.types).as_pointer()
        callee = builder.inttoptr(builder.extract_value(args[0], 0), pointer)
        status, out = convention.call_function(builder, callee, reached, like.types, given)
        with builder.if_then(status.is_error, likely=False):
            convention.return_status_propagate(builder, status)
        if reached == types.none:
            return context.get_constant(types.boolean, True)
        return builder.icmp_signed(">", out, number(0))

    return types.boolean(entry, table, k), codegen


def _again(like: Any, row: Iterator[Any]) -> Any:
    """What stands in a row of the table, of the types of `like`."""
    if isinstance(like, tuple):
        parts = [_again(part, row) for part in like]
        return type(like)(*parts) if hasattr(like, "_fields") else tuple(parts)
    first = int(next(row))
    if isinstance(like, np.ndarray):
        shape = [int(next(row)) for _ in range(like.ndim)]
        room: Any = (ctypes.c_char * (like.itemsize * int(np.prod(shape)))).from_address(first)
        return np.frombuffer(room, like.dtype).reshape(shape)
    if isinstance(like, float):
        return struct.unpack("d", struct.pack("Q", first))[0]
    return type(like)(first - (first >> 63 << 64))


def _interpreted(entry: Entry, table: Array, k: int) -> bool:
    kernel = ctypes.cast(entry.address, ctypes.py_object).value
    reached = kernel(*_again(entry.like, iter(table[k])))
    return reached is None or reached > 0


call: Any = _interpreted if INTERPRETED else intrinsic(_call)
