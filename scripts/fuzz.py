"""Fuzzing within bounds: the LIBSVM and CSV readers, the loader of models, and the whole command line.

    python scripts/fuzz.py libsvm csv model cli --seconds 60 --seed 1 --save findings
    python scripts/fuzz.py csv --replay findings/csv-1a2b3c4d

    libsvm  the compiled reader gives the rows and faults of the strict parser, for two block sizes
    csv     rows and faults are equal for two block sizes, and rows are those of Python's csv module
    model   an altered model is refused, or commands use it in an orderly way; no code runs, memory is bounded
    cli     train and predict end with 0, 1 or 2 and at most one line; results do not depend on the block size

Input i of a seed is always the same: it is made from a corpus by random edits. The first two bytes of text inputs
choose the options. A worker process does the work; when it dies, the next one goes on behind that input. `--guided`
(needs the extra `fuzz`, atheris) lets the coverage of the Python parts guide the same edits instead.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import faulthandler
import gzip
import io
import json
import math
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
import zlib
from collections import Counter
from itertools import count, pairwise, zip_longest
from pathlib import Path
from typing import Any

import numpy as np

COMPILED = ("jit", "block", "draws", "kernels", "reading.libsvm_kernel", "reading.libsvm_tokens", "reading.decimals")
COMPILED += ("reading.encode_kernel", "reading.expand", "reading.memory", "reading.libsvm_labels")
GUIDED = "--guided" in sys.argv
if GUIDED:
    import atheris
with atheris.instrument_imports(["bigclf"], [f"bigclf.{m}" for m in COMPILED]) if GUIDED else contextlib.nullcontext():
    from bigclf.algorithms import registry
    from bigclf.cli import check, evaluate, info, merge, predict, train, training  # noqa: F401
    from bigclf.cli.main import main as bigclf
    from bigclf.errors import BigclfError, ModelFileError
    from bigclf.model import load
    from bigclf.reading import csv_text, libsvm, parquet, raw
    from bigclf.reading.libsvm_strict import LineFault, parse_line
    from bigclf.reading.options import MISSING_TOKENS, ReadOptions
    from bigclf.reading.raw import Skips, Words
    from bigclf.reading.source import find
    from bigclf.reading.table import TRUTH, Kinds, spell

SAMPLES = Path(__file__).parent.parent / "sample_data"
MOST, SLOW, ROOM = 6000, 20.0, 1 << 30  # bytes of an input; seconds and further bytes that one may take
NUMBERS = [
    "0",
    "-0",
    "+1",
    "1.",
    ".5",
    ".",
    "-",
    "+",
    "1e5",
    "1e-400",
    "1e400",
    "-1e309",
    "4.9e-324",
    "1.7976931348623159e308",
    "9007199254740993",
    "0x10",
    "1_0",
    "1,5",
    "nan",
    "-NaN",
    "inf",
    "+Infinity",
    "1e",
    "1e+",
    "1d3",
    "--1",
    "1.2.3",
    "00000000000000000000001",
    "1e0000000000001",
    "2147483645",
    "2147483646",
    "4294967297",
    "9223372036854775808",
    "18446744073709551616",
    "0.1000000000000000055511151231257827021181583404541015625",
    "true",
    "False",
    "1e22",
    "8.5e-324",
    "2.2250738585072011e-308",
    "123456789012345678901234567890",
    "NA",
    "N/A",
    "null",
    "?",
    "NULL",
    "none",
    "2024-01-31",
]
TOKENS = [b"\0", b"\r", b"\r\n", b"\n", b"\n\n", b" ", b"\t", b"\v", b"\f", b'"', b'""', b'"a\nb"', b"'", b",", b",,"]
TOKENS += [
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xff",
    b"\xc3\xa9",
    b"\xe2\x80\xa8",
    b"\xc2\x85",
    b"\xc2\xa0",
    b"\xf0\x9f\x98\x80",
]
TOKENS += [
    b":",
    b"::",
    b" 1:",
    b" :1",
    b" 1:1 1:1",
    b" qid:7",
    b" qid:",
    b"#",
    b" #c",
    b";",
    b"\x1a",
    b"\x7f",
    b"[red]",
    b"{}",
]
TOKENS += [
    b"%s",
    b"\\",
    b"label",
    b"first",
    b"last",
    b"1",
    b"9" * 20,
    b"a" * 41,
    b"x" * 4097,
    b"PAR1",
    b"\x1f\x8b",
    b"-" * 9,
]
SVM = [b"+1 1:0.5 3:-1.25\n-1 2:4e-3 3:1 # c\n\n+1\n-1 0:1 5:2\n" * 3, b"a 3:1 1:2\nb 2:1\n\tc  7:1\t8:.5\r\n" * 4]
SVM += [
    b"1 qid:3 1:1\n0 qid:4 2: 5\n# x\n1 1:1 2:2 3:3 4:4 5:5\n" * 4,
    b"yes_it_is_long 1:1\nno_it_is_longer 1:2\n" * 3,
]
CSV = [b"a,w,y\n1,red,0\n2.5,blue,1\n,red,0\n-3e2,,1\n" * 2, b'y,a,w\nyes,1,"x, ""q"""\nno,2,"two\nlines"\n' * 2]
CSV += [
    b"a,w,label\ntrue,u,1\nFalse,v,0\nNA,u,1\n?,u,0\n" * 2,
    b"a;b;y\n1,5;2;x\n-,5;3;y\n",
    b"1,2,0\n3,4,1\n5,6,0\n7,8,1\n",
]
CSV += [
    b"\xef\xbb\xbfa\tw\ty\r\n1\tr\t0\r\n2\tb\t1\r\n",
    "é,ü,y\n1,ß,ä\n2,ö,b\n".encode(),
    b"zip,y\n007,a\n7.0,b\n1e1,a\n",
]
ODD = [0, -1, 1, 2, 7, 10**6, 10**12, 2**63, 2**70, 0.5, -0.0, 1e308, math.inf, math.nan, None, True, "", "x", "a\nb"]
ODD += [
    "\ud800",
    [],
    {},
    [[]],
    {"a": 1},
    "y" * 5000,
    ["0"],
    ["0", "0"],
    ["0", "1", "2"],
    "csr",
    "dense",
    "table",
    "sparse",
]
DTYPES = ["<f4", "<f8", ">f8", "<f2", "<c16", "|O", "|b1", "<i8", "|u1", "<U4", "|S0", "V8", "<M8[s]", "[('a','<f8')]"]


