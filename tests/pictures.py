"""The pictures of docs/images that show pages: `python -m tests.pictures ORIGIN [FOLDER]`, of a service that runs.

It needs playwright and Debian's chromium, as the outside suite does. With `--all` it takes five pages whole instead, at
1440 and 390, light and dark, for somebody to look at.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from generator.catalog import links
from tests.outside.site_pages import Browser, Page, a_browser

PHONE: Final = (390, 844)
DESK: Final = (1440, 900)
RECORD_HEIGHT: Final = 1250
GAP: Final = 40
LOOKED_AT: Final = {
    "landing": "/",
    "asset": links.asset_path("BTC"),
    "arena": "/arena/",
    "track-record": "/track-record/",
    "learn": "/learn/",
}
Scheme = Literal["light", "dark"]


def main(
    origin: Annotated[str, typer.Argument(help="Where the service answers, e.g. http://127.0.0.1:8402.")],
    folder: Annotated[Path, typer.Argument(help="Where the pictures go.")] = Path("docs/images"),
    *,
    every: Annotated[bool, typer.Option("--all", help="Show five pages in both widths and themes, whole.")] = False,
) -> None:
    """Take the pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    with a_browser() as browser:
        if every:
            take_all(browser, origin, folder)
        else:
            take_docs(browser, origin, folder)


def take_docs(browser: Browser, origin: str, folder: Path) -> None:
    """Take what docs/images has."""
    with shown(browser, f"{origin}/", DESK, "light") as page:
        page.screenshot(path=folder / "landing.png")
    with shown(browser, f"{origin}/track-record/", (DESK[0], RECORD_HEIGHT), "light") as page:
        page.screenshot(path=folder / "track-record.png")

    halves = []
    for scheme in ("light", "dark"):
        with shown(browser, f"{origin}/", PHONE, scheme, scale=2) as page:
            half = folder / f"phone-{scheme}.png"
            page.screenshot(path=half)
            halves.append(half)
    _side_by_side(browser, halves, folder / "phone.png")
    for half in halves:
        half.unlink()


def take_all(browser: Browser, origin: str, folder: Path) -> None:
    """Take each page whole, in both widths and themes."""
    for name, path in LOOKED_AT.items():
        for width, height in (DESK, PHONE):
            for scheme in ("light", "dark"):
                with shown(browser, f"{origin}{path}", (width, height), scheme) as page:
                    page.screenshot(path=folder / f"{name}-{width}-{scheme}.png", full_page=True)


@contextmanager
def shown(browser: Browser, url: str, size: tuple[int, int], scheme: Scheme, scale: float = 1) -> Iterator[Page]:
    """Show a page in a window of a size and a theme."""
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, device_scale_factor=scale
    )
    try:
        page = context.new_page()
        page.goto(url, wait_until="load", timeout=60_000)
        yield page
    finally:
        context.close()


def _side_by_side(browser: Browser, pictures: list[Path], to: Path) -> None:
    width = 2 * 2 * PHONE[0] + GAP
    images = "".join(f'<img src="{picture.resolve().as_uri()}">' for picture in pictures)
    page = browser.new_page(viewport={"width": width, "height": 2 * PHONE[1]})
    sheet = to.with_suffix(".html")
    sheet.write_text(f'<body style="margin:0;display:flex;gap:{GAP}px">{images}</body>', encoding="utf-8")
    page.goto(sheet.resolve().as_uri())
    page.screenshot(path=to)
    page.close()
    sheet.unlink()


if __name__ == "__main__":
    typer.run(main)
