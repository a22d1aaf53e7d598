"""Limits of every kind from trees made for the purpose, the FSVC rule on the sets of the thesis, refusals."""

import resource
import subprocess
import sys

import pytest

from bigclf.algorithms import registry
from bigclf.core import Shape
from bigclf.errors import BudgetError, UsageError
from bigclf.limits import RESERVE, SHARE, Headroom, Limit, Roots, headroom, human, parse_budget
from bigclf.reading.options import BLOCK_SIZE, ReadOptions
from bigclf.reading.source import find
from bigclf.reading.stream import Stream
from bigclf.training import budget
from bigclf.training.budget import (
    DENSE_TEXT,
    BlockNeed,
    Texture,
    before_rows,
    block_bytes,
    check_state,
    fsvc_block,
    max_column,
    scratch,
    shrink,
)

MIB = 1 << 20
PLENTY = 1 << 40


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """Makes files under a false /proc and /sys/fs/cgroup; the process is 100 MiB large and has no ulimit."""
    roots = Roots(tmp_path / "proc", tmp_path / "cgroup")
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (resource.RLIM_INFINITY,) * 2)

    def put(**files):
        all_files = {
            "proc/self/status": "Name:\tx\nVmSize:\t 307200 kB\nVmRSS:\t 102400 kB\nVmData:\t 204800 kB\n"
        } | files
        for name, text in all_files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(str(text))
        return roots

    return put


def containers(roots, **more):
    return [x for x in headroom(roots=roots, available=PLENTY, **more).limits if x.name == "the container's limit"]


def test_no_limit_but_free_memory(tree):
    room = headroom(roots=tree(), available=1000 * MIB)
    assert room == Headroom((Limit("free memory", int(1000 * MIB * SHARE), int(1000 * MIB * SHARE)),), 100 * MIB)
    assert room.bytes == int(1000 * MIB * SHARE) - RESERVE


def test_the_budget_caps_the_resident_size_of_the_whole_process(tree):
    room = headroom(512 * MIB, tree(), PLENTY)
    assert room.binding == Limit("--budget", 512 * MIB, 412 * MIB)
    assert room.bytes == 412 * MIB - RESERVE
    assert headroom(50 * MIB, tree(), PLENTY).bytes == 0


def test_version_2_takes_the_least_of_all_groups_above_and_gives_the_page_cache_back(tree):
    roots = tree(
        **{
            "proc/self/cgroup": "0::/pod/box/job\n",
            "cgroup/pod/memory.max": 1000 * MIB,
            "cgroup/pod/memory.current": 900 * MIB,
            "cgroup/pod/memory.stat": f"anon 1\ninactive_file {500 * MIB}\nactive_file 7\n",
            "cgroup/pod/box/memory.max": "max\n",
            "cgroup/pod/box/memory.high": 800 * MIB,
            "cgroup/pod/box/memory.current": 300 * MIB,
            "cgroup/pod/box/job/memory.max": "max",
            "cgroup/pod/box/job/memory.high": "max",
            "cgroup/pod/box/job/memory.current": 300 * MIB,
        }
    )
    assert [x[1:] for x in containers(roots)] == [(800 * MIB, 500 * MIB), (1000 * MIB, 600 * MIB)]
    assert headroom(roots=roots, available=PLENTY).binding.free == 500 * MIB


def test_version_2_in_a_container_that_shows_the_path_of_the_host(tree):
    files = {"proc/self/cgroup": "0::/docker/abc\n", "cgroup/memory.max": 64 * MIB, "cgroup/memory.current": 90 * MIB}
    room = headroom(roots=tree(**files), available=PLENTY)
    assert room.binding == Limit("the container's limit", 64 * MIB, -26 * MIB)
    assert room.bytes == 0


def test_version_1_nested_and_without_limit(tree):
    roots = tree(
        **{
            "proc/self/cgroup": "5:devices:/x\n4:memory,cpu:/a/b\n0::/\n",
            "cgroup/memory/memory.limit_in_bytes": 9223372036854771712,
            "cgroup/memory/memory.usage_in_bytes": 5,
            "cgroup/memory/a/memory.limit_in_bytes": 700 * MIB,
            "cgroup/memory/a/memory.usage_in_bytes": 600 * MIB,
            "cgroup/memory/a/memory.stat": f"inactive_file 1\ntotal_inactive_file {200 * MIB}\n",
            "cgroup/memory/a/b/memory.limit_in_bytes": 9223372036854771712,
            "cgroup/memory/a/b/memory.usage_in_bytes": 1,
            "cgroup/unified/memory.max": 650 * MIB,
            "cgroup/unified/memory.current": 0,
        }
    )
    assert [x[1:] for x in containers(roots)] == [(700 * MIB, 300 * MIB), (650 * MIB, 650 * MIB)]


@pytest.mark.parametrize("text", ["", "garbage", "0::\n", "3:memory", "0::/../../..\n"])
def test_files_that_are_absent_or_odd_are_no_limits(tree, text):
    assert containers(tree(**{"proc/self/cgroup": text, "cgroup/memory.max": "-1", "cgroup/memory.current": "x"})) == []


