"""What the pages say about the words of the answers: headlines, meanings and the glossary."""

from __future__ import annotations

from typing import Final

from generator.catalog.glossary import GLOSSARY

REGIME_HEADLINES: Final[dict[str, str]] = {
    "risk_on": "Risk-on: a broad, steady rise",
    "risk_off": "Risk-off: a broad fall",
    "range": "A range: no broad direction",
    "high_volatility": "High volatility: large moves, no clear side",
    "transition": "In transition: one regime fades, the next is not settled",
    "unknown": "No reading at the moment",
}

_NAMES: Final = {
    "risk_on": "Risk-on",
    "risk_off": "Risk-off",
    "range": "The range",
    "high_volatility": "High volatility",
}


def regime_headline(label: str, likelier: str | None) -> str:
    """Return the finding of the regime.

    Args:
        label: the label shown.
        likelier: the label that has overtaken it without a clear lead, None without one.
    """
    if likelier is None or label not in _NAMES:
        return REGIME_HEADLINES[label]
    other = _NAMES.get(likelier, likelier)
    return f"{_NAMES[label]} is fading; {other[:1].lower()}{other[1:]} is now likelier"


STATE_MEANINGS: Final[dict[str, str]] = {
    "OPPORTUNITY": "clear and calm conditions; it does not predict a gain",
    "WAIT": "nothing in the conditions stands out",
    "CAUTION": "conditions are rougher or less settled than usual",
    "UNKNOWN": "there is no regime to judge by",
}

MODE_BANNERS: Final[dict[str, tuple[str, str]]] = {
    "simulated": (
        "Simulated data",
        "Every price, vote and reading here comes from a made-up market. Nothing on this page is about the real one.",
    ),
    "recorded": (
        "Recorded data",
        "These are real prices of the past, replayed. Nothing on this page is about the market of today.",
    ),
}

BIAS_MARKS: Final[dict[str | None, str]] = {
    "UP": "\N{BLACK UP-POINTING TRIANGLE}",
    "DOWN": "\N{BLACK DOWN-POINTING TRIANGLE}",
    "FLAT": "\N{EN DASH}",
    None: "",
}

# Terms of the pages beside those of the catalog.
PAGE_TERMS: Final[tuple[tuple[str, str], ...]] = (
    ("Bias", "The brain's lean for one asset over the next hour: UP, DOWN or FLAT. FLAT is the usual honest answer."),
    ("Brain", "The programme that reads the market. It is arithmetic, not a person and not a chatbot."),
    ("Confidence (prediction)", "The chance, out of 100, that the brain gave to the outcome it named."),
    (
        "Confidence (regime)",
        "How clearly the evidence points to the regime shown. It says nothing about what comes next.",
    ),
    ("Consensus", "What most voters of a round said. NONE means that nobody voted."),
    ("Interval (95 %)", "The range in which the true rate plausibly lies. Few cases make it wide."),
    ("Lesson", "What a finished Arena round showed: who was right, who was wrong, and by how much the price moved."),
    ("Perpetual future", "A futures contract with no end date. Funding keeps its price near the spot price."),
    ("Risk score", "From 0 to 100: how large the expected swings are beside those of the last week."),
    ("Round", "One turn of the Arena, with a start, an end and one question."),
    (
        "Sealed forecast",
        "The brain's answer, fixed before the vote and hidden until the round starts. A digest proves it.",
    ),
    ("Stale", "Past its `valid until` time. A stale reading must not be taken as the state of now."),
    ("Tick", "One turn of the service, each minute: look, read, publish."),
    ("x402", "A way to pay for one web request with the request itself: the server answers 402 with its price."),
)


def glossary() -> tuple[tuple[str, str], ...]:
    """Return every term with its meaning, in alphabetical order."""
    terms = [(term[0].upper() + term[1:], meaning) for term, meaning in GLOSSARY.items()]
    return tuple(sorted([*terms, *PAGE_TERMS], key=lambda entry: entry[0].lower()))
