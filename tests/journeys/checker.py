"""A black-box checker of one origin: python -m tests.journeys.checker --url ORIGIN [--name nginx].

It knows the contract and nothing of the server behind. What an edge is known not to do is in `CANNOT`, is tried
all the same and printed as such; an edge that then can is a failure too, so that the table stays true.
"""

import argparse
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from tests.journeys import checks_free, checks_paid, checks_site
from tests.journeys.checks import CHECKS, Check, Site
from tests.journeys.wire import NoAnswer, Origin

# Importing them fills the list.
PARTS: Final = (checks_free, checks_site, checks_paid)
Verdict = Literal["yes", "no", "cannot", "not asked"]
LONG_URL: Final = (
    "a URL of 20 KiB: 400, 404, 414 or 431 as a problem document, or the file where only the query is long"
)
NGINX: Final = {
    "the ETag with an older date: 304, the date is not asked": (
        "nginx asks both, and sends the whole file: right, but longer than need be"
    ),
}
CANNOT: Final[Mapping[str, Mapping[str, str]]] = {
    "nginx": NGINX,
    "nginx without brotli": {
        **NGINX,
        "br for who takes br": "needs Debian's libnginx-mod-http-brotli-static; gzip or the plain file is sent",
        "of gzip and br the smaller": "the same: gzip is sent",
    },
    "caddy": {
        "X-Generation is the generation in the body": (
            "no directive resolves the pointer; the body's freshness.generation and /g/<generation>/ tell it"
        ),
        "400 of the server itself is a problem document": "Go's server answers in plain text before any directive",
        "that 431 is a problem document": "the same",
        LONG_URL: "the same, as 431",
    },
    "preview": {
        "400 of the server itself is a problem document": "the parser answers in plain text, before the application",
        "the gateway is down: 503 as a problem document with Retry-After and Vary": "it is the gateway's own process",
        "the gateway is down: the free files do not notice": "the same",
    },
}
"""Edge to check to the reason why it cannot keep it."""
SHOWN_DEVIATIONS: Final = 3


@dataclass(frozen=True)
class Row:
    """The outcome of one check.

    Args:
        group: heading.
        name: what must hold.
        verdict: yes, no, cannot (and the table says so), or not asked for want of an origin or file.
        requests: sent for it.
        detail: the deviations, or the reason.
    """

    group: str
    name: str
    verdict: Verdict
    requests: int
    detail: str


def run(
    url: str, name: str = "", *, down: str | None = None, once: str | None = None, only: Collection[str] = ()
) -> list[Row]:
    """Check one origin.

    Args:
        url: the origin, e.g. http://127.0.0.1:8080.
        name: row of `CANNOT`; an unknown one has no exceptions.
        down: the same edge before a gateway that is not running.
        once: path of a published file that never changes.
        only: names of the checks to run; all by default.

    Returns:
        A row for every check, none left out.

    Raises:
        ValueError: a name of `only` or of the table is not a check.
    """
    known = {one.name for one in CHECKS}
    if not known >= {*only, *CANNOT.get(name, {})}:
        raise ValueError(f"no check is called {sorted({*only, *CANNOT.get(name, {})} - known)}")
    site = Site(Origin(url), Origin(down) if down else None, once)
    wanted = [one for one in CHECKS if not only or one.name in only]
    return [_row(one, site, CANNOT.get(name, {}).get(one.name)) for one in wanted]


def _row(one: Check, site: Site, excuse: str | None) -> Row:
    if one.needs and getattr(site, one.needs) is None:
        if excuse is not None:
            return Row(one.group, one.name, "cannot", 0, excuse)
        return Row(one.group, one.name, "not asked", 0, f"needs --{one.needs}")
    before = _requests(site)
    # Twice, since a release may have been published in between.
    deviations = _deviations(one, site) and _deviations(one, site)
    asked = _requests(site) - before
    if excuse is not None:
        verdict: Verdict = "cannot" if deviations else "no"
        detail = excuse if deviations else "the table says that it cannot, but it can"
        return Row(one.group, one.name, verdict, asked, detail)
    return Row(one.group, one.name, "no" if deviations else "yes", asked, _shorten(deviations))


def _deviations(one: Check, site: Site) -> list[str]:
    try:
        return list(one.look(replace(site, seen={})))
    except NoAnswer as error:
        return [f"no answer: {error}"]
    except (ValueError, KeyError, TypeError) as error:
        return [f"an answer that cannot be read: {type(error).__name__}: {error}"]


def _requests(site: Site) -> int:
    return site.origin.requests + (site.down.requests if site.down else 0)


def _shorten(deviations: Sequence[str]) -> str:
    more = len(deviations) - SHOWN_DEVIATIONS
    return "; ".join(deviations[:SHOWN_DEVIATIONS]) + (f"; and {more} more" if more > 0 else "")


def markdown(edges: Iterable[str] = tuple(CANNOT)) -> str:
    """Return the table of what each edge keeps, and why it cannot keep the rest."""
    names = list(edges)
    lines = [f"| check | {' | '.join(names)} |", "|---|" + "---|" * len(names)]
    group = ""
    for one in CHECKS:
        if one.group != group:
            group = one.group
            lines.append(f"| **{group}** |" + " |" * len(names))
        lines.append(
            f"| {one.name} | {' | '.join('cannot' if one.name in CANNOT[name] else 'yes' for name in names)} |"
        )
    reasons = [f"- **{name}**, {one}: {why}" for name in names for one, why in CANNOT[name].items()]
    return "\n".join([*lines, "", "What cannot be kept, and why:", "", *reasons, ""])


def text(rows: Sequence[Row]) -> Iterator[str]:
    """Return the lines that the command prints."""
    group = ""
    for row in rows:
        if row.group != group:
            group = row.group
            yield f"\n{group}"
        yield f"  {row.verdict:<9} {row.requests:>4}  {row.name}{f' -- {row.detail}' if row.detail else ''}"
    counts = {verdict: sum(row.verdict == verdict for row in rows) for verdict in ("yes", "no", "cannot", "not asked")}
    verdicts = ", ".join(f"{count} {word}" for word, count in counts.items())
    yield f"\n{verdicts}; {sum(row.requests for row in rows)} requests"


def main() -> int:
    """Check the origin that the command line names; exit code 1 when something does not hold, 2 when no one answers."""
    parser = argparse.ArgumentParser(prog="python -m tests.journeys.checker", description=__doc__)
    parser.add_argument("--url", help="origin to check, e.g. http://127.0.0.1:8402")
    parser.add_argument("--name", default="", help=f"whose exceptions hold: {', '.join(CANNOT)}; none by default")
    parser.add_argument("--down", help="the same edge before a gateway that is not running")
    parser.add_argument("--once", help="path of a published file below /files/ or /log/tile/")
    parser.add_argument("--markdown", action="store_true", help="print the table of what each edge keeps and stop")
    given = parser.parse_args()
    if given.markdown:
        sys.stdout.write(markdown())
        return 0
    if not given.url:
        parser.error("--url is missing")
    try:
        Origin(given.url).get("/")
    except (NoAnswer, ValueError) as error:
        sys.stderr.write(f"checker: {given.url}: {error}\n")
        return 2
    rows = run(given.url, given.name, down=given.down, once=given.once)
    sys.stdout.write("\n".join(text(rows)) + "\n")
    return int(any(row.verdict == "no" for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