def test_ulimits_are_less_what_is_mapped(tree, monkeypatch):
    roots = tree()
    bounds = {resource.RLIMIT_AS: 500 * MIB, resource.RLIMIT_DATA: 260 * MIB}
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (bounds[kind], resource.RLIM_INFINITY))
    room = headroom(roots=roots, available=PLENTY)
    assert {x.name: x.free for x in room.limits[1:]} == {"ulimit -v": 200 * MIB, "ulimit -d": 60 * MIB}
    assert room.binding.name == "ulimit -d"


def test_growth_to_come_is_set_aside_once(tree):
    room = headroom(512 * MIB, tree(), PLENTY)
    assert room.once(172 * MIB, 0).bytes == 340 * MIB - RESERVE
    assert room.once(60 * MIB, 0).bytes == room.bytes
    mapped = Headroom((Limit("ulimit -v", 500 * MIB, 200 * MIB),), 100 * MIB)
    assert mapped.once(1 << 40, 352 * MIB).binding.free == 148 * MIB
    assert before_rows(mapped, "libsvm").binding.free == 148 * MIB


def test_the_limits_of_this_process():
    room = headroom(1 << 50)
    assert room.resident > MIB and room.bytes > 0 and {"free memory", "--budget"} <= {x.name for x in room.limits}


@pytest.mark.parametrize(
    "text, size", [("4096", 4096), ("512MiB", 512 * MIB), ("2GB", 2 << 30), ("1.5 g", 3 << 29), ("1T", 1 << 40)]
)
def test_budgets_in_bytes(text, size):
    assert parse_budget(text)(Headroom((), 0)) == size


def test_a_budget_as_a_share_of_what_could_be_reached():
    others = Headroom((Limit("the container's limit", 2048, 1500), Limit("free memory", 9999, 9999)), 500)
    assert parse_budget("25%")(others) == 500


@pytest.mark.parametrize("text", ["", "much", "0", "0%", "101%", "-5", "1e9", "5 parsecs", "nan", "50%%"])
def test_budgets_that_are_none(text):
    with pytest.raises(UsageError, match="--budget"):
        parse_budget(text)


@pytest.mark.parametrize(
    "size, text",
    [(0, "0 bytes"), (999, "999 bytes"), (1000 * MIB, "1000 MiB"), (1023.9 * MIB, "1 GiB"), (2**41, "2 TiB")],
)
def test_sizes_for_people(size, text):
    assert human(size) == text


# Hammouri, table 2.13 (N, I, Q from table 2.1; L = 100; three quarters to train) and what equation 2.30 gives in MB
TABLE = [
    ("letter", 20_000, 16, 26, 19.1),
    ("magic", 19_020, 10, 2, 2.8),
    ("kitsune", 21_017_597, 115, 9, 199),
    ("wesad", 31_470_603, 8, 4, 285),
    ("har", 29_097_887, 14, 6, 305),
    ("kddcup", 4_000_000, 122, 23, 358),
    ("susy", 5_000_000, 18, 2, 182),
    ("mnist", 70_000, 784, 10, 174),
]


