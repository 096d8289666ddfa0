"""A plain program that reads answers as the docs say. It knows no text of ours: only fields that OpenAPI describes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from tests.exam.documented import Documented, body

REGIME: Final = "/api/market-regime.php"
BRAIN: Final = "/api/main-brain.php"
DERIVATIVES: Final = "/api/derivatives.php"
STATISTICS: Final = "/api/statistics.php"
LESSONS: Final = "/api/teacher-lessons.php"
ARENA: Final = "/arena/get_shared_intelligence.php"
FEWEST: Final = 30
EVEN: Final = 50.0
Answer = Any


class Reader:
    """Answers questions from the bodies of one tick, at some time after it."""

    def __init__(self, bodies: Mapping[str, Any], minutes_later: float) -> None:
        self._bodies = {
            path: body(bodies[path], path) for path in (REGIME, BRAIN, DERIVATIVES, STATISTICS, LESSONS, ARENA)
        }
        made = datetime.fromisoformat(self._bodies[REGIME]["freshness"]["generated_at"])
        self._now = made + timedelta(minutes=minutes_later)

    def answer(self, question: str, about: str = "") -> Answer:
        """Answer one question; what is stale is never answered with a number."""
        ask = QUESTIONS[question]
        if question != "may it be used now":
            usable = may_it_be_used(self, "")
            if usable != "yes":
                return usable
        return ask(self, about)

    def of(self, path: str) -> Documented:
        """Return a body."""
        return self._bodies[path]

    @property
    def now(self) -> datetime:
        """The reader's clock."""
        return self._now


def may_it_be_used(reader: Reader, _about: str) -> Answer:
    until = reader.of(REGIME)["freshness"]["valid_until"]
    return "yes" if reader.now <= datetime.fromisoformat(until) else f"no, stale since {until}"


def is_it_real_and_of_today(reader: Reader, _about: str) -> Answer:
    mode = reader.of(REGIME)["freshness"]["source_mode"]
    if mode == "simulated":
        return "no: simulated"
    if mode == "recorded":
        return f"no: of {reader.of(REGIME)['replay']['market_time']}"
    return "yes"


def price(reader: Reader, asset: str) -> Answer:
    found = reader.of(BRAIN)["coins"][asset]["price"]
    return "unknown" if found is None else found


def change(reader: Reader, asset: str) -> Answer:
    found = reader.of(BRAIN)["coins"][asset]["change_24h"]
    return "unknown" if found is None else found


def volatility(reader: Reader, _about: str) -> Answer:
    return reader.of(REGIME)["regime"]["axes"]["swings"]


def side(reader: Reader, _about: str) -> Answer:
    return reader.of(REGIME)["regime"]["axes"]["side"]


def regime(reader: Reader, _about: str) -> Answer:
    """A label is a fact; without one after a gap the market is mixed."""
    found = reader.of(REGIME)["regime"]
    if found["label"] == "unknown":
        return "unknown"
    if found["label"] == "transition":
        return "mixed"
    return found["label"]


def call(reader: Reader, asset: str) -> Answer:
    """Without a call a small move is not forecast either; null says that nothing was forecast."""
    found = reader.of(BRAIN)["coins"][asset]["call"]
    if found is None:
        return "nothing is forecast"
    return "no call" if found == "none" else found


def how_sure(reader: Reader, asset: str) -> Answer:
    coin = reader.of(BRAIN)["coins"][asset]
    return "there is no call" if coin["confidence_kind"] in {None, "no_call"} else coin["confidence"]


def hour_90(reader: Reader, asset: str) -> Answer:
    ranges = reader.of(BRAIN)["coins"][asset]["ranges"]
    if ranges is None or "1h" not in ranges:
        return "unknown"
    return (ranges["1h"]["low_90"], ranges["1h"]["high_90"])


def will_it_move(reader: Reader, asset: str) -> Answer:
    move = reader.of(BRAIN)["coins"][asset]["move"]
    if move is None:
        return "unknown"
    more = move["chance"] - move["base_rate"]
    return "as often as usual" if abs(more) < 0.02 else "more often than usual" if more > 0 else "less often than usual"


