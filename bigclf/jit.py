"""The only import of numba: one set of flags, one cache folder per version of the sources."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, cast

from bigclf import start


@contextlib.contextmanager
def _scipy_hidden() -> Iterator[None]:
    """Where numba looks for SciPy, for linear algebra that no kernel of ours uses: it would cost as much again."""
    if "scipy" in sys.modules:
        yield
        return
    sys.modules["scipy"] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules["scipy"]


with _scipy_hidden():
    import numba
    from numba import config, typeof, types
    from numba.core import event, registry
    from numba.core.runtime.nrt import rtsys
    from numba.extending import intrinsic, overload
import numpy as np  # noqa: E402

start.shed()

__all__ = [
    "CACHE",
    "FAST",
    "INTERPRETED",
    "exact_helper",
    "exact_kernel",
    "helper",
    "intrinsic",
    "kernel",
    "loan",
    "numbers",
    "overload",
    "singles",
    "typeof",
    "types",
]

F = TypeVar("F", bound=Callable[..., Any])
FAST = {"contract", "reassoc", "nsz", "arcp"}  # not the two that assume no NaN and no infinity: we test for them
KEEP_DAYS = 30
INTERPRETED = bool(vars(config).get("DISABLE_JIT"))  # kernels run as they are written, for tests


def source_key(folder: Path) -> str:
    """Hash of all sources: numba's own cache does not notice an edit in a helper of another file."""
    h = hashlib.sha256()
    for f in sorted(folder.rglob("*.py")):
        h.update(f.relative_to(folder).as_posix().encode())
        h.update(f.read_bytes())
    return h.hexdigest()[:16]


def cache_folder() -> Path | None:
    """Folder for compiled kernels, or None where none can be written (then kernels live only for this process)."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bigclf"
    folder = home / source_key(Path(__file__).parent)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        for other in home.iterdir():
            if other != folder and time.time() - other.stat().st_mtime > KEEP_DAYS * 86400:
                shutil.rmtree(other, ignore_errors=True)
    except (OSError, RuntimeError):
        return None
    return folder if os.access(folder, os.W_OK) else None


class _Compiling(event.Listener):  # type: ignore[misc]
    """Compiling takes much more memory than loading: refuse before LLVM aborts or --budget is passed."""

    def on_start(self, event: Any) -> None:
        """A kernel that is not in the cache is about to be compiled."""
        start.compiling()
        with _scipy_hidden():
            import_module("numba.np.linalg")
            import_module("numba.np.arraymath")
        start.begin_unbroken()

    def on_end(self, event: Any) -> None:
        """It was."""
        start.end_unbroken()


event.register("numba:compile", _Compiling())  # type: ignore[no-untyped-call]

CACHE = True
if not os.environ.get("NUMBA_CACHE_DIR"):
    _folder = cache_folder()
    CACHE = _folder is not None
    if _folder is not None:
        setattr(config, "CACHE_DIR", str(_folder))  # noqa: B010 - numba makes the attribute at import


def _forget(cache: Any) -> None:
    """Delete the index of a kernel's files: they are damaged, and the kernel is compiled again."""
    with contextlib.suppress(OSError, AttributeError):
        os.unlink(cache._cache_file._index_path)


def _cached(dispatcher: Any) -> Any:
    """A kernel that is compiled again next time where it cannot be kept, on a full disk for one.

    One that is there is loaded alone: numba would first load all that it can compile, which takes a fifth of the start.
    """
    cache: Any = getattr(dispatcher, "_cache", None)
    if hasattr(cache, "save_overload"):
        save = cache.save_overload

        def save_if_possible(*args: Any) -> None:
            with contextlib.suppress(OSError):
                try:
                    save(*args)
                except (OSError, MemoryError):
                    raise
                except Exception:  # of an index that is damaged
                    _forget(cache)
                    save(*args)

        cache.save_overload = save_if_possible
    if hasattr(cache, "_load_overload"):
        load = cache._load_overload

        def load_alone(signature: Any, target: Any) -> Any:
            start.begin_unbroken()
            try:
                with _scipy_hidden():
                    rtsys.initialize(target)  # what a loaded kernel calls
                    return load(signature, target)
            except MemoryError:
                raise
            except Exception:  # files that are gone, cut short or written over raise whatever their parsers do
                _forget(cache)
                return None
            finally:
                start.end_unbroken()

        cache.load_overload = load_alone
    return dispatcher


