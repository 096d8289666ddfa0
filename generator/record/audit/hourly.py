"""The hourly predictions of a log and the published ranges: each opens to what was sealed before its hour."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Final

from gateway.wire.foreign import read_json
from generator.arena.outcome import change_bps, outcome_of
from generator.arena.published import call_complaint, digest_of, round_of_row
from generator.arena.ranges import Counts, RangeSums, counts_of, move_percent
from generator.arena.scores import Sums, track_record
from generator.catalog.durations import HOUR_MS
from generator.catalog.formats import iso, ms_of
from generator.catalog.horizons import HORIZONS, HOUR
from generator.catalog.links import RANGES_JSONL
from generator.record.audit.compare import row_differences
from generator.record.audit.game import AuditError, Read, Row, Site, Waiting, in_time, seconds
from generator.record.audit.scores import far_line, score_line
from generator.values.hours import Move
from generator.values.ranges import RangeForecast
from generator.values.rounds import Round
from generator.values.scores import ForecastScores

KEPT_STARTS: Final = 24 * 70  # hours whose ranges are kept to be compared with the published ones


@dataclass
class Ranges:
    """The ranges of one asset and hour, as they are in the log."""

    forecasts: dict[str, RangeForecast]
    start_price: float | None
    moves: dict[str, Move] = field(default_factory=dict)


@dataclass
class HourLog:
    """What the log says of hourly predictions and their ranges; all of them is in the log itself."""

    recounted: ClassVar[str] = "hours"
    hours: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)  # begun and not judged, by start
    ranges: dict[str, dict[str, Ranges]] = field(default_factory=dict)  # by start and asset, of the last weeks
    sums: Sums = field(default_factory=Sums)
    far: RangeSums = field(default_factory=RangeSums)

    @property
    def readers(self) -> Mapping[str, Callable[[Row], None]]:
        """What reads an entry, by its kind."""
        return {
            "predictions.sealed": self._made,
            "predictions.started": self._started,
            "predictions.judged": self._judged,
            "ranges.judged": self._ranges_judged,
        }

    def waiting(self) -> Iterator[Waiting]:
        """Give the predictions and ranges that have not been judged."""
        for start, assets in self.hours.items():
            if assets:
                names = ", ".join(sorted(assets))
                yield Waiting(ms_of(start) + HOUR_MS, f"the predictions of {start} were made and never judged: {names}")

        for start, by_asset in self.ranges.items():
            start_ms = ms_of(start)
            for asset, ranges in by_asset.items():
                for horizon in (name for name in ranges.forecasts if name not in ranges.moves):
                    due_ms = start_ms + HORIZONS[horizon].length_ms
                    yield Waiting(due_ms, f"the {horizon} range of {asset} of {start} was made and never judged")

    def complaint(self, site: Site) -> str | None:
        """Say which published range is not as it was logged, or is left out."""
        return ranges_complaint(site.read(RANGES_JSONL), self)

    @property
    def recounts(self) -> Sequence[str]:
        """Nothing."""
        return ()

    def recount(self, name: str, read: Read) -> int:
        """Return 0."""
        return 0

    def lines(self, counted: int) -> list[str]:
        """Say how the brain and its ranges did in the log."""
        record = self.record()
        lines = [score_line("brain, hourly in the log", record)] if record.resolved else []
        return lines + [far_line(scores) for scores in self.far.scores() if scores.resolved]

    def record(self) -> ForecastScores:
        """Return the scores of the brain, of what is in the log alone."""
        return track_record("hourly", self.sums)

    def _made(self, entry: Row) -> None:
        if not entry["at"] < entry["start"]:
            raise AuditError("made after its hour began")

        hour = self.hours.setdefault(entry["start"], {})
        for asset, commitment in entry["assets"].items():
            if "start_price" in hour.get(asset, {}):
                raise AuditError(f"{asset}: made again after its hour began")
            hour[asset] = {"commitment": str(commitment)}

    def _reveal(self, start: str, asset: str, shown: Mapping[str, Any]) -> None:
        """Check that a prediction opens to the last commitment made before its hour."""
        prediction = self.hours.get(start, {}).get(asset)
        if prediction is None:
            raise AuditError(f"{asset}: no prediction was made for this hour")

        forecast = shown["forecast"]
        if (forecast["asset"], forecast["start"]) != (asset, start):
            raise AuditError(f"{asset}: the prediction is of another asset or hour")
        if digest_of(forecast, shown["salt"]) != prediction["commitment"]:
            raise AuditError(f"{asset}: prediction and salt do not give the commitment")
        if complaint := call_complaint(forecast, tuple(forecast["probabilities"]), tuple(forecast["base_rate"])):
            raise AuditError(f"{asset}: {complaint}")
        prediction.update(forecast)

    def _started(self, entry: Row) -> None:
        in_time(seconds(entry["start"], entry["at"]), "the start price was fixed", "start")
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

    def _ranges_judged(self, entry: Row) -> None:
        start = entry["start"]
        horizon = entry["horizon"]
        late = _late(start, horizon, entry["at"])
        counted: list[tuple[str, int, Counts]] = []

        for asset, shown in entry["assets"].items():
            ranges = self.ranges.get(start, {}).get(asset)
            if ranges is None or horizon not in ranges.forecasts or ranges.start_price is None:
                raise AuditError(f"{asset}: no {horizon} range was made for this hour")

            move = Move(shown.get("end_price"), shown.get("move"), shown.get("void_reason"))
            if horizon in ranges.moves:
                raise AuditError(f"{asset}: the {horizon} range was judged before")
            if move.void_reason is None:
                in_time(late, f"{asset}: the end price over {horizon} was fixed", "end")
                if move.move != move_percent(ranges.start_price, shown["end_price"]):
                    raise AuditError(f"{asset}: the move over {horizon} is {move.move}, the prices give another")

            counted.append((horizon, ms_of(start), counts_of(ranges.forecasts[horizon], move)))
            ranges.moves[horizon] = move

        self.far = self.far.plus_totals(counted)

    def _judged(self, entry: Row) -> None:
        start = entry["start"]
        cases: list[Round] = []

        for asset, judged in entry["assets"].items():
            if "forecast" in judged:
                self._reveal(start, asset, judged)
            prediction = self.hours.get(start, {}).pop(asset, None)
            if prediction is None:
                raise AuditError(f"{asset}: no prediction was made for this hour")

            if "void_reason" in judged:
                self._never_started(start, asset, prediction, judged["void_reason"])
            else:
                cases.append(_judged_case(asset, prediction, judged))

        for case in cases:
            self.sums = self.sums.counted(case)
        self.sums = self.sums.ended(cases)

        if not self.hours.get(start, True):
            del self.hours[start]

    def _never_started(self, start: str, asset: str, prediction: Mapping[str, Any], reason: str) -> None:
        """Note that ranges are void of which no start price was logged."""
        if asset not in self.ranges.get(start, {}):
            ranges = self._keep_ranges(start, asset, prediction, None)
            void = Move(void_reason=reason)
            ranges.moves |= dict.fromkeys(ranges.forecasts, void)
            self.far = self.far.plus_totals(
                (horizon, ms_of(start), counts_of(forecast, void)) for horizon, forecast in ranges.forecasts.items()
            )

    def move_of(self, start: str, asset: str, horizon: str) -> Move | None:
        """Return the move of an asset over a horizon by the logged prices; None where none is logged."""
        ranges = self.ranges.get(start, {}).get(asset)
        return None if ranges is None else ranges.moves.get(horizon)


def _judged_case(asset: str, prediction: Mapping[str, Any], judged: Mapping[str, Any]) -> Round:
    """Check that the logged outcome follows from the prices, and return the prediction as a case to score."""
    change = change_bps(prediction["start_price"], judged["end_price"])
    if change != judged["change_bps"]:
        raise AuditError(f"{asset}: change_bps is {judged['change_bps']}, the prices give {change}")

    outcome = outcome_of(change, prediction["band_bps"])
    if outcome != judged["outcome"]:
        raise AuditError(f"{asset}: outcome is {judged['outcome']}, the prices give {outcome}")

    words = ("down", "neutral", "up")
    chances = {name: dict(zip(words, prediction[name], strict=True)) for name in ("probabilities", "base_rate")}
    forecast = {**prediction, **chances}
    scored = {"forecast": forecast, "outcome": outcome, "warm_up": False}
    return round_of_row({**prediction, **scored, "round_id": "", "asset": "", "change_bps": None})


def _late(start: str, horizon: str, at: str) -> float:
    return seconds(start, at) - 60 * HORIZONS[horizon].minutes


def ranges_complaint(data: bytes | None, log: HourLog) -> str | None:
    """Compare the published `ranges.jsonl` with the log; return the first thing that does not hold, or None.

    The file may be a few ticks older than the log: what ended after the newest move in it is not missed.
    """
    if data is None:
        return "the log has ranges and /track-record/ranges.jsonl is not published" if log.ranges else None
    try:
        rows: list[Row] = [read_json(line) for line in data.splitlines() if line.strip()]
        until = max((end for row in rows for end in _ends(row, known=True)), default="")
        complaints = (_range_complaint(row, until, log) for row in rows)
        return next(filter(None, complaints), None) or _ranges_left_out(rows, until, log)
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        return f"/track-record/ranges.jsonl is not of the published form ({type(error).__name__}: {error})"


def _ends(row: Row, *, known: bool) -> Iterable[str]:
    start = ms_of(row["start"])
    for horizon, judged in row["ranges"].items():
        if (judged["end_price"] is not None) == known:
            yield iso(start + HORIZONS[horizon].length_ms)


def _range_complaint(row: Row, until: str, log: HourLog) -> str | None:
    name = f"ranges of {row['asset']} {row['start']}"
    for horizon, judged in row["ranges"].items():
        end_price = judged["end_price"]
        if end_price is not None and judged["move"] != move_percent(row["start_price"], end_price):
            return f"{name}: the move over {horizon} is {judged['move']}, the prices give another"

    logged = log.ranges.get(row["start"], {}).get(row["asset"])
    if logged is None:
        return None if row["warm_up"] else f"{name} are published and not in the log"

    differences = row_differences(_shown(row), _logged(logged, row, until))
    return f"{name}: {differences}" if differences else None


def _shown(row: Row) -> dict[str, Any]:
    return {name: row[name] for name in ("warm_up", "start_price", "ranges")}


def _logged(logged: Ranges, row: Row, until: str) -> dict[str, Any]:
    """Return a row as the log has it, without the moves that the file is too old for."""
    newer = {end for end in _ends(row, known=False) if end > until}
    start = ms_of(row["start"])
    ranges = {}
    for horizon, forecast in logged.forecasts.items():
        move = logged.moves.get(horizon)
        if move is None or (move.void_reason is None and iso(start + HORIZONS[horizon].length_ms) in newer):
            move = Move()
        ranges[horizon] = {**asdict(forecast), **asdict(move)}
    return {"warm_up": False, "start_price": logged.start_price, "ranges": ranges}


def _ranges_left_out(rows: list[Row], until: str, log: HourLog) -> str | None:
    """Check that every logged row of the file's time whose first hour has ended is in the file."""
    there = {(row["asset"], row["start"]) for row in rows}
    first = min((row["start"] for row in rows), default="")
    for start, assets in log.ranges.items():
        ended = iso(ms_of(start) + HORIZONS[HOUR].length_ms)
        for asset in assets if first <= start and ended <= until else ():
            if (asset, start) not in there:
                return f"ranges of {asset} {start} are in the log and not published"
    return None
