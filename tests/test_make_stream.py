"""The script that makes streams of changing class ratio: what is in each stage, and whose rows they are."""

from __future__ import annotations

import bz2
import gzip
import subprocess
import sys
from collections import Counter
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

SCRIPT = Path(__file__).parent.parent / "scripts" / "make_stream.py"


@pytest.fixture(scope="module")
def script():
    spec = spec_from_file_location("make_stream", SCRIPT)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def stream(script, folder, capsys):
    """Makes a stream of a file, which must succeed. Returns its bytes and what was said."""

    def make(data, kind, *words):
        assert script.main([data, "--kind", kind, "-o", "out", *map(str, words)]) == 0
        said = capsys.readouterr()
        assert said.out == ""
        return (folder / "out").read_bytes(), said.err.splitlines()

    return make


@pytest.fixture
def refused(script, folder, capsys):
    """Makes a stream where that must fail with one line and no file. Returns the line."""

    def make(data, kind, *words, code=1):
        assert script.main([data, "--kind", kind, "-o", "out", *map(str, words)]) == code
        err = capsys.readouterr().err
        assert err.startswith("make_stream: ") and err.count("\n") == 1
        assert not (folder / "out").exists() and not list(folder.glob(".*.tmp"))
        return err.strip().removeprefix("make_stream: ")

    return make


@pytest.fixture
def wrong(script, capsys):
    """Gives options that cannot be meant. Returns the last line."""

    def make(*words):
        with pytest.raises(SystemExit) as e:
            script.main(["data", "-o", "out", *words])
        assert e.value.code == 2
        return capsys.readouterr().err.splitlines()[-1]

    return make


def svm(rare, rest, more=""):
    """LIBSVM text: so many rows of class 1 and of class -1, sorted by class, each told by its value."""
    return "".join(f"{'+1' if i < rare else '-1'} 1:{i}{more}\n" for i in range(rare + rest))


def is_rare(out):
    return np.array([line.startswith(b"+1 ") for line in out.splitlines()])


def ratios(out, ends):
    """Rows of the rest over rows of class 1, stage by stage."""
    return [(~part).sum() / part.sum() for part in np.split(is_rare(out), ends)[:-1]]


# The ratio of each stage


@pytest.mark.parametrize(
    ("kind", "expected"), [("increase", [1, 4, 20]), ("decrease", [20, 4, 1]), ("flip", [9, 1 / 9])]
)
def test_a_stage_has_its_exact_share(stream, write, kind, expected):
    n = 2100 if len(expected) == 3 else 2000
    out, _ = stream(write("a.svm", svm(3000, 3000)), kind, "--rows", n)
    ends = np.arange(1, len(expected) + 1) * n // len(expected)
    for part, ratio in zip(np.split(is_rare(out), ends), expected):
        assert abs(part.sum() - len(part) / (1 + ratio)) <= 1
    assert len(is_rare(out)) == n


def test_table_xi_is_made(stream, write):
    """MagicTelescope, sudden increase: ratio 1 up to row 4000, 4 up to row 6500, 20 up to row 8600."""
    ends = [4000, 6500, 8600]
    out, said = stream(write("a.svm", svm(6688, 12332)), "increase", "--ends", "4000,6500,8600")
    assert ratios(out, ends) == [1, 4, 20] and len(is_rare(out)) == 8600
    assert said == [
        "8600 rows, class '1' against the rest",
        "class '1': 2600 of 6688 rows",
        "the rest: 6000 of 12332 rows",
        "4000 rows at ratio 1: 2000 to 2000, which is 1",
        "2500 rows at ratio 4: 2000 to 500, which is 4",
        "2100 rows at ratio 20: 2000 to 100, which is 20",
    ]


def test_a_gradual_ratio_is_followed_all_the_way(stream, write):
    """Rows of the class so far are the sum of 1 / (1 + ratio): rounded behind each twentieth, by chance in between."""
    out, _ = stream(write("a.svm", svm(4000, 9000)), "gradual", "--ratios", "2,20,2", "--ends", "5000,10000")
    ramp = 2 + 18 * (np.arange(5000) + 0.5) / 5000
    ideal = np.cumsum(1 / (1 + np.concatenate([ramp, ramp[::-1]])))
    apart = np.abs(np.cumsum(is_rare(out)) - ideal)
    assert apart[249::250].max() < 0.6 and apart.max() < 15
    assert len(apart) == 10_000