class Wrong(Exception):
    """A promise that was not kept."""


def insist(kept: bool, what: object) -> None:
    """Raise Wrong unless the promise was kept."""
    if not kept:
        raise Wrong(what)


# Inputs


def edited(r: random.Random, data: bytes, corpus: list[bytes]) -> bytes:
    """One random edit of text."""
    a, b = sorted((r.randrange(len(data) + 1), min(len(data), r.randrange(len(data) + 1))))
    short = min(b, a + r.randrange(1, 9))
    token = r.choice(TOKENS) if r.random() < 0.6 else r.choice(NUMBERS).encode()
    edit = r.randrange(10)
    if edit == 0 and data:
        k = r.randrange(len(data))
        return data[:k] + bytes([data[k] ^ 1 << r.randrange(8)]) + data[k + 1 :]
    if edit <= 2:
        return data[:a] + token + data[a:]
    if edit == 3:
        return data[:a] + data[short:]
    if edit == 4:
        return data[:a] + r.choice(corpus)[r.randrange(40) :][: r.randrange(1, 400)] + data[b:]
    if edit == 5:
        return data[:b] + data[a:b] * r.choice((1, 1, 2, 9)) + data[b:]
    if edit == 6:
        return data[: max(b, 1)]
    found = list(re.finditer(rb"[-+.0-9eE]+" if edit < 9 else rb"[^,;:\s]+", data))
    if not found:
        return data + token
    at = r.choice(found)
    return data[: at.start()] + (r.choice(NUMBERS).encode() if edit < 9 else token) + data[at.end() :]


def poked(r: random.Random, value: object) -> object:
    """A JSON document with one value changed, dropped or added."""
    if isinstance(value, (dict, list)) and value and r.random() < 0.9:
        key = r.choice(sorted(value)) if isinstance(value, dict) else r.randrange(len(value))
        if r.random() < 0.1:
            del value[key]  # type: ignore[arg-type]
        else:
            value[key] = poked(r, value[key])  # type: ignore[index]
        return value
    if isinstance(value, int) and r.random() < 0.3:
        return value + r.choice((-1, 1, 2, 100))
    return r.choice(ODD)


