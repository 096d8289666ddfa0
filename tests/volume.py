"""How many words the reader of a page sees: `python -m tests.volume FOLDER`, of the `site/current` of a service.

A word has a letter in it. Counted is what a page shows as it opens: not the inside of a folded part, pictures, code,
what is hidden and what only a printer or a screen reader gets; numbers are no words.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

_UNSEEN: Final = frozenset({"head", "script", "style", "template", "svg", "pre", "noscript", "option"})
_UNSEEN_CLASSES: Final = frozenset({"hide", "paper", "skip"})
_VOID: Final = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"})
_LETTER: Final = re.compile("[A-Za-z]")


class _Seen(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.text: list[str] = []
        self._open: list[tuple[str, bool]] = []  # tag, and whether it hides what is in it

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.text.append(" ")
        if tag in _VOID:
            return

        values = dict(attrs)
        classes = set((values.get("class") or "").split())
        is_folded = tag == "details" and "open" not in values
        is_unseen = tag in _UNSEEN or "hidden" in values or bool(classes & _UNSEEN_CLASSES)
        self._open.append((tag, is_folded or is_unseen))

    def handle_endtag(self, tag: str) -> None:
        self.text.append(" ")
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        hiding = [tag for tag, hides in self._open if hides]
        is_summary = hiding == ["details"] and any(tag == "summary" for tag, _ in self._open)
        if not hiding or is_summary:
            self.text.append(data)


def seen(html: str) -> str:
    """Return the text that a page shows as it opens."""
    reader = _Seen()
    reader.feed(html)
    return re.sub(r"\s+", " ", "".join(reader.text)).strip()


def words_of(html: str) -> int:
    """Count its words."""
    return sum(_LETTER.search(word) is not None for word in seen(html).split())


def main(folder: Path) -> int:
    """Print the words of each page, the longest first, and their sum."""
    counted = {str(page.relative_to(folder)): words_of(page.read_text("utf-8")) for page in folder.rglob("*.html")}
    for name, words in sorted(counted.items(), key=lambda row: -row[1]):
        print(f"{words:>6,}  {name}")
    of_docs = sum(words for name, words in counted.items() if name.startswith("docs/"))
    print(f"{sum(counted.values()):>6,}  all {len(counted)} pages, of which {of_docs:,} words in docs/")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
