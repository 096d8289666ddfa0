"""What no lesson may say of its round, worked out from the published row of the round apart from the product."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from generator.catalog.assets import ASSET_NAMES
from generator.catalog.measured import RARITY

SHARED: Final = 20  # lessons of which at most so many share a sentence:
MOST_SHARED: Final = 3
_OUTCOMES: Final = {"up": "BULLISH", "a small move": "NEUTRAL", "small move": "NEUTRAL", "down": "BEARISH"}
_CROWD: Final = re.compile(
    r"No one voted\.|It was a backtest: [^.]*\.|\S+ (of \S+ )?(simulated )?votes? (said|were) [^.]*\."
)
_CHANCES: Final = (
    re.compile(r"\bup (\d+)%?, small move (\d+)%?, down (\d+)"),
    re.compile(r"(\d+) (?:to |for )?up,? (?:and )?(\d+) (?:to a |for a )?small move(?:,| and) (\d+) (?:to |for )?down"),
)
_CAME: Final = re.compile(
    r"; ([a-z ]+) came\.|It was ([a-z ]+)\.|given to what came, ([a-z ]+) \(|and ([a-z ]+) it was|"
    r"What came was ([a-z ]+),|the outcome was ([a-z ]+)\.|After it: ([a-z ]+)\."
)
_NAMES: Final = re.compile(rf"[\d.,]*\d%?|{'|'.join(ASSET_NAMES.values())}")


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
    def sigmas(self) -> float:
        """Size of the move in standard deviations of its week."""
        return float(abs(self.round["change_bps"]) / (self.round["forecast"]["band_bps"] / 0.4307))

    @property
    def has_call(self) -> bool:
        """Whether the forecast made a call, or is from before calls."""
        return bool(self.round["forecast"].get("call") != "none")


def _against_its_chances(t: LessonText) -> bool:
    """Say whether the chances in words are not those at sealing, or the outcome not the one that came."""
    found = next((match for pattern in _CHANCES if (match := pattern.search(t.summary))), None)
    came = _CAME.search(t.summary)
    if found is None or came is None:
        return True

    written = dict(zip(("BULLISH", "NEUTRAL", "BEARISH"), map(int, found.groups()), strict=True))
    named = _OUTCOMES.get(next(group for group in came.groups() if group))
    near = all(abs(written[outcome] - chance) < 1.0 for outcome, chance in t.chances.items())
    return not near or sum(written.values()) != 100 or named != t.round["outcome"]


def _wrong_rank(t: LessonText) -> bool:
    """Say whether what came is given another rank among the chances than it had, or a base rate's is."""
    of_round = t.chances[t.round["outcome"]]
    most = max(t.chances.values())
    usual = re.search(r"(?:days|names|reading|happen): (up|a small move|down) ", t.text)
    return (
        ("the largest of three" in t.summary and of_round < most)
        or ("the smallest of three" in t.summary and of_round > min(t.chances.values()))
        or ("the likeliest of three" in t.text and of_round < most)
        or (usual is not None and t.base[_OUTCOMES[usual[1]]] < max(t.base.values()))
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
    found = re.search(r"(rose|fell) (\d+\.\d+)%", t.summary)
    if found is None:
        return "hardly moved" not in t.summary or abs(change) >= 0.55
    same_way = (change > 0) is (found[1] == "rose")
    return not same_way or abs(float(found[2]) - abs(change) / 100) > 0.0051


def _wrong_size(t: LessonText) -> bool:
    """Say whether a size in standard deviations, or how many hours go as far, is not what was measured."""
    found = re.search(r"(\d+\.\d) standard deviations|A (\d+\.\d)-sigma|(\d+\.\d) times (?:as much|that)", t.summary)
    if found is None or abs(float(next(group for group in found.groups() if group)) - t.sigmas) > 0.051:
        return True

    of_hours = re.search(r"about ([\d.,]+) in ([\d,]+) go as far", t.summary)
    if of_hours is None:
        return False
    share = float(of_hours[1].replace(",", "")) / float(of_hours[2].replace(",", ""))
    rarest = min(part for size, part in RARITY if size <= t.sigmas + 0.051)
    commonest = min(part for size, part in RARITY if size <= max(0.0, t.sigmas - 0.051))
    return not 0.93 * rarest <= share <= 1.06 * commonest


def _brier(chances: Mapping[str, float], outcome: str) -> float:
    return sum((chance / 100 - (name == outcome)) ** 2 for name, chance in chances.items())


def _wrong_score(t: LessonText) -> bool:
    """Say whether a score is not that of the chances, or the verdict not that of the two scores."""
    own, base = (_brier(chances, t.round["outcome"]) for chances in (t.chances, t.base))
    score = re.search(
        r"Brier score (?:of )?(?P<own>\d\.\d+)|these chances scored (?P<a>\d\.\d+)|lower is better: (?P<b>\d\.\d+)|"
        r"That scores (?P<c>\d\.\d+)|the forecast scored (?P<d>\d\.\d+)|(?P<e>\d\.\d+) what these chances did",
        t.summary,
    )
    if score is None or abs(float(next(group for group in score.groups() if group)) - own) > 0.00051:
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


def _wrong_idea(t: LessonText) -> bool:
    """Say whether a lesson explains an idea that its round does not show."""
    row = t.round
    concept = t.lesson["concept"]
    start = datetime.fromisoformat(row["start"])
    band = row["forecast"]["band_bps"]
    ordered = sorted(t.chances.values())
    moved_before = row["previous_outcome"] in {"BULLISH", "BEARISH"}
    moved = row["outcome"] != "NEUTRAL"
    came = t.chances[row["outcome"]]
    together = re.search(r"(\d) of (\d) other assets", str(t.lesson["point"]))
    fits = {
        "fat_tails": t.sigmas > 2.94,
        "band_width": abs(abs(row["change_bps"]) - band) <= 0.25 * band + 1e-9,
        "correlation": together is not None and int(together[1]) >= 0.8 * int(together[2]),
        "luck": came == ordered[2] and ordered[2] - ordered[1] < 5.0,
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
    "a rank of what came that the chances do not give": _wrong_rank,
    "an outcome said to be expected that was not the likeliest": _expected_unlikely,
    "a forecast without a call judged right or wrong": _judged_without_call,
    "a move of a lesson that is not its round's": _wrong_move,
    "a size or rarity that was not measured": _wrong_size,
    "a score of a lesson that its chances do not give": _wrong_score,
    "votes in a backtest": _voting_in_a_backtest,
    "an idea that its round does not show": _wrong_idea,
    "a text with a gap": lambda t: bool(re.search(r"[{}]|\bNone\b|nan", t.text)),
}


def blanked(text: str) -> set[str]:
    """Return the sentences of a lesson with names and figures blanked, the crowd's left out."""
    return {sentence for sentence in re.split(r"(?<=[.?]) ", _NAMES.sub("#", _CROWD.sub("", text)).strip()) if sentence}


def most_shared(lessons: Sequence[Mapping[str, Any]]) -> tuple[int, str]:
    """Return the most lessons, of any `SHARED` in a row, that share a sentence, and that sentence."""
    parts = ("summary", "point", "question", "answer")
    sentences = [blanked(" ".join(lesson[part] or "" for part in parts)) for lesson in lessons]
    most = (0, "")
    for first in range(max(1, len(sentences) - SHARED + 1)):
        counted = Counter(sentence for of in sentences[first : first + SHARED] for sentence in of)
        sentence, count = max(counted.items(), key=lambda item: item[1], default=("", 0))
        most = max(most, (count, sentence))
    return most


class LessonSequence(NamedTuple):
    """Published lessons in their order, and the ideas of those that a page explains, day by day."""

    lessons: Sequence[Mapping[str, Any]]
    explained: Sequence[Sequence[str | None]]


def _shares_a_sentence(sequence: LessonSequence) -> str:
    """Return the sentence that too many of 20 lessons share."""
    count, sentence = most_shared(sequence.lessons)
    return f"{count} x {sentence}" if count > MOST_SHARED else ""


def _repeats_an_idea(sequence: LessonSequence) -> str:
    """Return the ideas of a day of which two are one, or one is none."""
    return next((str(ideas) for ideas in sequence.explained if None in ideas or len(set(ideas)) < len(ideas)), "")


SEQUENCE: Final[dict[str, Callable[[LessonSequence], str]]] = {
    "over three of 20 lessons share a sentence": _shares_a_sentence,
    "two of a day's three lessons with one idea": _repeats_an_idea,
}
"""Each row gives an example; empty where there is none."""
