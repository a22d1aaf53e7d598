"""The start of the process: what must be set and checked before any heavy import, and what is undone once work began.

Plain Python. Under a limit on the address space (`ulimit -v`) heavy imports do not fail in an orderly way: LLVM and
OpenBLAS abort, and numba was seen spinning in malloc for minutes. So the limit is compared with floors before the first
of them, and again before a kernel is compiled, which takes more than loading one.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from bigclf.errors import BudgetError, Stopped

# One BLAS thread: more gain nothing on tiles, spin on busy machines, and map 40 MiB each. Arrow's own allocator would
# reserve 1 GiB of addresses. A user's own setting is respected.
_SETTINGS = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # of mallopt(3)
_KEPT = 16 << 20  # bytes that the heap may keep for later
_DONTNEED = 4  # MADV_DONTNEED of madvise(2)
_LARGE = 4 << 20  # bytes of code
_SHED = (1, 8, 64)  # numbers of blocks by which other code has come into use

# MiB of address space for each kind of input: the least under which train, predict, evaluate and check worked with
# compiled kernels (bisected to 8 MiB, default blocks, some 30 columns), and what the first compilation adds.
# numpy 2.4, numba 0.68, pyarrow 26, x86-64 Linux.
_NEEDS = {
    "model": (312, 0),
    "libsvm": (368, 85),
    "packed": (476, 90),
    "parquet": (488, 34),
    "csv": (376, 85),
    "words": (490, 38),
}
_SLACK = 32  # for other versions, and for a thread that reads ahead
_WORDS = {
    "model": "to read a model",
    "libsvm": "to read LIBSVM",
    "packed": "to read packed or recoded text, or to write scores",
    "parquet": "to read Parquet",
    "csv": "to read CSV",
    "words": "to read CSV of more than plain numbers",
}
# MiB resident once pyarrow reads CSV; what `--budget` left for the plain way need not do for it.
_WORDS_RESIDENT = 200
# MiB resident in a run that compiles its kernels; one that finds them in the cache takes up to 100 less.
_COMPILING = {"model": 258, "libsvm": 272, "packed": 288, "csv": 232, "words": 232, "parquet": 260}
_asked: list[str] = []  # kinds of input that this process has asked for
_read = [0]  # blocks
_cap: list[int] = []  # bytes that --budget grants
_told: list[Callable[[], None]] = []  # who is to hear, once, that kernels are being compiled


def prepare() -> None:
    """Settings for libraries that read them when imported; and no search for rubbish while there is none.

    Importing makes some hundred thousand objects that stay: looking through them again and again costs a tenth of the
    start. Under a limit one arena of malloc must do: each further one maps 64 MiB.
    """
    if sys.stderr is None:  # closed: nobody is told, and no file that is opened takes its place
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, as long as the process
        os.dup2(sys.stderr.fileno(), 2)
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    if limit() is not None:
        os.environ.setdefault("ARROW_IO_THREADS", "1")
        one_arena()
    gc.disable()


def interruptible() -> None:
    """Let Ctrl-C end the program in one line while it is loaded, when nothing was begun."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else whoever started us wants it otherwise
        signal.signal(signal.SIGINT, _leave)


def _leave(number: int, frame: object) -> None:
    os.write(2, b"bigclf: interrupted\n")
    os._exit(128 + number)