def unknown_assets(reader: Reader, _about: str) -> Answer:
    coins = reader.of(BRAIN)["coins"]
    return [asset for asset in coins if coins[asset]["price"] is None]


def failed_sources(reader: Reader, _about: str) -> Answer:
    return [row["name"] for row in reader.of(REGIME)["freshness"]["sources"] if row["status"] != "ok"]


def completeness(reader: Reader, _about: str) -> Answer:
    return reader.of(REGIME)["status"]


def liquidations(reader: Reader, asset: str) -> Answer:
    found = reader.of(DERIVATIVES)["assets"][asset]["liquidations"]
    return "unknown" if found is None else found["long_usd_24h"]


def open_forecast(reader: Reader, _about: str) -> Answer:
    """Of the round that takes votes only the commitment is public."""
    asked = reader.of(ARENA)["open_round"]
    return "no round takes votes" if asked is None else f"sealed: {asked['commitment'][:8]}"


def live_forecast(reader: Reader, _about: str) -> Answer:
    found = reader.of(ARENA)["brain_snapshot"]["call"]
    return "none is known" if found is None else found


def votes(reader: Reader, _about: str) -> Answer:
    crowd = reader.of(ARENA)["human_layer"]
    if crowd["total"] == 0:
        return "no one voted"
    return f"{crowd['total']}, mostly {crowd['consensus']}"


def hit_rate(reader: Reader, _about: str) -> Answer:
    """Calls alone count, and from 30 on."""
    record = reader.of(STATISTICS)["main_brain"]["record"]
    if record["n"] < FEWEST or record["hit_rate_percent"] is None:
        return f"too few: {record['n']}"
    return f"{record['hit_rate_percent']}% of {record['n']}"


def skill_in_direction(reader: Reader, _about: str) -> Answer:
    record = reader.of(STATISTICS)["main_brain"]["record"]
    low, chance = record["hit_rate_low_percent"], record["chance_percent"]
    if record["n"] < FEWEST or low is None or chance is None:
        return "not known"
    return "shown" if low > chance else "not shown"


def inside_90(reader: Reader, _about: str) -> Answer:
    found = reader.of(BRAIN)["public_performance"]["how_far"]
    if found is None or found["n"] < FEWEST or found["inside_90_percent"] is None:
        return "not known"
    held = found["inside_90_percent"]
    return (held["value"], held["low"], held["high"])


def backtest(reader: Reader, _about: str) -> Answer:
    record = reader.of(STATISTICS)["main_brain"]["record"]
    return record["warm_up"]


def newest_lesson(reader: Reader, _about: str) -> Answer:
    rows = reader.of(LESSONS)["latest_lessons"]
    if not rows:
        return "none yet"
    row = rows[0]
    if not row["brain_called"]:
        said = "the brain made no call"
    else:
        said = "the brain was right" if row["brain_correct"] else "the brain was wrong"
    return f"{said}, in a backtest" if row["warm_up"] else said


def next_step(reader: Reader, _about: str) -> Answer:
    found = reader.of(REGIME)["next_resource"]
    return f"{found['path']} for {found['price_display']}"


QUESTIONS: Final[dict[str, Callable[[Reader, str], Answer]]] = {
    "may it be used now": may_it_be_used,
    "is it real and of today": is_it_real_and_of_today,
    "what is the price of": price,
    "how did it change over the day:": change,
    "how volatile is the market": volatility,
    "which side is it on": side,
    "which regime is it": regime,
    "what is forecast for": call,
    "how sure is it of": how_sure,
    "where does the next hour end, nine in ten, for": hour_90,
    "will it move:": will_it_move,
    "of which assets is the price unknown": unknown_assets,
    "which sources did not answer well": failed_sources,
    "how complete is it": completeness,
    "how many dollars of longs were liquidated in": liquidations,
    "what does the brain forecast for the round that takes votes": open_forecast,
    "what did it forecast for the round that runs": live_forecast,
    "how did people vote": votes,
    "how often were its calls right": hit_rate,
    "is skill in direction shown": skill_in_direction,
    "how often did the 90% range of an hour hold": inside_90,
    "how many forecasts were backtested": backtest,
    "was the brain right in the newest lesson": newest_lesson,
    "what is there beyond, and for how much": next_step,
}
