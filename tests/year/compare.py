"""What two years do not have in common, and whether a fault explains it."""

import base64
import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from math import isclose
from pathlib import Path
from typing import Any, Final

from tests.year.journal import Bought, Gap, Journal
from tests.year.published import Published, Row, Sums, digest_of_log

BAR_S: Final = 300
CLOSING_MINUTES: Final = 10  # before votes close, in which the second seal is made
VOTED_S: Final = 900  # after the seal the voters send their ballots
SEAL_S: Final = 3_600  # a round is sealed when the one before it begins
HORIZONS_S: Final = {"15m": 900, "1h": 3_600, "4h": 14_400, "24h": 86_400}
TENTH: Final = 0.0501  # half of what a figure was rounded to, and a little
FOUR_PLACES: Final = 0.501e-4
LAST_KNOWN: Final = "previous_outcome"  # of what is sealed: the one thing that follows from the record itself
# What a paid body says of its release, of the one before it and of the record so far; its prose and drawings, which
# speak of both. The rest is what it says of the market.
OF_RECORD: Final = frozenset(
    {"snapshotId", "changed_since_last_tick", "track_record", "record", "ranges_last_week", "arena"}
    | {"charts", "idea", "plots", "points", "text"}
    | {"yesterday"}  # how the ranges of a day ago did, which a missed hour lacks
    | {"rare"}  # of a level: fewer than 30 days of the record had it, and a missed hour can be that day's only one
)


@dataclass
class Comparison:
    """What was compared.

    Args:
        gaps: times in which the disturbed year may lack something.
    """

    gaps: Sequence[Gap]
    equal: Counter[str] = field(default_factory=Counter)
    missing: Counter[str] = field(default_factory=Counter)  # in the disturbed year, explained by a gap
    different: list[str] = field(default_factory=list)  # and what nothing explains

    def fault(self, text: str) -> None:
        """Note a difference that must not be."""
        self.different.append(text)

    def lacks(self, what: str, name: str, moments: Sequence[float]) -> None:
        """Note what the disturbed year lacks: a fault must have been at one of the moments that decide on it."""
        if any(gap.begin <= moment <= gap.end for gap in self.gaps for moment in moments):
            self.missing[what] += 1
        else:
            self.fault(f"{what} {name} is missing, and no fault was then")

    def same(self, what: str, name: str, one: Any, two: Any) -> None:
        """Compare what both years have."""
        if one == two:
            self.equal[what] += 1
        else:
            self.fault(f"{what} {name} is {_short(one)} in the undisturbed year, {_short(two)} in the disturbed")


def compare(one: Published, two: Published, gaps: Sequence[Gap]) -> Comparison:
    """Compare the records of the undisturbed and of the disturbed year."""
    found = Comparison(gaps)
    _rounds(found, one, two)
    _hours(found, one, two)
    for what, record in (("undisturbed", one), ("disturbed", two)):
        _scores(found, what, record)
        _last_outcomes(found, what, record)
    _differences_of_sums(found, one, two)
    return found


def _rounds(found: Comparison, one: Published, two: Published) -> None:
    for name in two.rounds.keys() - one.rounds.keys():
        found.fault(f"round {name} is in the disturbed year alone")

    for name, row in one.rounds.items():
        other = two.rounds.get(name, {})
        start_s = unix(row["sealed"]["start"]) if "sealed" in row else unix(row["void"]["start"])
        moments = (start_s - SEAL_S, start_s, start_s + SEAL_S)
        if "void" in other and "void" not in row:
            found.lacks("round", name, moments)
        for kind in ("sealed", "started", "judged"):
            if kind not in row:
                continue
            if kind not in other:
                if "void" not in other:
                    found.lacks("round", name, moments)
                break
            if kind == "sealed" and _bar(row[kind]["at"]) != _bar(other[kind]["at"]):
                found.lacks("forecast of a round in time", name, moments)
            _round(found, name, kind, row, other)


