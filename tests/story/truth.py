"""The figures and conditions that the report's wordings rest on, worked out a second time.

From the candles: the day, its hours, the month and what followed. Given as they are: what the brain read (changes of
state, ranges, ladder, partition), what venues say (funding, contracts), and the record.
"""

import math
import statistics
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from generator.brain.forecast import OutcomeChances
from generator.catalog.assets import ASSET_NAMES, ASSETS
from generator.catalog.words import Call, SourceMode
from tests.story.candles import HOUR, Candles, Hour, Rank
from tests.story.states import Lasting, lasting, spells_of
from tests.story.words import article, chance, clock, counted, dollars, place, span, with_date
from tests.support.ten_moments import Moment

HUNDREDTHS: Final = 0.0051  # what a figure may be off by that is published with two decimals, and then rounded again
TENTHS: Final = 0.051
_TEN_THOUSANDTHS: Final = 0.000051
_SIDES: Final = ("flat day", "rising day", "falling day", "day of ups and downs")
_STEPS: Final = ("calm or normal volatility", "rough or wild volatility")
_NEAR: Final = 3.0  # of 100 cases
_OF_MONTH: Final = 0.2  # of 100: one hour of the month, and a tenth for how ranks are published
_OF_WEEK: Final = 1.0  # of 100: hours of nearly one size, of which the brain keeps single precision
_WHYS: Final = {
    "close to that": "today the two spans agree, as they would if each hour were a fresh draw of the same kind.",
    "more than that": "the later hours are expected to be livelier than the next one.",
    "less than that": "the next hour is expected to be livelier than the ones after it.",
}


class Figure(NamedTuple):
    """A figure before it is rounded, and what it may be off by beyond that."""

    value: float
    slack: float = HUNDREDTHS


Slot = Figure | str | frozenset[str]


