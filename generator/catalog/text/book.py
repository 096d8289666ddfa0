"""Sentences as data: a book of groups, of each of which the first sentence whose case holds is said."""

from collections.abc import Callable, Iterator, Mapping
from typing import Generic, NamedTuple, TypeVar

Facts_contra = TypeVar("Facts_contra", contravariant=True)
Fact = TypeVar("Fact")
Slot = Callable[[Facts_contra], str]


class Sentence(NamedTuple, Generic[Facts_contra]):
    """One wording."""

    text: str  # with places to fill in braces
    case: str  # when it is said, for people
    when: Callable[[Facts_contra], bool]


Groups = Mapping[str, tuple[Sentence[Facts_contra], ...]]


class Book(Generic[Facts_contra]):
    """Groups of sentences about some facts, and the figures of those facts in words.

    A group is one place of a page or a body. The places of a sentence are filled by slots, or by other groups: one
    case, one wording.

    >>> groups = {"day": (Sentence("{way}{why}.", "always", lambda up: True),), "why": ()}
    >>> Book(groups, {"way": lambda up: "Up" if up else "Down"}).say("day", True)
    'Up.'
    """

    def __init__(self, groups: Groups[Facts_contra], slots: Mapping[str, Slot[Facts_contra]]) -> None:
        """Take the sentences by group, and what fills their places by name.

        Raises:
            ValueError: a name is both a group and a slot.
        """
        both = groups.keys() & slots.keys()
        if both:
            raise ValueError(f"both groups and slots: {', '.join(sorted(both))}")
        self.groups = groups
        self.slots = slots

    def say(self, group: str, facts: Facts_contra) -> str:
        """Return the first sentence of a group whose case holds; empty where none does.

        One of which a fact turns out to be unknown is left out for the next: no text ever fails a tick.
        """
        for sentence in self.groups[group]:
            try:
                if sentence.when(facts):
                    return sentence.text.format_map(_Places(self, facts))
            except LookupError:
                continue
        return ""

    def place(self, name: str, facts: Facts_contra) -> str:
        """Return the text of a place."""
        return self.say(name, facts) if name in self.groups else self.slots[name](facts)


class _Places(Mapping[str, str], Generic[Facts_contra]):
    """The places of a sentence, each worked out when it is asked for."""

    def __init__(self, book: Book[Facts_contra], facts: Facts_contra) -> None:
        self._book = book
        self._facts = facts

    def __getitem__(self, name: str) -> str:
        return self._book.place(name, self._facts)

    def __iter__(self) -> Iterator[str]:
        return iter((*self._book.groups, *self._book.slots))

    def __len__(self) -> int:
        return len(self._book.groups) + len(self._book.slots)


def joined(parts: list[str]) -> str:
    """Return sentences as one text, without those that are empty."""
    return " ".join(part for part in parts if part)


def known(fact: Fact | None) -> Fact:
    """Return a fact that the case of a sentence has made sure of.

    Raises:
        LookupError: it is not known after all.
    """
    if fact is None:
        raise LookupError("a sentence was chosen without its fact")
    return fact


def always(_: object) -> bool:
    """Say yes: the last case of a group."""
    return True