def member(r: random.Random, data: bytes) -> bytes:
    """An array file with another type, shape or content."""
    a = np.load(io.BytesIO(data))
    edit = r.randrange(5)
    if edit < 2:
        shape = r.choice([a.shape, (10**18,), (0, 2**62), (-1,), (), (*a.shape, 1), a.shape[::-1], (2**64,), (True,)])
        head = (
            f"{{'descr': {r.choice([a.dtype.str, *DTYPES])!r}, 'fortran_order': {r.random() < 0.1}, 'shape': {shape}}}"
        )
        head = r.choice([head] * 9 + ["(" * 9000, "9" * 5000, "{", head.replace("'shape'", "1")])
        return b"\x93NUMPY\x01\0" + len(head).to_bytes(2, "little") + head.encode() + a.tobytes()
    if edit == 2 and a.size:
        a.flat[r.randrange(a.size)] = r.choice(
            [0, 1, 255] if a.dtype.kind != "f" else [0, -1, 1e308, math.inf, math.nan]
        )
    with io.BytesIO() as f, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        changed = [
            a,
            a[:-1] if a.ndim else a,
            np.concatenate([a, a]) if a.ndim else a,
            a.T,
            a.astype(r.choice(DTYPES[:5])),
        ]
        np.save(f, a if edit == 2 else r.choice(changed))
        return f.getvalue()


