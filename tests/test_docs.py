"""The documentation: its links lead somewhere, its index has every page, and its reference is what the code is."""

import re
from pathlib import Path

from generator.catalog.downloads import SERIES
from generator.record.audit.audit import Audit
from tests.reference import REFERENCE, TABLE, TABLES, written

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = (*sorted(ROOT.glob("[A-Z]*.md")), *sorted(DOCS.rglob("*.md")), ROOT / "tests" / "README.md")


def anchors(page: Path) -> set[str]:
    """Return the anchors that a forge gives to the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_link_leads_to_a_file_and_a_heading_that_are_there() -> None:
    for page in PAGES:
        for target, anchor in re.findall(r"\]\(([^)#:\s]*)#?([^):\s]*)\)", page.read_text()):
            path = page.parent / target if target else page
            assert path.exists(), f"{page}: {target}"
            assert not anchor or anchor in anchors(path), f"{page}: {target}#{anchor}"


def test_every_page_is_in_the_index() -> None:
    index = (DOCS / "README.md").read_text()

    for page in DOCS.glob("**/*.md"):
        listed = {page.relative_to(DOCS).as_posix(), f"{page.parent.name}/", "README.md"}
        assert page == DOCS / "README.md" or any(f"]({name})" in index for name in listed), page


def test_the_readme_is_one_page_and_no_table() -> None:
    text = (ROOT / "README.md").read_text()

    assert len(text.encode()) <= 6_000
    assert "\n|" not in text


def test_the_readme_gives_the_coverage_of_the_brain_s_report() -> None:
    text, report = (ROOT / "README.md").read_text(), (DOCS / "explain" / "brain.md").read_text()
    rows = re.findall(r"coverage of the .*?, (?:15m|1h|4h), % \| .*? \| ([\d.]+) \(([\d.]+) to ([\d.]+)\)", report)

    assert len(rows) >= 6
    assert [row for row in rows[:6] if not re.search(rf"{row[0]}%[^%]*\[{row[1]},\s{row[2]}\]", text)] == []


def test_the_reference_is_what_the_code_is() -> None:
    pages = {path.name: path.read_text() for path in REFERENCE.glob("*.md")}

    stale = [name for name, text in pages.items() if written(text) != text]
    assert stale == [], "python -m tests.reference writes them"
    assert sorted(name for text in pages.values() for _, name, _ in TABLE.findall(text)) == sorted(TABLES)


def test_every_kind_of_log_entry_and_every_column_has_its_row() -> None:
    text = (REFERENCE / "formats.md").read_text()
    columns = {re.sub(r"_(15m|1h|4h|24h)$", "_…", field.name) for series in SERIES for field in series.fields}

    kinds = [name.removeprefix("_on_").replace("_", ".", 1) for name in dir(Audit) if name.startswith("_on_")]
    assert len(kinds) == 12
    assert [kind for kind in kinds if f"| `{kind}` |" not in text] == []
    assert [name for name in columns if f"`{name}`" not in text] == []
