"""What the landing page shows, worked out from the tick and from the bodies as published."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from markupsafe import Markup

from generator.arena.values import Round, TrackRecord
from generator.catalog.assets import ASSET_NAMES, ASSETS
from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.catalog.sentences import BARS_MISSING, NEEDS_5_MINUTE_BARS, RECORDED_NOTICE, SIMULATED_NOTICE
from generator.compose.context import TickContext
from generator.market.values import BAR_MS
from generator.publish.charts import scale, shares, sparkline
from generator.publish.page_format import UNKNOWN, count, duration, percent, price, signed, usd, word
from generator.publish.page_words import BIAS_MARKS, REGIME_HEADLINES, STATE_MEANINGS

Bodies = Mapping[str, Mapping[str, Any]]
_IN_BANNER: Final = frozenset({SIMULATED_NOTICE, RECORDED_NOTICE})


@dataclass(frozen=True, slots=True)
class AssetRow:
    """One asset as the tables show it; every text is ready, `unknown` where there is no number."""

    asset: str
    name: str
    price: str
    change: str
    bias: str
    mark: str
    confidence: str
    spark: Markup | None
    liquidity: str
    structure: str
    spread: str
    futures: str
    funding: str
    open_interest: str


@dataclass(frozen=True, slots=True)
class RegimeCard:
    """The reading: headline first, then one number with its worth."""

    headline: str
    summary: str
    known: bool
    why_unknown: str
    confidence: str
    bar: Markup | None
    facts: tuple[tuple[str, str, str], ...]  # name, value, meaning


@dataclass(frozen=True, slots=True)
class ArenaCard:
    """The live round and the one that takes votes."""

    live: Round | None
    open: Round | None
    question: str
    crowd: str
    crowd_bar: Markup | None
    brain: str


@dataclass(frozen=True, slots=True)
class Landing:
    """Everything the landing page's template reads."""

    regime: RegimeCard
    rows: tuple[AssetRow, ...]
    futures_summary: str
    arena: ArenaCard
    track_record: str
    missing: tuple[str, ...]


def landing(ctx: TickContext, bodies: Bodies) -> Landing:
    """Work out the landing page."""
    return Landing(
        regime=_regime(ctx, _body(bodies, "market-regime")),
        rows=tuple(_row(asset, ctx, bodies) for asset in ASSETS),
        futures_summary=_futures(_body(bodies, "derivatives")),
        arena=_arena(ctx),
        track_record=track_record(ctx.arena.hourly_record),
        missing=missing(ctx, bodies),
    )


def missing(ctx: TickContext, bodies: Bodies) -> tuple[str, ...]:
    """List what the answers call unknown or restricted, each reason once, with the assets it concerns."""
    said = [_body(bodies, name).get("limitations") or () for name in ("market-regime", "main-brain", "derivatives")]
    general = [reason for reasons in (ctx.observation.limitations, *said) for reason in reasons]
    by_reason: dict[str, list[str]] = {}
    for asset in ASSETS:
        for reason in _once(reason for part in _parts(bodies, asset) for reason in part.get("limitations") or ()):
            by_reason.setdefault(reason, []).append(asset)
    each = (_concerning(reason, assets) for reason, assets in by_reason.items() if reason not in general)
    return tuple(reason for reason in _once([*general, *each]) if reason not in _IN_BANNER)


def _parts(bodies: Bodies, asset: str) -> Iterator[Mapping[str, Any]]:
    yield _body(bodies, "main-brain")["coins"][asset]
    for name in ("liquidity-lite", "derivatives"):
        yield _body(bodies, name)["assets"][asset]


def track_record(record: TrackRecord) -> str:
    """Say in plain words what the hourly predictions were worth, always with their count."""
    if not record.resolved or record.hit.percent is None:
        return "No hourly prediction has come due yet, so nothing is known about their worth."
    made_up = f", {record.warm_up:,} of them in the simulated warm-up" if record.warm_up else ""
    text = (
        f"Of {record.resolved:,} hourly predictions that came due{made_up}, {percent(record.hit.percent)} named the "
        f"outcome that came true (95 % interval {percent(record.hit.low_percent)} to "
        f"{percent(record.hit.high_percent)})."
    )
    base, skill = record.baselines.get("base_rate"), record.skill_percent.get("base_rate")
    if record.brier is None or base is None or skill is None:
        return f"{text} There are too few cases to compare them with a baseline."
    verdict = f"{skill:.1f} % better, which may still be chance" if skill > 0 else "no skill shown"
    return f"{text} Their Brier score is {record.brier:.3f}; always giving the base rate scores {base:.3f}: {verdict}."