def altered(r: random.Random, data: bytes, corpus: list[bytes]) -> bytes:
    """A model with one edit: of its bytes, of its members, or of its header."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as z:
            parts = [(i.filename, z.read(i)) for i in z.infolist()]
        edit, k = r.randrange(8), r.randrange(len(parts))
        name, content = parts[k]
        if edit == 0:
            return edited(r, data, corpus)
        if edit == 1:
            parts[k : k + 1] = r.choice([[], [parts[k]] * 2, [(r.choice(["../x.npy", "x", "state/w.npy"]), content)]])
        elif edit == 2:
            parts[k] = (name, r.choice(parts)[1] if r.random() < 0.5 else edited(r, content, corpus))
        elif edit <= 4:
            parts[k] = (name, member(r, content))
        else:
            at = [n for n, _ in parts].index("header.npy")
            text = np.load(io.BytesIO(parts[at][1])).tobytes()
            said = r.choice(
                [b"[" * 5000, edited(r, text, corpus)] + [json.dumps(poked(r, json.loads(text))).encode()] * 18
            )
            with io.BytesIO() as f:
                np.save(f, np.frombuffer(said, np.uint8))
                parts[at] = ("header.npy", f.getvalue())
        with io.BytesIO() as f, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with zipfile.ZipFile(f, "w", r.choice([zipfile.ZIP_STORED] * 30 + [zipfile.ZIP_DEFLATED])) as z:
                for n, c in parts:
                    z.writestr(zipfile.ZipInfo(n), c)
            return f.getvalue()
    except Exception:  # it is no whole model any more
        return edited(r, data, corpus)


def corpus(name: str) -> list[bytes]:
    """Valid and odd inputs to begin with."""
    if name == "model":
        return models()
    svm = [(SAMPLES / "heart_scale.svm").read_bytes()[:2000], (SAMPLES / "malformed.svm").read_bytes()]
    svm += [gzip.decompress((SAMPLES / "dna_train.svm.gz").read_bytes())[:1500], b"", *SVM]
    tables = [(SAMPLES / "votes_words.csv").read_bytes()[:3000], b"", *CSV]
    return {"libsvm": svm, "csv": tables}.get(name, svm + tables)


def models() -> list[bytes]:
    """A model of every algorithm, of sparse rows and of tables."""
    Path("d.svm").write_bytes(SVM[0] * 3)
    Path("d.csv").write_bytes(CSV[0] * 3)
    found = []
    for algo in registry.specs():
        for how in (["d.svm"], ["d.csv", "--label", "y"], ["d.svm", "--hash-bits", "4", "--classes", "2,x"]):
            call("train", *how, "--algo", algo, "-q", "-o", "m.npz")
            found.append(Path("m.npz").read_bytes())
    return found


# Checks: each returns what came of an input, and raises when a promise was not kept


def plain(column: Any) -> list[Any]:
    """Values of a column for comparing; None where one is missing."""
    if isinstance(column, Words):
        return [column.names[c] if c >= 0 else None for c in column.code]
    return [None if v != v else repr(v) for v in column.tolist()]


def rows_of(reader: Any, skips: Skips) -> tuple[list[Any], list[str]]:
    """Rows (number, place, label, values, whether of the head) and faults of a reader."""
    rows: list[Any] = []
    skips.keep = MOST
    try:
        for part in reader:
            if isinstance(part.data, dict):
                values = list(zip(*map(plain, part.data.values()), strict=True)) or [()] * len(part.row)
            else:
                p, c, v = (a.tolist() for a in part.data)
                values = [tuple(zip(c[a:b], map(repr, v[a:b]), strict=True)) for a, b in pairwise(p)]
            labels = plain(part.label) if part.label is not None else [None] * len(values)
            insist(len(values) == len(labels) == len(part.row), "columns have different lengths")
            rows += [(int(n), part.where(k), labels[k], values[k], part.head) for k, n in enumerate(part.row)]
    except BigclfError as e:
        return ["stopped"], [*map(str, skips.faults), str(e)]
    return rows, [str(f) for f in skips.faults]


def outcome(found: tuple[list[Any], list[str]]) -> str:
    return "stopped" if found[0] == ["stopped"] else "some faults" if found[1] else "rows" if found[0] else "nothing"


def same(a: Any, b: Any, what: str) -> None:
    """Raise Wrong, showing the first difference, unless both are equal."""
    if a != b:
        rows = [(x, y) for x, y in zip_longest(*(v if isinstance(v, list) else [v] for v in (a, b))) if x != y]
        raise Wrong(f"{what}: {rows[0][0]!r} is not {rows[0][1]!r}"[:1000])


def look_libsvm(data: bytes) -> str:
    """The compiled reader, for two block sizes, and the strict parser line by line."""
    r, text = random.Random(data[:2]), data[2:]
    how = {"on_error": r.choice(("stop", "skip")), "need_label": r.random() < 0.7, "hash_bits": r.choice((0, 0, 0, 5))}
    how |= {"max_column": r.choice((2**31 - 2, 2**31 - 2, 8)), "encoding": r.choice(("utf-8", "utf-8", "latin-1"))}
    raw.HEAD_ROWS, raw.HEAD_BYTES = r.choice((1, 4, 10**4)), r.choice((0, 40, 1 << 26))
    Path("d.svm").write_bytes(text)
    found = []
    for size in (r.choice((8, 17, 64, 300)), 1 << 16):
        skips = Skips(how["on_error"] == "stop")
        options = ReadOptions(format="libsvm", block_size=size, **how)
        sources = find(["d.svm"], "libsvm")
        found.append(rows_of(libsvm.read(sources, options, skips), skips))
    for part in (1, 0):
        same(found[0][part], found[1][part], "block sizes")
    rows, faults, number = [], [], 0
    if options.encoding == "latin-1":
        text = text.decode("latin-1").encode()
    if sources[0].compression or text[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return outcome(found[0])
    for n, line in enumerate((text.removeprefix(b"\xef\xbb\xbf") + b"\n").split(b"\n")[:-1], 1):
        try:
            row = parse_line(line, options)
        except LineFault as e:
            faults.append(f"d.svm:{n}:{e.column}: {e.what}")
            if skips.stop:
                rows = ["stopped"]
                break
        else:
            if row is None:
                continue
            rows.append((number, f"d.svm:{n}", row.label, tuple((i + 1, repr(v)) for i, v in sorted(row.entries))))
        number += 1
    same(found[1][1], faults, "faults of reader and parser")
    keep = 3 if options.hash_bits else 4
    same([x[:keep] for x in found[1][0]], [x[:keep] for x in rows], "rows of reader and parser")
    return outcome(found[0])


def look_csv(data: bytes) -> str:
    """The CSV reader for two block sizes and, where it finds no fault, Python's csv module."""
    r, text = random.Random(data[:2]), data[2:]
    how = {"on_error": r.choice(("stop", "skip")), "need_label": r.random() < 0.7, "header": r.random() < 0.8}
    how |= {"delimiter": r.choice((None, None, None, ";", "\t")), "quote": r.choice(('"', '"', '"', "", "'"))}
    how |= {"label": r.choice(("last", "last", "first", "2", "y", None)), "decimal": r.choice("....,")}
    how["categorical"] = r.choice(((), (), ("1",)))
    if how["decimal"] == ",":
        how["delimiter"] = ";"
    csv_text.HEAD_ROWS, csv_text.HEAD_BYTES = r.choice((1, 4, 10**4)), r.choice((0, 40, 1 << 26))
    kinds = Kinds((("a", "number"), ("w", "words")), "y") if r.random() < 0.15 else None
    Path("d.csv").write_bytes(text)
    found = []
    for size in (r.choice((8, 17, 64, 300)), 1 << 16):
        skips = Skips(how["on_error"] == "stop")
        options = ReadOptions(format="csv", block_size=size, **how)
        reader = csv_text.CsvReader(find(["d.csv"], "csv"), options, skips, kinds)
        found.append((*rows_of(reader, skips), reader.kinds if skips.rows == 0 else None))
    for part in (1, 0, 2):
        same(found[0][part], found[1][part], "block sizes")
    rows, faults, kinds = found[0]
    if faults or not rows or not options.header or kinds is None:
        return outcome(found[0][:2])
    quoted = {"quotechar": options.quote} if options.quote else {"quoting": csv.QUOTE_NONE}
    lines = io.StringIO(text.decode().removeprefix("\ufeff"), newline="")
    names, *records = [c for c in csv.reader(lines, delimiter=options.delimiter or ",", **quoted) if c]
    names = [name.strip(" \t") for name in names]

    def value(fields: list[str], name: str, kind: str) -> str | None:
        t = fields[names.index(name)].strip(" \t")
        if kind == "words" or t in MISSING_TOKENS:
            return spell(t, options.decimal)
        return repr(float(t in TRUTH[:3]) if t in TRUTH else float(t.replace(options.decimal, ".")))

    wanted = [tuple(value(c, *column) for column in kinds.columns) for c in records]
    same([x[3] for x in rows], wanted, "values of reader and csv module")
    if kinds.label in names:
        same([x[2] for x in rows], [value(c, kinds.label, "words") for c in records], "labels of reader and csv module")
    return "compared"


