"""The README's commands run as they stand, and its generated parts are what the program says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
SHELL = re.findall(r"```sh\n(.*?)```", TEXT, flags=re.S)


def test_it_opens_with_two_commands():
    lines = SHELL[0].strip().splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("pip install . && bigclf train sample_data/")
    assert "bigclf evaluate" in lines[0]
    assert lines[1] == "pip install '.[test]' && pytest"


def test_the_tour_runs(tmp_path):
    (tmp_path / "sample_data").symlink_to(ROOT / "sample_data")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    first = SHELL[0].splitlines()[0].removeprefix("pip install . && ")
    script = "set -e\n" + first + "\n" + SHELL[1] + SHELL[2]
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "labels.txt").read_text().count("\n") == 435


def test_generated_parts_are_current():
    done = subprocess.run([sys.executable, str(ROOT / "scripts" / "readme.py"), "--check"], check=False)
    assert done.returncode == 0


@pytest.mark.parametrize("link", re.findall(r"\]\(#([^)]+)\)", TEXT))
def test_links_lead_to_headings(link):
    assert link in [
        re.sub(r"[^a-z0-9 -]", "", h.lower()).replace(" ", "-") for h in re.findall(r"^#+ (.*)$", TEXT, re.M)
    ]