def test_rows_of_the_class_are_at_random_places(stream, write):
    out, _ = stream(write("a.svm", svm(500, 500)), "increase", "--ratios", "1,1.5", "--rows", 500)
    runs = np.diff(np.flatnonzero(np.diff(is_rare(out)[:250])))
    assert 1.6 < runs.mean() < 2.5 and runs.max() >= 4


def test_stages_are_equally_long_and_the_stream_as_long_as_can_be(stream, refused, write):
    data = write("a.svm", svm(100, 1000))
    out, said = stream(data, "decrease")
    n = len(is_rare(out))
    assert "class '1': 100 of 100 rows, then it runs dry" in said
    stages = [int(line.split()[0]) for line in said if "at ratio" in line]
    assert sum(stages) == n and max(stages) - min(stages) <= 1
    Path("out").unlink()
    assert f"; at most {n} rows are possible" in refused(data, "decrease", "--rows", n + 1)


def test_the_rest_may_run_dry(stream, write):
    out, said = stream(write("a.svm", svm(500, 600)), "increase", "--minority", "1.0")
    assert "the rest: 600 of 600 rows, then it runs dry" in said
    assert (~is_rare(out)).sum() == 600


def test_no_longer_stream_is_possible(script):
    """Rounding makes some lengths possible beyond one that is not."""
    r = np.random.default_rng(1)
    for kind in ["gradual", "flip"] * 50:
        plan = script.Plan(kind, (10 ** r.uniform(-1, 1.5, r.integers(2, 5))).tolist(), None)
        have = r.integers(1, 150, 2)
        possible = [n for n in range(300) if (plan.counts(n).sum(axis=1) <= have).all()]
        assert plan.longest(have) == max(possible)


def test_a_class_may_run_dry_with_a_row_left(stream, write):
    """One more row of the stream would take two of them, where borders between stages move."""
    said = stream(write("a.svm", svm(52, 100)), "flip", "--ratios", "1/9,9,1/9", "--minority", "1")[1]
    assert said[1] == "class '1': 51 of 52 rows, then it runs dry"


def test_of_many_classes_the_rarest_or_the_named_one_is_against_the_rest(stream, write):
    data = write("a.csv", "x,label\n" + "".join(f"{i},{'aabbbcccc'[i % 9]}\n" for i in range(900)))
    for words, name in (((), "a"), (("--minority", "b"), "b")):
        out, said = stream(data, "flip", "--ratios", "3,1/2", *words)
        assert said[0].endswith(f"class '{name}' against the rest")
        part = [line.endswith(name.encode()) for line in out.splitlines()[1:]]
        half = len(part) // 2
        assert abs(sum(part[:half]) - half / 4) <= 1 and abs(sum(part[half:]) - half * 2 / 3) <= 1
        assert len({line[-1:] for line in out.splitlines()[1:]}) == 3


# Whose rows they are


def test_every_row_is_used_at_most_once(stream, write):
    text = svm(300, 700)
    out, _ = stream(write("a.svm", text), "flip")
    assert Counter(out.splitlines()) <= Counter(text.encode().splitlines())
    places = [int(line.rsplit(b":")[-1]) for line in out.splitlines()]
    assert np.mean(np.diff(places) > 0) < 0.7  # not in the order of the file


def test_rows_may_come_again_where_allowed(stream, write):
    text = svm(30, 70)
    out, said = stream(write("a.svm", text), "increase", "--replace")
    count = Counter(out.splitlines())
    assert sum(count.values()) == 100 and max(count.values()) > 1 and set(count) <= set(text.encode().splitlines())
    assert not any("dry" in line for line in said)
    assert len(stream("a.svm", "increase", "--replace", "--rows", 5000)[0].splitlines()) == 5000


def test_the_seed_decides_every_byte(stream, write):
    data = write("a.svm", svm(100, 200))
    for words in ((), ("--replace",)):
        one, two, other = (stream(data, "gradual", "--seed", seed, *words)[0] for seed in (3, 3, 4))
        assert one == two != other
        assert is_rare(one).sum() == is_rare(other).sum() and (is_rare(one) != is_rare(other)).any()


def test_lines_of_libsvm_are_unaltered(stream, write):
    """Comments within rows, odd blanks and line ends stay; rows of comments and blank lines do not come along."""
    rows = [b"+1  1:1.50 # a\n", b"1 2:3\t\r\n", b"-1 1:7e0 \n", b"-1.0\n", b"-1 qid:3 1:2\n", b"-1 9:1"]
    data = (
        b"\xef\xbb\xbf# of a set\n\n" + rows[0] + b"# more\n \n" + b"".join(rows[1:4]) + b"\n\r\n" + b"".join(rows[4:])
    )
    out, _ = stream(write("a.svm", data), "flip", "--ratios", "2,1/2", "--rows", 60, "--replace")
    assert set(out.splitlines(True)) == {*rows[:-1], rows[-1] + b"\n"}


