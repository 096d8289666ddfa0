"""The audit of a whole log: entries go in one by one, what they say together is recomputed, the first fault is named.

What holds of an honest log and is checked here: time never runs backwards unless the log says that the clock stepped;
a forecast is sealed before its round starts and opens to its commitment; a round that was sealed ends, once; outcomes,
lessons and scores follow from the logged prices, votes and bands; an hourly prediction opens to the commitment that
stood before its hour, and the moves of its ranges follow from the logged prices.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from gateway.wire.foreign import read_json
from generator.arena.ballots import FIRST_FORM
from generator.arena.crowd import CrowdSums
from generator.arena.outcome import change_bps, outcome_of
from generator.arena.published import call_complaint, chance_sums_of, complaint_of, digest_of, round_of_row
from generator.arena.ranges import Counts, RangeSums, counts_of, move_percent
from generator.arena.rates import in_full
from generator.arena.scores import Sums, track_record
from generator.arena.values import CrowdScores, ForecastScores, HorizonRecord, Move, RangeForecast, Round
from generator.catalog.counts import quantity
from generator.catalog.formats import ms_of
from generator.catalog.horizons import HORIZONS
from generator.record.audit.daily import DailyError, DailyLog
from generator.record.audit.entries import SUMS
from generator.record.audit.ladders import LadderError, LadderLog, Revealed

OVERDUE_S: Final = 2 * 3600  # a round or an hour that ended this long before the log's last entry has its outcome
PRICE_WINDOW_S: Final = 60
UNPUBLISHED: Final = ("ballots_sha256", "ballot_form")  # of a round's row: in the log alone
KEPT_STARTS: Final = 24 * 70  # hours whose ranges are kept to be compared with the published ones
KEPT_ROUNDS: Final = 2_000  # whose rows are kept for that; four times as many as are published
RECOUNTED: Final = 500  # rounds whose ballots are recounted; each is a request or more


class AuditError(ValueError):
    """An entry of the log does not hold; the message names it."""


@dataclass
class Ranges:
    """The ranges of one asset and hour, as they are in the log."""

    forecasts: dict[str, RangeForecast]
    start_price: float | None
    moves: dict[str, Move] = field(default_factory=dict)


@dataclass
class Audit:
    """What was read so far. `_on_<kind>` judges an entry; unknown kinds are passed over: later versions add some."""

    rounds: dict[str, dict[str, Any]] = field(default_factory=dict)  # that ended last, as rows of /arena/rounds.json
    voted: dict[str, dict[str, Any]] = field(default_factory=dict)  # likewise, of those with real votes
    ended: set[str] = field(default_factory=set)  # the names of all rounds that ended
    voted_before: int = 0  # how many had real votes before those in `voted`
    open: dict[str, dict[str, Any]] = field(default_factory=dict)
    hours: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)  # begun and not judged, by start
    entries: dict[str, list[int]] = field(default_factory=dict)  # numbers of each round's entries, among those taken
    clock_steps: int = 0
    arena: Sums = field(default_factory=Sums)
    crowd: CrowdSums = field(default_factory=CrowdSums)
    simulated_crowd: CrowdSums = field(default_factory=CrowdSums)
    hourly: Sums = field(default_factory=Sums)
    far: RangeSums = field(default_factory=RangeSums)
    ranges: dict[str, dict[str, Ranges]] = field(default_factory=dict)  # by start and asset, of the last weeks
    origin: str | None = None
    mode: str | None = None
    keys: list[str] = field(default_factory=list)
    first_at: str | None = None
    last_at: str | None = None
    kept_rounds: int = KEPT_ROUNDS
    recounted: int = RECOUNTED
    ladders: LadderLog = field(default_factory=LadderLog)
    daily: DailyLog = field(default_factory=DailyLog)
    _index: int = 0

    def take(self, data: bytes) -> None:
        """Read the next entry; raise AuditError where it is not of its form or does not follow from those before it."""
        try:
            entry = read_json(data)
            kind = str(entry["kind"])
            self._clock(kind, entry["at"])

            judge = getattr(self, f"_on_{kind.replace('.', '_')}", None)
            if judge:
                judge(entry)
        except (AuditError, DailyError, LadderError) as fault:
            about = entry.get("round_id") or entry.get("question_id") or entry.get("start") or entry.get("day") or ""
            raise AuditError(f"entry {self._index}, {kind} {about}: {fault}") from None
        except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
            raise AuditError(f"entry {self._index}: not of its form ({type(error).__name__}: {error})") from error

        if "round_id" in entry:
            self.entries.setdefault(str(entry["round_id"]), []).append(self._index)
        self._index += 1

    def finish(self) -> None:
        """Check what should have ended before the last entry; raise AuditError naming what did not."""
        if self.last_at is None:
            return

        for name, row in self.open.items():
            if _seconds(row["end"], self.last_at) > OVERDUE_S:
                raise AuditError(f"round {name} was sealed and never ended: its end is missing from the log")

        for start, assets in self.hours.items():
            if assets and _seconds(start, self.last_at) > OVERDUE_S + 3600:
                raise AuditError(f"the predictions of {start} were made and never judged: {', '.join(sorted(assets))}")

        self._finish_ranges(self.last_at)
        if day := self.ladders.missing(self.last_at):
            raise AuditError(f"the ladders of {day} were sealed and never revealed")
        if question := self.daily.missing(self.last_at):
            raise AuditError(f"daily question {question} was asked and never ended: its end is missing from the log")

    def _finish_ranges(self, last_at: str) -> None:
        for start, by_asset in self.ranges.items():
            for asset, ranges in by_asset.items():
                for horizon in ranges.forecasts:
                    if horizon not in ranges.moves and _late(start, horizon, last_at) > OVERDUE_S:
                        raise AuditError(f"the {horizon} range of {asset} of {start} was made and never judged")

    def arena_record(self) -> ForecastScores:
        """The rounds' scores, of what is in the log alone."""
        return track_record("arena", self.arena)

    def hourly_record(self) -> ForecastScores:
        """The hourly predictions' scores, of what is in the log alone."""
        return track_record("hourly", self.hourly)

    def _clock(self, kind: str, at: str) -> None:
        if self.last_at is not None and _seconds(self.last_at, at) < 0 and kind != "clock.stepped":
            raise AuditError(f"its time {at} is before that of the entry before it, {self.last_at}: it was back-dated")
        self.first_at = self.first_at or at
        self.last_at = at

    def _on_log_opened(self, entry: Mapping[str, Any]) -> None:
        if self._index:
            raise AuditError("a log is opened once")
        self.origin = str(entry["origin"])
        self.mode = str(entry["source_mode"])
        self._on_log_key(entry)

    def _on_log_key(self, entry: Mapping[str, Any]) -> None:
        self.keys.append(str(entry["key"]))

    def _on_clock_stepped(self, _entry: Mapping[str, Any]) -> None:
        self.clock_steps += 1

    def _on_round_sealed(self, entry: Mapping[str, Any]) -> None:
        name = entry["round_id"]
        if name in self.open or name in self.ended:
            raise AuditError("this round was sealed before")
        if not entry["opened"] <= entry["at"] < entry["start"] < entry["end"]:
            raise AuditError("the forecast was not sealed before the start")

        row = {**_row(entry), "band_bps": entry["band_bps"], "commitment": entry["commitment"]}
        self.open[name] = {**row, "ballot_form": int(entry.get("ballot_form", FIRST_FORM))}

    def _on_round_locked(self, entry: Mapping[str, Any]) -> None:
        row = self.open.get(entry["round_id"])
        if row is None or row["phase"] != "open":
            raise AuditError("no open round was sealed under this name")
        _in_time(_seconds(row["start"], entry["at"]), "locked", "start")

        names = ("forecast", "salt", "previous_outcome", "votes", "simulated_votes", "start_price", "price_basis")
        row.update({name: entry[name] for name in names}, phase="live", ballots_sha256=entry["ballots_sha256"])
        row.update({name: entry[name] for name in SUMS if name in entry})
        if row["forecast"]["band_bps"] != row["band_bps"]:
            raise AuditError("the band is not the one that was published at opening")

    def _on_round_resolved(self, entry: Mapping[str, Any]) -> None:
        row = self.open.pop(entry["round_id"], None)
        if row is None or row["phase"] != "live":
            raise AuditError("no live round under this name")
        _in_time(_seconds(row["end"], entry["at"]), "resolved", "end")
        row.update({name: entry[name] for name in ("end_price", "change_bps", "outcome", "lesson")}, phase="resolved")
        self._end(row)

    def _on_round_void(self, entry: Mapping[str, Any]) -> None:
        row = self.open.pop(entry["round_id"], None)
        if row is None and entry["round_id"] in self.ended:
            raise AuditError("this round had ended")

        row = row or {**_row(entry), "commitment": None}
        row.update({name: entry[name] for name in ("forecast", "salt", "previous_outcome", "void_reason")})
        row["phase"] = "void"
        self._end(row)

    def _end(self, row: dict[str, Any]) -> None:
        row.pop("band_bps", None)
        unpublished = {name: row.pop(name, None) for name in UNPUBLISHED}

        if complaint := complaint_of(row):
            raise AuditError(complaint)
        self._keep({**row, **unpublished})
        if row["phase"] == "resolved":
            item = round_of_row(row)
            self.arena = self.arena.counted(item).ended([item])
            self.crowd = self.crowd.plus(item, chance_sums_of(row, "chance_sums"))
            self.simulated_crowd = self.simulated_crowd.plus(item, chance_sums_of(row, "simulated_chance_sums"))

    def _keep(self, row: dict[str, Any]) -> None:
        """Keep a round that ended, and no more rows than are compared: a log has many years of them."""
        name = row["round_id"]
        self.ended.add(name)
        self.rounds[name] = row
        if len(self.rounds) > self.kept_rounds:
            oldest = next(iter(self.rounds))
            del self.rounds[oldest]
            self.entries.pop(oldest, None)

        if not real_votes(row):
            return
        self.voted[name] = row
        if len(self.voted) > self.recounted:
            del self.voted[next(iter(self.voted))]
            self.voted_before += 1

    def _on_predictions_made(self, entry: Mapping[str, Any]) -> None:
        if not entry["at"] < entry["start"]:
            raise AuditError("made after its hour began")

        hour = self.hours.setdefault(entry["start"], {})
        for asset, commitment in entry["assets"].items():
            if "start_price" in hour.get(asset, {}):
                raise AuditError(f"{asset}: made again after its hour began")
            hour[asset] = {"commitment": str(commitment)}

    def _reveal(self, start: str, asset: str, shown: Mapping[str, Any]) -> None:
        """Check that a prediction opens to the last commitment made before its hour."""
        made = self.hours.get(start, {}).get(asset)
        if made is None:
            raise AuditError(f"{asset}: no prediction was made for this hour")

        forecast = shown["forecast"]
        if (forecast["asset"], forecast["start"]) != (asset, start):
            raise AuditError(f"{asset}: the prediction is of another asset or hour")
        if digest_of(forecast, shown["salt"]) != made["commitment"]:
            raise AuditError(f"{asset}: prediction and salt do not give the commitment")
        if complaint := call_complaint(forecast, tuple(forecast["probabilities"]), tuple(forecast["base_rate"])):
            raise AuditError(f"{asset}: {complaint}")
        made.update(forecast)

    def _on_predictions_started(self, entry: Mapping[str, Any]) -> None:
        _in_time(_seconds(entry["start"], entry["at"]), "the start price was fixed", "start")
        for asset, shown in entry["assets"].items():
            self._reveal(entry["start"], asset, shown)
            self.hours[entry["start"]][asset]["start_price"] = shown["start_price"]
            self._keep_ranges(entry["start"], asset, shown["forecast"], shown["start_price"])

    def _keep_ranges(self, start: str, asset: str, forecast: Mapping[str, Any], start_price: float | None) -> Ranges:
        forecasts = {horizon: RangeForecast(**values) for horizon, values in forecast.get("ranges", {}).items()}
        ranges = Ranges(forecasts, start_price)
        if forecasts:
            self.ranges.setdefault(start, {})[asset] = ranges
            while len(self.ranges) > KEPT_STARTS:
                del self.ranges[next(iter(self.ranges))]
        return ranges

    def _on_ranges_judged(self, entry: Mapping[str, Any]) -> None:
        start = entry["start"]
        horizon = entry["horizon"]
        late = _late(start, horizon, entry["at"])
        counted: list[tuple[str, int, Counts]] = []

        for asset, shown in entry["assets"].items():
            ranges = self.ranges.get(start, {}).get(asset)
            if ranges is None or horizon not in ranges.forecasts or ranges.start_price is None:
                raise AuditError(f"{asset}: no {horizon} range was made for this hour")

            came = Move(shown.get("end_price"), shown.get("move"), shown.get("void_reason"))
            if horizon in ranges.moves:
                raise AuditError(f"{asset}: the {horizon} range was judged before")
            if came.void_reason is None:
                _in_time(late, f"{asset}: the end price over {horizon} was fixed", "end")
                if came.move != move_percent(ranges.start_price, shown["end_price"]):
                    raise AuditError(f"{asset}: the move over {horizon} is {came.move}, the prices give another")

            counted.append((horizon, ms_of(start), counts_of(ranges.forecasts[horizon], came)))
            ranges.moves[horizon] = came

        self.far = self.far.plus_totals(counted)

    def _on_predictions_judged(self, entry: Mapping[str, Any]) -> None:
        start = entry["start"]
        cases: list[Round] = []

        for asset, judged in entry["assets"].items():
            if "forecast" in judged:
                self._reveal(start, asset, judged)
            made = self.hours.get(start, {}).pop(asset, None)
            if made is None:
                raise AuditError(f"{asset}: no prediction was made for this hour")

            if "void_reason" in judged:
                self._never_started(start, asset, made, judged["void_reason"])
            else:
                cases.append(_judged_case(asset, made, judged))

        for case in cases:
            self.hourly = self.hourly.counted(case)
        self.hourly = self.hourly.ended(cases)

        if not self.hours.get(start, True):
            del self.hours[start]

    def _never_started(self, start: str, asset: str, made: Mapping[str, Any], reason: str) -> None:
        """Note that ranges are void of which no start price was logged."""
        if asset not in self.ranges.get(start, {}):
            ranges = self._keep_ranges(start, asset, made, None)
            void = Move(void_reason=reason)
            ranges.moves |= dict.fromkeys(ranges.forecasts, void)
            self.far = self.far.plus_totals(
                (horizon, ms_of(start), counts_of(forecast, void)) for horizon, forecast in ranges.forecasts.items()
            )

    def _on_ladder_made(self, entry: Mapping[str, Any]) -> None:
        self.ladders.take_made(entry["at"], entry["start"], str(entry["commitment"]))

    def _on_ladders_revealed(self, entry: Mapping[str, Any]) -> None:
        file = Revealed(entry["path"], entry["sha256"], entry.get("scores"))
        self.ladders.take_revealed(entry["at"], entry["day"], file)

    def move_of(self, start: str, asset: str, horizon: str) -> Move | None:
        """Return the move of an asset over a horizon by the logged prices; None where none is logged."""
        ranges = self.ranges.get(start, {}).get(asset)
        return None if ranges is None else ranges.moves.get(horizon)

    def _on_daily_asked(self, entry: Mapping[str, Any]) -> None:
        self.daily.take_asked(entry)

    def _on_daily_closed(self, entry: Mapping[str, Any]) -> None:
        self.daily.take_closed(entry)

    def _on_daily_measured(self, entry: Mapping[str, Any]) -> None:
        self.daily.take_measured(entry)

    def _on_daily_void(self, entry: Mapping[str, Any]) -> None:
        self.daily.take_void(entry)

    def _on_scores(self, entry: Mapping[str, Any]) -> None:
        records = {
            "arena": track_record("arena", self.arena.scored()),
            "hourly": track_record("hourly", self.hourly.scored()),
        }
        recomputed = {name: _scores_in_form(entry[name], record) for name, record in records.items()}
        crowds = {"crowd": self.crowd, "simulated_crowd": self.simulated_crowd}
        recomputed |= {name: crowd_scores_of(sums.scores()) for name, sums in crowds.items() if name in entry}
        if "how_far" in entry:
            recomputed["how_far"] = far_scores_of(self.far.scores())

        for name, scores in recomputed.items():
            if entry[name] != scores:
                raise AuditError(f"the {name} scores are {entry[name]}, the log gives {scores}")


