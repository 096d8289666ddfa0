"""What no lesson may say of its round, worked out from the published row of the round apart from the product."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

_OUTCOMES: Final = {"up": "BULLISH", "a small move": "NEUTRAL", "small move": "NEUTRAL", "down": "BEARISH"}
_CROWD: Final = re.compile(
    r"No one voted\.|It was a backtest: [^.]*\.|\S+ (of \S+ )?(simulated )?votes? (said|were) [^.]*\."
)
_CHANCES: Final = re.compile(r"before it: (\d+) in 100 for up, (\d+) for a small move, (\d+) for down\.")
_MOVE: Final = re.compile(r"(hardly moved|(?:rose|fell) \d+(?:\.\d+)?%) in [^:]*: ([a-z ]+)\.")


class LessonText(NamedTuple):
    """A published lesson and the published row of its round."""

    lesson: Mapping[str, Any]
    round: Mapping[str, Any]

    @property
    def summary(self) -> str:
        """The chances, the move, the score and the votes in words."""
        return str(self.lesson["summary"])

    @property
    def text(self) -> str:
        """Everything that it says."""
        parts = (self.summary, *(self.lesson[name] for name in ("point", "question", "answer")))
        return " ".join(str(part) for part in parts if part)

    @property
    def chances(self) -> dict[str, float]:
        """The chances at sealing by outcome, percent."""
        given = self.round["forecast"]["probabilities"]
        return {"BULLISH": 100 * given["up"], "NEUTRAL": 100 * given["neutral"], "BEARISH": 100 * given["down"]}

    @property
    def base(self) -> dict[str, float]:
        """The base rates at sealing by outcome, percent."""
        given = self.round["forecast"]["base_rate"]
        return {"BULLISH": 100 * given["up"], "NEUTRAL": 100 * given["neutral"], "BEARISH": 100 * given["down"]}

    @property
    def has_call(self) -> bool:
        """Whether the forecast made a call, or is from before calls."""
        return bool(self.round["forecast"].get("call") != "none")


def _against_its_chances(t: LessonText) -> bool:
    """Say whether the chances in words are not those at sealing, or the outcome not that of the round."""
    given = _CHANCES.search(t.summary)
    moved = _MOVE.search(t.summary)
    if given is None or moved is None:
        return True

    written = dict(zip(("BULLISH", "NEUTRAL", "BEARISH"), map(int, given.groups()), strict=True))
    near = all(abs(written[name] - chance) < 1.0 for name, chance in t.chances.items())
    return not near or sum(written.values()) != 100 or _OUTCOMES.get(moved[2]) != t.round["outcome"]


def _wrong_rank(t: LessonText) -> bool:
    """Say whether an outcome is called the most frequent one, or was the likeliest, that was not."""
    usual = re.search(r"happen: (up|a small move|down) ", t.text)
    likeliest = t.chances[t.round["outcome"]] == max(t.chances.values())
    return ("the likeliest of three" in t.text and not likeliest) or (
        usual is not None and t.base[_OUTCOMES[usual[1]]] < max(t.base.values())
    )


def _expected_unlikely(t: LessonText) -> bool:
    """Say whether an outcome is said to have been expected, or is sealed as the call, that was not the likeliest."""
    found = re.search(r"(?:expected|named|called|said) (up|a small move|down)\b", _CROWD.sub("", t.summary))
    said = _OUTCOMES[found[1]] if found else None
    called = {"up": "BULLISH", "small_move": "NEUTRAL", "down": "BEARISH"}.get(t.round["forecast"].get("call"))
    likeliest = max(t.chances.values())
    return any(outcome is not None and t.chances[outcome] < likeliest for outcome in (said, called))


def _judged_without_call(t: LessonText) -> bool:
    """Say whether a forecast without a call is said or counted to be right or wrong."""
    if t.has_call:
        return False
    judged = re.search(r"\b(right|wrong|expected|correct|missed|hit)\b", _CROWD.sub("", t.summary))
    counted = t.lesson["brain_correct"] or t.lesson["brain_called"] or t.lesson["pattern_type"] != "no_call"
    return bool(judged or counted)


def _wrong_move(t: LessonText) -> bool:
    """Say whether the move in words has another sign or size than that of the round."""
    change = t.round["change_bps"]
    found = re.search(r"(rose|fell) (\d+(\.\d+)?)%", t.summary)
    if found is None:
        return "hardly moved" not in t.summary or abs(change) >= 0.55
    same_way = (change > 0) is (found[1] == "rose")
    return not same_way or abs(float(found[2]) - abs(change) / 100) > (0.0051 if found[3] else 0.51)


def _wrong_size(t: LessonText) -> bool:
    """Say whether a round is put on the wrong side of its band, or more hours moved as far than there are."""
    band = t.round["forecast"]["band_bps"]
    side = re.search(r"(inside|beyond) the band of (\d+\.\d+)%", t.summary)
    if side is not None:
        is_off = abs(float(side[2]) - band / 100) > 0.0051
        if is_off or (side[1] == "beyond") is not (abs(t.round["change_bps"]) > band):
            return True
    hours = re.search(r"Of the ([\d,]+) hours on record before it, ([\d,]+) moved", t.summary)
    if hours is None:
        return False
    known, as_large = (int(group.replace(",", "")) for group in hours.groups())
    return not 0 < as_large < 0.75 * known or known < 336


def _brier(chances: Mapping[str, float], outcome: str) -> float:
    return sum((chance / 100 - (name == outcome)) ** 2 for name, chance in chances.items())


def _wrong_score(t: LessonText) -> bool:
    """Say whether a score is not that of the chances, or the verdict not that of the two scores."""
    own, base = (_brier(chances, t.round["outcome"]) for chances in (t.chances, t.base))
    score = re.search(r"Brier score is (\d\.\d+)", t.summary)
    if score is None or abs(float(score[1]) - own) > 0.00051:
        return True
    verdict = re.search(r"(better|worse) by (\d\.\d+)|level", t.summary)
    if verdict is None:
        return True
    by = base - own
    if verdict[1] is None:
        return abs(by) > 0.0011
    return (by > 0) is not (verdict[1] == "better") or abs(abs(by) - float(verdict[2])) > 0.0011


def _voting_in_a_backtest(t: LessonText) -> bool:
    """Say whether a backtest speaks of votes as if they had been possible, or live play as if they had not."""
    cast = sum(t.round["votes"].values())
    if t.round["warm_up"]:
        return "No one voted" in t.summary or (not cast and "backtest" not in t.summary)
    return "backtest" in t.summary or ("No one voted" in t.summary) is not (cast == 0)


def _has_fat_tail(point: str) -> bool:
    """Say whether three times as many hours as expected went as far, and three at least."""
    found = re.search(r"expects (less than )?([\d.]+) of the [\d,]+ hours on record .* far; ([\d,]+) did", point)
    if found is None:
        return False
    expected = 0.0 if found[1] else float(found[2])
    return int(found[3].replace(",", "")) >= 2.9 * max(1.0, expected)


def _wrong_idea(t: LessonText) -> bool:
    """Say whether a lesson explains an idea that its round does not show."""
    row = t.round
    concept = t.lesson["concept"]
    start = datetime.fromisoformat(row["start"])
    band = row["forecast"]["band_bps"]
    ordered = sorted(t.chances.values())
    moved_before = row["previous_outcome"] in {"BULLISH", "BEARISH"}
    moved = row["outcome"] != "NEUTRAL"
    given = t.chances[row["outcome"]]
    together = re.search(r"(\d) of (\d) other assets", str(t.lesson["point"]))
    fits = {
        "fat_tails": _has_fat_tail(str(t.lesson["point"])),
        "band_width": abs(abs(row["change_bps"]) - band) <= 0.25 * band + 1e-9,
        "correlation": together is not None and int(together[1]) >= 0.8 * int(together[2]),
        "luck": given == ordered[2] and ordered[2] - ordered[1] < 5.0,
        "reversion": moved_before and not moved,
        "clustering": moved_before and moved,
        "weekend": start.weekday() >= 5,
        "base_rate": t.base[row["outcome"]] == max(t.base.values()),
        "no_call": not t.has_call,
        "crowd_bias": sum(row["votes"].values()) >= 10,
    }
    return concept is not None and not fits.get(concept, True)


LESSON: Final[dict[str, Callable[[LessonText], bool]]] = {
    "a lesson against its chances": _against_its_chances,
    "an outcome that is called likelier than it was": _wrong_rank,
    "an outcome said to be expected that was not the likeliest": _expected_unlikely,
    "a forecast without a call judged right or wrong": _judged_without_call,
    "a move of a lesson that is not its round's": _wrong_move,
    "the wrong side of the band, or hours that are not on record": _wrong_size,
    "a score of a lesson that its chances do not give": _wrong_score,
    "votes in a backtest": _voting_in_a_backtest,
    "an idea that its round does not show": _wrong_idea,
    "a text with a gap": lambda t: bool(re.search(r"[{}]|\bNone\b|nan", t.text)),
}


class LessonSequence(NamedTuple):
    """Published lessons in their order, and the ideas of those that a page explains, day by day."""

    lessons: Sequence[Mapping[str, Any]]
    explained: Sequence[Sequence[str | None]]


def _repeats_an_idea(sequence: LessonSequence) -> str:
    """Return the ideas of a day of which two are one, or one is none."""
    return next((str(ideas) for ideas in sequence.explained if None in ideas or len(set(ideas)) < len(ideas)), "")


SEQUENCE: Final[dict[str, Callable[[LessonSequence], str]]] = {
    "two of a day's three lessons with one idea": _repeats_an_idea,
}
"""Each row gives an example; empty where there is none."""