def _round(found: Comparison, name: str, kind: str, row: Row, other: Row) -> None:
    """Compare one entry of a round that both years have."""
    in_time = _bar(row["sealed"]["at"]) == _bar(other["sealed"]["at"])
    if kind == "sealed" and in_time:
        found.same("band", name, row[kind]["band_bps"], other[kind]["band_bps"])
    if kind == "started":
        for what in ("start_price", "simulated_votes", "price_basis"):
            found.same(f"{what} of a round", name, row[kind][what], other[kind][what])
        _votes(found, name, row[kind], other[kind])
        if in_time:
            forecast, forecast_too = row[kind]["forecast"], other[kind]["forecast"]
            if forecast != forecast_too and _in_doubt(forecast, forecast_too):
                found.lacks("certainty of a round", name, (unix(row["sealed"]["at"]),))
            else:
                found.same("forecast of a round", name, forecast, forecast_too)
            found.same("salt of a round", name, row[kind]["salt"], other[kind]["salt"])
            _closing(found, name, row[kind], other[kind])
    if kind == "judged":
        for what in ("end_price", "change_bps"):
            found.same(f"{what} of a round", name, row[kind][what], other[kind][what])
        if in_time:
            found.same("outcome of a round", name, row[kind]["outcome"], other[kind]["outcome"])


def _closing(found: Comparison, name: str, row: Row, other: Row) -> None:
    """Compare what people are compared with: a fault in the last ten minutes leaves an older one, or none at all.

    It is never one that the undisturbed year does not have: what was missed is not replaced.
    """
    closing = row.get("closing")
    closing_too = other.get("closing")
    if closing is None or closing_too is None:  # rounds from before the rule
        found.same("rule of comparison", name, closing is None, closing_too is None)
        return

    start_s = unix(row["forecast"]["start"])
    said, said_too = (_said_at_close(each) for each in (closing, closing_too))
    if said == said_too:
        found.equal["forecast at the close"] += 1
    elif said is None:
        found.fault(f"round {name} is compared at the close in the disturbed year alone")
    else:
        found.lacks("forecast at the close", name, [start_s - minute * 60 for minute in range(CLOSING_MINUTES + 1)])


def _said_at_close(closing: Row) -> Any:
    return None if closing["void_reason"] is not None else closing["forecast"]["probabilities"]


def _in_doubt(forecast: Row, other: Row) -> bool:
    """Return whether the other forecast differs by doubt alone: each chance lies on the way to its base rate."""
    chances = ("probabilities", "move")
    rest, rest_too = ({name: each[name] for name in each if name not in chances} for each in (forecast, other))
    if rest != rest_too or "move" not in forecast:  # older forecasts have no chance of a move, and know no doubt
        return False

    base = forecast["base_rate"] | {"move": forecast["move"]["base_rate"]}
    sure, doubted = (each["probabilities"] | {"move": each["move"]["chance"]} for each in (forecast, other))
    return all(min(sure[name], base[name]) <= doubted[name] <= max(sure[name], base[name]) for name in base)


def _votes(found: Comparison, name: str, row: Row, other: Row) -> None:
    """Compare the votes; those that lay on a machine that was lost are lost with it."""
    votes, votes_too = ([each[what] for what in ("votes", "ballots_sha256")] for each in (row, other))
    if votes == votes_too:
        found.equal["votes of a round"] += 1
    else:
        found.lacks("votes", name, (unix(row["forecast"]["start"]) - SEAL_S + VOTED_S,))


def _hours(found: Comparison, one: Published, two: Published) -> None:
    for start, asset in two.hours.keys() - one.hours.keys():
        found.fault(f"hour {start} of {asset} is in the disturbed year alone")

    for (start, asset), row in one.hours.items():
        other = two.hours.get((start, asset), {"moves": {}})
        name = f"{asset} {start}"
        at = unix(start)
        before = (at - BAR_S, at)
        if "started" in row:
            if "started" not in other:
                found.lacks("hourly forecast", name, before)
                continue
            _forecast(found, name, row["started"], other["started"])
        if "outcome" in row.get("judged", {}):
            if "outcome" in other.get("judged", {}):
                found.same("hourly outcome", name, row["judged"], other["judged"])
            else:
                found.lacks("hourly outcome", name, (*before, at + SEAL_S))
        _moves(found, name, row["moves"], other["moves"], at)


