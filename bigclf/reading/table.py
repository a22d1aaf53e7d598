"""What CSV and Parquet have in common: which columns there are, what they hold, and how they become raw columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bigclf.errors import DataError
from bigclf.reading.labels import NUMBER, canonical
from bigclf.reading.options import MISSING_TOKENS, ReadOptions
from bigclf.reading.raw import Cursor, Numbers, Skips, Words
from bigclf.reading.source import Source
from bigclf.reading.span import SHARE_ROWS, Share, first_row

BLANKS = " \t"  # trimmed from both ends of every field of text
MISSING = frozenset(MISSING_TOKENS)
TRUTH = ("true", "True", "TRUE", "false", "False", "FALSE")  # 1, 1, 1, 0, 0, 0 in a column of numbers
_SHOWN = 20  # names listed in a message


@dataclass(frozen=True)
class Kinds:
    """The feature columns of a table: fixed by the head in training, kept in the model, given to later reads.

    columns: (name, "number" or "words"), in the order of the features.
    label: name of the label column; None where there is none.
    forced: columns of words by --categorical, in which numbers are words too.
    ignored: columns known and left out, so that they cause no notice.
    """

    columns: tuple[tuple[str, str], ...]
    label: str | None
    forced: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()

    @property
    def plain(self) -> bool:
        """Whether all columns hold numbers."""
        return {kind for _, kind in self.columns} == {"number"}

    def named(self, options: ReadOptions) -> ReadOptions:
        """The options with names in place of numbers and `last`: in another file those may mean other columns."""
        return replace(options, label=self.label, ignore=self.ignored, categorical=self.forced)


class Layout(NamedTuple):
    """Where the columns stand in one file."""

    width: int  # fields of a row
    features: tuple[tuple[str, int], ...]  # name and position from 0, in the order of the features
    label: int | None  # position
    label_name: str | None
    forced: frozenset[str]
    ignored: frozenset[str]

    def kinds(self, kinds: Sequence[str]) -> Kinds:
        """The columns with their kinds, one for each feature."""
        columns = tuple((name, kind) for (name, _), kind in zip(self.features, kinds, strict=True))
        return Kinds(columns, self.label_name, tuple(sorted(self.forced)), tuple(sorted(self.ignored)))


@dataclass(eq=False)
class TableReader:
    """What a reader of tables is given: it reads one file after the other, and matches the columns by name.

    kinds: the columns, from the model; None in training, then set before the first Raw is given out. While it is
        given, `Raw.head` is False throughout.
    notices: what the user should be told once, with a count.
    begin, share: read from there on, or that share only; with `kinds`.
    until: rows from this number on are not read.
    rows: rows read so far, those at fault included.
    """

    sources: Sequence[Source]
    options: ReadOptions
    skips: Skips
    kinds: Kinds | None = None
    notices: Counter[str] = field(default_factory=Counter)
    _: KW_ONLY
    begin: Cursor | None = None
    share: Share | None = None
    until: int | None = None

    def __post_init__(self) -> None:
        self.rows = first_row(self.begin, self.share)

    def _count(self) -> int:
        """Rows read so far, for messages; those of a share are counted from its first one."""
        return self.rows % SHARE_ROWS


def choose(names: Sequence[str], options: ReadOptions, path: str, notices: Counter[str]) -> Layout:
    """Label and feature columns of the first file, by the options. Raises DataError where they do not fit the file."""
    ignored = {at for what in options.ignore for at in _find(what, names, path)}
    label = _label(names, options, path, ignored, notices)
    forced = {names[at] for what in options.categorical for at in _find(what, names, path)}
    kept = [at for at in range(len(names)) if at not in ignored]
    _once((names[at] for at in kept), path)
    features = tuple((names[at], at) for at in kept if at != label)
    known = {name for name, _ in features}
    label_name = None if label is None else names[label]
    left_out = frozenset(names[at] for at in ignored)
    return Layout(len(names), features, label, label_name, frozenset(forced & known), left_out)


def align(names: Sequence[str], kinds: Kinds, options: ReadOptions, path: str, notices: Counter[str]) -> Layout:
    """Where a file has the columns of `kinds`, by name, and the label by option where they name none.

    Columns beyond those are ignored with a notice.

    Raises DataError where a feature column is absent, or the label column while labels are needed.
    """
    wanted = [name for name, _ in kinds.columns]
    chosen = kinds.label
    if chosen is None and options.label is not None:
        at = _label(names, options, path, set(), notices)
        chosen = None if at is None else names[at]
    if chosen in wanted:
        raise DataError(path, f"column {chosen!r} is a feature of the model; --label should name another")
    place: dict[str, list[int]] = {}
    for at, name in enumerate(names):
        place.setdefault(name, []).append(at)
    absent = [name for name in wanted if name not in place]
    if chosen is not None and options.need_label and chosen not in place:
        absent.append(chosen)
    if absent:
        what = f"no column {_list(map(repr, absent))}" if len(absent) == 1 else f"no columns {_list(map(repr, absent))}"
        raise DataError(path, f"{what}; columns are: {_list(names)}")
    if chosen is None and options.need_label:
        raise DataError(path, "the label column is not known; give --label")
    used = {*wanted, *({chosen} if chosen in place else ())}
    for name in used:
        if len(place[name]) > 1:  # the same name again may have been ignored by its number
            place[name] = [at for at in place[name] if str(at + 1) not in options.ignore] or place[name]
    _once((name for name in used for _ in place[name]), path)
    ignored = frozenset(kinds.ignored) | frozenset(options.ignore)
    extra = [name for name in place if name not in used and name not in ignored and name != chosen]
    if extra:
        shown = ", ".join(extra[:5]) + (f" and {len(extra) - 5} more" if len(extra) > 5 else "")
        notices[f"extra columns ignored: {shown}"] = len(extra)
    label = place[chosen][0] if chosen in place else None
    features = tuple((name, place[name][0]) for name in wanted)
    forced = frozenset(kinds.forced) | frozenset(options.categorical)
    return Layout(len(names), features, label, chosen, forced, ignored)


def _find(what: str, names: Sequence[str], path: str) -> list[int]:
    """Positions of the column that an option names; a name wins over a number, which counts from 1."""
    found = [at for at, name in enumerate(names) if name == what]
    if found:
        return found
    if what.isascii() and what.isdigit() and 1 <= int(what) <= len(names):
        return [int(what) - 1]
    raise DataError(path, f"no column {what!r}; columns are: {_list(names)}")


def _label(
    names: Sequence[str], options: ReadOptions, path: str, ignored: set[int], notices: Counter[str]
) -> int | None:
    what = options.label
    if what is None:
        found = [at for at, name in enumerate(names) if name == "label" and at not in ignored]
        if found:
            notices["label taken from column 'label'"] += 1
        elif options.need_label:
            raise DataError(path, f"no --label given; columns are: {_list(names)}")
    elif what in ("first", "last") and what not in names:
        found = [0 if what == "first" else len(names) - 1]
    else:
        try:
            found = _find(what, names, path)
        except DataError:
            if options.need_label:
                raise
            found = []
    if not found:
        return None
    if len(found) > 1:
        raise DataError(path, f"column {names[found[0]]!r} appears twice; give --label by its number")
    if found[0] in ignored:
        raise DataError(path, f"column {names[found[0]]!r} is the label; it cannot be ignored")
    return found[0]


def _once(names: Iterable[str], path: str) -> None:
    for name, n in Counter(names).items():
        if n > 1:
            raise DataError(path, f"column {name!r} appears {'twice' if n == 2 else f'{n} times'}; name it in --ignore")


def _list(names: Iterable[str]) -> str:
    every = [name if name.isprintable() else repr(name) for name in names]
    return ", ".join(every[:_SHOWN]) + (f" and {len(every) - _SHOWN} more" if len(every) > _SHOWN else "")


def show(value: str, limit: int = 40) -> str:
    """A value as messages show it: quoted, on one line, not too long."""
    return repr(value if len(value) <= limit else value[: limit - 3] + "...")


def spell(text: str, decimal: str = ".") -> str | None:
    """The word a field stands for; None where it is missing. Numbers get the one spelling of their value.

    >>> spell(" 1.0 "), spell("2,50", ","), spell("n/a"), spell("N/A")
    ('1', '2.5', 'n/a', None)
    """
    text = text.strip(BLANKS)
    if text in MISSING:
        return None
    if text[0] not in "+-.,0123456789":
        return text
    if decimal != "." and NUMBER.fullmatch(text.replace(decimal, ".")) and "." not in text:
        text = text.replace(decimal, ".")
    return canonical(text)


def words(codes: NDArray[Any], names: Sequence[str | None]) -> Words:
    """Codes into `names`, in which words may repeat, be unused or be missing, become Words without any of these.

    codes: (n,) whole numbers, -1 where missing.
    """
    code = np.full(len(names) + 1, -1, np.int32)  # one more: code -1 finds it at the end
    present = codes if codes.min(initial=0) >= 0 else codes[codes >= 0]
    used = np.bincount(present, minlength=len(names))
    index: dict[str, int] = {}
    for at in np.flatnonzero(used).tolist():
        name = names[at]
        if name is not None:
            code[at] = index.setdefault(name, len(index))
    return Words(code.take(codes), list(index))


def finite(values: Numbers) -> bool:
    """Whether no value is infinite or NaN; the sum tells it in all usual cases."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum()) or np.isfinite(values).all())
