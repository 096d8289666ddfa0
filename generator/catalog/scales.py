"""What the numbers of the answers measure: unit, range, and what not to conclude from them.

A field is matched by its name, the first pattern that fits; a whole number that fits none is a count.
"""

from fnmatch import fnmatchcase
from typing import Final, NamedTuple


class Scale(NamedTuple):
    """One scale: unit, range, meaning, and what not to conclude from it; the last is empty where nothing tempts."""

    unit: str
    range: str
    meaning: str
    caution: str = ""


_CHANCE: Final = Scale(
    "chance",
    "0..1, four decimals",
    "One of several chances that sum to 1.",
    "The likeliest may still be unlikely: read its base rate.",
)
_RANGE: Final = Scale(
    "percent", "-100..", "A quantile of the move over the horizon.", "Its width is the forecast. Its lean is not one."
)
_BEYOND: Final = Scale(
    "chance",
    "0.001..0.999, four decimals",
    "Chance of a move beyond the level; 0.001 is that or less, 0.999 that or more.",
    "Either way is taken for equally likely: it says how far, never which way.",
)
COUNT: Final = Scale(
    "count", "0..", "How many; place, position, status, asset_id, decimals and x402Version are plain numbers."
)
SCALES: Final[dict[str, Scale]] = {
    "confidence": Scale(
        "percent", "0..100", "What confidence_kind next to it says; of a forecast null without a call.",
        "42.1 on UP is a chance: compare its base rate. It is not how sure the service is. Kinds do not compare.",
    ),
    "regime": Scale("percent", "0..100", "Confidence of the kind holds_four_hours."),
    "prediction": Scale("percent", "0..100", "Confidence of the kind share_of_assets."),
    "side_hours": Scale("hours", "24", "Hours that the side of the market looks back."),
    "risk_score": Scale(
        "rank", "0..100", "Rank of the volatility expected for the next four hours in the whole kept record.",
        "No direction and no chance of loss: a rise can be as volatile as a fall.",
    ),
    "disagreement_score": Scale("score", "0..100", "100 x entropy of the shares of votes / ln 3."),
    "shared_intelligence_score": Scale(
        "score", "0..100",
        "How well brain and crowd did together in one round.",
        "An even guess of both scores 33.3.",
    ),
    "learning_score": Scale(
        "score", "0..100",
        "How far the outcome was from what was forecast.",
        "An even guess scores 33.3.",
    ),
    "two_class_brier*": Scale(
        "score", "0..1",
        "Two-class Brier score of move or no move, lower is better.",
        "Compare it with its baseline only.",
    ),
    "two_class_log_score*": Scale(
        "score", "0..4.61",
        "Mean negative log of the chance given to the outcome, lower is better.",
        "Compare it with its baseline only.",
    ),
    "four_way_brier*": Scale(
        "score", "0..2",
        "Brier score of four labels, lower is better.",
        "Read it with its n, and against climate and persistence.",
    ),
    "usual_days": Scale("ratio", "0..", "Size of the day's move over the median such move on record."),
    "hour": Scale("hour", "0..23", "Hour of the day, UTC."),
    "brier*": Scale(
        "score", "0..2",
        "Three-class Brier score, lower is better.",
        "Read it with its n, and against 0.667 of an even guess.",
    ),
    "log_score*": Scale(
        "score", "0..4.61",
        "Mean negative log of the chance given to the outcome, lower is better.",
        "An even guess scores 1.099.",
    ),
    "skill_percent": Scale("percent", "..100", "1 - score / the baseline's score.", "Above 0 on few cases is luck."),
    "imbalance_percent": Scale(
        "percent", "-100 (asks only)..100 (bids only)",
        "Imbalance of the resting orders now.",
        "Orders can vanish; the word in notes is of the last half hour. Never tested on recorded books.",
    ),
    "edge_percent": Scale(
        "percentage points", "-100..100",
        "Chance of the called outcome minus its base rate.",
        "Not an expected gain.",
    ),
    "dispersion_24h": Scale("percentage points", "0..", "Standard deviation of the changes over 24 hours."),
    "expected_move_percent": Scale("percent", "0..", "One standard deviation of the move."),
    "minutes_15_percent": Scale("percent", "0..", "One standard deviation of the move over 15 minutes."),
    "hour*_percent": Scale("percent", "0..", "One standard deviation of the move over the horizon."),
    "*rate_8h_percent": Scale(
        "percent per 8 hours", "any",
        "Funding: above 0 longs pay shorts.",
        "0.01 is the usual rate of most venues, not 0. It says who pays, not which way the price goes.",
    ),
    "annualised_percent": Scale("percent per year", "any", "The funding rate over a year, without compounding."),
    "*change_24h*": Scale("percent", "-100..", "Change over 24 hours."),
    "hit_rate_*": Scale(
        "percent", "0..100",
        "How often a call was right, or an end of its interval.",
        "Read it with n and the baselines.",
    ),
    "pinball": Scale(
        "percent", "0..",
        "Mean pinball loss of the ranges, lower is better.",
        "Compare it with the baselines only.",
    ),
    "qlike": Scale(
        "score", "any",
        "Mean of ln(sigma^2) + move^2 / sigma^2, lower is better.",
        "Compare it with the baselines only.",
    ),
    "value": Scale("as its name says", "any", "A score or a share, as described next to it in OpenAPI."),
    "luck": Scale(
        "as what is ranked", "any", "The best of so many voters stays below this by luck alone, in 95 of 100 cases."
    ),
    "low": Scale("as value", "any", "Lower end of the 95% interval of value."),
    "high": Scale("as value", "any", "Upper end of the 95% interval of value."),
    "band_percent": Scale("percent", "0..", "Half-width of a small move's band, of the price at the start."),
    "levels_percent": Scale("percent", "0..", "The move, either way, from the price now."),
    "middle_third_percent": Scale("percent", "0..", "Half-width of the middle third of moves, either way."),
    "usual*_percent": Scale("percent", "0..", "The usual move, either way, as described next to it in OpenAPI."),
    "low_percent": Scale("percent", "0..", "Lower end of the 95% interval of usual_percent."),
    "high_percent": Scale("percent", "0..", "Upper end of the 95% interval of usual_percent."),
    "largest_move_percent": Scale("percent", "0..", "The largest move, either way."),
    "mean_width_90_percent": Scale("percentage points", "0..", "Mean width of the 90% ranges."),
    "*correlation*": Scale("correlation", "-1..1", "Pearson's, or an end of its interval.", "It says nothing of why."),
    "end_*": _BEYOND,
    "touch_*": _BEYOND,
    "usual": Scale("as now", "any", "Median of the measure over the hours of the kept month."),
    "record_days": Scale("days", "0..", "Days over which the spells were seen."),
    "hours": Scale("hours", "0..", "Hours so far, or how many hours there were."),
    "median_hours": Scale("hours", "0..", "Hours that half of the spells outlast."),
    "usual_day_percent": Scale("percent", "0..", "Median size of a day's move."),
    "*percent": Scale("percent", "0..100", "A share of 100."),
    "low_*": _RANGE,
    "high_?0": _RANGE,
    "*_bps": Scale("basis points", "any", "Hundredths of a percent of the price."),
    "*usd*": Scale("US dollars", "0..", "Six significant digits."),
    "price": Scale(
        "US dollars", "0..",
        "Median mid of the agreeing venues, six significant digits.",
        "Not a price at which one could trade.",
    ),
    "start": Scale("US dollars", "0..", "Price at the start of the round."),
    "now": Scale("as named by what, or US dollars", "any", "What it is now."),
    "before": Scale("as named by what", "any", "What it was."),
    "contracts": Scale("coins", "0..", "Open contracts, counted in coins; each has one long and one short."),
    "*econds": Scale("seconds", "0..", "A span of time."),
    "seconds_left": Scale("seconds", "0..5400", "Time left as of updated_utc."),
    "*_minutes": Scale("minutes", "0..", "A span of time."),
    "*_hours": Scale("hours", "0..", "A span of time."),
    "price_atomic": Scale("atomic units of USDC", "1..", "A millionth of a USDC each."),
    "brain_correct": Scale("flag", "0 or 1", "1: right."),
    "crowd_correct": Scale("flag", "0 or 1", "1: right; 0 also with no votes."),
    "agreement": Scale(
        "flag", "0 or 1, or true and false",
        "Brain and crowd gave the same answer.",
        "That they agree does not show that they are right.",
    ),
}  # fmt: skip
# Of these names a float is a chance; whole numbers of the same name are counts.
CHANCES: Final = frozenset(
    {"chance", "base_rate", "down", "neutral", "up", "risk_on", "risk_off", "range", "high_volatility"}
)