def test_a_byte_order_mark_is_of_no_row(stream, write):
    out, _ = stream(write("a.svm", b"\xef\xbb\xbf" + svm(40, 40).encode()), "flip", "--ratios", "2,1/2", "--replace")
    assert set(out.splitlines(True)) <= set(svm(40, 40).encode().splitlines(True))


def test_records_of_csv_are_unaltered_behind_the_header(stream, write):
    header = b'\xef\xbb\xbf"label", when;x\r\n'
    rows = [b'"a","two\nlines\r\n"\n', b" a , 2020-01-01\r\n", b'b,"say ""x"""\n', b"b,1\n", b"b,word\n", b'"b", NA']
    data = header + b"\n" + rows[0] + b"\n\r\n" + b"".join(rows[1:4]) + b"\n" + b"".join(rows[4:])
    out, _ = stream(write("a.csv", data), "flip", "--ratios", "2,1/2", "--rows", 60, "--replace")
    body = out.removeprefix(header + b"\n")
    assert body != out
    for row in (*rows[:-1], rows[-1] + b"\n"):
        assert row in body
        body = body.replace(row, b"")
    assert body == b""


def test_options_of_csv(stream, write):
    rows = [f"{i};{'yes' if i % 3 else 'no'}\n" for i in range(90)]
    out, said = stream(write("a.csv", "".join(rows)), "flip", "--no-header", "--delimiter", ";", "--label", "last")
    assert said[0].endswith("class 'no' against the rest") and set(out.decode().splitlines(True)) <= set(rows)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_packed_text_gives_the_same_stream_unpacked(stream, write, pack):
    text = svm(100, 300)
    plain, _ = stream(write("a.svm", text), "gradual")
    assert stream(write("a.svm.packed", pack(text.encode())), "gradual")[0] == plain


def test_parquet_stays_parquet(stream, folder):
    """Same columns, types and metadata; the rows are those that come of the same labels in text."""
    n = 3000
    word = pa.array([f"w{i % 7}" for i in range(n)]).dictionary_encode()
    table = pa.table(
        {
            "id": pa.array(range(n), pa.int16()),
            "word": word,
            "list": [[i, i + 1] for i in range(n)],
            "gone": [None if i % 2 else i / 3 for i in range(n)],
            "y": ["rare" if i < 1000 else "rest" for i in range(n)],
        }
    ).replace_schema_metadata({"who": "me"})
    pq.write_table(table, folder / "a.parquet", row_group_size=170)
    (folder / "a.csv").write_text("id,y\n" + "".join(f"{i},{'rare' if i < 1000 else 'rest'}\n" for i in range(n)))
    for words in ((), ("--replace", "--rows", 70_000)):  # more than are written at once
        text, _ = stream("a.csv", "decrease", "--label", "y", *words)
        stream("a.parquet", "decrease", "--label", "y", *words)
        found = pq.read_table("out")
        assert pq.ParquetFile("out").schema.equals(pq.ParquetFile("a.parquet").schema)
        assert found.schema.equals(pq.read_schema("a.parquet"), check_metadata=True)
        ids = [int(line.split(b",")[0]) for line in text.splitlines()[1:]]
        assert found["id"].to_pylist() == ids
        assert found.to_pylist() == table.take(ids).to_pylist()


def test_standard_output_takes_it_too(stream, write):
    data = write("a.csv", "label,x\n" + "".join(f"{i % 3 > 0:d},{i}\n" for i in range(300)))
    out, said = stream(data, "flip")
    argv = [sys.executable, SCRIPT, data, "--kind", "flip", "-o", "-"]
    done = subprocess.run(argv, capture_output=True, check=True)
    assert done.stdout == out and done.stderr.decode().splitlines() == said