def call(*argv: str) -> tuple[int, bytes, str]:
    """One command in this process: exit code, output, and what stood on standard error, warnings included."""
    streams = sys.stdout, sys.stderr
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace")
    sys.stdout, sys.stderr = out, err
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            code = bigclf(list(argv))
    except SystemExit as e:
        raise Wrong(f"SystemExit {e.code}") from None
    finally:
        sys.stdout, sys.stderr = streams
    for text in (out, err):
        text.flush()
    said = err.buffer.getvalue().decode() + "".join(f"{w.category.__name__}: {w.message}\n" for w in caught)
    insist(code in (0, 1, 2), f"exit code {code}: {said[-300:]}")
    insist(code > 0 or not said, f"exit code 0, standard error: {said[:300]}")
    one = said.startswith("bigclf: ") and said.endswith("\n") and len(said.splitlines()) == 1
    insist(code == 0 or one, f"exit code {code}, standard error: {said[:600]!r}")
    insist("out of memory" not in said, said)
    insist(not [n for n in os.listdir() if n.endswith(".tmp")], "a temporary file stayed")
    return code, out.buffer.getvalue(), said


def look_model(data: bytes) -> str:
    """The loader, and where it takes the model, a command that uses it."""
    path = Path("altered.npz")
    path.write_bytes(data)
    SEEN.clear()
    try:
        load(path)
    except ModelFileError as e:
        insist("\n" not in str(e), f"more than one line: {e!r}")
        return "refused"
    finally:
        forbidden, SEEN[:] = list(SEEN), ["off"]
    insist(not forbidden, forbidden)
    Path("d.svm").write_bytes(SVM[0])
    Path("d.csv").write_bytes(CSV[0])
    table = "d.svm" if zlib.crc32(data) & 8 else "d.csv"
    command = ("predict", "predict", "evaluate", "info", "train", "merge")[zlib.crc32(data) % 6]
    rest = {"info": ["--weights", "--json"][: zlib.crc32(data) % 3], "merge": ["altered.npz", "-q", "-o", "n.npz"]}
    rest |= {"train": [table, "-q", "--continue", "altered.npz", "-o", "n.npz"], "predict": [table, "-q", "--scores"]}
    first = [] if command == "train" else ["altered.npz"]
    code, out, said = call(command, *first, *rest.get(command, [table, "--json", "-q"]))
    if command == "predict" and code == 0:
        insist(out.count(b"\n") == (12 if table == "d.svm" else 8), f"{out!r}: not one line a row")
    return f"{command} {code}"


