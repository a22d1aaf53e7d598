"""What users met: each with what should have come of it."""

from __future__ import annotations

import gzip

import numpy as np


def test_a_byte_order_mark_where_files_were_joined_is_no_class(fault, write):
    line = fault(1, "train", write("a.svm", "0 1:1\n1 1:2\n\ufeff0 1:1\n"), "--algo", "pa-1")
    assert "a.svm:3:1: a byte order mark stands before the label" in line


def test_predicting_passes_over_an_index_of_any_size(good, write):
    good("train", write("a.svm", "0 1:1\n1 1:2\n" * 9), "--algo", "pa-1", "-q")
    said = good("predict", "model.npz", write("b.svm", "1 1:2 2000000000:1\n0 1:1\n"))
    assert len(said.lines) == 2 and "1 value was in columns that the model has not seen" in said.err


def test_what_is_cut_short_gives_the_same_rows_for_any_block_size_and_number_of_threads(cli, write):
    packed = gzip.compress("".join(f"{i % 2} 1:{i}\n" for i in range(40_000)).encode())
    good = cli("train", write("a.svm", "0 1:1\n1 1:2\n" * 9), "--algo", "pa-1", "-q")
    name = write("b.svm.gz", packed[: len(packed) // 2])
    said = [
        cli("predict", "model.npz", name, "-q", "--threads", threads, "--block-size", size)
        for threads in ("1", "2", "3")
        for size in ("3000", "50000", "4MiB")
    ]
    assert good.code == 0 and {s.code for s in said} == {1}
    assert len({s.err for s in said}) == len({s.out for s in said}) == 1
    assert said[0].out.count("\n") > 10_000 and "end too early after row" in said[0].err


def test_a_page_of_parquet_that_does_not_fit_its_checksum_is_a_fault(fault, folder):
    import pyarrow as pa
    import pyarrow.parquet as pq

    x = np.random.default_rng(0).normal(size=5000)
    table = pa.table({"label": (x > 0).astype(int), "x": x})
    pq.write_table(table, folder / "a.parquet", write_page_checksum=True, compression="none", use_dictionary=False)
    content = bytearray((folder / "a.parquet").read_bytes())
    content[content.find(x[2500].tobytes())] ^= 1
    (folder / "a.parquet").write_bytes(content)
    assert "a.parquet" in fault(1, "train", "a.parquet", "--algo", "pa-1", "-q")


def test_wrong_usage_of_warm_is_told_as_of_train(fault):
    assert "no finite number" in (line := fault(2, "doctor", "--warm", "--algo", "pa-1 --C nan")) or "--C" in line
