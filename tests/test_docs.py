"""The documentation: its links lead somewhere, and its index has every page."""

import re
from pathlib import Path

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

    for page in DOCS.glob("*/*.md"):
        listed = {page.relative_to(DOCS).as_posix(), f"{page.parent.name}/"}
        assert any(f"]({name})" in index for name in listed), page