class Truth:
    """What is true at a moment: figures by name, and conditions; one that is too close to call is None."""

    def __init__(self, moment: Moment) -> None:
        """Work all of it out."""
        self.slots: dict[str, Slot] = {}
        self.holds: dict[str, bool | None] = {"": True}
        self._ctx = moment.ctx
        self._candles = Candles(moment.bars)
        names = [ASSET_NAMES[asset] for asset in ASSETS]
        seen = moment.ctx.observation.assets
        self.changes = {
            name: seen[asset].change_24h_percent or 0.0
            for name, asset in zip(names, ASSETS, strict=True)
            if asset in seen and seen[asset].change_24h_percent is not None
        }
        medians, kept = Candles(moment.past).usual_days()
        self.usual_days = dict(zip(names, medians, strict=False))
        ranks = self._candles.ranks()

        self._day(medians[-1], kept, ranks["day"])
        self._hours()
        self._together(ranks)
        self._books(ranks)
        self._ranges()
        self._record()
        self._spells(moment)
        self._partition()
        self._ideas()

    def _day(self, usual: float, kept: int, rank: Rank) -> None:
        mean = statistics.fmean(self.changes.values()) if self.changes else math.nan
        times = abs(mean) / usual
        self.slots |= {
            "mean": Figure(mean),
            "day size": Figure(abs(mean), 2 * HUNDREDTHS),
            "usual day": Figure(usual),
            "days kept": Figure(kept, 0.0),
            "times": Figure(times, 0.02 * times + HUNDREDTHS),
            "way": "rise" if mean > 0 else "fall",
            "gained": "gained" if mean > 0 else "lost",
            **_of_100("day", rank.rank),
        }
        self.holds |= {
            "no_day": math.isnan(mean),
            "small_day": _below(times, 0.5, 0.02),
            "usual_day": _between(times, 0.5, 1.5, 0.02),
            "large_day": _below(1.5, times, 0.02),
            "flat_day": _below(abs(mean), 0.1, HUNDREDTHS),
            "moved_day": _below(0.1, abs(mean), HUNDREDTHS),
            "rose": mean > 0,
            "fell": mean < 0,
            "day_high": rank.rank is not None and _below(80, rank.rank, _OF_MONTH),
            "day_low": rank.rank is not None and _below(rank.rank, 20, _OF_MONTH),
        }

    def _hours(self) -> None:
        largest = self._candles.largest_hour()
        self.holds["day_of_holes"] = largest is None
        if largest is not None:
            self._largest(largest)

        now = self._candles.move(self._candles.now_ms, HOUR)
        rank = self._candles.hour_rank()
        if math.isnan(now):
            return
        self.slots |= {"now size": Figure(abs(now)), "now way": "up" if now > 0 else "down"}
        self.holds |= {"now_unranked": rank is None, "now_still": _below(abs(now), 0.005, 0.0002)}
        if rank is None:
            return
        self.slots |= {
            "now rank": _figure_of_100(rank, _OF_WEEK),
            "now rest": _figure_of_100(100 - rank, _OF_WEEK),
        }
        is_last = largest is not None and largest.is_last
        self.holds |= {
            "now_high": not is_last and _below(80, rank, _OF_WEEK),
            "now_low": not is_last and _below(rank, 20, _OF_WEEK),
            "now_middle": not is_last and _between(rank, 20, 80, _OF_WEEK),
        }

    def _largest(self, largest: Hour) -> None:
        day = f"{largest.at_ms // HOUR % 24:02d}:{largest.at_ms // 60_000 % 60:02d}"
        self.slots |= {
            "hour at": frozenset({day, with_date(largest.at_ms)}),
            "hour size": Figure(abs(largest.move)),
            "hour verb": "rose" if largest.move > 0 else "fell",
            "hour noun": "rise" if largest.move > 0 else "fall",
            "hour share": Figure(largest.share or 0.0, 0.01),
            "in week": Figure(largest.in_week, 0.0),
            "in month": Figure(largest.in_month, 0.0),
            "larger in month": Figure(largest.in_month - 1, 0.0),
            "larger hours": counted(largest.in_week - 1, "larger hour"),
            "week place": place(largest.in_week),
            "month place": place(largest.in_month),
        }
        has_share = largest.share is not None
        self.holds |= {
            "hour_undone": not has_share,
            "hour_half": has_share and _below(50, largest.share or 0.0, 0.6),
            "hour_less": has_share and _below(largest.share or 0.0, 50, 0.6),
            "first_in_month": largest.in_month == 1,
            "first_in_week": largest.in_week == 1 < largest.in_month,
            "later_in_week": largest.in_week > 1,
            "hour_is_last": largest.is_last,
        }

    def _together(self, ranks: Mapping[str, Rank]) -> None:
        correlation = self._candles.correlation()
        if correlation is not None:
            self.slots["correlation"] = Figure(correlation, 0.0001)
            self.holds |= {
                "moved_as_one": _below(0.9, correlation, HUNDREDTHS),
                "moved_together": _between(correlation, 0.5, 0.9, HUNDREDTHS),
                "moved_apart": _below(correlation, 0.5, HUNDREDTHS),
            }
        for name in ("correlation", "dispersion", "funding", "depth", "volume"):
            self._rank(name, ranks[name].rank)
        if len(self.changes) > 2:
            self.slots["dispersion"] = Figure(statistics.pstdev(self.changes.values()))
            self._maker()

    def _rank(self, name: str, rank: float | None) -> None:
        self.slots |= _of_100(name, rank)
        self.holds[f"{name} unranked"] = rank is None
        if rank is not None:
            self.holds |= {
                f"{name} high": _below(80, rank, _OF_MONTH),
                f"{name} low": _below(rank, 20, _OF_MONTH),
                f"{name} middle": _between(rank, 20, 80, _OF_MONTH),
            }

    def _maker(self) -> None:
        total = sum(self.changes.values())
        way = math.copysign(1.0, total)
        top = max(self.changes, key=self.changes.__getitem__)
        bottom = min(self.changes, key=self.changes.__getitem__)
        maker, other = (top, bottom) if total > 0 else (bottom, top)
        share = 100.0 * self.changes[maker] / total if total else math.inf
        self.slots |= {
            "top": top,
            "bottom": bottom,
            "top move": Figure(self.changes[top]),
            "bottom move": Figure(self.changes[bottom]),
            "maker": maker,
            "maker move": Figure(self.changes[maker]),
            "maker share": Figure(share, abs(share) * 0.04 / abs(total) if total else 0.0),
            "maker noun": "gain" if total > 0 else "loss",
            "other": other,
            "other move": Figure(self.changes[other]),
        }
        clear = _below(0.1 * len(self.changes), abs(total), 0.04)
        against = _below(0.1, -way * self.changes[other], HUNDREDTHS)
        self.holds |= {
            "cancelled": None if clear is None else not clear,
            "one_decided": clear and _below(100, share, 1.5),
            "one_led": clear and _below(share, 100, 1.5),
            "none_against": None if against is None else not against,
            "some_against": against,
        }

    def _books(self, ranks: Mapping[str, Rank]) -> None:
        seen = self._ctx.observation.assets
        rates = {ASSET_NAMES[name]: 100 * one.funding.rate_8h for name, one in seen.items() if one.funding}
        books = [one.book for one in seen.values()]
        depth = sum(book.depth_1pct_usd for book in books if book) if all(books) else None
        volume = ranks["volume"].now
        self.holds |= {"no_funding": not rates, "no_books": depth is None and math.isnan(volume)}
        self.slots["volume"] = dollars(volume)
        if depth is not None:
            self.slots["depth"] = dollars(depth)
        if rates:
            self._funding(rates)

        contracts = {
            ASSET_NAMES[name]: one.open_interest.contracts_change_24h_percent
            for name, one in seen.items()
            if one.open_interest and one.open_interest.contracts_change_24h_percent is not None
        }
        if contracts:
            crowded = max(contracts, key=lambda name: abs(contracts[name] or 0.0))
            interest = contracts[crowded] or 0.0
            self.slots |= {
                "crowded": crowded,
                "interest": Figure(interest),
                "interest size": Figure(abs(interest)),
                "interest verb": "grew" if interest > 0 else "shrank",
                "traders": "added" if interest > 0 else "closed",
            }

    def _funding(self, rates: Mapping[str, float]) -> None:
        mean = statistics.fmean(rates.values())
        # A rate is published to four digits: coins whose digits are the same share it, the first of them is named.
        digits = {name: f"{abs(rate):.4f}" for name, rate in rates.items()}
        dearest, *as_dear = [name for name in rates if digits[name] == max(digits.values(), key=float)]
        rate = rates[dearest]
        self.holds |= {"one_dearest": not as_dear, "shared_dearest": bool(as_dear)}
        self.slots |= {
            "funding": Figure(mean, _TEN_THOUSANDTHS),
            "payer": "longs" if mean > 0 else "shorts",
            "taker": "shorts" if mean > 0 else "longs",
            "dearest": dearest,
            "dearest rate": Figure(abs(rate), _TEN_THOUSANDTHS),
            "dearest payer": "longs" if rate > 0 else "shorts",
            "holder": "long" if rate > 0 else "short",
            "cost": Figure(3 * abs(rate) * 100, 0.0151),
            "yearly": Figure(3 * 365 * abs(rate), 0.06),
        }

    def _ranges(self) -> None:
        read = self._ctx.reading.assets["BTC"] if self._ctx.reading else None
        reach = read.ranges if read else None
        self.holds["no_ranges"] = reach is None
        for name, found in (reach or {}).items():
            for end in ("low_90", "low_50", "high_50", "high_90"):
                self.slots[f"{name} {end.replace('_', ' ')}"] = Figure(100 * getattr(found, end))
        if read is not None and read.ladder is not None:
            levels = read.ladder["4h"]
            reachable = [level for level in levels[1:] if level.end.either >= 0.05]
            level = (reachable or levels[:1])[-1]
            self.slots |= {
                "level": Figure(level.level, 0.0),
                "end": chance(100 * level.end.either),
                "touch": chance(100 * level.touch.either),
            }

    def _record(self) -> None:
        view = self._ctx.arena
        live = [one for one in view.how_far if one.horizon == "1h" and one.scores]
        older = view.backtest.how_far if view.backtest else ()
        record = live or [one for one in older if one.horizon == "1h" and one.scores]
        self.holds["no_record"] = not record or record[0].resolved < 30
        if record:
            brain = record[0].scores[0]
            half, most = brain.inside_50.percent or 0.0, brain.inside_90.percent or 0.0
            left = 100 - most
            verdict = "neither too narrow nor too wide"
            if round(left) != 10:
                verdict = "too narrow" if left > 10 else "wider than promised"
            self.slots |= {
                "where": "On the live record" if live else "In the backtest before the start",
                "record n": Figure(record[0].resolved, 0.0),
                "record 50": Figure(half, TENTHS),
                "record 90": Figure(most, TENTHS),
                "record left": Figure(left, TENTHS),
                "record left 50": Figure(100 - half, TENTHS),
                "record verdict": verdict,
            }

        miss = view.last_miss
        self.holds["missed"] = miss is not None
        if miss is not None:
            at_ms = miss.start_ms - (self._ctx.freshness.offset_ms or 0)
            self.slots |= {
                "missed where": " of the backtest" if miss.warm_up else "",
                "miss at": frozenset({clock(at_ms), with_date(at_ms)}),
                "miss low": Figure(miss.low, _TEN_THOUSANDTHS),
                "miss high": Figure(miss.high, _TEN_THOUSANDTHS),
                "miss": Figure(miss.move, _TEN_THOUSANDTHS),
            }

        sides = [rate for call, rate in view.hourly_record.by_call.items() if call in {Call.UP, Call.DOWN}]
        n = sum(rate.n for rate in sides)
        right = sum(rate.hits for rate in sides)
        votes = view.live_tally
        self.slots |= {
            "calls": Figure(n, 0.0),
            "right": Figure(right, 0.0),
            "wrong": Figure(n - right, 0.0),
            "votes": Figure(votes.total, 0.0),
            "votes up": Figure(votes.bullish, 0.0),
            "votes small": Figure(votes.neutral, 0.0),
            "votes down": Figure(votes.bearish, 0.0),
        }
        self.holds |= {
            "no_calls": n == 0,
            "no_votes": votes.total == 0,
            "simulated": self._ctx.observation.mode is SourceMode.SIMULATED,
        }
        self._past_partitions()

    def _past_partitions(self) -> None:
        view = self._ctx.arena
        day = view.partition_day
        if day is not None:
            down, within, up = day.came
            said_down, said_within, said_up = day.said
            figures = {"due n": day.n, "due up": up, "due within": within, "due down": down}
            said = {"said up": said_up, "said within": said_within, "said down": said_down}
            self.slots |= {name: Figure(value, 0.0) for name, value in (figures | said).items()}
            count = "all" if day.of_backtest == day.n else day.of_backtest
            self.slots["due where"] = f" ({count} of the backtest)" if day.of_backtest else ""
        live, older = view.ladder_record.partition, view.ladder_backtest.partition
        score = older if live is None else live
        self.holds |= {
            "no_past_partition": score is None and day is None,
            "past_day": day is not None,
            "parts_live": live is not None,
            "parts_backtest": live is None and older is not None,
        }
        if score is not None:
            self.slots |= {
                "parts n": Figure(score.n, 0.0),
                "parts brier": Figure(score.brier or 0.0, 0.0),
                "parts base": Figure(score.base_rate_brier or 0.0, 0.0),
            }

    def _spells(self, moment: Moment) -> None:
        now_ms = self._candles.now_ms
        found = {axis: lasting(spells_of(axis, moment.changes[axis], now_ms), now_ms) for axis in ("side", "step")}
        self.holds["no_spells"] = not any(found.values())
        for axis, words in (("side", _SIDES), ("step", _STEPS)):
            spell = found[axis]
            if spell is not None:
                self._spell(axis, words, spell)
        for axis, words in (("side", _SIDES), ("step", _STEPS)):
            changes = moment.changes[axis]
            self.slots[axis] = article(words[int(changes[-1, 1])]) if changes[-1, 1] < len(words) else "unknown"

    def _spell(self, axis: str, words: tuple[str, ...], spell: Lasting) -> None:
        state = article(words[spell.state])
        enough = spell.four is not None and spell.day is not None
        self.holds |= {
            f"{axis}_enough": enough,
            f"{axis}_few": not enough,
            f"{axis}_one_open": spell.censored == 1,
            f"{axis}_some_open": spell.censored > 1,
        }
        self.slots |= {
            f"{axis} state": state,
            f"{axis} State": f"{state[0].upper()}{state[1:]}",
            f"{axis} age": span(spell.hours),
            f"{axis} n": Figure(spell.n, 0.0),
            f"{axis} open": Figure(spell.censored, 0.0),
            f"{axis} n spells": counted(spell.n, "spell"),
            f"{axis} days": counted(spell.days, "day"),
            f"{axis} ended": Figure(spell.followed.total(), 0.0),
        }
        for name, share in (("four", spell.four), ("day", spell.day), ("onward", spell.onward)):
            if share is not None:
                self.slots[f"{axis} {name}"] = Figure(share, TENTHS)
        if spell.followed:
            most = max(spell.followed.values())
            self.slots |= {
                f"{axis} following": frozenset(
                    article(words[state]) for state, count in spell.followed.items() if count == most
                ),
                f"{axis} followed": Figure(most, 0.0),
            }

    def _partition(self) -> None:
        assets = self._ctx.reading.assets if self._ctx.reading else {}
        parts = {name: read.partition for name, read in assets.items() if read.partition is not None}
        part = parts.get("BTC")
        self.holds["no_partition"] = part is None
        if part is None:
            return
        chances, base = part.chances, part.base_rate
        self.slots |= {
            "part usual": Figure(100 * part.band),
            **{f"part {name}": Figure(100 * chance, 0.5) for name, chance in _thirds(chances)},
            **{f"base {name}": Figure(100 * chance, 0.5) for name, chance in _thirds(base)},
        }
        gap = 100 * _gap(chances, base)
        livelier = chances.neutral < base.neutral
        gaps = {ASSET_NAMES[name]: 100 * _gap(one.chances, one.base_rate) for name, one in parts.items()}
        most = max(gaps.values())
        near = _below(most, _NEAR, 0.51)
        self.slots |= {
            "furthest": frozenset(name for name, value in gaps.items() if value > most - 0.05),
            "gap": Figure(most, 0.0),
        }
        self.holds |= {
            "part_as_usual": _below(gap, _NEAR, 1.1),
            "part_livelier": _and(_below(_NEAR, gap, 1.1), livelier),
            "part_calmer": _and(_below(_NEAR, gap, 1.1), not livelier),
            "furthest_near": near,
            "furthest_far": _not(near),
        }

    def _ideas(self) -> None:
        changes = list(self.changes.values())
        if len(changes) >= 3:
            middle = statistics.median(changes)
            gap = abs(statistics.fmean(changes) - middle)
            agree = "here they agree, so no single coin bends the picture."
            apart = "they disagree here, because a few coins moved much further than the rest."
            texts = {True: {agree}, False: {apart}, None: {agree, apart}}[_below(gap, 0.2, 0.01)]
            self.slots |= {
                "median": Figure(middle),
                "average verdict": frozenset(texts),
                "coins": Figure(len(changes), 0.0),
            }
            correlation = self.slots.get("correlation")
            if isinstance(correlation, Figure):
                many = len(changes)
                self.slots["effective"] = Figure(many / (1 + (many - 1) * max(correlation.value, 0.0)), 0.06)

        hour, four, low = (self.slots.get(name) for name in ("1h high 90", "4h high 90", "24h low 90"))
        if isinstance(hour, Figure) and isinstance(four, Figure) and isinstance(low, Figure):
            ratio = four.value / hour.value
            word = "close to that"
            if abs(ratio - 2) >= 0.15:
                word = "more than that" if ratio > 2 else "less than that"
            self.slots |= {
                "root": Figure(ratio, 0.005 * (1 + ratio) / hour.value),
                "root verdict": word,
                "root why": _WHYS[word],
                "leverage": Figure(100 / abs(low.value) + 0.5, 0.6),  # rounded up, of the published range
            }


