"""Columns of CSV files: what they hold, which is the label, how files and models are matched."""

from collections import Counter
from dataclasses import replace

import pytest
from tabular import fault, features, labels, open_csv, read

from bigclf.errors import DataError
from bigclf.reading import csv_exact, csv_text
from bigclf.reading.csv_text import CsvReader
from bigclf.reading.options import ReadOptions
from bigclf.reading.raw import Skips
from bigclf.reading.source import find
from bigclf.reading.table import Kinds

# Columns


def test_numbers_are_float64_and_words_are_words(write):
    write("t.csv", "a,color,y\n1,red,0\n2.5,blue,1\n-3e2,red,0\n")
    rows, reader = read("t.csv", label="y")
    assert rows == [(0, (1.0, "red"), "0"), (1, (2.5, "blue"), "1"), (2, (-300.0, "red"), "0")]
    assert reader.kinds == Kinds((("a", "number"), ("color", "words")), "y")


@pytest.mark.parametrize("label, name", [("y", "y"), ("3", "y"), ("last", "y"), ("first", "a"), ("2", "b")])
def test_label_by_name_number_first_or_last(write, label, name):
    write("t.csv", "a,b,y\n1,2,3\n")
    rows, reader = read("t.csv", label=label)
    assert reader.kinds.label == name
    assert rows[0][2] == {"a": "1", "b": "2", "y": "3"}[name]


def test_a_name_wins_over_a_number_and_over_first(write):
    write("t.csv", "a,1,first\n10,20,30\n")
    assert labels("t.csv", label="1") == ["20"]
    assert labels("t.csv", label="first") == ["30"]


def test_without_label_a_column_called_label_is_taken_and_said(write):
    write("t.csv", "a,label\n1,x\n")
    notices = Counter()
    assert labels("t.csv", notices=notices) == ["x"]
    assert notices == {"label taken from column 'label'": 1}


def test_label_that_is_missing_lists_the_columns(write):
    write("t.csv", "a,b,y\n1,2,3\n")
    assert fault("t.csv") == "t.csv: no --label given; columns are: a, b, y"
    assert fault("t.csv", label="target") == "t.csv: no column 'target'; columns are: a, b, y"
    assert fault("t.csv", label="4") == "t.csv: no column '4'; columns are: a, b, y"
    assert fault("t.csv", label="y", ignore=("z",)) == "t.csv: no column 'z'; columns are: a, b, y"
    assert fault("t.csv", label="y", categorical=("z",)) == "t.csv: no column 'z'; columns are: a, b, y"
    assert "cannot be ignored" in fault("t.csv", label="y", ignore=("3",))


def test_labels_that_are_one_number_are_one_class(write):
    write("t.csv", "a,y\n1,1\n1,+1\n1,1.0\n1, -1\n1,no \n")
    assert labels("t.csv", label="y") == ["1", "1", "1", "-1", "no"]
    (raw,) = open_csv("t.csv", label="y")
    assert raw.label.names == ["1", "-1", "no"]


def test_ignored_columns_may_hold_anything(write):
    write("t.csv", b"a,id,when,y\n1,x7,2024-01-31,0\n2,7,\xff,1\n")
    assert features("t.csv", label="y", ignore=("id", "3")) == [(1.0,), (2.0,)]


def test_categorical_makes_words_of_numbers(write):
    write("t.csv", "zip,y\n1,a\n1.0,b\n007,a\nx,a\n,b\n")
    rows, reader = read("t.csv", label="y", categorical=("1",))
    assert [x for _, x, _ in rows] == [("1",), ("1",), ("7",), ("x",), (None,)]
    assert reader.kinds == Kinds((("zip", "words"),), "y", forced=("zip",))
    write("u.csv", "y,zip\na,7.0\n")
    assert features("u.csv", kinds=reader.kinds, categorical=("1",)) == [("7",)]  # the model knows it by name


def test_options_by_number_become_names_for_other_files(write):
    write("t.csv", "zip,id,y\n1,7,a\n")
    options = ReadOptions(format="csv", label="last", categorical=("1",), ignore=("2",))
    reader = CsvReader(find(["t.csv"], "csv"), options, Skips(True))
    list(reader)
    assert reader.kinds.named(options) == replace(options, label="y", categorical=("zip",), ignore=("id",))