def _forecast(found: Comparison, name: str, row: Row, other: Row) -> None:
    """Compare an hourly forecast with its ranges; its salt follows from all of it."""
    made, made_too = ({**each["forecast"]} for each in (row, other))
    same_past = made.pop(LAST_KNOWN) == made_too.pop(LAST_KNOWN)
    ranges, ranges_too = made.pop("ranges", None), made_too.pop("ranges", None)
    found.same("hourly forecast", name, made, made_too)
    found.same("ranges", name, ranges, ranges_too)
    found.same("start price", name, row["start_price"], other["start_price"])
    if same_past:
        found.same("salt of an hour", name, row["salt"], other["salt"])


def _moves(found: Comparison, name: str, row: Row, other: Row, at: float) -> None:
    for horizon, what in row.items():
        if "move" not in what:
            continue
        if "move" in other.get(horizon, {}):
            found.same("move", f"{name} {horizon}", what, other[horizon])
        else:
            found.lacks("move", f"{name} {horizon}", (at - BAR_S, at, at + HORIZONS_S[horizon]))


def _scores(found: Comparison, what: str, record: Published) -> None:
    """Compare the scores that a year published each day with those that its log gives."""
    for published, own in record.scores:
        name = f"of the {what} year at {published['at']}"
        for kind in ("arena", "hourly"):
            stated = published[kind]
            found.same("count of forecasts", f"{name}, {kind}", own[kind]["resolved"], stated["resolved"])
            if "calls" not in stated:  # from before calls: other rates
                continue
            found.same("count of calls", f"{name}, {kind}", own[kind]["calls"], stated["calls"])
            pairs = {
                "brier": stated["brier"],
                "log_score": stated["log_score"],
                "base_rate": stated["baselines"]["base_rate"],
                "persistence": stated["baselines"]["persistence"],
            }
            for score, value in pairs.items():
                _near(found, f"{score} {name}, {kind}", own[kind][score], value, FOUR_PLACES)
            _near(found, f"hit rate {name}, {kind}", own[kind]["hit_rate_percent"], stated["hit_rate_percent"], TENTH)
        for horizon, counts in published.get("how_far", {}).items():
            mine = own["how_far"][horizon]
            found.same("count of moves", f"{name}, {horizon}", mine["resolved"], counts["resolved"])
            for share in ("inside_50_percent", "inside_90_percent"):
                _near(found, f"{share} {name}, {horizon}", mine[share], counts[share], TENTH)


def _near(found: Comparison, what: str, one: float | None, two: float | None, within: float) -> None:
    """Compare a figure with what was published of it after rounding; few cases are published as no figure."""
    if two is None or (one is not None and abs(one - two) <= within):
        found.equal["score"] += 1
    else:
        found.fault(f"{what} is {two}, the log gives {one}")


def _last_outcomes(found: Comparison, what: str, record: Published) -> None:
    """Check that each forecast names the outcome that was the last known one of its asset when it was made."""
    played = [row for row in record.rounds.values() if "started" in row]
    known = _Known()
    for row in sorted(played, key=lambda row: str(row["sealed"]["start"])):
        name = f"round {row['sealed']['round_id']} in the {what} year"
        known.check(found, name, row["sealed"]["asset"], row["sealed"]["at"], row["started"][LAST_KNOWN])
        if "judged" in row:
            known.came(row["sealed"]["asset"], row["judged"]["at"], row["judged"]["outcome"])

    known = _Known()
    for (start, asset), row in sorted(record.hours.items()):
        if "started" in row:
            stated = row["started"]["forecast"][LAST_KNOWN]
            known.check(found, f"{asset} {start} in the {what} year", asset, row["sealed_at"], stated)
        if "outcome" in row.get("judged", {}):
            known.came(asset, row["judged_at"], row["judged"]["outcome"])


