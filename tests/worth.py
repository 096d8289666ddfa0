"""What a paid answer says that no free file of its release does: `python -m tests.worth` prints the table.

A fact is a quantity of a subject (an asset or the market) over a horizon, with its value; the ladder of one asset and
horizon is one fact. A fact is free where a free answer has its value, under whatever name, or where two free values of
the same subject give it by adding, subtracting, multiplying or dividing, at every moment that was looked at. Sentences
are compared with names and figures blanked.
"""

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from generator.catalog.assets import ASSET_NAMES, ASSETS
from generator.catalog.horizons import HORIZONS
from generator.catalog.text.glossary import GLOSSARY
from generator.compose.all import compose_free
from generator.compose.free import FreeBodies
from generator.compose.tick import Tick
from generator.site.pages.recipes import PageView
from tests.contradictions.release_rows import visible
from tests.support.services import shared_pages
from tests.support.ten_moments import ten_moments

Values = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]
MARKET: Final = "market"
NEW_FACTS: Final = 0.30  # of a paid body's facts, at least
NEW_SENTENCES: Final = 0.50
# The envelope: who answers, when, and on which terms.
ENVELOPE: Final = frozenset(
    {"success", "project", "endpoint", "type", "payment_status", "product", "product_id", "price_atomic", "snapshotId",
     "as_of", "valid_until", "status", "source_mode", "educational_only", "limitations", "disclaimer", "updated",
     "replay", "freshness", "schema_version", "receipt", "confidence_kind", "regime_kind", "prediction_kind",
     "changed_since_last_tick", "horizon_minutes", "reliability", "version"}
)  # fmt: skip
# One fact however many numbers it takes.
WHOLE: Final = frozenset({"ladder", "charts", "plots", "paths", "differences"})
_HORIZON_NAMES: Final = {
    **{name: name for name in HORIZONS},
    "minutes_15": "15m",
    "hour_1": "1h",
    "hours_4": "4h",
    "hours_24": "24h",
}
_HORIZON_IN_NAME: Final = re.compile(r"minutes_15|hour_1|hours_4|hours_24")
_OWN: Final = frozenset({"0", "market 0"})
COUNT: Final = "how many"  # assets have a word
_PROSE: Final = 4  # words from which a text is a sentence
_FEWEST_VALUES: Final = 4  # different ones, before a coincidence is called a copy
_FIGURE: Final = re.compile(r"[+\-\N{MINUS SIGN}$]?\d[\d,]*(?:\.\d+)?(?:st|nd|rd|th)?%?")
_NUMBERS: Final = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("none", "all", "both", "half", "once", "twice"),
)
_NAMES: Final = re.compile(r"\b(?:" + "|".join([*ASSET_NAMES.values(), *ASSETS, *_NUMBERS]) + r")\b", re.IGNORECASE)
_PREFIX: Final = re.compile(r"^[a-z ]{3,16}: ")
_SENTENCE_END: Final = re.compile(r"(?<=[.?!])\s+(?=[A-Z\[_#])")


class Key(NamedTuple):
    """What a value is of, apart from its subject."""

    quantity: str
    horizon: str


@dataclass
class Content:
    """What some bodies say at one moment."""

    numbers: dict[tuple[str, Key], list[float]] = field(default_factory=lambda: defaultdict(list))
    words: dict[tuple[str, Key], list[str]] = field(default_factory=lambda: defaultdict(list))
    sentences: set[str] = field(default_factory=set)

    def take(self, body: Mapping[str, Any]) -> "Content":
        """Add what a body says."""
        subject = body["asset"] if body.get("asset") in ASSETS else MARKET
        terms = {"price"} if "price_atomic" in body else set()
        self._walk({name: value for name, value in body.items() if name not in terms}, (), subject, "")
        return self

    def _walk(self, node: Any, path: tuple[str, ...], subject: str, horizon: str) -> None:
        if isinstance(node, dict):
            subject = node["asset"] if node.get("asset") in ASSETS else subject
            horizon = str(node.get("horizon", horizon))
            for name, inner in node.items():
                if name in ENVELOPE or name in {"asset", "horizon", "name"}:
                    continue
                if name in ASSETS:
                    self._walk(inner, path, name, horizon)
                elif name in _HORIZON_NAMES:
                    self._walk(inner, path, subject, _HORIZON_NAMES[name])
                else:
                    self._walk(inner, (*path, name), subject, _horizon_in(name) or horizon)
        elif isinstance(node, list):
            for inner in node:
                self._walk(inner, path, subject, horizon)
        else:
            self._leaf(node, Key(".".join(path), horizon), subject)

    def _leaf(self, value: Any, key: Key, subject: str) -> None:
        if value is None or value == "":
            return
        if isinstance(value, bool):
            self.words[subject, key].append(str(value))
        elif isinstance(value, int | float):
            self.numbers[subject, key].append(float(value))
        elif len(value.split()) >= _PROSE:
            self.sentences |= set(sentences(value))
        else:
            self.words[subject, key].append(value)