def coin_day(truth: Truth, asset: str) -> frozenset[str]:
    """Return what may be said of one coin's day by its own measure."""
    name = ASSET_NAMES[asset]
    change, usual = truth.changes.get(name), truth.usual_days.get(name, math.nan)
    if change is None or math.isnan(usual):
        return frozenset({"not known"})
    times = abs(change) / usual
    slack = 0.01 * times + 0.01
    steps = range(-20, 21)
    said = {f"{times + slack * step / 20:.1f} usual days" for step in steps if times > 1.5 - slack}
    if times < 0.5 + slack:
        said.add("a small day")
    if 0.5 - slack < times < 1.5 + slack:
        said.add("a usual day")
    return frozenset(said)


def _thirds(chances: OutcomeChances) -> Iterator[tuple[str, float]]:
    yield from (("up", chances.up), ("within", chances.neutral), ("down", chances.down))


def _gap(chances: OutcomeChances, base: OutcomeChances) -> float:
    """Return which share of the cases goes elsewhere than by the base rates."""
    return sum(abs(one - other) for (_, one), (_, other) in zip(_thirds(chances), _thirds(base), strict=True)) / 2


def _below(small: float, large: float, slack: float) -> bool | None:
    """Say whether one value is below another; None where that hangs on how they were rounded."""
    return None if abs(small - large) <= slack else small < large


def _between(value: float, low: float, high: float, slack: float) -> bool | None:
    return _and(_below(low, value, slack), _below(value, high, slack))


def _and(one: bool | None, other: bool | None) -> bool | None:
    if one is False or other is False:
        return False
    return None if one is None or other is None else True


def _not(one: bool | None) -> bool | None:
    return None if one is None else not one


def _any(several: tuple[bool | None, ...]) -> bool | None:
    if any(several):
        return True
    return None if None in several else False


def _of_100(name: str, rank: float | None) -> dict[str, Slot]:
    if rank is None:
        return {}
    return {f"{name} rank": _figure_of_100(rank), f"{name} rest": _figure_of_100(100 - rank)}


def _figure_of_100(rank: float, slack: float = _OF_MONTH) -> Figure:
    """Return a rank as it is said: none is 0 or 100."""
    return Figure(min(max(rank, 1.0), 99.0), slack)