def look_cli(data: bytes) -> str:
    """Train and predict; the same model and the same predictions for two block sizes."""
    r, text = random.Random(data[:2]), data[2:]
    name = r.choice(("d.svm", "d.csv", "d.csv", "d.tsv", "d", "d.svm.gz", "d.csv.gz"))
    Path(name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    for module in (raw, csv_text, parquet):
        module.HEAD_ROWS = (4, 10_000)[data[:1] < b"\x80"]
    reading = ["--on-error", "skip"] if r.random() < 0.4 else []
    more = {
        "--scale": ["none", "minmax", "std", "maxabs", "row-l2", "std,row-l2"],
        "--missing": ["mean", "zero", "error", "skip"],
    }
    more |= {"--hash-bits": ["3", "12"], "--dtype": ["float64"], "--passes": ["2"], "--classes": ["0,1,x"]}
    more |= {"--positive": ["1", "0", "yes"], "--shuffle": ["block"], "--seed": ["7"]}
    argv = [w for k, v in more.items() if r.random() < 0.15 for w in (k, r.choice(v))]
    reads = {"--categorical": ["1", "a"], "--ignore": ["2", "w"], "--delimiter": [";", "tab"], "--quote": ["", "'"]}
    reads |= {"--encoding": ["latin1", "utf-16", "cp1252"], "--decimal": [","], "--limit": ["3"]}
    argv += [w for k, v in reads.items() if r.random() < 0.08 for w in (k, r.choice(v))]
    argv += ["--no-header"] * (r.random() < 0.1) + ["--no-bias"] * (r.random() < 0.1) + reading
    argv += ["--label", r.choice(("last", "last", "first", "1", "y", "party"))] * (r.random() < 0.9)
    algo, sizes, found = r.choice(list(registry.specs())), (r.choice(("64", "100", "1000")), "4MiB"), []
    for k, size in enumerate(sizes):
        found.append(call("train", name, "-q", "--algo", algo, "-o", f"{k}.npz", "--block-size", size, *argv))
    same(*found, "train, by block size")
    if found[0][0]:
        return f"train {found[0][0]}"
    insist("block" in argv or Path("0.npz").read_bytes() == Path("1.npz").read_bytes(), "models differ by block size")
    load(Path("0.npz"))
    reading += ["--limit", "3"] * ("--limit" in argv)
    found = [call("predict", "0.npz", name, "-q", "--scores", "--block-size", size, *reading) for size in sizes]
    same(*found, "predict, by block size")
    insist(found[0][0] == 0, f"train gave 0, predict {found[0]}")
    code, _, said = call(
        *r.choice((["evaluate", "0.npz", name, "--json", "-q", *reading], ["info", "0.npz", "--json"]))
    )
    insist(code == 0, f"train gave 0, evaluate or info: {said}")
    return "trained"


CHECKS = {"libsvm": look_libsvm, "csv": look_csv, "model": look_model, "cli": look_cli}
SEEN = ["off"]  # forbidden things that the loader did; switched off by a first entry


def watch(event: str, args: tuple[Any, ...]) -> None:
    """Audit hook: note what a loader has no business to do."""
    if SEEN[:1] == ["off"]:
        return
    writes = event == "open" and (set(str(args[1])) & set("wax+") or (args[2] or 0) & (os.O_WRONLY | os.O_RDWR))
    if writes or event.split(".", 1)[0] in ("exec", "pickle", "subprocess", "socket", "ctypes") or event == "os.system":
        SEEN.append(f"{event} {args}"[:200])


# The run


def worker(args: argparse.Namespace, name: str, begin: int) -> None:
    """Inputs from number `begin` on until the time is up; a line of JSON on standard output says what was found."""
    check, texts = CHECKS[name], corpus(name)
    edit = altered if name == "model" else edited
    for text in texts[:: 4 if name == "model" else 1]:  # compiles what is to be compiled
        with contextlib.suppress(Exception):
            check(text if name == "model" else b"ab" + text)
    sys.addaudithook(watch)
    with open("/proc/self/statm") as f:
        most = int(f.read().split()[0]) * resource.getpagesize() + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))
    came, found, began = Counter[str](), Counter[str](), time.monotonic()

    def attempt(data: bytes) -> None:
        Path(args.save, f".{name}").write_bytes(data)
        start = time.monotonic()
        try:
            came[check(data)] += 1
            insist(time.monotonic() - start < SLOW, f"took {time.monotonic() - start:.0f} s")
        except Exception as e:
            frame = traceback.extract_tb(e.__traceback__)[-1]
            key = f"{type(e).__name__} {Path(frame.filename).name}:{frame.name}: " + re.sub("[0-9]+", "N", str(e))[:60]
            found[key] += 1
            if found[key] <= 2:
                file = Path(args.save, f"{name}-{zlib.crc32(data):08x}")
                file.write_bytes(data)
                print(f"{name}: {file.name}: {type(e).__name__}: {str(e)[:700]}", file=sys.stderr, flush=True)
        if time.monotonic() - began > args.seconds:
            took = time.monotonic() - began
            print(json.dumps({"seconds": took, "inputs": came.total() + found.total(), "came": came, "found": found}))
            sys.stdout.flush()
            os._exit(bool(found))

    if GUIDED:
        seeds = Path(tempfile.mkdtemp(dir="."))
        for i, text in enumerate(texts):
            (seeds / str(i)).write_bytes(text if name == "model" else b"ab" + text)

        def change(data: bytes, most: int, seed: int) -> bytes:
            return edit(random.Random(seed), data, texts)[:most]

        flags = [f"-seed={args.seed + begin}", f"-max_len={MOST * (9 if name == 'model' else 1)}", "-rss_limit_mb=0"]
        atheris.Setup([name, *flags, "-verbosity=0", str(seeds)], attempt, custom_mutator=change)
        atheris.Fuzz()
    for i in count(begin):
        Path(args.save, f".{name}.at").write_text(str(i))
        r = random.Random(f"{name} {args.seed} {i}")
        data = r.choice(texts)
        if name != "model":
            data = r.randbytes(2) + data
        for _ in range(r.choice((1, 1, 2, 3, 5, 9) if name != "model" else (1, 1, 2))):
            data = edit(r, data, texts)
        attempt(data if name == "model" else data[:MOST])