def _horizon_in(name: str) -> str:
    found = _HORIZON_IN_NAME.search(name)
    return _HORIZON_NAMES[found[0]] if found else ""


def sentences(text: str) -> Iterator[str]:
    """Give the sentences of a text with names and figures blanked, and without a word put before them.

    >>> list(sentences("trend: Bitcoin rose 1.2% today. Two of seven assets fell; ETH -3% most."))
    ['_ rose # today.', '# of # assets fell; _ # most.']
    """
    for sentence in _SENTENCE_END.split(_PREFIX.sub("", text)):
        named = _NAMES.sub(lambda found: "#" if found[0].lower() in _NUMBERS else "_", sentence)
        blanked = _FIGURE.sub("#", named).strip()
        if len(blanked.split()) >= _PROSE:
            yield blanked


def fact_of(quantity: str) -> str:
    """Return the fact that a value belongs to: objects of numbers, and whole parts, are one.

    >>> fact_of("assets.ladder.levels.up"), fact_of("assets.price")
    ('assets.ladder', 'assets.price')
    """
    parts = quantity.split(".")
    for place, name in enumerate(parts):
        if name in WHOLE:
            return ".".join(parts[: place + 1])
    return quantity


@dataclass
class Worth:
    """How much of a paid body is new."""

    facts: int
    new_facts: tuple[str, ...]
    sentences: int
    new_sentences: tuple[str, ...]

    @property
    def fact_share(self) -> float:
        """Share of the facts that are new."""
        return len(self.new_facts) / max(self.facts, 1)

    @property
    def sentence_share(self) -> float:
        """Share of the sentences that are new."""
        return len(self.new_sentences) / max(self.sentences, 1)


def worth(paid: Sequence[Content], free: "Free") -> Worth:
    """Compare a paid body with the free answers of the same moments.

    Args:
        paid: what the body says at each moment.
        free: what all free answers together say at each moment, likewise.
    """
    new = _new_numbers(paid, free) | _new_words(paid, free.said)
    every: dict[str, bool] = {}
    for said in paid:
        for (subject, key), _ in (*said.numbers.items(), *said.words.items()):
            fact = f"{subject} {fact_of(key.quantity)} {key.horizon}".strip()
            every[fact] = every.get(fact, False) or (subject, key) in new

    given = set().union(*(said.sentences for said in free.said))
    wording = set().union(*(said.sentences for said in paid))
    return Worth(
        facts=len(every),
        new_facts=tuple(sorted(fact for fact, is_new in every.items() if is_new)),
        sentences=len(wording),
        new_sentences=tuple(sorted(wording - given)),
    )


def _new_words(paid: Sequence[Content], free: Sequence[Content]) -> set[tuple[str, Key]]:
    """Return what has a word that no free answer has of that subject at some moment."""
    new = set()
    for said, given in zip(paid, free, strict=True):
        known: dict[str, set[str]] = defaultdict(set)
        for (subject, _), values in given.words.items():
            known[subject] |= set(values)
        for (subject, key), values in said.words.items():
            if not set(values) <= known[subject] | known[MARKET]:
                new.add((subject, key))
    return new


class Free:
    """What all free answers say at some moments, and what two of their numbers give."""

    def __init__(self, said: Sequence[Content]) -> None:
        """Take what they say together at each moment."""
        self.said = said
        self.samples = [(moment, subject) for moment in range(len(said)) for subject in (*ASSETS, MARKET)]
        rows = _rows(said, self.samples, with_market=True)
        of_market = [subject == MARKET for _, subject in self.samples]
        self.pools = [
            (places.tolist(), _Pool({key: row[places] for key, row in rows.items()}))
            for places in (np.flatnonzero(np.logical_not(of_market)), np.flatnonzero(of_market))
        ]