class _Known:
    """The outcomes of each asset, and since when each is known."""

    def __init__(self) -> None:
        self._of: dict[str, list[tuple[float, str]]] = {}

    def came(self, asset: str, at: str, outcome: str) -> None:
        self._of.setdefault(asset, []).append((unix(at), outcome))

    def check(self, found: Comparison, name: str, asset: str, made_at: str, stated: str | None) -> None:
        """Compare what a forecast names; before the first outcome in the log it names one that is not in it."""
        before = [came for at, came in self._of.get(asset, []) if at <= unix(made_at)]
        if before and stated != before[-1]:
            found.fault(f"last outcome of {name} is {stated}, it was {before[-1]}")
        elif before:
            found.equal["last outcome known"] += 1


def _differences_of_sums(found: Comparison, one: Published, two: Published) -> None:
    """Check that what the totals differ by is what the missed rounds and hours add up to, and nothing else."""
    gone, instead = Sums(), Sums()
    for name, row in one.rounds.items():
        other = two.rounds.get(name, {})
        if "judged" in row and _score_of_round(row) != _score_of_round(other):
            gone.add_round(row)
            if "judged" in other:
                instead.add_round(other)
    _same_sums(found, "rounds", (one.arena.total, two.arena.total), gone, instead)

    gone, instead = Sums(), Sums()
    for key, row in one.hours.items():
        other = two.hours.get(key, {})
        if _came(row) and _score_of_hour(row) != _score_of_hour(other):
            gone.add_hour(row)
            if _came(other):
                instead.add_hour(other)
    _same_sums(found, "hours", (one.hourly.total, two.hourly.total), gone, instead)


def _score_of_round(row: Row) -> Any:
    """Return what the score of a round follows from, None of one that was not resolved."""
    if "judged" not in row:
        return None
    return row["started"]["forecast"], row["started"][LAST_KNOWN], row["judged"]["outcome"]


def _score_of_hour(row: Row) -> Any:
    """Return what the score of an hourly forecast follows from, None of one without an outcome."""
    return (row["started"]["forecast"], _came(row)) if _came(row) else None


def _came(row: Row) -> str | None:
    found: str | None = row.get("judged", {}).get("outcome")
    return found


def _same_sums(found: Comparison, what: str, years: tuple[Sums, Sums], gone: Sums, instead: Sums) -> None:
    """Compare the totals of two years, those of the first without what is gone and with what was scored otherwise."""
    first, second = years
    for name in asdict(second):
        expected = getattr(first, name) - getattr(gone, name) + getattr(instead, name)
        if isclose(expected, getattr(second, name), rel_tol=1e-9, abs_tol=1e-9):
            found.equal[f"total of the {what}"] += 1
        else:
            found.fault(f"total {name} of the {what} is {getattr(second, name)}, without those missed {expected}")


def check_begin(found: Comparison, what: str, site: Path, journal: Journal) -> None:
    """Check that the log begins with all entries that the earlier version wrote, and that its payments were kept."""
    if digest_of_log(site, journal.begun_size) == journal.begun_digest:
        found.equal["entry of the earlier version"] += journal.begun_size
    else:
        found.fault(f"the log of the {what} year does not begin as the earlier version left it")
    found.equal["payment of the earlier version delivered again"] += sum(journal.old_again)
    if not all(journal.old_again):
        found.fault(f"a payment of the earlier version was delivered otherwise in the {what} year")