def real_votes(row: Mapping[str, Any]) -> int:
    """Return a round's real votes; one that never locked has none."""
    if row["ballots_sha256"] is None:
        return 0
    return sum(votes - row["simulated_votes"][word] for word, votes in row["votes"].items())


def score_line(name: str, record: ForecastScores) -> str:
    """Return how often the forecasts were right, and their Brier score, in one line."""
    parts = [f"{in_full(record.hit)} calls right" if record.hit.n else "no call"]
    parts.append(f"{record.no_calls} forecasts without a call")
    if record.before_calls:
        parts.append(f"{in_full(record.before_calls.hit)} words right from before calls existed")
    parts.append(f"Brier {record.brier} (base rate {record.baselines['base_rate']}, even chances 0.6667)")
    if record.move.brier is not None:
        parts.append(f"will it move: Brier {record.move.brier} (base rate {record.move.base_rate_brier})")
    return f"{name}: {', '.join(parts)}"


def scores_of(record: ForecastScores) -> dict[str, Any]:
    """Write a record's headline as it goes into the log once a day."""
    move = record.move
    return {
        **_scores_of_all(record),
        "hit_rate_percent": record.hit.percent,
        "calls": record.hit.n,
        "move": {
            "resolved": move.n,
            "brier": move.brier,
            "base_rate_brier": move.base_rate_brier,
            "log_score": move.log_score,
            "base_rate_log_score": move.base_rate_log_score,
        },
    }