@pytest.mark.parametrize("memory", [32 << 30, 2_097_152 << 10])
@pytest.mark.parametrize("name, rows, inputs, classes, mb", TABLE)
def test_the_rule_on_the_sets_of_the_thesis(name, rows, inputs, classes, mb, memory):
    found = fsvc_block(memory, rows * 3 // 4, rows - rows * 3 // 4, inputs, classes, V=1e7)
    assert found.V == 1e7
    assert found.bytes / 1e6 == pytest.approx(mb, rel=4e-3, abs=0.06)


def test_the_rule_where_it_shrinks():
    human_set = (13_956_557 * 3 // 4, 13_956_557 // 4, 36, 42)
    assert fsvc_block(32 << 30, *human_set, V=1e7).bytes == pytest.approx(2205e6, rel=1e-3)
    less = fsvc_block(2_097_152 << 10, *human_set, V=1e7)
    assert less.bytes == pytest.approx(506.2e6, rel=1e-4)  # thesis: 509 MB
    assert round(less.V) == round(1e7 * 0.9**14)  # thesis: 2.3e6
    poker = fsvc_block(2_097_152 << 10, 25_010, 1_000_000, 10, 10)
    assert (poker.train, poker.test) == (25_010, 90_909) and poker.bytes == pytest.approx(58.5e6, rel=1e-3)  # 59 MB
    assert fsvc_block(2_097_152 << 10, 67_785, 22_595, 30_000, 131, L=10, V=1e7).bytes == pytest.approx(498e6, rel=1e-3)


def test_the_rule_takes_one_row_above_its_quarter_and_refuses_one_that_does_not_fit():
    assert fsvc_block(3e6, 1000, 1000, 1000, 2).train == 1
    with pytest.raises(BudgetError, match="a block of one row needs"):
        fsvc_block(1e6, 1000, 1000, 1000, 2)


def test_shrinking_by_tenths():
    assert shrink(lambda s: s, 401, 100, 1) == 100
    assert shrink(lambda s: s, 400, 100, 1) == 90
    assert shrink(lambda s: s, 11, 100, 10) == 10  # the least may take all
    assert shrink(lambda s: s, 9, 100, 10) is None


def room(mib, name="--budget"):
    return Headroom((Limit(name, 2 * mib * MIB, mib * MIB + RESERVE),), 100 * MIB)


@pytest.mark.parametrize("form", ["libsvm", "csv", "parquet"])
def test_blocks_fit_a_quarter_and_are_as_large_as_may_be(form):
    need = BlockNeed(form, DENSE_TEXT[form])
    assert block_bytes(room(4000), need) == BLOCK_SIZE
    for mib in (16, 32, 64):
        size = block_bytes(room(mib), need)
        assert need.bytes(size) < mib * MIB / 4 or size == budget.LEAST
        assert size == BLOCK_SIZE or need.bytes(size / 0.9) >= mib * MIB / 4
    assert block_bytes(room(4000), need, most=1000) == 1000


def test_more_blocks_in_flight_and_denser_text_need_more():
    need = BlockNeed("libsvm", Texture(1 / 300, 1 / 11))
    assert need.bytes(MIB) < need._replace(flight=4).bytes(MIB)
    assert need.bytes(MIB) < need._replace(texture=DENSE_TEXT["libsvm"]).bytes(MIB)


def test_an_entry_of_libsvm_text_counts_as_the_head_has_it(tmp_path):
    """Sparse rows behind the head take less; that they will be sparse no one knows when the size is chosen."""
    (tmp_path / "a.svm").write_text("1 1:1 2:3\n0 70000:2\n" * 100)
    rows = next(iter(Stream(find([str(tmp_path / "a.svm")], "auto"), ReadOptions()))).data
    entry = (rows.column.nbytes + rows.value.nbytes) // len(rows.value)
    assert BlockNeed("libsvm", Texture(0, 1), flight=1).bytes(1000) == budget.SLACK * 1000 * (1 + entry)


def test_the_least_block_that_does_not_fit_is_refused_with_all_terms():
    need = BlockNeed("csv", DENSE_TEXT["csv"])
    with pytest.raises(BudgetError) as e:
        block_bytes(Headroom((Limit("--budget", 128 * MIB, RESERVE + MIB // 2),), 100 * MIB), need)
    assert str(e.value) == (
        "--budget is 128 MiB, at least 129 MiB is needed (100 MiB for the program itself, 16 MiB in reserve, "
        "990 KiB for blocks of 64 KiB); raise --budget"
    )
    more = Headroom((Limit("--budget", 129 * MIB, RESERVE + MIB // 2 + MIB),), 100 * MIB)
    assert block_bytes(more, need) == budget.LEAST


def test_a_state_that_does_not_fit_is_refused_with_what_would_help():
    learner = registry.build("nr-rls")
    check_state(learner, Shape(1, 500, 2), "nr-rls", room(64))
    with pytest.raises(BudgetError) as e:
        check_state(learner, Shape(1, 50_000, 2), "nr-rls", room(256, "the container's limit"))
    text = str(e.value)
    assert "nr-rls needs 37.3 GiB and " in text and " to solve in for 50,000 columns, 2 classes and 1 unit " in text
    assert "classes x cols x cols" in text and "256 MiB are left of the container's limit 512 MiB" in text
    assert text.endswith("try a learner without columns^2 memory (pa-1, arow --cov diag), or --hash-bits 10")
    check_state(learner, Shape(1, 1 + (1 << 10), 2), "nr-rls", room(256))


def test_many_classes_are_named_and_a_state_that_is_there_is_not_counted_again():
    learner = registry.build("pa-1")
    shape = Shape(500, 100_000, 500)
    with pytest.raises(BudgetError, match=r"try --hash-bits 1\d, or fewer classes; --budget \d+MiB is enough$"):
        check_state(learner, shape, "pa-1", room(100))
    check_state(learner, shape, "pa-1", room(100), held=True)
    assert scratch(learner, shape) == 0


def test_columns_are_bounded_by_what_is_left():
    assert max_column(room(160)) == MIB
    assert max_column(room(1 << 30)) == 2**31 - 2


def test_limits_are_asked_without_numpy():
    code = (
        "import sys; from bigclf.limits import headroom; assert headroom(1 << 40).bytes > 0;"
        "assert not {'numpy', 'numba', 'pyarrow'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=20)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_real_ulimit_binds():
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (300 << 20, resource.RLIM_INFINITY));"
        "from bigclf.limits import headroom; b = headroom().binding; print(b.name, b.total >> 20, b.free < 300 << 20)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=20)
    assert done.stdout.split() == ["ulimit", "-v", "300", "True"]