def scale_of(field: str, kind: str) -> Scale | None:
    """Return the scale of a field, None where there is none."""
    if kind == "number" and field in CHANCES:
        return _CHANCE
    found = next((scale for pattern, scale in SCALES.items() if fnmatchcase(field, pattern)), None)
    return COUNT if found is None and kind == "integer" else found


# What not to conclude from a word set, by the name of its type.
CAUTIONS: Final[dict[str, str]] = {
    "RegimeLabel": "No label predicts a gain. Its confidence says how likely it still stands in four hours.",
    "MarketMode": "NEUTRAL is not calm: read the label and the volatility.",
    "MarketState": "None of the words is an order: they describe conditions.",
    "VolatilityWord": "It says how far, never which way.",
    "MarketSide": "It says what the last 24 hours were: no side predicts a gain.",
    "Bias": "No skill in direction is shown: read the track record. FLAT is a small move or no call: read call.",
    "Call": "none claims nothing: it has no hit and no miss, and no evidence is for or against it.",
    "Prediction": "NEUTRAL is a small move or no call: read call. With brain_silent true there is no forecast.",
    "Consensus": "A count of whoever voted: one person may hold many addresses.",
    "LiquidityContext": "Tested on simulated markets only, never on recorded order books. A book can vanish.",
    "DerivativesState": (
        "Every contract has a long and a short: funding says which side pays, not that more people are on it."
    ),
    "DerivativesVote": "A weak reading taken alone; it is not the brain's forecast.",
    "Status": "degraded is usable: read limitations.",
}