def test_true_and_false_are_one_and_zero(write):
    write("t.csv", "a,b,y\ntrue,1,0\nFalse,TRUE,1\n,2,1\n true,0,0\n")
    assert features("t.csv", label="y") == [(1, 1), (0, 1), (None, 2), (1, 0)]


def test_columns_of_true_and_false_stay_on_the_fast_path(write, monkeypatch):
    write("t.csv", "a,y\n" + "true,1\nfalse,0\n" * 400)
    slow = []
    monkeypatch.setattr(csv_text, "HEAD_ROWS", 10)
    monkeypatch.setattr(csv_exact, "exact", lambda *a, real=csv_exact.exact: slow.append(1) or real(*a))
    assert features("t.csv", label="y", block_size=100) == [(1,), (0,)] * 400
    assert len(slow) == 1


def test_missing_tokens_with_blanks_around_them(write):
    tokens = ["", "NA", "N/A", "NaN", "nan", "null", "?"]
    lines = [f"{b}{t}{e},{b}{t}{e},1" for t in tokens for b in ("", " ", "\t ") for e in ("", "  ")]
    write("t.csv", "a,w,y\n1,red,0\n" + "\n".join(lines) + '\n"NA","?",0\n')
    assert features("t.csv", label="y") == [(1, "red")] + [(None, None)] * (len(lines) + 1)


def test_blanks_around_values_do_not_count(write):
    write("t.csv", "a , w,y\n 1 , red , yes\n2\t,red,yes \n")
    assert read("t.csv", label="y")[0] == [(0, (1, "red"), "yes"), (1, (2, "red"), "yes")]


def test_a_column_missing_in_the_whole_head_is_numeric(write):
    write("t.csv", "a,b,y\n,1,0\nNA,2,1\n")
    assert read("t.csv", label="y")[1].kinds.columns == (("a", "number"), ("b", "number"))


def test_numbers_are_the_nearest_float64(write):
    texts = ["0.1", "1e-400", "4.9e-324", "1.7976931348623157e308", "9007199254740993", ".5", "5.", "+3", "-0"]
    write("t.csv", "a,y\n" + "".join(f"{t},1\n" for t in texts))
    assert [x for (x,) in features("t.csv", label="y")] == [float(t) for t in texts]
    write("u.csv", "a,y\n" + "".join(f"{t},1\n" for t in texts) + "true,1\n")  # the exact path
    assert [x for (x,) in features("u.csv", label="y")] == [*map(float, texts), 1]


@pytest.mark.parametrize("text", ["inf", "-Infinity", "1e400", "NAN"])
def test_values_that_are_not_finite_are_refused(write, text):
    write("t.csv", f"a,y\n1,0\n{text},1\n")
    assert fault("t.csv", label="y") == f"t.csv:3: column 'a': value '{text}' is not finite"


@pytest.mark.parametrize("text", ["0x10", "1_000", "1d3", "--1", "1 2", "1\x002"])
def test_what_is_no_number(write, text):
    write("t.csv", f"a,y\n1,0\n{text},1\n")
    assert fault("t.csv", label="y").startswith("t.csv:3: column 'a': ")


# Mixed columns


def test_a_word_in_a_column_of_numbers_in_the_head(write):
    write("t.csv", "a,b,y\n1,2,0\n\n1,oops,1\nx,2,0\n")
    wanted = "t.csv:4: column 'b': 'oops' is not a number; name it in --categorical or --ignore"
    assert fault("t.csv", label="y") == wanted


def test_a_word_in_a_column_of_numbers_after_the_head(write):
    write("t.csv", "a,b,y\n" + "1,2,0\n" * 12_000 + "1,oops,1\n")
    for size in (4096, 1 << 20):
        with pytest.raises(DataError, match=r"^t.csv:12002: column 'b': 'oops' is not a number"):
            read("t.csv", label="y", block_size=size)


def test_a_number_among_words_after_the_head(write):
    write("t.csv", "a,y\n" + "red,0\n" * 10_000 + "7,1\n")
    with pytest.raises(DataError, match=r"^t.csv:10002: column 'a': '7' is a number among words; name it in --cat"):
        read("t.csv", label="y")


