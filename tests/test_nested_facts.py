"""What ensembles of ensembles tell: the range over all members of members, and every fact under a name of its own."""

from __future__ import annotations

import re

import pytest

ROWS = "".join(f"{(i * 7 % 13 > 5) ^ (i // 300)} 1:{i * 7 % 13} 2:{i % 5}\n" for i in range(600))


@pytest.fixture
def trained(good, write):
    """What is told of a learner, as JSON."""
    write("a.svm", ROWS)

    def call(algo):
        return good("train", "a.svm", "--json", "-q", "--algo", *algo.split()).json["told"]

    return call


def test_members_of_members_are_told_by_their_range(trained, good):
    trained("ob --members 2 --base oob --base-members 3 --base-base vfdt")
    line = re.search(r"(?m)^told +(.*?) *$", good("info", "model.npz").out)[1]
    facts = [re.fullmatch(r"([a-z ]+) \d+(?: to \d+)? \(2 x 3 members\)", fact) for fact in line.split(", ")]
    assert all(facts), line
    assert {"nodes", "leaves", "depth"} <= {fact[1] for fact in facts}


def test_what_no_member_has_is_left_out(trained, good):
    trained(
        "ob --members 2 --base oob --base-members 3 --base-base arow --base-base-drift ddm --base-base-drift-rows 1000"
    )
    assert "told " not in good("info", "model.npz").out


def test_members_and_those_they_belong_to_tell_their_errors_apart(trained):
    told = trained("oabm1 --members 2 --base oabm1 --base-members 3")
    name = "errors of members after learning each row"
    assert len(told[name]) == 2 and [len(errors) for errors in told[f"base {name}"]] == [3, 3]
    assert "error bound" in told and len(told["base error bound"]) == 2
    assert not [fact for fact in trained("oabm1 --members 2 --base gnb") if fact.startswith("base")]


def test_a_watched_ensemble_of_watched_members_tells_the_drifts_of_both(trained):
    told = trained("ob --members 2 --base arow --base-drift ddm --drift ddm")
    for fact in ("warnings", "drifts"):
        assert isinstance(told[fact], int) and len(told[f"base {fact}"]) == 2
