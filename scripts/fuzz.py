r"""Fuzzing within bounds: the LIBSVM and CSV readers, the loader of models, and the command line.

    python scripts/fuzz.py libsvm csv model cli --seconds 60 --seed 1 --save findings
    python scripts/fuzz.py csv --replay findings/csv-1a2b3c4d

Input i of a seed is always the same: one of the corpus after random edits; the first two bytes of texts choose options.
A child does the work; when it dies, another goes on behind that input. With `--guided` (extra `fuzz`: atheris) the
coverage of what is not compiled chooses the inputs. Exit code 1: a promise was not kept, and its input was saved.
"""

from __future__ import annotations

import argparse
import codecs
import contextlib
import csv
import faulthandler
import gzip
import io
import itertools
import json
import os
import random
import re
import resource
import struct
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

PLAIN = """jit block draws kernels reading.libsvm_kernel reading.libsvm_tokens reading.decimals reading.encode_kernel
reading.map_kernel"""
if guided := "--guided" in sys.argv:
    import atheris
with atheris.instrument_imports(["bigclf"], [f"bigclf.{m}" for m in PLAIN.split()]) if guided else io.BytesIO():
    from bigclf.algorithms import registry
    from bigclf.cli import check, evaluate, info, merge, predict, train, training  # noqa: F401
    from bigclf.cli.main import main as bigclf
    from bigclf.cli.session import idle
    from bigclf.errors import BigclfError, ModelFileError
    from bigclf.model import load
    from bigclf.reading import csv_text, libsvm, parquet, raw
    from bigclf.reading.libsvm_strict import LineFault, TooWide, parse_line
    from bigclf.reading.options import MISSING_TOKENS, ReadOptions
    from bigclf.reading.raw import Skips, Words
    from bigclf.reading.source import find
    from bigclf.reading.table import TRUTH, Kinds, spell

SAMPLES = Path(__file__).resolve().parent.parent / "sample_data"
LONGEST, SLOW, ROOM = 6000, 20.0, 1 << 30  # bytes of a text; seconds and bytes more that an input may take
NUMBERS = b"""0 -0 +1 1. .5 . - + 1e5 1e-400 1e400 -1e309 4.9e-324 1.7976931348623159e308 9007199254740993 0x10 1_0 1,5
nan -NaN inf +Infinity 1e 1e+ 1d3 --1 1.2.3 00000000000000000000001 1e0000000000001 2147483645 2147483646 4294967297
9223372036854775808 18446744073709551616 0.1000000000000000055511151231257827021181583404541015625 true False 8.5e-324
2.2250738585072011e-308 123456789012345678901234567890 NA N/A null ? NULL none 2024-01-31 1e999 -1 ()""".split()
TOKENS = rb"""\0 \r \r\n \n \n\n \x20 \t \v \f " "" "a\nb" ' , ,, \xef\xbb\xbf \xff\xfe \xff \xc3\xa9 \xe2\x80\xa8
\xc2\x85 \xc2\xa0 \xf0\x9f\x98\x80 : :: \x201: \x20:1 \x201:1\x201:1 \x20qid:7 \x20qid: # \x20#c ; \x1a \x7f [red]
{} %s \\ label
first last 1 99999999999999999999 PAR1 \x1f\x8b ( ) f4 f8 |O <c16 >f8 |S0 <M8 V8 i8 u1 True""".split()
TOKENS = [codecs.escape_decode(t)[0] for t in TOKENS] + [b"a" * 41, b"x" * 4097, b"(" * 5000, b"[" * 5000]
SVM = rb"""+1 1:0.5 3:-1.25\n-1 2:4e-3 3:1 # c\n\n+1\n-1 0:1 5:2\n-1 2:4e-3 3:1 # c\n\n+1\n-1 0:1 5:2\n
a 3:1 1:2\nb 2:1\n\tc  7:1\t8:.5\r\na 1:2\n1 qid:3 1:1\n0 qid:4 2: 5\n# x\n1 1:1 2:2 3:3 4:4 5:5
yes_it_is_long 1:1\nno_it_is_longer 1:2\nyes_it_is_long 1:3\n"""
CSV = rb'''a,w,y\n1,red,0\n2.5,blue,1\n,red,0\n-3e2,,1\n2.5,blue,1\n,red,0\n-3e2,,1\n
y,a,w\nyes,1,"x, ""q"""\nno,2,"two\nlines"\nyes,1,"x, ""q"""\nno,2,"two\nlines"
a,w,label\ntrue,u,1\nFalse,v,0\nNA,u,1\n?,u,0\na;b;y\n1,5;2;x\n-,5;3;y\n
1,2,0\n3,4,1\n5,6,0\n7,8,1\n
zip,y\n007,a\n7.0,b\n1e1,a\n\n
\xef\xbb\xbfa\tw\ty\r\n1\tr\t0\r\n2\tb\t1\r\n
\xc3\xa9,\xc3\xbc,y\n1,\xc3\x9f,\xc3\xa4\n2,\xc3\xb6,b\n'''
SVM, CSV = ([codecs.escape_decode(line)[0] for line in text.splitlines()] for text in (SVM, CSV))
ODD = json.loads(r"""[0, -1, 1, 2, 7, 1000000, 1000000000000, 9223372036854775808, 1e30, 0.5, -0.0, 1e308, 1e999, NaN,
null, true, "", "x", "a\nb", "\ud800", [], {}, [[]], {"a": 1}, ["0"], ["0", "0"], ["0", "1", "2"], "csr", "table"]""")


