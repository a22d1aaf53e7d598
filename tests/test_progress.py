"""How a run tells that it is getting on."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys

from bigclf.cli import progress
from bigclf.cli.main import main


def rows(path, n=30_000):
    path.write_text("".join(f"{i % 2} 1:{i % 7} 2:{i % 5}\n" for i in range(n)))
    return str(path)


def test_plain_lines_when_it_is_no_terminal(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(progress, "FIRST_LINE", 0.0)
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    data = rows(tmp_path / "a.svm")
    assert main(["train", data, "--algo", "pa-1", "-o", str(tmp_path / "m.npz"), "--block-size", "65536"]) == 0
    said = capsys.readouterr().err
    assert "rows/s" in said and "MB/s" in said and "left" in said and "kappa" in said and "MiB" in said
    assert "\r" not in said and "\x1b" not in said


def test_quiet_is_silent_and_none_tells_only_the_summary(tmp_path, capsys):
    data = rows(tmp_path / "a.svm")
    assert main(["train", data, "-o", str(tmp_path / "m.npz"), "-q"]) == 0
    assert capsys.readouterr() == ("", "")
    assert main(["train", data, "-o", str(tmp_path / "m.npz"), "--progress", "none"]) == 0
    assert "MB/s" not in capsys.readouterr().err


def test_log_file_is_json_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "LOG_SECONDS", 0.0)
    data, log = rows(tmp_path / "a.svm"), tmp_path / "log"
    words = ["train", data, "--algo", "pa-1", "-q", "-o", str(tmp_path / "m.npz"), "--log-file", str(log)]
    assert main([*words, "--block-size", "65536"]) == 0
    events = [json.loads(line) for line in log.read_text().splitlines()]
    assert [e["event"] for e in (events[0], events[-1])] == ["start", "end"]
    assert len(events) > 3
    assert events[-1]["rows"] == 30_000
    assert events[-1]["bytes"] == events[-1]["total_bytes"] == os.path.getsize(data)
    assert {"rows_per_second", "megabytes_per_second", "peak_memory_mib", "error", "g_mean", "kappa"} <= set(events[1])


def test_a_bar_on_a_terminal_goes_away_again(tmp_path):
    data = rows(tmp_path / "a.svm", 3000)
    ours, theirs = pty.openpty()
    words = [
        sys.executable,
        "-m",
        "bigclf",
        "train",
        data,
        "--algo",
        "pa-1",
        "--passes",
        "60",
        "-o",
        str(tmp_path / "m.npz"),
    ]
    p = subprocess.Popen(words, stderr=theirs, stdout=subprocess.PIPE, env={**os.environ, "TERM": "xterm"})
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        shown += part
    assert p.wait(timeout=60) == 0
    assert p.stdout.read() == b""
    assert b"model:" in shown
