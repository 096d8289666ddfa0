"""The policy of a reader: which witnesses are enough, and every line that is wrong."""

import pytest

from generator.record.log.policy import PolicyError, read_policy
from tests.support.witness import vkey

KEYS = {name: vkey(f"{name}.example", b"\x04", bytes([number]) * 32) for number, name in enumerate("abcdef")}
LOG = vkey("example.org/log", b"\x01", b"\x07" * 32)
X_AND_Y = "\n".join(
    (
        "# two organisations",
        f"log {LOG} https://example.org",
        *(f"witness {name}\t{key}" for name, key in KEYS.items()),
        "group x 2 a b c",
        "group y any d e f",
        "  group both all x y",
        "quorum both",
        "",
    )
)


@pytest.mark.parametrize(
    ("times", "reached"),
    [
        ({}, None),
        ({"a": 1, "b": 2}, None),
        ({"a": 1, "d": 9}, None),
        ({"a": 5, "b": 3, "d": 4}, 5),
        ({"a": 5, "b": 3, "c": 1, "d": 9, "e": 2}, 3),
        ({"d": 1, "e": 1, "f": 1}, None),
    ],
)
def test_a_quorum_is_reached_when_the_last_needed_witness_signed(times: dict[str, int], reached: int | None) -> None:
    policy = read_policy(X_AND_Y)

    assert policy.quorum_time({f"{name}.example": at for name, at in times.items()}) == reached


def test_a_witness_has_the_url_that_its_line_ends_with_or_none() -> None:
    text = f"witness a {KEYS['a']} https://a.example/w\nwitness b {KEYS['b']}\nquorum a"

    policy = read_policy(text)

    assert {name: witness.url for name, witness in policy.witnesses.items()} == {"a": "https://a.example/w", "b": ""}
    assert {name: witness.key_name for name, witness in policy.witnesses.items()} == {
        "a": "a.example",
        "b": "b.example",
    }


def test_without_a_quorum_no_witness_is_needed() -> None:
    assert read_policy("quorum none").quorum_time({}) == 0


def test_the_log_and_its_keys_are_read() -> None:
    policy = read_policy(X_AND_Y)

    assert [log.name for log in policy.logs] == ["example.org/log"]
    assert [key.name for key in policy.cosigners] == [f"{name}.example" for name in "abcdef"]


def test_a_witness_of_another_kind_is_kept_and_never_counted() -> None:
    other = vkey("q.example", b"\x06", b"\x01" * 1312)
    policy = read_policy(f"witness q {other}\nwitness a {KEYS['a']}\ngroup g any q a\nquorum g")

    assert policy.witnesses["q"].key is None
    assert policy.quorum_time({"q.example": 1}) is None
    assert policy.quorum_time({"q.example": 1, "a.example": 8}) == 8


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no quorum line"),
        ("quorum a", "line 1: a is not defined"),
        ("quorum none\nquorum none", "line 2: there is a quorum line already"),
        (f"witness none {KEYS['a']}\nquorum none", "line 1: the name none is taken"),
        (f"witness a {KEYS['a']}\nwitness a {KEYS['b']}\nquorum a", "line 2: the name a is taken"),
        (f"witness a {KEYS['a']}\nwitness b {KEYS['a']}\nquorum a", "line 2: an earlier line has this key"),
        (f"witness a {KEYS['b'][:-4]}AAAA\nquorum a", "line 1: the hash of the key"),
        ("witness a b\nquorum a", "line 1: a witness's key has the form"),
        (f"witness a {KEYS['a']}\ngroup g 2 a\nquorum g", "line 2: 2 is not"),
        (f"witness a {KEYS['a']}\ngroup g 0 a\nquorum g", "line 2: 0 is not"),
        (f"witness a {KEYS['a']}\ngroup g \u0661 a\nquorum g", "line 2: \u0661 is not"),
        (f"witness a {KEYS['a']}\ngroup g few a\nquorum g", "line 2: few is not"),
        (f"witness a {KEYS['a']}\ngroup g any b\nquorum g", "line 2: b is not defined"),
        (f"witness a {KEYS['a']}\ngroup g any a a\nquorum g", "line 2: a is a member already"),
        ("group g any\nquorum g", "line 1: 'group' is not a keyword"),
        ("witnesses a\nquorum none", "line 1: 'witnesses' is not a keyword"),
        (f"log {KEYS['a']}\nquorum none", "line 1: this public key is not"),
    ],
)
def test_a_wrong_line_is_named(text: str, reason: str) -> None:
    with pytest.raises(PolicyError, match=reason):
        read_policy(text)


def test_keys_that_differ_in_their_first_byte_alone_are_two() -> None:
    keys = [vkey(f"{name}.example", b"\x04", bytes([number]) + b"\x09" * 31) for number, name in enumerate("ab")]

    policy = read_policy(f"witness a {keys[0]}\nwitness b {keys[1]}\ngroup g all a b\nquorum g")

    assert policy.quorum_time({"a.example": 3, "b.example": 2}) == 3


def test_a_policy_has_at_most_a_thousand_lines() -> None:
    comments = "# a line\n" * 999

    assert read_policy(f"{comments}quorum none").quorum == "none"
    with pytest.raises(PolicyError, match="at most 1000 lines"):
        read_policy(f"{comments}quorum none\n")
