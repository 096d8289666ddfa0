"""Markdown twins of the pages, for machines: written from the finished HTML, so that both say the same.

Only what our own templates use is known: headings, paragraphs, lists, tables, code, links, definition lists. What they
write is well formed, with attribute values in double quotes and nothing unescaped in them, so that one pattern reads it
in a third of the time that a parser of any page would take.
"""

import re
from collections.abc import Mapping
from html import unescape
from typing import Final

_BLOCKS: Final = frozenset(
    {"p", "div", "ul", "ol", "dl", "section", "article", "header", "footer", "main", "details", "figure", "figcaption"}
)
_PREFIXES: Final = {"h1": "# ", "h2": "## ", "h3": "### ", "li": "- ", "dt": "- **"}
_HIDDEN: Final = frozenset({"hidden", "aria-hidden"})
_LISTS: Final = frozenset({"ul", "ol", "dl", "table"})
_SKIPPED: Final = frozenset({"head", "nav", "script", "svg"})


_TOKEN: Final = re.compile(r"([^<]+)|<(/?)([a-z][a-z0-9]*)([^>]*)>|<!--.*?-->", re.DOTALL | re.IGNORECASE)
_ATTRIBUTE: Final = re.compile(r'([a-z][a-z-]*)(?:="([^"]*)")?', re.IGNORECASE)
_PICTURE: Final = re.compile(r"<svg\b.*?</svg>", re.DOTALL)


def markdown(html: str, base_url: str) -> str:
    """Write one of our pages as Markdown; links become absolute, charts are left out (their numbers are in tables)."""
    writer = _Writer(base_url)
    writer.feed(html)
    writer.flush()
    return re.sub(r"\n{3,}", "\n\n", "\n".join(writer.lines)).strip() + "\n"


class _Writer:
    def __init__(self, base_url: str) -> None:
        self.lines: list[str] = []
        self._base = base_url
        self._prefix = ""
        self._text: list[str] = []
        self._skip: list[str] = []
        self._link: str | None = None
        self._pre = False
        self._row: list[str] = []
        self._rows = 0
        self._definitions = 0

    def feed(self, html: str) -> None:
        """Read a page or a part of one."""
        for text, closing, tag, rest in _TOKEN.findall(_PICTURE.sub("", html)):
            if text:
                self._handle_data(unescape(text))
            elif closing:
                self._handle_endtag(tag)
            elif tag:
                self._handle_starttag(tag, dict(_ATTRIBUTE.findall(rest)) if rest else {})

    def _handle_starttag(self, tag: str, values: Mapping[str, str]) -> None:
        if (
            self._skip
            or tag in _SKIPPED
            or not values.keys().isdisjoint(_HIDDEN)
            or values.get("class") in {"skip", "brand"}
        ):
            if not self._skip or tag == self._skip[0]:
                self._skip.append(tag)
        elif tag in _BLOCKS or tag in {"summary", "caption", "pre"}:
            self._start_block(tag)
        elif tag in _PREFIXES:
            self.flush()
            self._prefix = _PREFIXES[tag]
        elif tag == "table":
            self.flush()
            self._rows = 0
        elif tag in {"tr", "td", "th"}:
            self._take()
        else:
            self._start_inline(tag, values.get("href"))

    def _handle_endtag(self, tag: str) -> None:
        if self._skip:
            if tag == self._skip[0]:
                self._skip.pop()
        elif tag in {"th", "td"}:
            self._row.append(self._take().replace("|", "\\|"))
        elif tag == "tr":
            self._end_row()
        elif tag == "pre":
            self.lines += ["```", "".join(self._text).strip("\n"), "```", ""]
            self._text, self._pre = [], False
        elif tag == "dt":
            self._text.append("**: ")
        elif tag in _BLOCKS or tag in _PREFIXES or tag in {"summary", "caption", "table"}:
            self.flush()
            if tag in _LISTS:
                self.lines.append("")
        else:
            self._end_inline(tag)

    def _handle_data(self, data: str) -> None:
        if not self._skip:
            # Markdown passes HTML on, so what was escaped there stays escaped here.
            self._text.append(data if self._pre else data.replace("<", "&lt;"))

    def flush(self) -> None:
        """End the block that is being written."""
        text = self._take()
        if text:
            self.lines.append(self._prefix + text)
            if not self._prefix.startswith("- "):
                self.lines.append("")
        self._prefix = ""
        self._definitions = 0

    def _start_block(self, tag: str) -> None:
        # A paragraph at the start of a list item belongs to the item.
        if self._prefix and not "".join(self._text).strip():
            return
        self.flush()
        self._pre = tag == "pre"

    def _start_inline(self, tag: str, href: str | None) -> None:
        if tag == "a":
            self._link = href
            self._text.append("[" if self._leads(href) else "")
        elif tag == "code" and not self._pre:
            self._text.append("`")
        elif tag in {"strong", "em"}:
            self._text.append("**" if tag == "strong" else "*")
        elif tag == "dd":
            self._text.append(", " if self._definitions else " ")
            self._definitions += 1
        elif tag == "br":
            self._text.append(" ")

    def _end_inline(self, tag: str) -> None:
        if tag == "a" and self._leads(self._link):
            self._text.append(f"]({self._base}{self._link})")
        elif tag == "code" and not self._pre:
            self._text.append("`")
        elif tag in {"strong", "em"}:
            self._text.append("**" if tag == "strong" else "*")

    def _end_row(self) -> None:
        self.lines.append(f"| {' | '.join(self._row)} |")
        if not self._rows:
            self.lines.append("|" + " --- |" * len(self._row))
        self._rows += 1
        self._row = []

    def _take(self) -> str:
        text = re.sub(r"\s+", " ", "".join(self._text)).strip()
        self._text = []
        return text

    @staticmethod
    def _leads(href: str | None) -> bool:
        return bool(href) and str(href).startswith("/")
