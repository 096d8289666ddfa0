"""Wordings of what may come, of the record, and of the idea of the hour."""

from collections.abc import Iterator
from typing import Final

from tests.story.wording import Wording, rows

_FAR: Final = (
    *rows("ranges", "no_ranges", "How far prices may move cannot be said without a reading."),
    *rows(
        "ranges",
        "",
        "Expect Bitcoin to end, nine times in ten, less than {15m high 90}% away after fifteen minutes, {1h high 90}% "
        "after an hour, {4h high 90}% after four hours and {24h high 90}% after a day.",
        "In nine of ten cases Bitcoin should end within {15m high 90}% after a quarter hour, {1h high 90}% after an "
        "hour, {4h high 90}% after four and {24h high 90}% after a day.",
        "Bitcoin's wide ranges, which should hold nine times in ten, reach {15m high 90}% either way for fifteen "
        "minutes, {1h high 90}% for an hour, {4h high 90}% for four and {24h high 90}% for a day.",
        "Nine moves of Bitcoin in ten should come out below {15m high 90}% in 15 minutes, {1h high 90}% in an hour, "
        "{4h high 90}% in four hours and {24h high 90}% in a day, up or down.",
        "How far is far for Bitcoin: one time in ten it should end more than {15m high 90}% away after fifteen "
        "minutes, {1h high 90}% after an hour, {4h high 90}% after four, {24h high 90}% after a day.",
    ),
    *rows(
        "beyond",
        "",
        "For {level}% in four hours the odds are {end} at the end and {touch} somewhere along the way.",
        "Some time within four hours the price should touch {level}% in {touch} of cases, and end there or further in "
        "{end}.",
        "A move of more than {level}% in four hours, either way, has a chance of {end}; that the price gets so far at "
        "some point on the way, {touch}.",
        "Four hours from now Bitcoin is more than {level}% away with a chance of {end}; with {touch} it is there at "
        "least once on the way.",
        "Beyond {level}% at the end of four hours: {end}. Beyond it at any moment in between: {touch}.",
        "The chance to touch {level}% within four hours is {touch}, but only {end} to be beyond it at the end: prices "
        "often come back.",
    ),
    *rows(
        "record",
        "no_record",
        "Too few of these ranges have come due to show a record.",
        "Their own record is still too short to show.",
    ),
    *rows(
        "record",
        "",
        "{where}, over {record n} hourly moves, {record 50} in 100 stayed in the 50% range and {record 90} in the 90% "
        "range.",
        "{where}, {record n} ranges over an hour have come due: the narrow ones held {record 50}% of moves and the "
        "wide ones {record 90}%, where 50 and 90 would be right.",
        "{where} these ranges held {record 50} and {record 90} in 100 of {record n} hourly moves; 50 and 90 were "
        "promised.",
        "{where} {record 50}% of {record n} hourly moves fell inside the narrow range (50% is right) and {record 90}% "
        "inside the wide one (90% is).",
        "How good are they? {where} the wide range held {record 90} and the narrow one {record 50} of 100 moves, over "
        "{record n} hours and coins.",
        "Do they hold? {where}, {record n} hourly moves: {record 50}% inside the 50% range, {record 90}% inside the "
        "90% range.",
    ),
    *rows(
        "miss",
        "missed",
        "The last wide range{missed where} that failed was for the hour from {miss at} UTC: it gave {miss low}% to "
        "{miss high}% and {miss}% came.",
        "Their latest miss{missed where}: in the hour from {miss at} UTC Bitcoin moved {miss}%, outside {miss low}% to "
        "{miss high}%.",
        "When did one{missed where} last fail? From {miss at} UTC, when an hour brought {miss}% against {miss low}% to "
        "{miss high}%.",
        "The newest move{missed where} that got away is {miss}%, in the hour from {miss at} UTC, with a range of "
        "{miss low}% to {miss high}%.",
        "A wide range{missed where} was last wrong in the hour from {miss at} UTC, which moved {miss}% against "
        "{miss low}% to {miss high}%.",
    ),
)