class Wrong(Exception):
    """A promise that was not kept."""


def insist(kept: bool, what: object) -> None:
    if not kept:
        raise Wrong(what)


def same(a: list[Any], b: list[Any], what: str) -> None:
    if a != b:
        x, y = next((x, y) for x, y in itertools.zip_longest(a, b) if x != y)
        raise Wrong(f"{what}: {x!r} is not {y!r}"[:1000])


def edited(r: random.Random, data: bytes, corpus: list[bytes]) -> bytes:
    """Text after one random edit."""
    a, b = sorted(r.choices(range(len(data) + 1), k=2))
    token, edit = r.choice(TOKENS if r.random() < 0.6 else NUMBERS), r.randrange(10)
    if edit < 7:
        bit = bytes([data[a] ^ 1 << r.randrange(8)]) if a < len(data) else b""
        new = (bit, token, token, b"", r.choice(corpus)[r.randrange(40) :][: r.randrange(1, 400)])
        new += (data[a:b] * r.choice((2, 2, 3, 9)), b"")
        return data[:a] + new[edit] + data[(a + 1, a, a, a + r.randrange(1, 9), b, b, len(data))[edit] :]
    words = list(re.finditer(rb"[-+.0-9eE]+" if edit < 9 else rb"[^,;:\s]+", data))
    at = r.choice(words).span() if words else (a, a)
    return data[: at[0]] + (r.choice(NUMBERS) if edit < 9 else token) + data[at[1] :]


def poked(r: random.Random, value: Any) -> Any:
    """A JSON document after one edit."""
    if isinstance(value, dict | list) and value and r.random() < 0.9:
        key = r.choice(sorted(value)) if isinstance(value, dict) else r.randrange(len(value))
        new = poked(r, value[key])
        if r.random() < 0.9:
            return {**value, key: new} if isinstance(value, dict) else [*value[:key], new, *value[key + 1 :]]
        return {k: v for k, v in value.items() if k != key} if isinstance(value, dict) else [*value[:key], new, *value]
    return value + r.choice((-1, 1, 100)) if isinstance(value, int) and r.random() < 0.3 else r.choice(ODD)