def crowd_scores_of(scores: CrowdScores) -> dict[str, Any]:
    """Write the scores of a crowd's chances as they go into the log once a day."""
    return {
        "rounds": scores.rounds,
        "votes": scores.votes,
        "brier": scores.brier,
        "base_rate_brier": scores.base_rate_brier,
        "brain_brier": scores.brain_brier,
        "log_score": scores.log_score,
        "base_rate_log_score": scores.base_rate_log_score,
        "brain_log_score": scores.brain_log_score,
    }


def crowd_line(name: str, scores: CrowdScores) -> str:
    """Return what a crowd's chances were worth, in one line."""
    return (
        f"{name}: {quantity(scores.votes, 'vote')} with chances in {quantity(scores.rounds, 'round')}, "
        f"Brier {scores.brier} (base rate "
        f"{scores.base_rate_brier}, the brain in the same rounds {scores.brain_brier})"
    )


def _scores_of_all(record: ForecastScores) -> dict[str, Any]:
    return {
        "resolved": record.resolved,
        "brier": record.brier,
        "log_score": record.log_score,
        "baselines": dict(record.baselines),
    }


def _scores_in_form(stated: Mapping[str, Any], record: ForecastScores) -> dict[str, Any]:
    """Write a record's headline in the form of an entry: one from before calls rates every word."""
    before = record.before_calls
    rated = before.hit.n if before else 0
    if "calls" in stated or record.earlier or rated != record.resolved:
        return scores_of(record)
    return {**_scores_of_all(record), "hit_rate_percent": before.hit.percent if before else None}