def _spell(axis: str) -> Iterator[Wording]:
    """Give the wordings of the spells of one axis."""

    def of_axis(text: str) -> str:
        return text.replace("{", "{" + f"{axis} ")

    seen = "{n spells} on {days}"
    few = (
        f"We have been in {{state}} for {{age}}, and the record holds {seen} of it: too few for a share.",
        f"{{State}} has held for {{age}}; with {seen} on file, how long it may last stays open.",
    )
    enough = (
        (
            f"We have been in {{state}} for {{age}}; of {seen} on file, {{four}} in 100 outlast four hours and {{day}} "
            "a day."
        ),
        f"{{State}} has held for {{age}}, and of {seen} {{four}} in 100 last beyond four hours, {{day}} beyond a day.",
        f"{{State}}, {{age}} so far: the record has {seen}; {{four}} in 100 outlive four hours, {{day}} a day.",
        (
            f"{{State}} is {{age}} old now; there were {seen}, of which {{four}} in 100 outlast four hours and "
            f"{{day}} a day."
        ),
        (
            f"How long {{state}} lasts: this one is {{age}} old, and of {seen} seen {{four}} in 100 pass four hours "
            "and {day} a whole day."
        ),
    )
    yield from rows(f"{axis} spell", f"{axis}_few", *map(of_axis, few))
    yield from rows(f"{axis} spell", f"{axis}_enough", *map(of_axis, enough))


_ENDINGS: Final = (
    *rows(
        "side spell",
        "no_spells",
        "Since when the market is in its state is not known, so how long it may last is not either.",
    ),
    *_spell("side"),
    *_spell("step"),
    *(
        Wording("onward", (f"{axis}_enough",), text.replace("{onward}", "{" + f"{axis} onward" + "}"))
        for axis in ("side", "step")
        for text in (
            "Those that got as old as this one lasted another four hours in {onward} of 100 cases.",
            "From here on, {onward} in 100 spells of this age lasted four hours more.",
            "Given that it is this old, the chance of four more hours was {onward} in 100.",
            "Age counts: of spells as old as this, {onward} in 100 made it through four more hours.",
            "Of those that had come this far, {onward} in 100 went on for four hours or longer.",
        )
    ),
    *(
        Wording("next", (f"{axis}_enough",), text.replace("{", "{" + f"{axis} "))
        for axis in ("side", "step")
        for text in (
            "After the {ended} that ended, {following} came in {followed}.",
            "When one ends, {following} follows: so it was in {followed} of {ended}.",
            "At its end it gave way to {following} {followed} times of {ended}.",
            "So far {ended} such spells are over, and {following} followed {followed} of them.",
            "Of {ended} endings, {followed} led into {following}.",
        )
    ),
)