def check_statistics(found: Comparison, what: str, site: Path, record: Published) -> None:
    """Compare the totals of the last release with those that its log gives."""
    stated = json.loads((site / "current" / "api" / "statistics.php").read_bytes())["arena"]["record"]
    mine = record.arena.shown()
    found.same("count of rounds in the statistics", f"of the {what} year", mine["resolved"], stated["resolved"])
    for score in ("brier", "log_score"):
        _near(found, f"{score} in the statistics of the {what} year", mine[score], stated[score], FOUR_PLACES)


def compare_payments(found: Comparison, one: Journal, two: Journal, folders: tuple[Path, Path]) -> None:
    """Compare what payers bought in both years: the same products, prices and facts, delivered again whenever asked."""
    bought = [{each.number: each for each in journal.bought} for journal in (one, two)]
    for number, first in bought[0].items():
        second = bought[1].get(number)
        if second is None:
            found.lacks("payment", str(number), (two.not_sold.get(number, 0.0),))
            continue
        found.same("payment", str(number), (first.product, first.amount), (second.product, second.amount))
        if first.sha256 and second.sha256:
            facts, facts_too = (facts_of(folder / f"body-{number}.json") for folder in folders)
            place = place_of_difference(facts, facts_too)
            found.same(f"facts of a paid body{place and ' at '}{place}", str(number), facts, facts_too)
    for name, journal in (("undisturbed", one), ("disturbed", two)):
        for each in journal.bought:
            if not each.sha256:
                found.fault(f"payment {each.number} of the {name} year was never delivered: {each.statuses}")
            if not (all(each.again) or each.adopted):
                found.fault(f"payment {each.number} of the {name} year was delivered otherwise when it was asked again")


def facts_of(path: Path) -> Any:
    """Return what a paid body says of the market."""
    return _facts(json.loads(path.read_bytes()))


def _facts(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _facts(member) for name, member in value.items() if name not in OF_RECORD}
    if isinstance(value, list):
        return [_facts(member) for member in value]
    return value


def place_of_difference(one: Any, two: Any) -> str:
    """Return the keys that lead to the first difference of two bodies, empty where there is none."""
    if isinstance(one, Mapping) and isinstance(two, Mapping) and one.keys() == two.keys():
        pairs = [(f"/{name}", member, two[name]) for name, member in one.items()]
    elif isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        pairs = [(f"/{place}", member, two[place]) for place, member in enumerate(one)]
    else:
        return "" if one == two else "/"
    differing = (key + place_of_difference(*members) for key, *members in pairs if members[0] != members[1])
    return next(differing, "")


def check_ledger(found: Comparison, what: str, ledger: Path, chain: Sequence[str], bought: Sequence[Bought]) -> None:
    """Check that each payment on the chain is in the ledger once, and each that was delivered is on the chain."""
    settled = Counter(_settled(ledger))
    for txid, count in Counter(chain).items():
        if count != 1 or settled[txid] != 1:
            found.fault(f"{txid} of the {what} year is on the chain {count} times, in the ledger {settled[txid]} times")
        else:
            found.equal["payment in ledger and on chain"] += 1
    for txid in settled.keys() - set(chain):
        found.fault(f"{txid} of the {what} year is settled in the ledger, and not on the chain")
    for each in bought:
        if each.sha256 and each.txid not in chain:
            found.fault(f"payment {each.number} of the {what} year was delivered, and never moved money")


def _settled(ledger: Path) -> Iterator[str]:
    """Give the ids of settled payments, those of long ago too."""
    with sqlite3.connect(f"file:{ledger}?mode=ro", uri=True) as database:
        yield from (txid for (txid,) in database.execute("SELECT txid FROM payments WHERE state = 'settled'"))
        for (raw,) in database.execute("SELECT txid FROM settled_old"):
            yield base64.b32encode(raw).decode().rstrip("=")


def unix(text: str) -> float:
    """Return Unix seconds of a time as the log writes it."""
    return datetime.fromisoformat(text).timestamp()


def _bar(at: str) -> int:
    return int(unix(at)) // BAR_S


def _short(value: Any) -> str:
    return str(value)[:300]
