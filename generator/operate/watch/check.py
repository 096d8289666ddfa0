"""One finding of the doctor, as its parts hand it to each other."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at and what was found; `good` is None where it cannot be checked from here."""

    what: str
    good: bool | None
    found: str

    @property
    def mark(self) -> str:
        """What its line begins with."""
        if self.good is None:
            return "--  "
        return "ok  " if self.good else "BAD "