_CHANCES: Final = "up {part up}, within {part within}, down {part down}"
_BASE: Final = "up {base up}, within {base within}, down {base down}"
_PARTITION: Final = (
    *rows("partition", "no_partition", "The next four hours cannot be cut into chances without a reading."),
    *rows(
        "partition",
        "",
        f"In the next four hours Bitcoin does one of three things (usual move {{part usual}}%), with these chances: "
        f"{_CHANCES}.",
        f"Our split for Bitcoin, four hours on and with {{part usual}}% as its usual move, is {_CHANCES} in 100.",
        f"Cut the next four hours of Bitcoin in three at {{part usual}}% either way, and the chances in 100 are "
        f"{_CHANCES}.",
        f"One of three things will be true of Bitcoin in four hours, with {{part usual}}% as the border: {_CHANCES} in "
        "100.",
        f"Where is Bitcoin in four hours? With a border of {{part usual}}% either way, in 100 cases: {_CHANCES}.",
        f"Three cases, one of which comes true for Bitcoin by then (border {{part usual}}%): {_CHANCES}, of 100.",
        f"For Bitcoin four hours from now we give, in 100 and with a border of {{part usual}}%: {_CHANCES}.",
    ),
    *rows(
        "base",
        "part_as_usual",
        f"That is almost what it usually is ({_BASE}), so the forecast claims next to nothing.",
        f"The past alone would have said {_BASE}: hardly a difference.",
    ),
    *rows(
        "base",
        "part_livelier",
        f"Base rates are {_BASE}. More movement than usual is expected, so both ends grow.",
        f"On past days that split was {_BASE}, and what left the middle is our view that more will happen.",
        f"The past alone gives {_BASE}, and we shift weight to both ends, for we expect more movement, not a side.",
        f"Usually it is {_BASE}, so a larger move than usual is more likely than usual, in either direction.",
    ),
    *rows(
        "base",
        "part_calmer",
        f"The past alone gives {_BASE}, and we put more in the middle, because we expect less movement.",
        f"Base rates are {_BASE}. A calmer stretch than usual is expected, so the middle grows.",
        f"On past days that split was {_BASE}, and the extra in the middle is our view that less will happen.",
        f"Usually it is {_BASE}: this time the small move gets the extra weight.",
    ),
    *rows(
        "furthest",
        "furthest_near",
        "None of the coins departs from its own past by more than {gap} cases in 100.",
        "Of all coins, {furthest} differs most from its base rates, and that is {gap} in 100.",
    ),
    *rows(
        "furthest",
        "furthest_far",
        "{furthest} departs most from its own past: {gap} of 100 cases lie elsewhere.",
        "Most of its own to say has the forecast for {furthest}, which moves {gap} cases in 100.",
        "{furthest}'s chances are the ones furthest from what they usually are: {gap} in 100 changed place.",
        "Among the coins, {furthest} differs most from its base rates, by {gap} cases in 100.",
        "The boldest of the forecasts is {furthest}'s, {gap} in 100 away from its base rates.",
    ),
    *rows("yesterday", "no_past_partition", "None of these partitions has come due yet."),
    *rows(
        "yesterday",
        "past_day",
        "Of the {due n} partitions of the last day that have come due{due where}, {due up} ended above the usual "
        "move, {due down} below it and {due within} within; by their chances {said up}, {said down} and {said within} "
        "were to be expected.",
        "Yesterday's, graded{due where}: {due up} rises beyond the usual move, {due within} small moves and {due down} "
        "falls, where the chances had asked for {said up}, {said within} and {said down}.",
        "How did the last day's {due n} turn out{due where}? Up came {due up} times, within {due within} and down "
        "{due down}, against {said up}, {said within} and {said down} by their chances.",
        "Over the last day {due n} such splits were settled{due where}: {due up} went up, {due down} went down and "
        "{due within} stayed within, when {said up}, {said down} and {said within} were due.",
        "The last day put {due n} of them to the test{due where}, and the count is {due up} up, {due within} within, "
        "{due down} down; expected were {said up}, {said within} and {said down}.",
        "Settled since yesterday{due where}: {due n}, of which {due up} above the border, {due down} below and "
        "{due within} in between; their chances add up to {said up}, {said down} and {said within}.",
    ),
    *rows(
        "yesterday",
        "parts_live",
        "So far {parts n} of these partitions have come due: Brier score {parts brier} against {parts base} of their "
        "base rates.",
        "Over all {parts n} that have come due, the Brier score is {parts brier}, and base rates alone score "
        "{parts base} (lower is better).",
        "The whole record, {parts n} cases, has a Brier score of {parts brier} where base rates would have "
        "{parts base}.",
        "Their Brier score after {parts n} cases is {parts brier}; whoever had said the base rates each time would "
        "stand at {parts base}.",
        "Scored by Brier, {parts n} of them average {parts brier}, next to {parts base} for their base rates.",
        "From {parts n} settled cases comes a Brier score of {parts brier} (0 is perfect), and {parts base} for base "
        "rates.",
    ),
    *rows(
        "yesterday",
        "parts_backtest",
        "None has come due since the start; in a backtest of {parts n}, kept apart, the Brier score was {parts brier} "
        "against {parts base} of their base rates.",
        "There is no live record yet, and the backtest's {parts n} scored {parts brier} by Brier, their base rates "
        "{parts base}.",
        "A backtest of {parts n} gave a Brier score of {parts brier}, base rates {parts base}; live ones are still to "
        "come.",
    ),
)

_ARENA: Final = (
    *rows("votes", "no_votes", "The Arena's round has no votes yet.", "So far the Arena's round is empty."),
    *rows(
        "votes",
        "",
        "The live round so far: {votes up} votes up, {votes small} in the middle, {votes down} down.",
        "In the Arena's live round {votes up} voted up, {votes small} a small move and {votes down} down.",
        "The Arena's voters split {votes up} up, {votes small} small move, {votes down} down.",
        "Votes in the live round: {votes up} for up, {votes small} for a small move, {votes down} for down.",
        "People who vote in the Arena see it so: {votes up} up, {votes down} down, {votes small} small move.",
        "Of {votes} votes in the running round {votes up} are for up and {votes down} for down.",
    ),
    *rows(
        "calls",
        "no_calls",
        "Which way prices go, this service has called in none of the hours scored so far; it does not know.",
        "No hour scored so far carried a call of direction, so there is no hit or miss of that kind to report.",
    ),
    *rows(
        "calls",
        "",
        "Calls of a direction: {calls} scored, {right} right, {wrong} wrong.",
        "This service named a side {calls} times so far, and {wrong} of these calls were wrong.",
        "On sides, the tally is {right} right against {wrong} wrong.",
        "And which way? Of {calls} calls {right} were right.",
        "Where a direction was called it came right {right} times and wrong {wrong} times.",
    ),
    *rows(
        "drift",
        "simulated",
        "These sides were called in a simulated market, whose record says nothing of real ones.",
        "Mind that this market is simulated, and that its record says nothing of real ones.",
        "The market is simulated, where a side is called sooner than its record would allow.",
        "All of it in a simulated market, and nothing of it holds for real ones.",
    ),
    *rows(
        "limits",
        "",
        "Order books, funding and odds change by the minute, and this page does not.",
        "What moves a market on any one day is often in the news, which this service does not read.",
        "What comes next is not in here: no one knows it, and neither do these numbers.",
        "News and people can undo any of this within a minute, and none of that is read here.",
        "A month is a short record, and a year may show other odds.",
        "All of it describes seven coins, and the market has thousands.",
        "Past counts are not promises: the next month may not be like this one.",
        "This is a lesson in reading numbers, not advice.",
        "Whoever reads it should leave wiser, not busier.",
        "Learn from it what the figures mean, for what to do is not among them.",
        "Read it to learn how markets are measured, for it does not say what to do.",
        "It is written for learning and gives no advice.",
        "Use it to understand, not to act on.",
        "Nothing here says what anyone should do with money.",
    ),
)