@functools.cache
def warm_up() -> None:
    """Load what loads kernels, and give its pages back, before rows take memory: then the two do not add up."""
    if not INTERPRETED:
        rtsys.initialize(registry.cpu_target.target_context)
        start.shed()


def kernel(f: F) -> F:
    """Compile a function over blocks: cached on disk, without the interpreter's lock, dividing as numpy does."""
    return cast("F", _cached(numba.njit(cache=CACHE, nogil=True, error_model="numpy", fastmath=FAST)(f)))


def exact_kernel(f: F) -> F:
    """As `kernel`, but sums stay in the order written: for statistics and parsing, equal to the bit everywhere."""
    return cast("F", _cached(numba.njit(cache=CACHE, nogil=True, error_model="numpy")(f)))


def helper(f: F) -> F:
    """Compile a function of numbers or of one row, called by kernels only.

    It becomes a part of them: where it is called, each array handed over has its references counted, which takes longer
    than what most helpers do.
    """
    return cast("F", numba.njit(error_model="numpy", fastmath=FAST, forceinline=True)(f))


def exact_helper(f: F) -> F:
    """As `helper`, for exact kernels."""
    return cast("F", numba.njit(error_model="numpy", forceinline=True)(f))


def _loan(typingctx: Any, a: Any) -> Any:
    """The same without owners: an array, or all arrays of a tuple."""

    def bare(context: Any, builder: Any, kind: Any, value: Any) -> Any:
        if isinstance(kind, types.BaseTuple):
            parts = enumerate(kind.types)  # type: ignore[attr-defined]
            return context.make_tuple(
                builder, kind, [bare(context, builder, t, builder.extract_value(value, k)) for k, t in parts]
            )
        if not isinstance(kind, types.Array):
            return value
        array = context.make_array(kind)(context, builder, value)
        array.meminfo = array.meminfo.type(None)
        return array._getvalue()

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return bare(context, builder, signature.args[0], args[0])

    return a(a), codegen


# The same array, or tuple of arrays, without its owner, who must outlive it: nobody counts who refers to it. Counting
# is atomic, which costs more than the arithmetic of a row where helpers hand arrays on.
loan: Callable[..., Any] = (lambda a: a) if INTERPRETED else intrinsic(_loan)


def _standing(kind: Any) -> Callable[..., Any]:
    """What makes the array of this type, of one axis or of several, that stands at an address.

    numba's own carray would take a large part of numba to load with every kernel that uses it.
    """

    def there(typingctx: Any, address: Any, shape: Any) -> Any:
        several = isinstance(shape, types.BaseTuple)
        axes = len(shape) if several else 1

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            tools: Any = import_module("numba.core.cgutils")
            arrays: Any = import_module("numba.np.arrayobj")
            array = context.make_array(signature.return_type)(context, builder)
            sizes = tools.unpack_tuple(builder, args[1], axes) if several else [args[1]]
            width = context.get_constant(types.intp, kind.bitwidth // 8)
            steps = [width]
            for size in reversed(sizes[1:]):
                steps.insert(0, builder.mul(steps[0], size))
            data = builder.inttoptr(args[0], context.get_data_type(kind).as_pointer())
            arrays.populate_array(array, data=data, shape=sizes, strides=steps, itemsize=width, meminfo=None)
            return array._getvalue()

        shaped = cast("Any", types).UniTuple(types.intp, axes) if several else types.intp
        return types.Array(kind, axes, "C")(types.int64, shaped), codegen

    return cast("Callable[..., Any]", intrinsic(there))


numbers = _standing(types.float64)  # the float64 array at an address, which nobody counts either
singles = _standing(types.float32)


def _interpreted(kind: Any) -> Callable[[int, Any], Any]:
    def there(address: int, shape: Any) -> Any:
        size = int(np.prod(shape))
        return np.ctypeslib.as_array((kind * size).from_address(int(address))).reshape(shape)

    return there


if INTERPRETED:
    numbers, singles = _interpreted(ctypes.c_double), _interpreted(ctypes.c_float)
