"""Model files: one .npz of plain arrays, with a JSON header. Never pickle; nothing is used before it was checked.

Arrays are `state/...` (the learner's), `schema/...` (scaling and the like) and `header` (UTF-8 JSON as bytes). They
are stored as they are, so a file cannot unpack to more than its size, and the same model gives the same bytes.
"""

from __future__ import annotations

import codecs
import json
import math
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import NoneType
from typing import IO, Any

import numpy as np

from bigclf import __version__, state, weighting
from bigclf.algorithms import registry
from bigclf.core import Array, Learner, Shape, Spec, State
from bigclf.errors import BigclfError, ModelFileError
from bigclf.files import whole_file
from bigclf.reading.feature_map import LINEAR
from bigclf.reading.schema import Schema
from bigclf.units import code_matrix
from bigclf.weighting import ClassWeight

FORMAT = 3
PART = 1 << 17  # numbers written at once


def upgrade_1(header: dict[str, Any], arrays: dict[str, Array]) -> None:
    """Format 1 had no class weights and no feature maps, one shard as I, N, and sums that did not count their rows."""
    header["class_weight"] = None
    if header["share"]:
        header["share"] = header["share"][::-1]  # I, N
    header["schema"]["map"] = list(LINEAR)
    if "state/rows" in arrays:
        arrays["state/shown"] = np.array([arrays["state/rows"].sum()])


def upgrade_2(header: dict[str, Any], arrays: dict[str, Array]) -> None:
    """Format 2 had no sums by which logistic regression makes its steps longer, and the average's power was 7."""
    for name in [name for name in arrays if name.endswith("/scale") and f"{name[:-5]}square" in arrays]:
        for sums in ("length", "entries"):
            arrays[name[:-5] + sums] = np.ones(len(arrays[name]))
    params, name, at = header["params"], header["algorithm"], ""
    while name != "logistic" and f"{at}base" in params:
        name, at = params[f"{at}base"], f"{at}base-"
    if name == "logistic" and params.get(f"{at}average", True):
        params.setdefault(f"{at}average-power", 7)


# to the next format, in place
UPGRADES: dict[int, Callable[[dict[str, Any], dict[str, Array]], None]] = {1: upgrade_1, 2: upgrade_2}


@dataclass
class Model:
    """What training leaves: enough to predict, to go on, and to say where it came from."""

    algorithm: str
    params: dict[str, Any]
    schema: Schema
    state: State
    cols: int  # columns of the encoded rows, a reserve included
    reading: dict[str, Any] = field(default_factory=dict)  # options of the reader, kept for predict and evaluate
    rows: int = 0  # rows learned from, of one pass over each input
    passes: int = 1
    next_row: int = 0  # number that the next row would have: rows of all passes, skipped ones included
    counts: dict[str, int] = field(default_factory=dict)  # rows by class, of one pass
    class_weight: ClassWeight = None  # of the rows that it was trained on
    share: list[int] | None = None  # the shards that it was trained on: [N, I, ...] for shard I of N
    run: dict[str, Any] = field(default_factory=dict)  # of a checkpoint: where the run of training stands

    @property
    def spec(self) -> Spec:
        """The algorithm's declaration, with the options of its base."""
        return registry.meant(self.algorithm, self.params)

    def learner(self) -> Learner:
        """The learner that made the state."""
        return make_learner(self.spec, self.params, self.schema)

    def told(self) -> dict[str, Any] | None:
        """Facts that the learner tells of its run; None where it has none."""
        tell = self.learner().told
        return tell and tell(self.state)

    def code(self) -> Array:
        """(units, classes) matrix of the units' answers."""
        return code_matrix(list(self.schema.classes), self.schema.positive)

    def shape(self, used: bool = False) -> Shape:
        """Sizes of the state's axes."""
        code = self.code()
        return Shape(code.shape[0], self.schema.map.size(self.schema.used if used else self.cols), code.shape[1])


def make_learner(spec: Spec, params: dict[str, Any], schema: Schema) -> Learner:
    """The learner of an algorithm; one that scales when solving is told how."""
    if spec.solve_scaling is not None and spec.solve_scaling(params):
        return spec.build(**registry.arguments(spec, params), scale=schema.solve_scale)
    return spec.build(**registry.arguments(spec, params))