_IDEAS: Final = (
    *rows(
        "idea root",
        "",
        "The idea of the hour is the square root of time: if every hour were a fresh and equal draw, four hours would "
        "move twice as far as one, not four times, since ups and downs partly cancel. Bitcoin's wide ranges are "
        "{1h high 90}% for an hour and {4h high 90}% for four, a factor of {root}, {root verdict}: {root why}",
        "By that rule, how many hours does it take until a price moves three times as far as in one?",
    ),
    *rows(
        "idea average",
        "",
        "Two numbers can both claim to be the middle of a market: the average of the coins' days, {mean}%, and the "
        "median, with as many above as below, {median}%. One wild coin drags an average with it and leaves a median "
        "where it was; {average verdict}",
        "If the day's best coin had risen ten points more, which of the two would have moved?",
    ),
    *rows(
        "idea funding",
        "",
        "Think of funding as rent: a future without an end date has nothing that pulls it to the coin's price, so "
        "every eight hours the side in demand pays the other. In {dearest} it is the {dearest payer} who pay, "
        "{dearest rate}% each time, which would come to {yearly}% if it held for a year; the rent says which side is "
        "crowded, not which side will be right.",
        "How far would the price have to move in a day to cost as much as that day's rent?",
    ),
    *(
        Wording("idea censoring", (f"{axis}_enough", condition), text.replace("{", "{" + f"{axis} "))
        for axis in ("side", "step")
        for condition, unseen in (
            (f"{axis}_one_open", "one is not over, the present one"),
            (f"{axis}_some_open", "{open} were not seen to end, the present one among them"),
        )
        for text in (
            (
                "How long something lasts is hard to count while some of it is still going: of {n} such spells "
                f"{unseen}. Leave such a spell out and long ones go missing, count it as over and they look too short; "
                "the way out is to let it count for as long as it was watched and no further, an idea from medicine, "
                "where patients outlive studies."
            ),
        )
    ),
    *rows(
        "idea censoring",
        "",
        "If a bakery asks today's customers how long they have been coming, whom does it never ask?",
    ),
    *rows(
        "idea base rate",
        "",
        "A count means nothing without another to compare it with: four hours after {after up} of {after n} hours "
        "like this one prices were up more than {after usual}%, which alone may sound like much or little. But so "
        "they were after {every up} in 100 of any hours at all; only the gap between the two could carry news, and a "
        "month has too few separate days for a small gap to show.",
        "Prices rose 60 times in 100 after some pattern, you read; which number do you ask for next?",
    ),
    *rows(
        "idea leverage",
        "",
        "Borrowed money turns a range into a cliff: over a day, one case in twenty should take Bitcoin below "
        "{24h low 90}% "
        "and one in twenty above {24h high 90}%. For a position {leverage} times as large as the money behind it, the "
        "lower end alone would use up all of that money; the range is the same for everyone, but how much it hurts is "
        "decided by how large the position is.",
        "Why can such a position be closed by force even on a day that ends higher than it began?",
    ),
    *rows(
        "idea correlation",
        "",
        "Many coins are not as many chances: with an average correlation of {correlation}, the swings of an equal mix "
        "of {coins} coins shrink only as much as those of {effective} unrelated ones would. What they share cannot be "
        "spread away, only what each does on its own, and the measure moves: it tends to be highest on the days on "
        "which spreading would help most.",
        "At a correlation of zero, how many unrelated coins would these be worth?",
    ),
    *rows(
        "idea coverage",
        "",
        "A range that always holds is worthless: make it wide enough and nothing escapes, but nothing is said either, "
        "for the art is to be wrong as often as promised. Of {record n} hourly moves {record left} in 100 left the "
        "90% range, where ten should: on this record it was {record verdict}; the 50% range, left by {record left 50} "
        "in 100, is judged the same way.",
        "If a forecaster's 90% ranges hold 200 times out of 200, is that good?",
    ),
)

AHEAD: Final[tuple[Wording, ...]] = (*_FAR, *_ENDINGS, *_PARTITION, *_ARENA, *_IDEAS)