def far_line(scores: HorizonRecord) -> str:
    """Return what the ranges over one horizon were worth in one line."""
    brain, *simple = scores.scores
    others = ", ".join(f"{rule.name} {rule.pinball}" for rule in simple)
    return (
        f"ranges over {scores.horizon} in the log: {in_full(brain.inside_50)} inside the 50% range, "
        f"{in_full(brain.inside_90)} inside the 90% range, pinball loss {brain.pinball} ({others})"
    )


def far_scores_of(scores: Sequence[HorizonRecord]) -> dict[str, Any]:
    """Write the ranges' scores as they go into the log once a day."""
    return {
        record.horizon: {
            "resolved": record.resolved,
            "inside_50_percent": record.scores[0].inside_50.percent,
            "inside_90_percent": record.scores[0].inside_90.percent,
            "pinball": {score.name: score.pinball for score in record.scores},
            "qlike": {score.name: score.qlike for score in record.scores},
        }
        for record in scores
        if record.resolved
    }


def _row(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Begin a row of `/arena/rounds.json` with what is known when a round opens."""
    slot = ("round_id", "asset", "opened", "start", "end")
    later = ("forecast", "salt", "previous_outcome", "price_basis", "start_price", "end_price", "change_bps")
    nothing = {"bullish": 0, "bearish": 0, "neutral": 0}
    return {
        **{name: entry[name] for name in slot},
        **dict.fromkeys((*later, "outcome", "void_reason", "lesson")),
        "phase": "open",
        "warm_up": False,
        "votes": nothing,
        "simulated_votes": nothing,
    }


def _judged_case(asset: str, made: Mapping[str, Any], judged: Mapping[str, Any]) -> Round:
    """Check that the logged outcome follows from the prices, and return the prediction as a case to score."""
    change = change_bps(made["start_price"], judged["end_price"])
    if change != judged["change_bps"]:
        raise AuditError(f"{asset}: change_bps is {judged['change_bps']}, the prices give {change}")

    outcome = outcome_of(change, made["band_bps"])
    if outcome != judged["outcome"]:
        raise AuditError(f"{asset}: outcome is {judged['outcome']}, the prices give {outcome}")

    words = ("down", "neutral", "up")
    chances = {name: dict(zip(words, made[name], strict=True)) for name in ("probabilities", "base_rate")}
    forecast = {**made, **chances}
    scored = {"forecast": forecast, "outcome": outcome, "warm_up": False}
    return round_of_row({**made, **scored, "round_id": "", "asset": "", "change_bps": None})


def _in_time(late_s: float, what: str, after: str) -> None:
    if not 0 <= late_s < PRICE_WINDOW_S:
        raise AuditError(f"{what} {late_s:.0f} s after the {after}")


def _late(start: str, horizon: str, at: str) -> float:
    return _seconds(start, at) - 60 * HORIZONS[horizon].minutes


def _seconds(begin: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds()
