"""What was made is kept while what it is made from is equal."""

import pytest

from generator.memo import Memo


def test_the_same_object_comes_back_until_its_key_is_another() -> None:
    memo = Memo[str]()
    first = memo.get("page", ("a", 1), lambda: ["first"])

    assert memo.get("page", ("a", 1), lambda: ["not made"]) is first
    assert memo.get("page", ("a", 2), lambda: ["made"]) == ["made"]
    assert memo.get("page", ("a", 1), lambda: ["again"]) == ["again"]


def test_names_have_nothing_to_do_with_each_other() -> None:
    memo = Memo[str]()

    assert [memo.get(name, None, lambda name=name: name) for name in "abc"] == list("abc")  # type: ignore[misc]


def test_what_fails_is_not_kept_and_leaves_what_was_there() -> None:
    memo = Memo[str]()
    memo.get("page", 1, lambda: "old")

    with pytest.raises(ZeroDivisionError):
        memo.get("page", 2, lambda: 1 / 0)

    assert memo.get("page", 1, lambda: "made") == "old"
    assert memo.get("page", 2, lambda: "new") == "new"


def test_only_the_names_that_are_kept_are_known() -> None:
    memo = Memo[str]()
    for name in "abc":
        memo.get(name, None, lambda: 0)

    memo.keep({"a", "b"})
    memo.drop("b")
    memo.drop("lost")
    assert [name in memo for name in "abc"] == [True, False, False]

    memo.clear()
    assert "a" not in memo


def test_none_is_a_value_too() -> None:
    memo = Memo[str]()
    memo.get("page", None, lambda: None)

    assert memo.get("page", None, lambda: "made") is None
