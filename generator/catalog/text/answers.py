"""Fixed sentences and values of the answers and of the human report."""

from typing import Any, Final

from generator.catalog.counts import ASSETS_IN_WORDS, PRODUCTS_IN_WORDS

DEFAULT_PROJECT: Final = "Educational Market Intelligence"

DISCLAIMER: Final = (
    "For educational use only: not financial, investment, trading, tax, legal, betting, gambling or fund-management "
    "advice. Confidence describes the strength and agreement of the available evidence; it is neither certainty nor a "
    "promise of any outcome."
)

USAGE_CHARACTERISTICS: Final[dict[str, Any]] = {
    "machine_readable": True,
    "stable_schema": True,
    "cache_seconds": 60,
    "authentication": "none",
    "payment_required": False,
    "response_format": "application/json",
}

NEEDS_5_MINUTE_BARS: Final = "needs 5-minute bars"

CLIENT_ADVICE: Final = (
    "Handle any status other than 200, missing fields, unavailable data, timeouts and schema changes "
    "without turning incomplete information into certainty."
)
CAPACITY_NOTICE: Final = (
    "Free access is not a promise of unlimited capacity, of uptime or of a future contract. "
    "Abusing shared infrastructure is not permitted."
)
VERSION_ADVICE: Final = (
    "Read the returned version and update time of every answer, treat the version fields in the answers as "
    "authoritative, and do not assume field sets."
)

PURPOSE_NOTICE: Final = "Educational market context, read from public data once a minute."
RECORDING_ENDED: Final = "the recording has ended"
NOT_STARTED: Final = "not started yet"
BARS_MISSING: Final = "too little 5-minute history for a reading"
SIMULATED_NOTICE: Final = "simulated market: no price here is real"
PLAY_NOTICE: Final = "play money: payments here move nothing of value"
RECORDED_NOTICE: Final = "recorded prices; rounds are dated by the clock of the replay"

DEVELOPER_NOTE: Final = (
    "Past freshness.valid_until the answer is stale. Unknown values are null and named in limitations."
)
PRIVACY_NOTE: Final = (
    "Lessons count votes only and name no voter. The leaderboard shows shortened addresses of voters with 30 votes or "
    "more; nothing else is known of anyone."
)
CROWD_NOTE: Final = (
    "These are counts of signed votes, not a poll: anyone can make many addresses at little cost. "
    "Compare them with the crowd by record and with bursts."
)
BY_RECORD_NOTE: Final = "Votes weigh by how far a record is above one in three, so new addresses count for nothing."
NO_RECORDS: Final = "No voter of this round has a record above one in three yet."
LEADERBOARD_NOTE: Final = (
    "Places go by the lower end of the 95% interval, per round since a voter's first vote. By chances counts what the "
    "Brier score saved against the base rate; a round that was left out saved nothing, and neither did a word, which "
    "gives no chances. By hits counts how much oftener a vote was right than the likeliest outcome came. A place needs "
    "30 votes and ten days; below 100 votes it is provisional. Of many voters the best looks good by luck alone, and "
    "anyone can make many keys: a place means something only where it is beyond luck."
)
TEACHER_ROLE: Final = "Compares outcomes with forecasts and votes."
REGIME_RELIABILITY: Final = "replayed"

PAYMENT_NEEDED: Final = (
    "This resource is paid for per request. Sign the exact payment in accepts, send it in the "
    "PAYMENT-SIGNATURE header, and the quoted body is returned once the payment is settled."
)
DEVNET_NOTICE: Final = (
    "This network is a devnet of the service's own, with play money: official clients know public networks alone. "
    "Started as `emi up --as testnet`, it lends them the test network's ids."
)
WHAT_THIS_IS_NOT: Final = (
    "Not financial, investment or trading advice, not a signal, and not a promise of any outcome. "
    "It gives no prices at which to act."
)
ECOSYSTEM: Final = (
    "Educational Market Intelligence API: free public context, "
    f"and {PRODUCTS_IN_WORDS} answers paid per request by x402."
)

NO_LABEL: Final = "not sold while the market has no label: {reason}"
NO_FORECAST: Final = "no forecast: {reason}"
NOTHING_CLAIMED: Final = "No forecast is made: {reason}. NEUTRAL is given because nothing is claimed."
NO_ROUND: Final = "no Arena round is live; the round shown has no revealed forecast and no published votes"
NO_VOTES: Final = "no votes in the live round: shares are 0 by convention"
SIMULATED_VOTES: Final = "{} of the {} counted votes are of a labelled simulated crowd"
SPARSE_VOTES: Final = "few votes: the shares say little"
NO_SCORES: Final = "no forecast has resolved yet, so there are no scores"
NO_ROUND_ENDED: Final = "no Arena round has ended yet, so it has no scores"
NO_ROUND_COUNTS: Final = (
    "all {ended} Arena rounds that ended are void or were played by backtest before the start: no score counts them"
)
NO_OPEN_ROUND: Final = "no Arena round takes votes now"
NO_START_PRICE: Final = "the round has no start price"
NO_LESSONS: Final = "no Arena round has resolved yet"
NO_DAY_BEFORE: Final = "the regime of 24 hours ago is not known"

REPORT_TITLE: Final = "The crypto market now, in plain words"
REPORT_LIMITS: Final[tuple[str, ...]] = (
    "This report describes the market now. It does not know what comes next.",
    "It is for learning. It does not say what to do.",
    f"It covers {ASSETS_IN_WORDS} coins. The market has many more.",
    "News, laws and people can move the market at any moment. None of that is read here.",
    "To know the regime is not to know the next move.",
)
REPORT_SIMULATED: Final = "The prices in this report are simulated by a model. No one could have traded at them."
REPORT_REPLAYED: Final = (
    "The prices in this report are real prices of the past, replayed; rounds and forecasts are dated by the clock of "
    "the replay."
)
_CLAUSES: Final[dict[str, str]] = {
    NEEDS_5_MINUTE_BARS: "a reading needs 5-minute bars",
    NOT_STARTED: "the service has not started yet",
    BARS_MISSING: "there is too little 5-minute history for a reading",
}


def clause(reason: str) -> str:
    """Return a reason as it is written within a sentence, with its subject.

    >>> clause("needs 5-minute bars")
    'a reading needs 5-minute bars'
    """
    return _CLAUSES.get(reason, reason)
