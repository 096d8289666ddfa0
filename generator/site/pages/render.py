"""The pages for people, rendered each tick from one environment; parts that did not change are kept."""

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Final, NamedTuple

from markupsafe import Markup

from generator.catalog.discovery import PAGES, SharePicture
from generator.catalog.formats import iso
from generator.catalog.moved import MOVED
from generator.catalog.pages import DOC_PAGES, SitePage
from generator.catalog.text import answers
from generator.compose.context import Site, TickTimes
from generator.compose.tick import Tick
from generator.memo import Memo
from generator.site.pages.landing import missing
from generator.site.pages.linked import linked_data
from generator.site.pages.markdown import markdown
from generator.site.pages.recipes import PageView, recipe_of
from generator.site.pages.terms import with_terms_linked
from generator.site.resources import Resources
from generator.site.templates import environment
from generator.site.words import format as page_format

_NO_TERMS: Final = ("pages/methodology.html", *(page.template for page in DOC_PAGES))  # without links to terms


class OfTick(NamedTuple):
    """What every template of a page reads of the tick."""

    ctx: Tick
    site: Site
    fresh: TickTimes
    mode: str
    lasting: bool  # the page shows nothing of this minute
    lacking: tuple[str, ...]  # what is missing now; empty on a page that lasts


class OfPage(NamedTuple):
    """What the content of every page reads of its page."""

    page: SitePage
    answer_time: str


class WholePage(NamedTuple):
    """What pages/base.html reads of its page: the content, and what is around it."""

    page: SitePage
    main: Markup
    head: Markup
    foot: Markup
    linked: Markup
    share_picture: SharePicture | None


class Stub(NamedTuple):
    """What pages/moved.html reads: the page that something moved to, and the place on it."""

    site: Site
    path: str
    address: str
    title: str


class Frame(NamedTuple):
    """What is around the content of all pages of a tick, with its Markdown."""

    tick: OfTick
    head: Markup
    foot: Markup
    before: str
    after: str


class Pages:
    """Render every page; those that show nothing of this minute stay as they were made until their source changes."""

    def __init__(self, resources: Resources | None = None) -> None:
        self._env = environment(resources or Resources.locate())
        self._kept: Memo[str] = Memo()  # by path

    def render(self, view: PageView) -> dict[str, bytes]:
        """Return path -> bytes of every page and its twin; raise KeyError when a free body is missing."""
        return {path: content for _, make in self.each(view) for path, content in make().items()}

    def each(self, view: PageView) -> Iterator[tuple[SitePage, Callable[[], dict[str, bytes]]]]:
        """Give every page with what renders it and its twin, so that one may fail and the others not."""
        frame = cache(partial(self._frame, view))
        for page in PAGES:
            yield page, partial(self._page, page, view, frame)

    def stubs(self, site: Site) -> dict[str, bytes]:
        """Return path -> bytes of what stays at the addresses of pages that moved."""
        template = self._env.get_template("pages/moved.html")
        titles = {page.path: page.title for page in PAGES}
        files = {}
        for old, new in MOVED.items():
            path = new.partition("#")[0]
            stub = template.render(Stub(site, path, new, titles[path])._asdict())
            files[f"{old}index.html"] = stub.encode()
        return files

    def _page(self, page: SitePage, view: PageView, frame: Callable[..., Frame]) -> dict[str, bytes]:
        """Return a page and its twin, those of before while what they are made from is equal."""
        source = recipe_of(page).source
        if source is None:
            return self._render(page, view, frame(lasting=False))

        clocks = (view.ctx.freshness.offset_ms, view.ctx.freshness.moved_ms)
        key = (view.ctx.site, view.ctx.observation.mode, clocks, view.share(page), *source(view))
        return self._kept.get(page.path, key, lambda: self._render(page, view, frame(lasting=True)))

    def _frame(self, view: PageView, *, lasting: bool) -> Frame:
        """Render the frame around the content, and its Markdown.

        Args:
            lasting: the page shows nothing of this minute; its script asks /status.json whether the service is fresh.
        """
        ctx = view.ctx
        lacking = () if lasting else missing(ctx, view.bodies)
        tick = OfTick(ctx, ctx.site, ctx.freshness, str(ctx.observation.mode), lasting, lacking)

        head = self._env.get_template("pages/head.html").render(tick._asdict())
        foot = self._env.get_template("pages/foot.html").render(tick._asdict())

        return Frame(
            tick=tick,
            head=Markup(head),  # noqa: S704  ours, escaped when it was made
            foot=Markup(foot),  # noqa: S704
            before=markdown(head, ctx.site.base_url),
            after=markdown(foot, ctx.site.base_url),
        )

    def _render(self, page: SitePage, view: PageView, frame: Frame) -> dict[str, bytes]:
        """Render a page and its twin."""
        ctx = view.ctx
        tick = frame.tick._asdict()

        of_page = OfPage(page, page_format.when(ctx.freshness.generated_ms))
        content = recipe_of(page).values(page, view)
        main = self._env.get_template(page.template).render({**tick, **of_page._asdict(), **content._asdict()})
        if page.template not in _NO_TERMS:
            main = with_terms_linked(main)

        whole = WholePage(
            page=page,
            main=Markup(main),  # noqa: S704  made from our templates, escaped there
            head=frame.head,
            foot=frame.foot,
            linked=linked_data(page, ctx.site, iso(ctx.freshness.generated_ms)),
            share_picture=view.share(page),
        )
        html = self._env.get_template("pages/base.html").render({**tick, **whole._asdict()})

        disclaimer = f"{answers.DISCLAIMER}\n\n"
        # The landing page has it in its own text.
        if page.path == "/":
            disclaimer = ""

        twin = f"{frame.before}\n{markdown(main, ctx.site.base_url)}\n{disclaimer}{frame.after}"
        return {page.file: html.encode(), page.twin: twin.encode()}