def fuzz(args: argparse.Namespace, name: str) -> int:
    """Workers for one target until the time is up."""
    end, begin = time.monotonic() + args.seconds, 0
    total, came, found = [0.0, 0], Counter[str](), Counter[str]()
    while (left := end - time.monotonic()) > 0 or not total[1]:
        words = [
            name,
            "--seed",
            str(args.seed),
            "--seconds",
            str(max(left, 1)),
            "--save",
            args.save,
            "--begin",
            str(begin),
        ]
        with tempfile.TemporaryDirectory() as folder:
            ran = subprocess.run(
                [sys.executable, __file__, *words, *["--guided"] * GUIDED],
                stdout=subprocess.PIPE,
                cwd=folder,
                check=False,
            )
        if ran.returncode in (0, 1) and ran.stdout.strip():
            said = json.loads(ran.stdout.splitlines()[-1])
            total = [total[0] + said["seconds"], total[1] + said["inputs"]]
            came.update(said["came"])
            found.update(said["found"])
        else:
            at, last = Path(args.save, f".{name}.at"), Path(args.save, f".{name}")
            if not at.exists():
                raise SystemExit(f"{name}: the worker could not begin")
            file = last.rename(Path(args.save, f"{name}-{zlib.crc32(last.read_bytes()):08x}"))
            begin = int(at.read_text()) + 1
            at.unlink()
            found[f"the process died: {ran.returncode}"] += 1
            total[1] += 1
            print(f"{name}: {file.name}: the process died: {ran.returncode}", file=sys.stderr)
    print(f"{name}: {total[1]} inputs in {total[0]:.0f} s, {total[1] / max(total[0], 1):.0f}/s; {dict(came)}")
    for what, n in found.items():
        print(f"{name}: {n} x {what}")
    return int(bool(found))


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("target", nargs="+", choices=CHECKS)
    p.add_argument("--seconds", type=float, default=10, help="for each target")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--save", default="findings", help="folder for inputs at which a promise was not kept")
    p.add_argument("--guided", action="store_true", help="by coverage, with atheris")
    p.add_argument("--replay", help="check the input in this file only")
    p.add_argument("--begin", type=int, help=argparse.SUPPRESS)
    args = p.parse_args()
    faulthandler.enable()
    args.save = str(Path(args.save).resolve())
    Path(args.save).mkdir(exist_ok=True, parents=True)
    if args.replay:
        data = Path(args.replay).read_bytes()
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            print(CHECKS[args.target[0]](data))
        return 0
    if args.begin is not None:
        worker(args, args.target[0], args.begin)
    return max(fuzz(args, name) for name in args.target)


if __name__ == "__main__":
    sys.exit(main())