def _new_numbers(paid: Sequence[Content], free: Free) -> set[tuple[str, Key]]:
    """Return what has a number that no free one gives."""
    new = set()
    rows = _rows(paid, free.samples, with_market=False)
    for places, pool in free.pools:
        for key, row in rows.items():
            column = row[places]
            if np.isfinite(column).any() and not pool.gives(column, key[0].quantity):
                new |= {(free.samples[place][1], key[0]) for place in places if np.isfinite(row[place])}
    return new


Samples = Sequence[tuple[int, str]]
Rows = dict[tuple[Key, str], Values]


def _rows(said: Sequence[Content], samples: Samples, *, with_market: bool) -> Rows:
    """Return of each number its value at each sample, NaN where there is none.

    Args:
        said: at each moment.
        samples: moments and subjects.
        with_market: give each asset the market's numbers too, and the market what all assets together make: what a
            reader could work out.
    """
    rows: Rows = {}
    place_of = {sample: place for place, sample in enumerate(samples)}

    def put(name: tuple[Key, str], moment: int, subject: str, value: float) -> None:
        rows.setdefault(name, np.full(len(samples), np.nan))[place_of[moment, subject]] = value

    for moment, one in enumerate(said):
        for (subject, key), values in one.numbers.items():
            for number, value in enumerate(values):
                put((key, str(number)), moment, subject, value)
    if with_market:
        for moment, one in enumerate(said):
            for name, subject, value in _worked_out(one):
                put(name, moment, subject, value)
        _fill_counts(rows, samples)
    return rows


def _worked_out(one: Content) -> Iterator[tuple[tuple[Key, str], str, float]]:
    """Give the market's numbers for each asset, and for the market what all assets together make."""
    of_assets: dict[tuple[Key, int], list[float]] = defaultdict(list)
    for (subject, key), values in one.numbers.items():
        for number, value in enumerate(values):
            if subject != MARKET:
                of_assets[key, number].append(value)
                continue
            for asset in ASSETS:
                yield (key, f"market {number}"), asset, value

    for (key, number), values in of_assets.items():
        for what, value in _together(values):
            yield (key, f"{what} {number}"), MARKET, value

    counts = Counter((key, word) for (_, key), words in one.words.items() for word in words)
    for (key, word), count in counts.items():
        yield (Key(f"{key.quantity}.{word}", key.horizon), COUNT), MARKET, float(count)


def _fill_counts(rows: Rows, samples: Samples) -> None:
    """Count a word 0 at the moments at which no asset has it."""
    is_market = np.array([subject == MARKET for _, subject in samples])
    for (_, what), row in rows.items():
        if what == COUNT:
            row[is_market & np.isnan(row)] = 0.0


def _together(values: Sequence[float]) -> Iterator[tuple[str, float]]:
    """Give what a reader makes of one number of each asset."""
    yield "sum", sum(values)
    yield "mean", float(np.mean(values))
    yield "least", min(values)
    yield "most", max(values)
    yield "spread", float(np.std(values))


