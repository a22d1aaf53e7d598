"""What numba has no words for: moving numbers of four columns at once, and sorting them by kind on the way."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from bigclf.jit import intrinsic, types

LANES = 4  # columns
_INT, _WORD, _NUMBER = ir.IntType(32), ir.IntType(64), ir.DoubleType()
_QUAD, _COLUMNS = ir.VectorType(_NUMBER, LANES), ir.VectorType(_INT, LANES)


def _mixed(builder: Any, a: Any, b: Any, *order: int) -> Any:
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(_INT, len(order)), order))


def _fours(builder: Any, a: Any, b: Any, c: Any, d: Any) -> list[Any]:
    """Vectors of four as the columns of what they were the rows of."""
    even = _mixed(builder, a, b, 0, 4, 2, 6), _mixed(builder, c, d, 0, 4, 2, 6)
    odd = _mixed(builder, a, b, 1, 5, 3, 7), _mixed(builder, c, d, 1, 5, 3, 7)
    return [_mixed(builder, *pair, *half) for half in ((0, 1, 4, 5), (2, 3, 6, 7)) for pair in (even, odd)]


def _from_pairs(builder: Any, a: Any, b: Any, c: Any, d: Any) -> list[Any]:
    """First and second numbers of four pairs."""
    low, high = _mixed(builder, a, b, 0, 1, 2, 3), _mixed(builder, c, d, 0, 1, 2, 3)
    return [_mixed(builder, low, high, 0, 2, 4, 6), _mixed(builder, low, high, 1, 3, 5, 7)]


def _to_pairs(builder: Any, first: Any, second: Any) -> list[Any]:
    """The inverse of `_from_pairs`."""
    return [_mixed(builder, first, second, k, LANES + k) for k in range(LANES)]


def _move(many: int, back: bool) -> Any:
    """What moves the numbers of four cells of `many` to places k and on of `at`, or back.

    Their columns are indices[first + k] and on; where there are no indices, k and on.
    """
    cell = ir.VectorType(_NUMBER, many)
    turned = _fours if many == LANES else _to_pairs if back else _from_pairs

    def move(typingctx: Any, cells: Any, indices: Any, first: Any, at: Any, k: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kinds = signature.args
            numbers, scratch = (context.make_array(kinds[n])(context, builder, args[n]) for n in (0, 3))
            first, k = (context.cast(builder, args[n], kinds[n], types.int64) for n in (2, 4))
            columns = [builder.add(k, _WORD(n)) for n in range(LANES)]
            if isinstance(indices, types.Array):
                listed = context.make_array(indices)(context, builder, args[1]).data
                start = builder.bitcast(builder.gep(listed, [builder.add(first, k)]), _COLUMNS.as_pointer())
                four = builder.load(start, align=4)
                columns = [builder.zext(builder.extract_element(four, _INT(n)), _WORD) for n in range(LANES)]

            def place(data: Any, at: Any, kind: Any) -> Any:
                return builder.bitcast(builder.gep(data, [at]), kind.as_pointer())

            width = builder.extract_value(scratch.shape, 1)
            far = [place(numbers.data, builder.mul(column, _WORD(many)), cell) for column in columns]
            rows = [builder.add(builder.mul(width, _WORD(n)), k) for n in range(many)]
            near = [place(scratch.data, row, _QUAD) for row in rows]
            source, to = (near, far) if back else (far, near)
            found = turned(builder, *(builder.load(p, align=8) for p in source))
            for vector, p in zip(found, to, strict=True):
                builder.store(vector, p, align=8)
            return context.get_dummy_value()

        return types.void(cells, indices, first, at, k), codegen

    return intrinsic(move)


quads_out, quads_back = _move(4, False), _move(4, True)
pairs_out, pairs_back = _move(2, False), _move(2, True)