def altered(r: random.Random, data: bytes, corpus: list[bytes]) -> bytes:
    """A model after one edit: of its bytes, its members, their type, shape and content, or its header."""
    edit = r.randrange(8)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as z:
            parts = {i.filename: z.read(i) for i in z.infolist()}
        name = r.choice(sorted(parts)) if edit < 4 else "header.npy"
        n = 10 + int.from_bytes(parts[name][8:10], "little")
        head, body = parts[name][10:n], parts[name][n:]
        if edit == 0:
            return edited(r, data, corpus)
        if edit == 1:
            parts[r.choice(["../x.npy", "x", *parts])] = parts.pop(name)
        elif edit in {2, 4}:
            head = edited(r, head, corpus)
        elif edit == 3:
            at = r.randrange(len(body) // 8 + 1) * 8
            odd = struct.pack("<d", r.choice([0, -1, 1e308, 1e30, float("inf"), float("nan")]))
            body = (body[:at] + odd + body[at + 8 :])[: r.choice((len(body), None))]
        else:
            body = edited(r, body, corpus) if edit == 5 else json.dumps(poked(r, json.loads(body))).encode()
            head = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({len(body)},)}}\n".encode()
        if edit > 1:
            parts[name] = b"\x93NUMPY\x01\0" + len(head).to_bytes(2, "little") + head + body
        with io.BytesIO() as f:
            with zipfile.ZipFile(f, "w", zipfile.ZIP_STORED if r.random() < 0.97 else zipfile.ZIP_DEFLATED) as z:
                for name, part in parts.items():
                    z.writestr(zipfile.ZipInfo(name), part)
            return f.getvalue()
    except Exception:
        return edited(r, data, corpus)  # it is no whole model any more


def corpus(name: str) -> list[bytes]:
    """Valid and odd inputs to begin with."""
    svm = [(SAMPLES / f).read_bytes()[:2000] for f in ("heart_scale.svm", "malformed.svm")] + [b"", *SVM]
    svm.append(gzip.decompress((SAMPLES / "dna_train.svm.gz").read_bytes())[:1500])
    tables = [(SAMPLES / "votes_words.csv").read_bytes()[:3000], *CSV]
    if name != "model":
        stored = io.BytesIO()
        pq.write_table(pa.table({"a": [1.5, None, 3] * 4, "w": ["u", "v", None] * 4, "y": [0, 1] * 6}), stored)
        return {"libsvm": svm, "csv": tables, "cli": [*svm, *tables, stored.getvalue(), stored.getvalue()]}[name]
    found = []
    for algo in registry.specs():
        for text, *how in ((SVM[0],), (CSV[0], "--label", "y"), (SVM[0], "--hash-bits", "4", "--classes", "2,x")):
            Path("d").write_bytes(text)
            insist(call("train", "d", *how, "--algo", algo, "-q", "-o", "m.npz")[0] == 0, "no model to begin with")
            found.append(Path("m.npz").read_bytes())
    return found


def twice(read: Any, sizes: tuple[int, int], skips: Any) -> tuple[list[Any], list[str], Any]:
    """Rows (number, place, label, values, whether of the head), faults and reader; the same for two block sizes."""
    found = []
    for size in sizes:
        rows, faults = [], Skips(skips, LONGEST)
        try:
            for part in (reader := read(size, faults)):
                label = [None] * len(part.row) if part.label is None else plain(part.label)
                if isinstance(part.data, dict):
                    values = list(zip(*map(plain, part.data.values()), strict=True)) or [()] * len(part.row)
                else:
                    p, c, v = part.data[0].tolist(), part.data[1].tolist(), list(map(repr, part.data[2].tolist()))
                    values = [list(zip(c[a:b], v[a:b], strict=True)) for a, b in itertools.pairwise(p)]
                lines = [part.where(i) for i in range(len(part.row))]
                rows += zip(part.row.tolist(), lines, label, values, [part.head] * len(lines), strict=True)
        except BigclfError as e:
            rows, faults.faults = ["stopped"], [*faults.faults, e]  # type: ignore[list-item]
        found.append((rows, [str(f) for f in faults.faults], reader))
    same(found[0][1] + found[0][0], found[1][1] + found[1][0], f"block sizes {sizes}")
    return found[1]


def plain(column: Any) -> list[str | None]:
    if isinstance(column, Words):
        return [column.names[c] if c >= 0 else None for c in column.code]
    return [None if v != v else repr(v) for v in column.tolist()]