class _Pool:
    """The free numbers of some samples, and what two of them give."""

    def __init__(self, rows: Mapping[tuple[Key, str], Values]) -> None:
        """Take each number by its name: its value at each sample, NaN where there is none."""
        self._names = [key.quantity.rpartition(".")[2] for key, _ in rows]
        self._rows = np.array([*rows.values()]) if rows else np.empty((0, 0))
        # Two are tried of the subject's own numbers: the first of a list, and no sum over the assets.
        self._own = np.array([number in _OWN for _, number in rows], dtype=bool)
        names = np.array(self._names)
        left, right = np.nonzero((names[:, None] == names) & self._own[:, None] & self._own)
        self._likes = (left[left != right], right[left != right])  # two of one name
        self._wholes: dict[bytes, Values] = {}  # by the known samples

    def gives(self, column: Values, quantity: str) -> bool:
        """Say whether one free number, or two, give these wherever they are known."""
        known = np.flatnonzero(np.isfinite(column))
        wanted = column[known]
        rows = self._rows[:, known]
        slack = _slack(wanted)
        varied = len(np.unique(wanted)) >= _FEWEST_VALUES

        same = np.flatnonzero(np.all(np.abs(rows - wanted) <= slack, axis=1))
        leaf = quantity.rpartition(".")[2]
        if len(same) and (varied or any(self._names[row] == leaf for row in same)):
            return True
        if not varied:
            return False
        return self._like_give(rows, wanted, slack) or self._two_give(self._whole(known), wanted, slack)

    def _like_give(self, rows: Values, wanted: Values, slack: Values) -> bool:
        """Say whether each is the difference of two that have one name, such as two chances of a rise."""
        left, right = self._likes
        # Sample by sample: most numbers are no such difference at the first.
        for sample, value in enumerate(wanted):
            apart = rows[left, sample] - rows[right, sample]
            given = (np.abs(apart - value) <= slack[sample]) | (np.abs(100.0 * apart - value) <= slack[sample])
            if not given.any():
                return False
        return True

    def _whole(self, known: Places) -> Values:
        """Return the different rows among those tried in pairs that have a number at each known sample."""
        name = known.tobytes()
        if name not in self._wholes:
            own = self._rows[np.ix_(self._own, known)]
            self._wholes[name] = np.unique(own[np.isfinite(own).all(axis=1)], axis=0)
        return self._wholes[name]

    def _two_give(self, whole: Values, wanted: Values, slack: Values) -> bool:
        """Say whether adding, subtracting, multiplying or dividing two of the rows gives what is wanted."""
        with np.errstate(divide="ignore", invalid="ignore"):
            for made in (np.add, np.subtract, np.multiply, np.divide):
                table = made(whole[:, 0][:, None], whole[:, 0])
                for scale in (1.0, 100.0, 0.01):
                    left, right = np.nonzero(np.abs(scale * table - wanted[0]) <= slack[0])
                    # Sample by sample: after a few of them no pair is left that gives all by chance.
                    for sample in range(1, len(wanted)):
                        results = scale * made(whole[left, sample], whole[right, sample])
                        fits = np.abs(results - wanted[sample]) <= slack[sample]
                        left = left[fits]
                        right = right[fits]
                        if not len(left):
                            break
                    if len(left):
                        return True
        return False


def _slack(values: Values) -> Values:
    """Return how far each value may be off by what it was rounded to."""
    decimals = max(_decimals(value) for value in values.tolist())
    return np.full(len(values), 0.51 * 10.0**-decimals)


def _decimals(value: float) -> int:
    return len(f"{value:.8f}".partition(".")[2].rstrip("0"))


def said(bodies: Sequence[Mapping[str, Any]], texts: Sequence[str] = ()) -> Content:
    """Return what some bodies, and the texts of other files, say together."""
    together = Content()
    for body in bodies:
        together.take(body)
    for text in texts:
        together.sentences |= set(sentences(text))
    return together


def pages(ctx: Tick) -> list[str]:
    """Return what people read of each page of a tick, and the words and lessons that every release has."""
    bodies = FreeBodies(compose_free(ctx))
    rendered = shared_pages().render(PageView(ctx=ctx, bodies=bodies))
    texts = [visible(page.decode()) for path, page in rendered.items() if path.endswith(".html")]
    return [*texts, *GLOSSARY.values()]


def table(rows: Mapping[str, Worth]) -> str:
    """Return a row for each product."""
    lines = ["| product | facts | new | share | sentences | new | share |", "|---|---:|---:|---:|---:|---:|---:|"]
    for product, found in rows.items():
        facts = f"{found.facts} | {len(found.new_facts)} | {100 * found.fact_share:.0f}%"
        wording = f"{found.sentences} | {len(found.new_sentences)} | {100 * found.sentence_share:.0f}%"
        lines.append(f"| {product} | {facts} | {wording} |")
    return "\n".join(lines)


def measured() -> dict[str, Worth]:
    """Compare each paid body with the free ones of the same tick, over ten moments of a simulated market."""
    moments = ten_moments().values()
    composed = [moment.composed for moment in moments]
    free = Free([said([body.as_json() for body in one.composed.free.values()], pages(one.ctx)) for one in moments])
    return {
        product: worth([said([one.paid[product].as_json()]) for one in composed], free) for product in composed[0].paid
    }


if __name__ == "__main__":
    found = measured()
    print(table(found))
    if "-v" in sys.argv:
        for product, one in found.items():
            print(f"\n{product}\n  " + "\n  ".join((*one.new_facts, *one.new_sentences)))