def _regime(ctx: TickContext, body: Mapping[str, Any]) -> RegimeCard:
    regime = body["regime"]
    label = regime["label"]
    known = label != "unknown"
    state = regime["state"]
    facts: tuple[tuple[str, str, str], ...] = (
        ("State", state, STATE_MEANINGS.get(state, "")),
        ("Volatility", word(regime["volatility"]), "how large the swings are, beside the last week"),
        ("Risk score", _of_100(regime["risk_score"]), "0 is calm, 100 is rough, beside the last week"),
        ("Trend", word(regime["trend"]), "of the last hours"),
        ("Breadth", percent(regime["breadth_percent"], 0), "of the assets rose over the last day"),
        ("In this regime for", duration(regime["dwell_minutes"] if known else None), ""),
    )
    return RegimeCard(
        headline=REGIME_HEADLINES.get(label, word(label)),
        summary=str(body["summary"]),
        known=known,
        why_unknown=_why_unknown(ctx),
        confidence=_of_100(regime["confidence"] if known else None),
        bar=scale("regime", "Confidence in the regime", regime["confidence"] if known else None),
        facts=tuple((name, value, "" if value == UNKNOWN else meaning) for name, value, meaning in facts),
    )


def _why_unknown(ctx: TickContext) -> str:
    if ctx.observation.bar_interval_ms != BAR_MS:
        return NEEDS_5_MINUTE_BARS
    if ctx.observation.ended:
        return "the recording has ended"
    reasons = ctx.reading.limitations if ctx.reading else ()
    return reasons[0] if reasons else BARS_MISSING


def _row(asset: str, ctx: TickContext, bodies: Bodies) -> AssetRow:
    coin, pool, futures = _parts(bodies, asset)
    spread = pool.get("spread_bps")
    interest = futures.get("open_interest") or {}
    state = futures.get("state")
    return AssetRow(
        asset=asset,
        name=ASSET_NAMES[asset],
        price=price(coin.get("price")),
        change=signed(coin.get("change_24h")),
        bias=coin.get("bias") or UNKNOWN,
        mark=BIAS_MARKS.get(coin.get("bias"), ""),
        confidence=percent(coin.get("confidence")),
        spark=sparkline(asset, ctx.closes.get(asset, ())),
        liquidity=word(pool.get("liquidity_context")),
        structure=word(pool.get("market_structure")),
        spread=UNKNOWN if spread is None else f"{spread:.3g} bps",
        futures=word(None if state == "unavailable" else state),
        funding=signed((futures.get("funding") or {}).get("rate_8h_percent"), 4),
        open_interest=usd(interest.get("usd")),
    )


def _futures(body: Mapping[str, Any]) -> str:
    summary = body.get("summary")
    return str(summary) if summary else "There is no futures reading at the moment."


def _arena(ctx: TickContext) -> ArenaCard:
    live, tally = ctx.arena.live, ctx.arena.live_tally
    parts = (
        ("for", "bullish", tally.bullish),
        ("even", "neutral", tally.neutral),
        ("against", "bearish", tally.bearish),
    )
    split = ", ".join(f"{number} {name}" for _, name, number in parts)
    made_up = " This crowd is simulated." if live and live.simulated_crowd else ""
    crowd = f"{count(tally.total, 'vote')}: {split}.{made_up}" if tally.total else "Nobody has voted in this round."
    return ArenaCard(
        live=live,
        open=ctx.arena.open,
        question=question(live) if live else "",
        crowd=crowd,
        crowd_bar=shares("crowd", "Votes of the live round", parts),
        brain=_brain(live),
    )


def question(of: Round) -> str:
    """Put a round's question in one sentence."""
    if of.band_bps is None:
        return f"Will {of.asset} end the round higher, lower, or about where it started?"
    band = percent(of.band_bps / 100, 2)
    return f"Will {of.asset} end the round more than {band} higher, more than {band} lower, or in between?"


def _brain(live: Round | None) -> str:
    if live is None or live.prediction is None:
        return "no forecast for this round"
    if live.confidence_percent is None:
        return str(live.prediction)
    return f"{live.prediction}, to which it gave {percent(live.confidence_percent)}"


def _body(bodies: Bodies, endpoint_id: str) -> Mapping[str, Any]:
    return bodies[ENDPOINT_BY_ID[endpoint_id].path]


def _of_100(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.1f}"


def _once(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def _concerning(reason: str, assets: list[str]) -> str:
    return reason if len(assets) == len(ASSETS) else f"{', '.join(assets)}: {reason}"