def test_where_rows_may_be_dropped_the_kind_of_most_values_wins(write):
    write("t.csv", "a,b,y\n1,u,0\noops,v,1\n2,3,0\n3,w,1\n")
    skips = Skips(False)
    rows, reader = read("t.csv", label="y", skips=skips, on_error="skip")
    assert rows == [(0, (1, "u"), "0"), (3, (3, "w"), "1")]
    assert [f.place for f in skips.faults] == ["t.csv:3", "t.csv:4"]
    assert [k for _, k in reader.kinds.columns] == ["number", "words"]


def test_dates_are_refused_with_a_hint(write):
    write("t.csv", "a,d,y\n1,,0\n1,2024-01-31 10:00,0\n")
    assert fault("t.csv", label="y") == (
        "t.csv:3: column 'd': '2024-01-31 10:00' looks like a date; --ignore it or turn it into numbers"
    )
    assert features("t.csv", label="y", ignore=("d",)) == [(1,), (1,)]
    assert features("t.csv", label="y", categorical=("d",)) == [(1, None), (1, "2024-01-31 10:00")]


# Several files, and reading by given kinds


def test_files_are_matched_by_name_and_rows_run_on(write):
    write("a.csv", "a,b,y\n1,2,0\n")
    write("e.csv", "")
    write("b.csv", "y,extra,b,a\n1,9,3,4\n")
    notices = Counter()
    rows, _ = read("a.csv", "e.csv", "b.csv", label="y", notices=notices)
    assert rows == [(0, (1, 2), "0"), (1, (4, 3), "1")]
    assert notices == {"extra columns ignored: extra": 1}
    raws = list(open_csv("a.csv", "b.csv", label="y"))
    assert [raw.where(0) for raw in raws] == ["a.csv:2", "b.csv:2"]
    write("c.csv", "a,y\n1,2\n")
    assert fault("a.csv", "c.csv", label="y") == "c.csv: no column 'b'; columns are: a, y"


def test_a_name_may_not_be_there_twice_unless_ignored(write):
    write("t.csv", "a,b,a,y\n1,2,3,0\n")
    assert fault("t.csv", label="y") == "t.csv: column 'a' appears twice; name it in --ignore"
    assert features("t.csv", label="y", ignore=("a",)) == [(2,)]
    assert features("t.csv", "t.csv", label="y", ignore=("1",)) == [(2, 3)] * 2


KINDS = Kinds((("a", "number"), ("w", "words")), "y")


def test_given_kinds_match_by_name_and_the_label_may_be_absent(write):
    write("t.csv", "w,z,a\nred,0,1\n")
    notices = Counter()
    rows, reader = read("t.csv", kinds=KINDS, label="1", need_label=False, notices=notices)
    assert rows == [(0, (1, "red"), None)]
    assert reader.kinds == KINDS
    assert notices == {"extra columns ignored: z": 1}
    assert not any(raw.head for raw in open_csv("t.csv", kinds=KINDS, need_label=False))


def test_given_kinds_and_a_label_that_is_there(write):
    write("t.csv", "y,w,a\nno,red,1\n,blue,2\n")
    assert labels("t.csv", kinds=KINDS, need_label=False) == ["no", None]
    assert fault("t.csv", kinds=KINDS) == "t.csv:3: label is missing"


def test_given_kinds_are_not_changed_by_the_data(write):
    write("t.csv", "a,w\n1,2\n")
    assert "'2' is a number among words" in fault("t.csv", kinds=KINDS, need_label=False)
    write("u.csv", "a,w\nred,red\n")
    assert "'red' is not a number" in fault("u.csv", kinds=KINDS, need_label=False)


def test_absent_columns_are_named(write):
    write("t.csv", "b,c\n1,2\n")
    assert fault("t.csv", kinds=KINDS, need_label=False) == "t.csv: no columns 'a', 'w'; columns are: b, c"
    write("u.csv", "a,w\n1,red\n")
    assert fault("u.csv", kinds=KINDS) == "u.csv: no column 'y'; columns are: a, w"
