"""The house's rules that a program can check."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import bigclf
from bigclf.algorithms import registry
from bigclf.cli.main import COMMANDS

PACKAGE = Path(bigclf.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
LONGEST = 300

# Floors: an import only goes down. `reading` stands beside the learners and knows none of them.
MAY_USE = {
    "errors": set(),
    "start": {"errors"},
    "files": {"errors"},
    "limits": {"errors"},
    "cpus": {"limits"},
    "draws": set(),
    "core": set(),
    "jit": {"start"},
    "calls": {"core", "jit"},
    "block": {"core", "jit"},
    "state": {"core", "errors"},
    "reading": {"core", "errors", "jit", "block", "start", "draws"},
    "kernels": {"core", "jit", "block", "calls"},
    "compose": {"core", "errors", "block", "calls", "draws", "state", "kernels"},
    "algorithms": {"core", "errors", "block", "draws", "kernels", "compose"},
    "units": {"core", "reading"},
    "weighting": {"errors", "reading"},
    "model": {"core", "errors", "files", "state", "reading", "algorithms", "units", "weighting"},
    "training": {
        "core",
        "errors",
        "files",
        "start",
        "limits",
        "cpus",
        "draws",
        "block",
        "state",
        "reading",
        "algorithms",
        "units",
        "model",
        "weighting",
    },
}


TOP = {"pyproject.toml", "README.md", "LICENSE", "bigclf", "tests", "scripts", "sample_data"}
MADE = {"build", "dist", "venv", "bigclf.egg-info", "model.npz"}  # by installing, and by the commands of the README


def test_nothing_else_lies_at_the_top():
    assert {p.name for p in Path(__file__).parents[1].iterdir() if not p.name.startswith(".")} - MADE == TOP


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{a.name}" for a in node.names)
        elif isinstance(node, ast.Import):
            yield from (a.name for a in node.names)


def room(dotted):
    return dotted.split(".")[1] if dotted.startswith("bigclf.") else None


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_files_are_short_and_stay_on_their_floor(path):
    assert len(path.read_text().splitlines()) <= LONGEST
    here = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    for name in imports(path):
        assert not name.startswith("pickle")
        if name.split(".")[0] in ("numba", "llvmlite"):
            assert path.name in ("jit.py", "memory.py"), "compiled code is declared through bigclf.jit"
        there = room(name)
        if there in MAY_USE | {"cli": 0} and here in MAY_USE and there != here:
            assert there in MAY_USE[here], f"{here} imports {name}"


@pytest.mark.parametrize("path", sorted((PACKAGE / "kernels").glob("*.py")), ids=lambda p: p.name)
def test_kernels_leave_products_of_matrices_to_numpy(path):
    """In compiled code they would need SciPy, which is not installed with bigclf."""
    for function in [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.FunctionDef)]:
        if any("kernel" in ast.unparse(d) or "helper" in ast.unparse(d) for d in function.decorator_list):
            for node in ast.walk(function):
                assert not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)), function.name
                assert not (isinstance(node, ast.Attribute) and node.attr in ("dot", "linalg")), function.name


@pytest.mark.parametrize("spec", registry.specs().values(), ids=lambda s: s.name)
def test_every_algorithm_says_what_it_is_and_where_it_comes_from(spec):
    assert spec.line and spec.source and spec.cost and spec.memory
    assert not spec.line.endswith(".")
    for p in spec.params:
        assert p.help and p.accepts(p.default)


def test_listing_algorithms_needs_no_heavy_package():
    code = (
        "import sys; from bigclf.algorithms import registry; registry.specs(); import bigclf.cli.train;"
        "print([m for m in ('numpy', 'numba', 'pyarrow', 'psutil', 'rich') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_libsvm_run_imports_no_pyarrow_and_no_scipy(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:1\n0 2:1\n")
    code = (
        "import sys; from bigclf.cli.main import main;"
        f"assert main(['train', r'{tmp_path / 'a.svm'}', '-q', '-o', r'{tmp_path / 'm.npz'}']) == 0;"
        "print([m for m in ('pyarrow', 'scipy', 'rich', 'sklearn') if sys.modules.get(m)])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_command_has_a_line_and_an_example():
    from importlib import import_module

    for name in COMMANDS:
        assert import_module(f"bigclf.cli.{name}").EXAMPLE.startswith(f"Example: bigclf {name}") or name == "predict"


COUNT = """
import sys
from bigclf.cli.main import main
for file in ("a.svm", "wide.svm", "a.csv"):
    for algo in ("pa-1", "arow", "nr-rls"):
        for dtype in ("float32", "float64"):
            assert main(["train", file, "--algo", algo, "--dtype", dtype, "-q", "-o", "m.npz"]) == 0
            assert main(["predict", "m.npz", file, "-q", "-o", "p"]) == 0
from bigclf.kernels import confidence, gram, linear
from bigclf.reading import csr_kernel, encode_kernel, libsvm_kernel
for k in (linear.update, linear.score_into, confidence.update_diag, gram.gather, gram.gather_sparse,
          libsvm_kernel.read_rows,
          encode_kernel.finish_dense, encode_kernel.fill_dense, csr_kernel.fill_csr, csr_kernel.finish_csr,
          encode_kernel.moments):
    print(k.__name__, len(k.signatures))
"""


def test_kernels_are_compiled_for_dense_and_sparse_rows_only(tmp_path):
    """A read-only or transposed array would quietly compile every loop once more."""
    (tmp_path / "a.svm").write_text("".join(f"{i % 2} 1:{i % 7} 2:{i % 3} 3:{i % 5}\n" for i in range(50)))
    (tmp_path / "wide.svm").write_text("".join(f"{i % 2} {i + 1}:1 {i + 60}:2\n" for i in range(50)))
    (tmp_path / "a.csv").write_text("label,x,y\n" + "".join(f"{i % 2},{i % 7},{i % 3}\n" for i in range(50)))
    done = subprocess.run([sys.executable, "-c", COUNT], cwd=tmp_path, capture_output=True, text=True, check=True)
    counts = dict(line.split() for line in done.stdout.splitlines())
    by_row = {"update": "4", "score_into": "4", "update_diag": "4"}  # dense and sparse, of two types
    by_type = {"gather": "2", "gather_sparse": "2", "finish_dense": "2", "fill_dense": "2", "fill_csr": "2"}
    assert counts == by_row | by_type | {"read_rows": "1", "moments": "1", "finish_csr": "1"}
