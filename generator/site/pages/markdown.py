"""Markdown twins of the pages, for machines: written from the finished HTML, so that both say the same.

The numbers of a page's charts come last: who reads from the top gets the reading first, as the page shows it.

Only what our own templates use is known: headings, paragraphs, lists, tables, code, links, definition lists. What they
write is well formed, with attribute values in double quotes and nothing unescaped in them, so that one pattern reads it
in a third of the time that a parser of any page would take.
"""

import re
from collections.abc import Mapping
from html import unescape
from typing import Final

_LISTS: Final = frozenset({"ul", "ol", "dl", "table"})
_BLOCKS: Final = _LISTS | frozenset(
    {"p", "div", "section", "article", "header", "footer", "main", "details", "figure", "figcaption"}
    | {"summary", "caption", "pre"}
)
_PREFIXES: Final = {"h1": "# ", "h2": "## ", "h3": "### ", "li": "- ", "dt": "- **"}
_MARKS: Final = {"strong": "**", "em": "*", "code": "`"}
_HIDDEN: Final = frozenset({"hidden", "aria-hidden", "data-script"})
_HIDDEN_CLASSES: Final = frozenset({"skip", "brand", "said"})
_SKIPPED: Final = frozenset({"head", "nav", "script", "svg"})

_TOKEN: Final = re.compile(r"([^<]+)|<(/?)([a-z][a-z0-9]*)([^>]*)>|<!--.*?-->", re.DOTALL | re.IGNORECASE)
_ATTRIBUTE: Final = re.compile(r'([a-z][a-z-]*)(?:="([^"]*)")?', re.IGNORECASE)
_PICTURE: Final = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
_NUMBERS: Final = re.compile(r"<details><summary>The numbers of this chart</summary>(.*?)</details>", re.DOTALL)


def markdown(html: str, base_url: str) -> str:
    """Write one of our pages as Markdown; links become absolute, charts are left out (their numbers are in tables)."""
    html = _PICTURE.sub("", html)
    numbers = "".join(_NUMBERS.findall(html))
    if numbers:
        html = f"{_NUMBERS.sub('', html)}<h2>The numbers of the charts</h2>{numbers}"

    writer = _Writer(base_url)
    skipped = ""  # the tag inside which nothing is read
    depth = 0  # how often it is open
    for text, closing, tag, rest in _TOKEN.findall(html):
        if skipped:
            if tag == skipped:
                depth += -1 if closing else 1
            if depth == 0:
                skipped = ""
        elif text:
            writer.text(unescape(text))
        elif closing:
            writer.end(tag)
        elif tag:
            attributes = dict(_ATTRIBUTE.findall(rest))
            if _is_hidden(tag, attributes):
                skipped = tag
                depth = 1
            else:
                writer.start(tag, attributes.get("href", ""))
    writer.flush()

    lines = "\n".join(writer.lines)
    return re.sub(r"\n{3,}", "\n\n", lines).strip() + "\n"


def _is_hidden(tag: str, attributes: Mapping[str, str]) -> bool:
    if tag in _SKIPPED or attributes.get("class") in _HIDDEN_CLASSES:
        return True
    return not attributes.keys().isdisjoint(_HIDDEN)


class _Writer:
    def __init__(self, base_url: str) -> None:
        self.lines: list[str] = []
        self._base = base_url
        self._prefix = ""
        self._text: list[str] = []
        self._link = ""
        self._pre = False
        self._row: list[str] = []
        self._in_head = False  # the next row is the first of its table
        self._definitions = 0

    def text(self, text: str) -> None:
        """Add text. Markdown passes HTML on, so what was escaped there stays escaped here."""
        if not self._pre:
            text = text.replace("<", "&lt;")
        self._text.append(text)

    def start(self, tag: str, href: str) -> None:
        """Begin an element."""
        if tag in _BLOCKS:
            # A paragraph at the start of a list item belongs to the item.
            if not self._prefix or "".join(self._text).strip():
                self.flush()
                self._pre = tag == "pre"
            if tag == "table":
                self._in_head = True
        elif tag in _PREFIXES:
            self.flush()
            self._prefix = _PREFIXES[tag]
        elif tag in {"tr", "td", "th"}:
            self._take()
        elif tag == "a":
            self._start_link(href)
        elif tag == "dd":
            # Several definitions of one term make one line, as a list or sentence by sentence.
            is_sentence = "".join(self._text).rstrip().endswith(".")
            self._text.append(", " if self._definitions and not is_sentence else " ")
            self._definitions += 1
        elif tag == "br":
            self._text.append(" ")
        else:
            self._mark(tag)

    def end(self, tag: str) -> None:
        """End an element."""
        if tag in {"th", "td"}:
            self._row.append(self._take().replace("|", "\\|"))
        elif tag == "tr":
            self._end_row()
        elif tag == "pre":
            self.lines += ["```", "".join(self._text).strip("\n"), "```", ""]
            self._text = []
            self._pre = False
        elif tag == "dt":
            self._text.append("**: ")
        elif tag in _BLOCKS or tag in _PREFIXES:
            self.flush()
            if tag in _LISTS:
                self.lines.append("")
        elif tag == "a":
            self._end_link()
        else:
            self._mark(tag)

    def flush(self) -> None:
        """End the block that is being written."""
        text = self._take()
        if text:
            self.lines.append(self._prefix + text)
            if not self._prefix.startswith("- "):
                self.lines.append("")
        self._prefix = ""
        self._definitions = 0

    def _start_link(self, href: str) -> None:
        """Begin a link; only those inside the site are kept, and none in code."""
        self._link = href if href.startswith("/") and not self._pre else ""
        if self._link:
            self._text.append("[")

    def _end_link(self) -> None:
        if self._link:
            self._text.append(f"]({self._base}{self._link})")

    def _end_row(self) -> None:
        self.lines.append(f"| {' | '.join(self._row)} |")
        if self._in_head:
            self.lines.append("|" + " --- |" * len(self._row))
        self._in_head = False
        self._row = []

    def _mark(self, tag: str) -> None:
        if self._pre and tag == "code":
            return
        self._text.append(_MARKS.get(tag, ""))

    def _take(self) -> str:
        text = re.sub(r"\s+", " ", "".join(self._text)).strip()
        self._text = []
        return text