def over() -> None:
    """Some rows were read: what was imported is set aside, rubbish is collected again, and idle code given back."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
    _read[0] += 1
    if _read[0] in _SHED:
        shed()


def shed() -> None:
    """Give the code pages of large libraries back to the system: most of them are needed once, to load kernels.

    They are read-only pages of files, some 50 MiB together: one that is touched again comes back from the file.
    """
    import ctypes

    try:
        advise = ctypes.CDLL(None).madvise
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            for line in maps:
                if " r-xp " in line and ".so" in line:
                    low, high = (int(part, 16) for part in line.split(maxsplit=1)[0].split("-"))
                    if high - low >= _LARGE:
                        advise(ctypes.c_void_p(low), ctypes.c_size_t(high - low), _DONTNEED)
    except (OSError, AttributeError, ValueError):  # no Linux: then they stay
        return


def limit() -> int | None:
    """Bytes of address space that this process may have; None without a limit."""
    import resource

    soft = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if soft == resource.RLIM_INFINITY else soft


def floor(kind: str, compiling: bool = False) -> int:
    """MiB of address space that an input of this kind needs.

    >>> floor("libsvm"), floor("libsvm", compiling=True)
    (400, 485)
    """
    loading, more = _NEEDS[kind]
    return loading + _SLACK + (more if compiling else 0)


def require(*kinds: str) -> None:
    """Refuse a limit under which these kinds of input cannot be read: model, libsvm, packed, csv, tsv, words, parquet.

    words: CSV in which something else than numbers was met, for which pyarrow is needed.

    To be called before numpy, numba or pyarrow is imported. Raises BudgetError.
    """
    known = ["csv" if kind == "tsv" else kind for kind in kinds]
    _asked.extend(kind for kind in known if kind not in _asked)
    _check(known, compiling=False)
    if "words" in known and _cap and _cap[0] < _WORDS_RESIDENT << 20:
        raise BudgetError(
            f"--budget is {_cap[0] >> 20} MiB, at least {_WORDS_RESIDENT} MiB is needed {_WORDS['words']}"
        )


def cap(size: int) -> None:
    """Note what --budget grants to the process."""
    _cap[:] = [size]


def on_compiling(tell: Callable[[], None]) -> None:
    """Have the user told, once, when kernels are to be compiled: it takes long, and nothing else happens meanwhile."""
    _told[:] = [tell]


def compiling() -> None:
    """Refuse limits under which no kernel can be compiled. Raises BudgetError; the cache keeps what was compiled."""
    _check(_asked, compiling=True)
    need = max((_COMPILING[kind] for kind in _asked), default=0)
    if _cap and _cap[0] < need << 20:
        raise BudgetError(
            f"--budget is {_cap[0] >> 20} MiB, at least {need} MiB is needed the first time, while kernels are "
            "compiled; run it once with more"
        )
    while _told:
        _told.pop()()


def _check(kinds: list[str], compiling: bool) -> None:
    have = limit()
    if have is None or not kinds:
        return
    worst = max(kinds, key=lambda kind: floor(kind, compiling))
    need = floor(worst, compiling)
    if have < need << 20:
        what = f"{_WORDS[worst]} the first time, while kernels are compiled" if compiling else _WORDS[worst]
        raise BudgetError(
            f"address space limit is {have >> 20} MiB, at least {need} MiB is needed {what}; raise ulimit -v"
        )


def one_arena() -> None:
    """Let all threads share one heap: what one frees another takes again. A user's own setting is respected."""
    if "MALLOC_ARENA_MAX" not in os.environ:
        _one_arena()


def _one_arena() -> None:
    _mallopt((_ARENA_MAX, 1))


def keep_pages() -> None:
    """Let the heap keep what a block frees, for the next one: to give it back and take it again costs page faults."""
    if not {"MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"} & set(os.environ):
        _mallopt((_TRIM_THRESHOLD, _KEPT), (_MMAP_THRESHOLD, _KEPT // 2))


def _mallopt(*settings: tuple[int, int]) -> None:
    import ctypes

    try:
        for name, value in settings:
            ctypes.CDLL(None).mallopt(name, value)
    except (OSError, AttributeError):  # a C library that has none
        return


_arrived: list[int] = []
_standing = [""]


def stands(text: str) -> str:
    """Note what is to be said of the work should a signal end it from now on; gives what was noted before."""
    before = _standing[0]
    _standing[0] = text
    return before


_steps = [0]  # that cannot be broken off and are being taken, one within the other
_waiting: list[int] = []  # signals that came meanwhile


def begin_unbroken() -> None:
    """A step begins that a first signal is not to break off: compiling would leave what cannot be called."""
    _steps[0] += 1


def end_unbroken() -> None:
    """It is over; a signal that came meanwhile comes now."""
    _steps[0] -= 1
    if not _steps[0] and _waiting:
        signal.raise_signal(signal.Signals(_waiting.pop()))


def waits(number: int) -> bool:
    """Whether a signal is to come later; a handler then returns at once."""
    if not _steps[0] or _waiting:
        return False
    _waiting.append(number)
    return True


def on_signal(number: int, *_: object) -> None:
    """Handler of SIGINT and SIGTERM where there is nothing to save: raises Stopped, and remembers that it did."""
    if waits(number):
        return
    _arrived[:] = [number]
    raise Stopped(number)


def arrived() -> int:
    """The signal whose Stopped was lost; 0 for none. Compiled libraries swallow what is raised in their callbacks."""
    return _arrived.pop() if _arrived else 0


def recheck() -> None:
    """Raise Stopped again where the first was lost."""
    number = arrived()
    if number:
        raise Stopped(number)


def lost(unraisable: Any) -> None:
    """Hook for what could not be raised: that a signal came is not told there, but acted on later."""
    if unraisable.exc_type is None or unraisable.exc_type.__name__ not in ("Stopped", "Stop"):
        sys.__unraisablehook__(unraisable)
