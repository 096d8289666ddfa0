"""The words of tests/retired_words.md occur nowhere else.

`python -m tests.test_glossary [FOLDER]` lists the lines that hold one.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
WORDS = ROOT / "tests" / "retired_words.md"
SEARCHED = (
    "generator",
    "gateway",
    "tests",
    "docs",
    "templates",
    "site",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
)
TEXT = {".py", ".md", ".html", ".js", ".css", ".txt", ".yaml", ".toml", ".conf", ".json", ".service", ".xml", ""}
EXEMPT = (WORDS, ROOT / "tests" / "test_glossary.py")
ALEMBIC_VERSIONS = "migrations/versions"
PUBLISHED = {ROOT / "tests" / room / "state" for room in ("compose", "site")}  # what made their words is searched


@dataclass(frozen=True)
class Retired:
    """One term: what matches it, and where it counts."""

    term: str
    pattern: re.Pattern[str]
    folders: tuple[str, ...]
    exempts: bool

    @cached_property
    def in_lower_case(self) -> re.Pattern[str]:
        """What each occurrence is in a text in lower case: begins with a letter, so that it is found quickly."""
        return re.compile(phrase_of(self.term).lower())

    def applies(self, path: str, lowered: str) -> bool:
        """Return whether the row covers a file and its text may hold the term."""
        if not self.in_lower_case.search(lowered):
            return False
        inside = any(f"{path}/".startswith(f"{folder}/") for folder in self.folders)
        return not self.folders or inside != self.exempts


def phrase_of(text: str) -> str:
    """Return a regular expression for words with anything between them; X is any word, N any number."""
    escaped = re.escape(text).replace(r"\ ", r"[\s_-]{1,40}")
    return re.sub(r"\bX\b", "[A-Za-z]+", re.sub(r"\bN\b", "[0-9]+", escaped))


def pattern_of(term: str, still_right: list[str]) -> re.Pattern[str]:
    if term[0].isupper():
        return re.compile(rf"(?<![A-Za-z]){phrase_of(term)}(?![a-z])")

    lower = phrase_of(term)
    capital = phrase_of(term[0].upper() + term[1:])
    upper = phrase_of(term.upper())
    forms = f"(?<![A-Za-z]){lower}(?![a-z])|{capital}(?![a-z])|{upper}(?![A-Z])"
    kept = "|".join(f"(?i:{phrase_of(text)})" for text in still_right)
    return re.compile(f"(?:{kept})|({forms})" if kept else f"({forms})")


@cache
def retired() -> tuple[Retired, ...]:
    """Read the table."""
    lines = WORDS.read_text().splitlines()
    rows = [line.strip().strip("|").split("|") for line in lines if line.startswith("| `")]
    found = []
    for terms, _, where, right in rows:
        kept = re.findall("`([^`]+)`", right)
        folders = tuple(re.findall("`([^`]+)`", where))
        exempts = where.strip().startswith("not ")
        found += [Retired(term, pattern_of(term, kept), folders, exempts) for term in re.findall("`([^`]+)`", terms)]
    return tuple(found)


def files() -> Iterator[Path]:
    for name in SEARCHED:
        place = ROOT / name
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            skipped = path in EXEMPT or "__pycache__" in path.parts or ALEMBIC_VERSIONS in path.as_posix()
            skipped = skipped or not PUBLISHED.isdisjoint(path.parents)
            if path.is_file() and path.suffix in TEXT and not skipped:
                yield path


@cache
def occurrences() -> tuple[tuple[str, int, str], ...]:
    """Return path, line number and term of every occurrence."""
    found = []
    for path in files():
        name = path.relative_to(ROOT).as_posix()
        text = path.read_text(errors="ignore")
        lowered = text.lower()
        for row in retired():
            if row.applies(name, lowered):
                for match in row.pattern.finditer(text):
                    if not match.lastindex and row.pattern.groups:
                        continue  # a phrase that stays right
                    found.append((name, text.count("\n", 0, match.start()) + 1, row.term))
    return tuple(found)


def test_retired_words_occur_nowhere() -> None:
    assert occurrences() == ()


@pytest.mark.parametrize("text", ["was_told", "Told", "TOLD_BY", "he told\n  us", "isTold"])
def test_a_lower_case_term_is_found_in_every_form(text: str) -> None:
    assert pattern_of("told", []).search(text)


def test_a_phrase_that_stays_right_is_no_occurrence() -> None:
    match = pattern_of("lived", ["long-lived"]).search("a long-lived key")

    assert match is not None
    assert match.group(1) is None


def main() -> None:
    for name, line, term in occurrences():
        if any(name.startswith(prefix) for prefix in sys.argv[1:] or [""]):
            print(f"{name}:{line}: {term}")


if __name__ == "__main__":
    main()
