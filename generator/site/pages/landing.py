"""What the landing page shows, worked out from the tick and from the bodies as published."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from markupsafe import Markup

from generator.catalog.assets import ASSET_NAMES, ASSETS
from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.catalog.links import asset_path
from generator.catalog.text.answers import BARS_MISSING, NEEDS_5_MINUTE_BARS, RECORDED_NOTICE, SIMULATED_NOTICE
from generator.catalog.text.labels import BIAS_MARKS, REGIME, STATE
from generator.compose.context import TickContext
from generator.compose.inputs import missing_reason
from generator.compose.scores import hour_statement
from generator.market.bars import BAR_MS
from generator.site.charts.now import fundings, sparkline, usual_moves
from generator.site.charts.report import hour_move, source_of
from generator.site.pages.arena import brain_words, crowd_bar, crowd_words, question
from generator.site.pages.record import direction
from generator.site.words.format import UNKNOWN, duration, percent, price, signed, usd, word
from generator.site.words.record import far_figure

_OF_BOOKS: Final = ("liquidity", "spread", "structure", "futures", "funding", "open_interest")
Bodies = Mapping[str, Mapping[str, Any]]
_IN_BANNER: Final = frozenset({SIMULATED_NOTICE, RECORDED_NOTICE})


def landing(ctx: TickContext, bodies: Bodies, chart: Markup | None = None) -> dict[str, Any]:
    """Return what pages/index.html reads; every text is ready, `unknown` where there is no number."""
    brain = _body(bodies, "main-brain")
    futures = _body(bodies, "derivatives")["assets"]
    source, live = source_of(ctx), ctx.arena.live
    rates = {asset: (futures[asset].get("funding") or {}).get("rate_8h_percent") for asset in ASSETS}
    rows = tuple(_row(asset, ctx, bodies) for asset in ASSETS)
    return {
        "books_known": any(row[name] != UNKNOWN for row in rows for name in _OF_BOOKS),
        "regime": _regime(ctx, _body(bodies, "market-regime")),
        "worth": _worth(ctx),
        "which_way": _rest(brain.get("summary"), _body(bodies, "market-regime")["summary"]),
        "chart": chart,
        "rows": rows,
        "swing_chart": usual_moves("swings", {asset: hour_move(ctx, asset) for asset in ASSETS}, source),
        "funding_chart": fundings("funding", rates, {asset: futures[asset].get("state") for asset in ASSETS}, source),
        "futures_summary": _body(bodies, "derivatives").get("summary") or "There is no futures reading at the moment.",
        "arena": {
            "live": live,
            "open": ctx.arena.open,
            "question": question(live) if live else "",
            "crowd": crowd_words(ctx),
            "crowd_bar": crowd_bar(ctx),
            "brain": brain_words(live),
        },
        "how_far": hour_statement(ctx.arena),
        "direction": direction(ctx.arena.hourly_record),
        "missing": missing(ctx, bodies),
    }


def _rest(text: object, said: object) -> str:
    """Return a text without the beginning that was said already."""
    return str(text or "").removeprefix(str(said)).strip()


def _worth(ctx: TickContext) -> dict[str, str]:
    """Return the first figure of the record; where nothing is forecast, nothing is scored, and the reason."""
    if ctx.reading is None and not ctx.arena.how_far:
        reason = missing_reason(ctx)
        why = f"{reason[:1].upper()}{reason[1:]}."
        return {"number": "", "what": "Nothing is forecast, so nothing is scored", "how": why}
    return far_figure(ctx.arena, ctx.freshness.generated_ms)


def missing(ctx: TickContext, bodies: Bodies) -> tuple[str, ...]:
    """List what the answers call unknown or restricted, each reason once, with the assets it concerns."""
    said = (_body(bodies, name).get("limitations") or () for name in ("market-regime", "main-brain", "derivatives"))
    general = dict.fromkeys(reason for reasons in (ctx.observation.limitations, *said) for reason in reasons)
    by_reason: dict[str, dict[str, None]] = {}
    for asset in ASSETS:
        for reason in (reason for part in _parts(bodies, asset) for reason in part.get("limitations") or ()):
            by_reason.setdefault(reason, {})[asset] = None
    each = [
        reason if len(assets) == len(ASSETS) else f"{', '.join(assets)}: {reason}"
        for reason, assets in by_reason.items()
        if reason not in general
    ]
    return tuple(reason for reason in (*general, *each) if reason not in _IN_BANNER)


def _parts(bodies: Bodies, asset: str) -> Iterator[Mapping[str, Any]]:
    yield _body(bodies, "main-brain")["coins"][asset]
    for name in ("liquidity-lite", "derivatives"):
        yield _body(bodies, name)["assets"][asset]


def _regime(ctx: TickContext, body: Mapping[str, Any]) -> dict[str, Any]:
    regime = body["regime"]
    known, state, risk = regime["label"] != UNKNOWN, regime["state"], regime["risk_score"]
    sure, dwell = (regime["confidence"], regime["dwell_minutes"]) if known else (None, None)
    whose = REGIME[regime["likeliest"]] if regime["label"] == "transition" else "this regime"
    ranked = UNKNOWN if risk is None else f"{risk:.1f}"
    facts: tuple[tuple[str, str, str], ...] = (
        ("Confidence", percent(sure), f"how probable {whose} is now; no forecast"),
        ("State", state, f"{STATE.get(state, '')}; a description, not an order"),
        ("Volatility", word(regime["volatility"]), "expected moves, against those of the last week"),
        ("Risk score", ranked, "where the expected volatility ranks in its week, of 100"),
        ("Trend", word(regime["trend"]), "of the last hours"),
        ("Breadth", percent(regime["breadth_percent"]), "of the assets rose over 24 hours"),
        ("In this regime for", duration(dwell), ""),
    )
    return {
        "headline": str(body["headline"]),
        "summary": _rest(body["summary"], body["headline"]),
        "known": known,
        "why_unknown": _why_unknown(ctx),
        "facts": tuple((name, value, "" if value == UNKNOWN else meaning) for name, value, meaning in facts),
    }


def _why_unknown(ctx: TickContext) -> str:
    if ctx.reading is None:
        return missing_reason(ctx)
    if ctx.observation.bar_interval_ms != BAR_MS:
        return NEEDS_5_MINUTE_BARS
    if ctx.observation.ended:
        return "the recording has ended"
    return ctx.reading.limitations[0] if ctx.reading.limitations else BARS_MISSING


def _row(asset: str, ctx: TickContext, bodies: Bodies) -> dict[str, Any]:
    coin, pool, futures = _parts(bodies, asset)
    spread = pool.get("spread_bps")
    interest = futures.get("open_interest") or {}
    state = futures.get("state")
    return {
        "asset": asset,
        "name": ASSET_NAMES[asset],
        "path": asset_path(asset),
        "price": price(coin.get("price")),
        "change": signed(coin.get("change_24h")),
        "bias": coin.get("bias") or UNKNOWN,
        "mark": BIAS_MARKS.get(coin.get("bias"), ""),
        "confidence": percent(coin.get("confidence")),
        "spark": sparkline(asset, ctx.closes.get(asset, ()), coin.get("change_24h")),
        "liquidity": word(pool.get("liquidity_context")),
        "structure": word(pool.get("market_structure")),
        "spread": UNKNOWN if spread is None else f"{spread:.3g} bps",
        "futures": word(None if state == "unavailable" else state),
        "funding": signed((futures.get("funding") or {}).get("rate_8h_percent"), 4),
        "open_interest": usd(interest.get("usd")),
    }


def _body(bodies: Bodies, endpoint_id: str) -> Mapping[str, Any]:
    return bodies[ENDPOINT_BY_ID[endpoint_id].path]