def look_libsvm(data: bytes) -> str:
    """The compiled reader, for two block sizes, gives the rows and faults of the strict parser."""
    r, text = random.Random(data[:2]), data[2:]
    how = {"need_label": r.random() < 0.7, "max_column": r.choice((2**31 - 2, 8)), "hash_bits": r.choice((0, 0, 5))}
    options, stop = ReadOptions(**how), r.random() < 0.5
    raw.HEAD_ROWS, raw.HEAD_BYTES = r.choice((1, 4, 10**4)), r.choice((0, 40, 1 << 26))
    Path("d").write_bytes(text)
    source = find(["d"], "libsvm")

    def read(size: int, skips: Skips) -> Any:
        return libsvm.read(source, ReadOptions(block_size=size, **how), skips)

    rows, faults, _ = twice(read, (r.choice((8, 17, 64, 300)), 1 << 16), stop)
    if source[0].compression or text[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "no text"
    wanted, wrong = [], []
    for n, line in enumerate((text.removeprefix(b"\xef\xbb\xbf") + b"\n").split(b"\n")[:-1], 1):
        try:
            if row := parse_line(line, options):
                entries = [(i + 1, repr(v)) for i, v in sorted(row.entries)]
                wanted.append((len(wanted) + len(wrong), f"d:{n}", row.label, entries))
        except LineFault as e:
            wrong.append(f"d:{n}:{e.column}: {e.what}")
            if stop := stop or (
                isinstance(e, TooWide) and how["max_column"] == 8
            ):  # for want of memory: no row is dropped
                break
    same(faults, wrong, "faults of reader and parser")
    if not (stop and wrong):
        keep = 3 if options.hash_bits else 4
        same([x[:keep] for x in rows], [x[:keep] for x in wanted], "rows of reader and parser")
    return "faults" if faults else "rows"


def look_csv(data: bytes) -> str:
    """Rows and faults are the same for two block sizes; where there are no faults, they are those of Python's csv."""
    r, text = random.Random(data[:2]), data[2:]
    how = {"need_label": r.random() < 0.7, "header": r.random() < 0.8, "quote": r.choice(('"', '"', '"', "", "'"))}
    how |= {"label": r.choice(("last", "last", "first", "2", "y", None)), "categorical": r.choice(((), (), ("1",)))}
    how |= r.choice(({}, {}, {"delimiter": ";"}, {"delimiter": "\t"}, {"delimiter": ";", "decimal": ","}))
    options, stop = ReadOptions(**how), r.random() < 0.5
    csv_text.HEAD_ROWS, csv_text.HEAD_BYTES = r.choice((1, 4, 10**4)), r.choice((0, 40, 1 << 26))
    given = Kinds((("a", "number"), ("w", "words")), "y") if r.random() < 0.15 else None
    Path("d").write_bytes(text)
    source = find(["d"], "csv")

    def read(size: int, skips: Skips) -> Any:
        return csv_text.CsvReader(source, ReadOptions(block_size=size, **how), skips, given)

    rows, faults, reader = twice(read, (r.choice((8, 17, 64, 300)), 1 << 16), stop)
    if faults or not rows or not options.header or source[0].compression:
        return "faults" if faults else "rows"
    lines = io.StringIO(text.decode("utf-8-sig"), newline="")
    quoting = {"quotechar": options.quote} if options.quote else {"quoting": csv.QUOTE_NONE}
    lines = csv.reader(lines, delimiter=options.delimiter or ",", **quoting)
    names, *records = ([field.strip(" \t") for field in record] for record in lines if record)

    def value(field: str, kind: str) -> str | None:
        if kind == "words" or field in MISSING_TOKENS:
            return spell(field, options.decimal)
        return repr(float(field in TRUTH[:3] if field in TRUTH else field.replace(options.decimal, ".")))

    columns = [(names.index(name), kind) for name, kind in reader.kinds.columns]
    label = names.index(reader.kinds.label) if reader.kinds.label in names else None
    wanted = [tuple(value(c[at], kind) for at, kind in columns) for c in records]
    same([x[3] for x in rows], wanted, "rows of reader and csv module")
    same([x[2] for x in rows], [None if label is None else value(c[label], "words") for c in records], "labels")
    return "compared"


def call(*argv: str) -> tuple[int, bytes, str]:
    """One command in this process: exit code, output, and what came to standard error, warnings included."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", how) for how in ("strict", "backslashreplace"))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        code = bigclf(list(argv))
    for text in (out, err):
        text.flush()
    said = err.buffer.getvalue().decode() + "".join(f"{w.category.__name__}: {w.message}\n" for w in seen)
    one = said.startswith("bigclf: ") and said.endswith("\n") and len(said.splitlines()) == 1
    one |= argv[0] == "check" and all(line.startswith("bigclf: ") for line in said.split("\n")[:-1])  # a line a fault
    insist((code in (1, 2) and one) or (code == 0 and not said), f"exit code {code}, standard error: {said[:600]!r}")
    insist("out of memory" not in said, said)
    insist(not [n for n in os.listdir() if n.endswith(".tmp")], "a temporary file stayed")
    return code, out.buffer.getvalue(), said


def look_model(data: bytes) -> str:
    """An altered model is refused, or commands use it in an orderly way; the loader runs and writes nothing."""
    r = random.Random(zlib.crc32(data))
    Path("m.npz").write_bytes(data)
    SEEN[:] = [True]
    try:
        load(Path("m.npz"))
    except ModelFileError as e:
        insist("\n" not in str(e), f"more than one line: {e!r}")
        return "refused"
    finally:
        forbidden, SEEN[:] = SEEN[1:], []
    insist(not forbidden, forbidden)
    table, rows = r.choice(((SVM[0], 7), (CSV[0], 7)))
    Path("d").write_bytes(table)
    commands = ["predict m.npz d --scores -q"] * 3 + ["evaluate m.npz d -q", "info m.npz --weights"]
    commands += ["merge m.npz m.npz -q -o n.npz", "train d --continue m.npz -q -o n.npz"]
    argv = r.choice(commands).split()
    code, out, _ = call(*argv)
    insist(code or argv[0] != "predict" or out.count(b"\n") == rows, f"{rows} rows, output {out!r}")
    return f"{argv[0]} {code}"


def look_cli(data: bytes) -> str:
    """Train and predict end in an orderly way, and give the same for two block sizes."""
    r, text = random.Random(data[:2]), data[2:]
    name = r.choice(("d.svm", "d.csv", "d.csv", "d.tsv", "d", "d.svm.gz", "d.csv.gz"))
    Path(name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    raw.HEAD_ROWS = csv_text.HEAD_ROWS = parquet.HEAD_ROWS = r.choice((4, 10_000))
    argv = [w for words in OPTIONS if r.random() < 0.08 for w in (words[0], *r.sample(words[1:], len(words) > 1))]
    reads = [["--label", r.choice(("last", "last", "first", "1", "y", "party"))]] * (r.random() < 0.9)
    reads += [[words[0], *r.sample(words[1:], len(words) > 1)] for words in READS if r.random() < 0.08]
    with contextlib.suppress(BigclfError):  # that train tells too
        sources = find([name])
        reads = [words for words in reads if not idle({re.sub("--(no-)?", "", words[0]): ""}, sources)]
    reads = [w for words in reads for w in words]
    reading = ["--on-error", "skip"] if r.random() < 0.4 else []
    algo, sizes = r.choice(list(registry.specs())), (r.choice(("64", "100", "1000")), "4MiB")
    found = []
    for k, size in enumerate(sizes):
        how = ["-q", "--algo", algo, "--block-size", size, "-o", f"{k}.npz"]
        found.append(call("train", name, *how, *argv, *reads, *reading))
    # not the same for any block: memory, and which of two faults comes first, of the text or of what is made of it
    told = re.search(" after row |bigclf: --|is beyond|saved as|are left of|is missing;", found[0][2] + found[1][2])
    same(*(list(f[: 1 if told else 3]) for f in found), f"train, block sizes {sizes}")
    if found[0][0]:
        code = call("check", name, "-q", *reads)[0]
        told = (
            code
            or {"--missing", "--features", "--scale"} & set(argv)
            or not re.match("bigclf: d[.a-z]*:[0-9]", found[0][2])
        )
        insist(told, f"check gave 0, train {found[0]}")
        return f"train {found[0][0]}, check {code}"
    insist("block" in argv or Path("0.npz").read_bytes() == Path("1.npz").read_bytes(), f"models, blocks of {sizes}")
    hashed = argv[argv.index("--hash-bits") :][:2] if "--hash-bits" in argv else []
    checked = call("check", name, "-q", *reads, *hashed)
    insist(reading or checked[0] == 0, f"train gave 0, check {checked}")
    reading += ["--limit", "3"] * ("--limit" in reads)
    found = [call("predict", "0.npz", name, "-q", "--scores", "--block-size", size, *reading) for size in sizes]
    if "is beyond" in found[0][2]:  # in a row that train dropped for its label
        return "predict 1"
    same(*map(list, found), f"predict, block sizes {sizes}")
    ends = [found[0], call("evaluate", "0.npz", name, "-q", *reading), call("info", "0.npz")]
    insist(not any(code for code, *_ in ends), f"train gave 0; predict, evaluate, info: {ends}")
    return "trained"


OPTIONS = """--scale none minmax std maxabs row-l2 std,row-l2\n--missing mean zero error skip
--hash-bits 3 8\n--no-bias\n--dtype float64\n--passes 2\n--classes 0,1,x\n--positive 1 0 yes\n--shuffle block
--seed 7\n--features rm poly rff rff\n--order 1 3\n--rff-dim 1 5\n--sigma 0.1 1e3\n--max-features 9 300
--class-weight online 1=2 yes=.5"""
READS = """--categorical 1 a\n--ignore 2 w\n--delimiter ; tab\n--quote ' "\n--encoding latin1 utf-16 cp1252\n--decimal ,
--limit 3\n--no-header"""
OPTIONS, READS = ([line.split() for line in text.splitlines()] for text in (OPTIONS, READS))
CHECKS = {"libsvm": look_libsvm, "csv": look_csv, "model": look_model, "cli": look_cli}
SEEN: list[Any] = []  # True while a model is loaded, then what the loader has no business to do


def watch(event: str, args: tuple[Any, ...]) -> None:
    """Audit hook."""
    if not SEEN:
        return
    wrote = event == "open" and (set(str(args[1])) & set("wax+") or (args[2] or 0) & (os.O_WRONLY | os.O_RDWR))
    if wrote or event.partition(".")[0] in ("exec", "pickle", "subprocess", "socket", "ctypes") or event == "os.system":
        SEEN.append(f"{event} {args}"[:200])


class Run:
    """Inputs of one target until the time is up. What came of them is kept in a file, for when the process dies."""

    def __init__(self, args: argparse.Namespace, name: str, begin: int) -> None:
        self.name, self.seed, self.at, self.save = name, args.seed, begin, Path(args.save)
        self.look, self.corpus, self.edit = CHECKS[name], corpus(name), altered if name == "model" else edited
        if name != "model":
            self.corpus = [b"ab" + text for text in self.corpus]
        for text in self.corpus[::4] + (corpus("model") if name == "cli" else []):  # compiles, and takes its memory
            with contextlib.suppress(Exception):
                self.look(text)
        sys.addaudithook(watch)
        with open("/proc/self/statm") as f:
            room = int(f.read().split()[0]) * resource.getpagesize() + ROOM
        resource.setrlimit(resource.RLIMIT_AS, (room, resource.getrlimit(resource.RLIMIT_AS)[1]))
        self.came, self.end = Counter[str](), time.monotonic() + args.seconds

    def made(self) -> bytes:
        """Input number `at`."""
        r = random.Random(f"{self.name} {self.seed} {self.at}")
        data = r.choice(self.corpus)
        if self.name != "model":
            data = r.randbytes(2) + data[2:]
        for _ in range(r.choice((1, 1, 2, 3, 5, 9) if self.name in ("libsvm", "csv") else (1, 1, 1, 2, 3))):
            data = self.edit(r, data, self.corpus)
        return data if self.name == "model" else data[:LONGEST]

    def one(self, data: bytes) -> None:
        """Check one input; at the end of the time leave."""
        (self.save / f".{self.name}").write_bytes(self.at.to_bytes(8) + data)
        start = time.monotonic()
        try:
            self.came[self.look(data)] += 1
            insist(time.monotonic() - start < SLOW, f"took {time.monotonic() - start:.0f} s")
        except (Exception, SystemExit) as e:
            at = [
                f"{Path(f.filename).name}:{f.name}"
                for f in traceback.extract_tb(e.__traceback__)
                if "bigclf/" in f.filename
            ]
            at = at or ["-"]
            key = re.sub("[^ -~]|[0-9]+", "N", f"! {type(e).__name__} {at[-1]} {e}")[:80]
            self.came[key] += 1
            if self.came[key] <= 2:
                kept(self.save, self.name, data, f"{type(e).__name__}: {str(e)[:700]}")
        self.at += 1
        if time.monotonic() > self.end:
            (self.save / f".{self.name}.json").write_text(json.dumps([self.at, self.came]))
            os._exit(0)

    def go(self) -> None:
        while not guided:
            self.one(self.made())
        seeds = Path(tempfile.mkdtemp(dir="."))
        for i, text in enumerate(self.corpus):
            (seeds / str(i)).write_bytes(text)
        flags = [f"-seed={self.seed + self.at}", f"-max_len={LONGEST * 9}", "-rss_limit_mb=0", "-verbosity=0"]
        change = lambda data, most, seed: self.edit(random.Random(seed), data, self.corpus)[:most]  # noqa: E731
        atheris.Setup([self.name, *flags, str(seeds)], self.one, custom_mutator=change)
        atheris.Fuzz()


def kept(save: Path, name: str, data: bytes, what: str) -> None:
    """Save an input and say what came of it."""
    file = save / f"{name}-{zlib.crc32(data):08x}"
    file.write_bytes(data)
    print(f"{name}: {file.name}: {what}", file=sys.stderr, flush=True)


def fuzz(args: argparse.Namespace, name: str) -> bool:
    """Children work on one target until the time is up. Says whether all promises were kept."""
    last, result, deaths = Path(args.save, f".{name}"), Path(args.save, f".{name}.json"), 0
    result.unlink(missing_ok=True)
    begin, took, end = 0, args.seconds, time.monotonic() + args.seconds
    while not result.exists():
        last.unlink(missing_ok=True)
        args.seconds = max(1, end - time.monotonic())
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            if not (child := os.fork()):
                try:
                    Run(args, name, begin).go()
                finally:
                    traceback.print_exc()
                    os._exit(3)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if not result.exists():
            insist(last.exists(), f"{name}: the child could not begin")
            begin, deaths = int.from_bytes(last.read_bytes()[:8]) + 1, deaths + 1
            kept(Path(args.save), name, last.read_bytes()[8:], f"the process died with {status}")
    total, came = json.loads(result.read_text())
    good = ", ".join(f"{what}: {n}" for what, n in came.items() if what[0] != "!")
    print(f"{name}: {total} inputs in {took:.0f} s, {total / took:.0f}/s, {deaths} deaths; {good}")
    for what, n in came.items():
        if what[0] == "!":
            print(f"{name}: {n} x {what[2:]}")
    return not deaths and not any(what[0] == "!" for what in came)


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("target", nargs="+", choices=CHECKS)
    p.add_argument("--seconds", type=float, default=10, help="for each target")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--save", default="findings", help="folder for inputs at which a promise was not kept")
    p.add_argument("--guided", action="store_true", help="by coverage, with atheris")
    p.add_argument("--replay", type=Path, help="check the input in this file only")
    args = p.parse_args()
    faulthandler.enable()
    args.save = str(Path(args.save).resolve())
    if args.replay:
        data = args.replay.read_bytes()
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            print(CHECKS[args.target[0]](data))
        return 0
    Path(args.save).mkdir(exist_ok=True, parents=True)
    seconds = args.seconds
    good = [fuzz(argparse.Namespace(**{**vars(args), "seconds": seconds}), name) for name in args.target]
    return int(not all(good))


if __name__ == "__main__":
    sys.exit(main())
