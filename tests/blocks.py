"""The fenced blocks of the pages that people follow: what is typed, what it prints, what is not run and why.

`python -m tests.blocks` lists the blocks that no test runs. The language after the fence says what a block is:

    sh     typed as it is; `<!-- not run: reason -->` on the line before it says that no test can
    text   right after an `sh` block: what that prints, but for its numbers; `…` is whatever is left out. Elsewhere a
           drawing
    ini    settings, a line each: their names and values are checked
    nft    rules of a firewall, which only root can check
    caddyfile  lines of a Caddyfile; tests/outside/test_edges.py runs Caddy with them

tests/test_blocks.py checks what can be checked of every block without running it; tests/outside/test_docs_run.py types
them.
"""

import re
import shlex
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
PAGES: Final = (
    "docs/tutorial.md",
    "CONTRIBUTING.md",
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs" / "howto").glob("*.md")),
)
TYPED: Final = frozenset({"sh"})
SHOWN: Final = frozenset({"text", "ini", "nft", "caddyfile"})
MOST_NOT_RUN: Final = 12

_FENCED: Final = re.compile(
    r"(?:^ *<!-- not run: (?P<reason>.+) -->\n)?"
    r"^(?P<indent> *)```(?P<language>.*)\n(?P<text>(?s:.*?))^(?P=indent)```$"
    r"(?:\n\n(?P=indent)```text\n(?P<quoted>(?s:.*?))^(?P=indent)```$)?",
    re.MULTILINE,
)
# A number with its sign, a time, a date: what another run prints otherwise.
_NUMBER: Final = re.compile("[-+\N{MINUS SIGN}]?" r"\d+(?:[.,:]\d+)*%?[TZ]?")
_HEREDOC: Final = re.compile(r"(<<\s*'?(\w+)'?[^\n]*)\n.*?\n\s*\2$", re.DOTALL | re.MULTILINE)
_COMMENT: Final = re.compile(r"(?:^|(?<=\s))#\s.*$", re.MULTILINE)
_ASSIGNED: Final = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_ENDS: Final = frozenset({";", "&", "|", "(", ")", "{", "}", "do", "done", "then", "fi", "!"})


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a page."""

    page: str
    line: int
    language: str
    text: str
    not_run: str = ""  # the reason, empty where it is run
    quoted: str = ""  # what the page says that it prints

    @property
    def where(self) -> str:
        """The place as editors take it."""
        return f"{self.page}:{self.line}"


def blocks(page: str) -> list[Block]:
    """Return the blocks of a page in its order; what a command prints belongs to the command."""
    text = (ROOT / page).read_text()
    return [
        Block(
            page=page,
            line=text.count("\n", 0, found.start("language")) + 1,
            language=found["language"],
            text=textwrap.dedent(found["text"]),
            not_run=found["reason"] or "",
            quoted=textwrap.dedent(found["quoted"] or ""),
        )
        for found in _FENCED.finditer(text)
    ]


def every_block() -> list[Block]:
    """Return the blocks of all pages."""
    return [block for page in PAGES for block in blocks(page)]


def not_run() -> list[Block]:
    """Return the blocks that no test runs."""
    return [block for block in every_block() if block.not_run]


def commands(script: str) -> Iterator[list[str]]:
    """Yield the words of each simple command of a block; what is handed to it as a text is left out.

    An assignment before a command is a word of it, as is a redirection.
    """
    plain = _COMMENT.sub("", _HEREDOC.sub(r"\1", script)).replace("\\\n", " ").replace("\n", " ; ")
    lexer = shlex.shlex(plain, posix=True, punctuation_chars=";&|()")
    lexer.whitespace_split, lexer.commenters = True, ""
    words: list[str] = []
    for word in (*lexer, ";"):
        if word in _ENDS or not word.strip(";&|()"):
            if words:
                yield words
            words = []
        else:
            words.append(word)


def called(block: Block) -> Iterator[list[str]]:
    """Yield each program that a block calls, with its arguments; a function of the block's own is none."""
    for words in commands(block.text):
        first = next((place for place, word in enumerate(words) if not _ASSIGNED.fullmatch(word)), len(words))
        program, *arguments = words[first:] or [""]
        if program and not program.startswith("$") and f"{program}()" not in block.text and program != "for":
            yield [program, *arguments]


def prints(quoted: str, printed: str) -> bool:
    """Tell whether a command printed what a page quotes, but for the numbers.

    `…` within a line is any text, on a line of its own any lines. The quote may be any whole lines of what was printed.
    """
    pattern = ""
    for line in _NUMBER.sub("#", quoted).splitlines():
        if line.strip() == "…":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(re.escape(part) for part in line.rstrip().split("…")) + r"[ \t]*\n"

    return re.search(f"^{pattern}", _NUMBER.sub("#", printed) + "\n", re.MULTILINE) is not None


def main() -> None:
    skipped = not_run()
    for block in skipped:
        print(f"{block.where}: {block.not_run}: {block.text.splitlines()[0]}")
    print(f"{len(skipped)} of {len(every_block())} blocks are not run, at most {MOST_NOT_RUN}")


if __name__ == "__main__":
    main()