def save(path: Path, model: Model) -> None:
    """Write a model whole or not at all: to a temporary file beside it, synced, renamed over the old one."""
    learner = model.learner()
    check_finite(model)
    arrays = {f"state/{k}": a for k, a in state.trim(learner, model.state, model.shape(used=True)).items()}
    arrays |= {f"schema/{k}": a for k, a in model.schema.arrays().items()}
    header = {
        "format": FORMAT,
        "bigclf": __version__,
        "algorithm": model.algorithm,
        "params": model.params,
        "schema": model.schema.head(),
        "reading": model.reading,
        "cols": model.cols,
        "rows": model.rows,
        "passes": model.passes,
        "next_row": model.next_row,
        "counts": model.counts,
        "class_weight": model.class_weight,
        "share": model.share,
        "run": model.run,
    }
    text = json.dumps(header, sort_keys=True).encode()
    with whole_file(path) as f:
        write_arrays(f, {"header": np.frombuffer(text, np.uint8)} | arrays)


def write_arrays(f: IO[bytes], arrays: dict[str, Array]) -> None:
    """The bytes of `np.savez`, whatever the order of an array in memory, and of no array more than a part copied."""
    with zipfile.ZipFile(f, "w", zipfile.ZIP_STORED) as z:
        for name, a in arrays.items():
            with z.open(f"{name}.npy", "w", force_zip64=True) as member:
                head = {"descr": np.lib.format.dtype_to_descr(a.dtype), "fortran_order": False, "shape": a.shape}
                np.lib.format.write_array_header_1_0(member, head)
                parts: Any = np.nditer(a, ["external_loop", "buffered", "zerosize_ok"], order="C", buffersize=PART)
                for part in parts:
                    member.write(part.tobytes())


def check_finite(model: Model) -> None:
    """Refuse weights that are no numbers any more; BigclfError naming a column."""
    axes = model.learner().axes
    for path, w in state.flatten(model.state).items():
        if path.rsplit("/", 1)[-1] not in ("w", "S") or np.isfinite(w).all():
            continue
        if "cols" not in axes[path]:
            raise BigclfError("coefficients are no finite numbers any more; try a smaller step, or --scale std")
        bad = ~np.isfinite(w[:, : model.shape(used=True).cols])
        name = model.schema.map.names(model.schema.columns_named())[int(np.argwhere(bad)[0][1])]
        raise BigclfError(
            f"column '{name}': its weight is no finite number any more; try --scale std, or leave the column out"
        )


def load(path: Path) -> Model:
    """Read a model, checking names, types, shapes and checksums before anything is used."""
    try:
        arrays = _arrays(path)
    except FileNotFoundError:
        raise ModelFileError(path, "no such file") from None
    except OSError as e:
        raise ModelFileError(path, f"cannot be read: {e.strerror or e}") from None
    except MemoryError:
        raise
    except Exception as e:  # the file may be anything: whatever its parsers raise, it is no model
        raise ModelFileError(path, f"not a whole bigclf model ({_line(e)})") from None
    if "header" not in arrays:
        names = ", ".join(sorted(arrays)[:5]) or "nothing"
        raise ModelFileError(path, f"not a bigclf model (it holds {names})")
    try:
        header = json.loads(arrays["header"].tobytes().decode())
        number = int(header["format"])
        if not number >= 1:
            raise ValueError(f"format {number}")
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as e:
        raise ModelFileError(path, f"not a bigclf model (its header is damaged: {_line(e)})") from None
    if number > FORMAT:
        raise ModelFileError(path, f"written by format {number}, this program reads up to {FORMAT}; upgrade bigclf")
    try:
        for step in range(number, FORMAT):
            UPGRADES[step](header, arrays)
        return _model(header, arrays)
    except MemoryError:
        raise
    except Exception as e:  # as above
        raise ModelFileError(path, f"damaged or altered ({_line(e)})") from None


