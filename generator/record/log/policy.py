"""Which witnesses must have signed a log's head for it to count (C2SP tlog-policy)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from generator.record.log.cosignatures import Cosigner, read_cosigner
from generator.record.log.note import NoteError, Verifier, base64_bytes

NONE: Final = "none"
MOST_LINES: Final = 1_000


class PolicyError(ValueError):
    """A policy is not what it should be; the message names the line."""


@dataclass(frozen=True, slots=True)
class Witness:
    """One witness of a policy; `key` is None for a kind that is not counted here, `url` empty where none is named."""

    name: str  # within the policy
    key_name: str  # in its signature lines
    key: Cosigner | None
    url: str


@dataclass(frozen=True, slots=True)
class Group:
    """At least `least` of the members, which are witnesses or groups."""

    least: int
    members: tuple[str, ...]


@dataclass(frozen=True)
class Policy:
    """The logs that are believed (any, where none is named), the witnesses, and which of them are enough."""

    logs: tuple[Verifier, ...] = ()
    witnesses: Mapping[str, Witness] = field(default_factory=dict)
    groups: Mapping[str, Group] = field(default_factory=dict)
    quorum: str = NONE

    @property
    def cosigners(self) -> list[Cosigner]:
        """The keys that count."""
        return [witness.key for witness in self.witnesses.values() if witness.key is not None]

    def quorum_time(self, times: Mapping[str, int]) -> int | None:
        """Return when enough witnesses had signed, in seconds since 1970; None where they are not enough.

        Args:
            times: when each signed, by the name of its key. Without a quorum the time is 0.
        """
        by_name = {name: times[w.key_name] for name, w in self.witnesses.items() if w.key and w.key_name in times}
        return self._time(self.quorum, by_name)

    def _time(self, name: str, times: Mapping[str, int]) -> int | None:
        if name == NONE:
            return 0
        group = self.groups.get(name)
        if group is None:
            return times.get(name)

        reached = sorted(at for member in group.members if (at := self._time(member, times)) is not None)
        return reached[group.least - 1] if len(reached) >= group.least else None


def read_policy(text: str) -> Policy:
    """Read a policy file; raise PolicyError for the first line that is wrong.

    >>> read_policy("quorum none").quorum_time({})
    0
    """
    reader = _Reader()
    lines = text.split("\n")
    if len(lines) > MOST_LINES:
        raise PolicyError(f"a policy has at most {MOST_LINES} lines")

    for number, line in enumerate(lines, 1):
        words = line.replace("\t", " ").split(" ")
        items = [word for word in words if word]
        if not items or items[0].startswith("#"):
            continue
        try:
            reader.take(items[0], items[1:])
        except (NoteError, PolicyError) as error:
            raise PolicyError(f"line {number}: {error}") from None

    if reader.quorum is None:
        raise PolicyError("there is no quorum line; `quorum none` asks for no witness")
    return Policy(tuple(reader.logs), reader.witnesses, reader.groups, reader.quorum)


class _Reader:
    """What was read of a policy so far."""

    def __init__(self) -> None:
        self.logs: list[Verifier] = []
        self.witnesses: dict[str, Witness] = {}
        self.groups: dict[str, Group] = {}
        self.quorum: str | None = None
        self._members: set[str] = set()
        self._keys: set[bytes] = set()

    def take(self, kind: str, items: list[str]) -> None:
        """Read one line."""
        match kind, items:
            case "log", [key] | [key, _]:
                self._once(key)
                self.logs.append(Verifier.parse(key))
            case "witness", [name, key] | [name, key, _]:
                self._once(key)
                url = items[2] if len(items) > 2 else ""
                self.witnesses[self._new(name)] = Witness(name, key.partition("+")[0], read_cosigner(key), url)
            case "group", [name, least, *members] if members:
                self.groups[self._new(name)] = Group(_least(least, len(members)), self._known(members))
            case "quorum", [name]:
                self._end(name)
            case _:
                raise PolicyError(f"{kind!r} is not a keyword of a policy: log, witness, group, quorum")

    def _once(self, key: str) -> None:
        """Refuse a key that an earlier line has, whatever its name."""
        public = base64_bytes([*key.split("+", 2), "", ""][2])[1:]  # without the byte that says its kind
        if public in self._keys:
            raise PolicyError("an earlier line has this key")
        self._keys.add(public)

    def _new(self, name: str) -> str:
        if name == NONE or name in self.witnesses or name in self.groups:
            raise PolicyError(f"the name {name} is taken")
        return name

    def _known(self, members: list[str]) -> tuple[str, ...]:
        for name in members:
            if name not in self.witnesses and name not in self.groups:
                raise PolicyError(f"{name} is not defined on a line before")
            if name in self._members:
                raise PolicyError(f"{name} is a member already")
            self._members.add(name)
        return tuple(members)

    def _end(self, name: str) -> None:
        if self.quorum is not None:
            raise PolicyError("there is a quorum line already")
        if name != NONE and name not in self.witnesses and name not in self.groups:
            raise PolicyError(f"{name} is not defined on a line before")
        self.quorum = name


def _least(text: str, members: int) -> int:
    """Return how many members of a group are enough."""
    if text == "any":
        return 1
    if text == "all":
        return members
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text) <= members:
        raise PolicyError(f"{text} is not `any`, `all` or a number from 1 to {members}")
    return int(text)