def test_a_closed_pipe_ends_it_quietly(write):
    argv = [sys.executable, SCRIPT, write("a.svm", svm(50, 50)), "--kind", "flip", "-o", "-"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        running.stdout.close()
        assert running.stderr.read() == b"" and running.wait() == 141


# What cannot be done


def test_a_class_that_runs_dry_is_told_with_what_is_possible(refused, write):
    data = write("a.svm", svm(50, 5000))
    assert refused(data, "increase", "--rows", 600) == (
        "a.svm: class '1' runs dry: 600 rows at these ratios take 150 of its 50 rows; "
        "at most 202 rows are possible, or give --replace"
    )


def test_a_stage_without_a_class_is_refused(refused, write):
    said = refused(write("a.svm", svm(50, 50)), "increase", "--rows", 6)
    assert said == "a.svm: 6 rows are too few: none of class '1' at ratio 4"


def test_data_that_cannot_be_used(refused, write, folder):
    assert refused("none.svm", "flip") == "none.svm: no such file or directory"
    assert refused(write("a.svm", "# nothing\n"), "flip") == "a.svm: holds no rows"
    assert refused(write("a.svm", svm(5, 0)), "flip") == "a.svm: all rows are of class '1'"
    assert refused(write("a.svm", "1 1:1\n-1 1:x\n"), "flip").startswith("a.svm:2:6: ")
    assert "no column 'label'; columns are: x, y" in refused(write("a.csv", "x,y\n1,2\n"), "flip")
    assert refused(write("a.csv", "x,label\n1,2\n1\n"), "flip").startswith("a.csv:3: ")
    assert "class '3' is not among -1, 1" in refused(write("a.svm", svm(5, 5)), "flip", "--minority", "3")
    whole = gzip.compress(svm(500, 500).encode())
    assert "end too early" in refused(write("a.svm.gz", whole[: len(whole) // 2]), "flip")


def test_parquet_with_a_broken_column_is_told(refused, folder):
    n = 2000
    noise = np.random.default_rng(1).bytes(16 * n)
    columns = {"x": [noise[16 * i : 16 * i + 16].hex() for i in range(n)], "label": [i % 3 for i in range(n)]}
    pq.write_table(pa.table(columns), "a.parquet", use_dictionary=False)
    data = bytearray(Path("a.parquet").read_bytes())
    data[4:4000] = bytes(3996)  # pages of x, which the labels do not need
    Path("a.parquet").write_bytes(data)
    assert refused("a.parquet", "flip").startswith("a.parquet: ")


def test_a_file_that_changes_between_the_passes_is_told(script, refused, write, monkeypatch):
    data, choose = write("a.svm", svm(50, 50)), script.choose

    def meanwhile(*args):
        write("a.svm", svm(50, 51))
        return choose(*args)

    monkeypatch.setattr(script, "choose", meanwhile)
    assert refused(data, "flip").startswith("a.svm: has ")


def test_nothing_is_overwritten_by_a_stream_that_fails_or_is_its_own_input(script, write, capsys, folder):
    (folder / "out").write_text("old")
    assert script.main([write("a.svm", "1 1:x\n"), "--kind", "flip", "-o", "out"]) == 1
    assert (folder / "out").read_text() == "old"
    assert script.main([write("a.svm", svm(50, 50)), "--kind", "flip", "-o", "a.svm"]) == 1
    assert "is read from" in capsys.readouterr().err and (folder / "a.svm").read_text() == svm(50, 50)


def test_a_pipe_and_many_files_cannot_be_read_twice(refused, write, folder):
    write("d/a.svm", svm(5, 5))
    write("d/b.svm", svm(5, 5))
    assert refused("d", "flip", code=2).startswith("d: name one regular file")


def test_options_that_cannot_be_meant(wrong):
    assert "invalid choice: 'sideways'" in wrong("--kind", "sideways")
    assert "increase takes two or more above zero, such as 1,4,20" in wrong(
        "--kind", "increase", "--ratios", "33,50,33"
    )
    assert "decrease takes" in wrong("--kind", "decrease", "--ratios", "1,4")
    assert "flip takes" in wrong("--kind", "flip", "--ratios", "9,2")
    assert "gradual takes" in wrong("--kind", "gradual", "--ratios", "9")
    for bad in ("1,x", "1,1/0", "1,inf", "1,,2"):
        assert "--ratios takes numbers or fractions" in wrong("--kind", "gradual", "--ratios", bad)
    assert "gradual takes" in wrong("--kind", "gradual", "--ratios", "1,0")
    assert "--ends: 3 ascending numbers" in wrong("--kind", "increase", "--ends", "5,6")
    assert "--ends: 2 ascending numbers" in wrong("--kind", "gradual", "--ends", "6,6")
    assert "no --rows" in wrong("--kind", "flip", "--ends", "5,6", "--rows", "6")
    assert "--rows: at least 1" in wrong("--kind", "flip", "--rows", "0")