def check_reading(reading: dict[str, Any], hash_bits: int) -> None:
    """ValueError for reading options that no training run could have kept."""
    kinds: dict[str, tuple[type, ...]] = {"header": (bool,), "decimal": (str,), "quote": (str,), "encoding": (str,)}
    kinds |= {"label": (str, NoneType), "delimiter": (str, NoneType), "hash_bits": (int,)}
    for name, value in reading.items():
        if name in ("ignore", "categorical"):
            good = isinstance(value, list) and all(isinstance(v, str) for v in value)
        else:
            good = isinstance(value, kinds.get(name, (NoneType,)))
        if not good:
            raise ValueError(f"reading option {name} = {str(value)[:40]!r}")
    if reading.get("hash_bits", hash_bits) != hash_bits:
        raise ValueError("hash_bits of the reader and of the schema differ")
    codecs.lookup(reading.get("encoding", "utf-8"))
    json.dumps(reading, ensure_ascii=False).encode()  # no half characters


def _line(e: BaseException) -> str:
    return " ".join(str(e).split())[:200] or type(e).__name__


def _arrays(path: Path) -> dict[str, Array]:
    """All arrays of the file. ValueError for pickles, packed members, and sizes that do not fit."""
    size = path.stat().st_size
    arrays: dict[str, Array] = {}
    with zipfile.ZipFile(path) as z:
        for info in z.infolist():
            if not info.filename.endswith(".npy"):
                raise ValueError(f"holds {info.filename!r}")
            if info.compress_type != zipfile.ZIP_STORED or info.file_size > size:
                raise ValueError(f"member {info.filename!r} is packed or larger than the file")
            with z.open(info) as f:
                version = np.lib.format.read_magic(f)
                read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
                shape, fortran, dtype = read(f)
                if dtype.hasobject:
                    raise ValueError(f"{info.filename!r} contains pickled objects; refused")
                if fortran or math.prod(shape) * dtype.itemsize != info.file_size - f.tell():
                    raise ValueError(f"the size of {info.filename!r} does not fit its shape {shape}")
                data = f.read()  # to the end, which checks the checksum
                arrays[info.filename.removesuffix(".npy")] = np.frombuffer(data, dtype).reshape(shape)
    return arrays


def _model(header: dict[str, Any], arrays: dict[str, Array]) -> Model:
    schema = Schema.load(
        header["schema"], {k.removeprefix("schema/"): a for k, a in arrays.items() if k.startswith("schema/")}
    )
    model = Model(
        str(header["algorithm"]),
        dict(header["params"]),
        schema,
        None,
        int(header["cols"]),
        dict(header["reading"]),
        int(header["rows"]),
        int(header["passes"]),
        int(header["next_row"]),
        {str(k): int(v) for k, v in header["counts"].items()},
        header["class_weight"],
        [int(k) for k in header["share"]] if header["share"] else None,
        dict(header["run"]),
    )
    weighting.check(model.class_weight)
    if not schema.used <= model.cols <= 2 * schema.used + 8:
        raise ValueError("its number of columns is impossible")
    if not 0 <= model.next_row < 1 << 62 or min(model.rows, model.passes) < 0:
        raise ValueError("its counts of rows are impossible")
    if model.share and (len(model.share) < 2 or not all(1 <= i <= model.share[0] for i in model.share[1:])):
        raise ValueError("its shard is impossible")
    check_reading(model.reading, schema.hash_bits)
    known = {p.name: p for p in model.spec.params}
    for name, value in model.params.items():
        if name not in known or not known[name].accepts(value):
            raise ValueError(f"{model.algorithm} has no parameter {name} = {value!r}")
    learner = model.learner()
    parts = {k.removeprefix("state/"): a for k, a in arrays.items() if k.startswith("state/")}
    used = model.shape(used=True)
    fault = state.misfit(learner, parts, used)
    if fault:
        raise ValueError(fault)
    model.state = state.fill(learner, parts, model.shape())
    fault = learner.fault(model.state) if learner.fault is not None else None
    if fault:
        raise ValueError(fault)
    if learner.told is not None:
        learner.told(model.state)  # counts that are none have nothing to tell
    return model
