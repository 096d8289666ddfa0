"""Wordings of what was: the day, its hours, who moved with whom, who pays, how deep."""

from typing import Final

from tests.story.wording import Wording, ranked_rows, rows

_TITLES: Final = (
    *rows("title", "no_day", "The market now: what is known, and what is not"),
    *rows("title", "small_day", "A day that led nowhere", "A quiet day, measured", "Little changed, and how we know"),
    *rows("title", "usual_day", "An ordinary {way}", "An everyday {way}", "A day's {way}, put in its place"),
    *rows("title", "large_day", "A {way} larger than most", "A day that stood out: a {way}", "More than a usual {way}"),
)

_DAY: Final = (
    *rows(
        "day",
        "flat_day",
        "The average coin is worth what it was a day ago.",
        "Add up the last day's moves and almost nothing is left.",
    ),
    *rows(
        "day",
        "moved_day",
        "Since yesterday at this hour the coins {gained} {day size}% on average.",
        "On average the coins {gained} {day size}% from one day to the next.",
        "The average coin {gained} {day size}% over the last day.",
        "Between this hour yesterday and now the average coin {gained} {day size}%.",
        "Equal parts of all coins {gained} {day size}% in a day.",
    ),
    *rows("day", "moved_day rose", "Twenty-four hours added {day size}% to the average coin."),
    *rows("day", "moved_day fell", "Twenty-four hours took {day size}% from the average coin."),
    *rows(
        "yardstick",
        "small_day",
        "The middle one of the last {days kept} days moved {usual day}%, so this is a small day.",
        "Half of the last {days kept} days moved more than {usual day}%, and this one did not come near that.",
        "A usual day moves {usual day}% either way: today brought less than half of it.",
    ),
    *rows(
        "yardstick",
        "usual_day",
        "That is in line with the last {days kept} days, whose middle day moved {usual day}%.",
        "Nothing odd there: the median of {days kept} days is {usual day}%.",
        "It is close to what a day usually does, {usual day}% one way or the other.",
    ),
    *rows(
        "yardstick",
        "large_day",
        "The middle one of the last {days kept} days moved {usual day}%, and this one {times} times as far.",
        "A usual day moves {usual day}%, so this was {times} days' worth in one.",
        "Against {usual day}% on the median day of {days kept} days, that is a big step.",
    ),
    *rows(
        "day rank",
        "day_high",
        "Only {day rest} in 100 stretches of a day in the month went further.",
        "Slide a day-long window over the month, and it holds a smaller move in {day rank} places of 100.",
    ),
    *rows(
        "day rank",
        "day_low",
        "Of all day-long stretches of the month, {day rest} in 100 went further than this one.",
        "Take any other day-long stretch of the month: {day rest} times in 100 it moved more.",
    ),
    *rows(
        "outlook",
        "",
        "If this is a day like others, one chance in two puts Bitcoin between {24h low 50}% and {24h high 50}% a day "
        "from now.",
        "A day from now Bitcoin is as likely inside {24h low 50}% to {24h high 50}% as outside.",
        "For the day ahead the honest answer is a span: Bitcoin should end between {24h low 50}% and {24h high 50}% in "
        "half of all cases like this.",
        "Where Bitcoin will be tomorrow is open, but half of such days end between {24h low 50}% and {24h high 50}%.",
        "Tomorrow at this hour the odds are even that Bitcoin is inside {24h low 50}% to {24h high 50}% of its price "
        "now.",
    ),
    *rows(
        "outlook", "no_day", "How the coins moved over the last day is not known, so this report begins with what is."
    ),
)

_HOUR: Final = (
    *rows(
        "largest",
        "",
        "The day's biggest hour ended at {hour at} UTC, when the average coin {hour verb} {hour size}%.",
        "One hour leads the other 23: up to {hour at} UTC prices {hour verb} {hour size}%.",
        "If you had looked only once, {hour at} UTC was the time: a {hour noun} of {hour size}% in sixty minutes.",
        "The biggest step came in the hour to {hour at} UTC, a {hour noun} of {hour size}%.",
    ),
    *rows(
        "part",
        "hour_undone",
        "The other 23 hours took back part of it, or more.",
        "The day as a whole did not keep it: the other hours pulled the other way.",
        "What it did, the rest of the day undid in part or in whole.",
    ),
    *rows(
        "part",
        "hour_half",
        "It alone accounts for {hour share}% of the day's move.",
        "Take that hour out and {hour share}% of the day is gone.",
    ),
    *rows(
        "part",
        "hour_less",
        "That is {hour share}% of the day's move, and the rest came in smaller pieces.",
        "Still, it explains only {hour share}% of the day, so the move was spread out.",
        "With {hour share}% of the day in it, no single hour decided things.",
    ),
    *rows(
        "places",
        "first_in_month",
        "No hour of the month was larger.",
        "You have to leave the month to find a larger hour.",
    ),
    *rows(
        "places",
        "first_in_week",
        "It is the week's largest hour and the month's {month place}.",
        "Nothing in seven days was larger, and in thirty days it is the {month place}.",
    ),
    *rows(
        "places",
        "later_in_week",
        "In the week it ranks {week place}, in the month {month place}.",
        "From the largest down, it is the {week place} hour of seven days and the {month place} of thirty.",
        "It is number {in week} of the week's hours, the largest first, and number {in month} of the month's.",
        "There were {larger hours} in the week and {larger in month} in the month.",
        "Seven days hold {larger hours}, thirty days {larger in month}.",
    ),
    *rows(
        "last hour",
        "hour_is_last",
        "That is the hour just over, so the story is still being written.",
        "It is the last hour we have: what follows it is not in this report.",
        "No other hour has come after it yet.",
    ),
    *rows(
        "last hour",
        "now_high",
        "The hour just over is lively too: {now way} {now size}%, more than {now rank} of 100 hours of the week.",
        "And it is not calm now: the last sixty minutes took prices {now way} {now size}%, beyond {now rank} in 100 of "
        "the week's.",
    ),
    *rows(
        "last hour",
        "now_low",
        "By now it has gone still: {now size}% {now way} in the last hour, less than most of the week.",
        "The last hour brought {now size}% {now way}; {now rest} in 100 hours of the week brought more.",
    ),
    *rows(
        "last hour",
        "now_middle",
        "The last hour, {now way} {now size}%, is an ordinary one for this week.",
        "In the sixty minutes to now prices went {now way} {now size}%, no more and no less than they often do.",
        "The hour just over brought {now size}% {now way}, near the middle of the week's hours.",
        "As for the hour just over, {now size}% {now way} is what this week's hours tend to do.",
        "Right now things are plain: {now way} {now size}% in the last sixty minutes.",
    ),
    *rows(
        "last hour",
        "now_still",
        "The hour just over left prices where they were.",
        "In the last sixty minutes the average coin went nowhere.",
    ),
    *rows(
        "last hour",
        "now_unranked",
        "The last sixty minutes took prices {now way} {now size}%.",
        "In the hour just over prices went {now way} {now size}%.",
    ),
    *rows("largest", "day_of_holes", "The candles of the day have holes, so its hours cannot be compared."),
)

_TOGETHER: Final = (
    *ranked_rows(
        "correlation",
        "moved_as_one",
        "Hour by hour the coins moved as one: their average correlation is {correlation} out of 1",
        "To know one coin's hour was nearly to know them all: hourly moves correlate at {correlation}",
    ),
    *ranked_rows(
        "correlation",
        "moved_together",
        "The coins mostly move together, with an average correlation of {correlation} over the day's hours",
        "On a scale where 1 is lockstep, the coins' hours score {correlation}, together but not the same",
        "Two coins picked at random shared most of their hours, with a correlation of {correlation}",
    ),
    *ranked_rows(
        "correlation",
        "moved_apart",
        "The coins go their own ways today: hourly moves correlate at only {correlation}",
        "With a correlation of {correlation}, knowing one coin's hour says little about the next coin's",
    ),
    *ranked_rows(
        "dispersion",
        "",
        "The spread between their days is {dispersion} points",
        "Measured as a standard deviation, their days lie {dispersion} points apart",
        "Their days scatter by {dispersion} points, one standard deviation",
        "From coin to coin the day differs by {dispersion} points, as a standard deviation",
        "They ended {dispersion} points apart, by the standard deviation",
    ),
    *rows(
        "maker",
        "cancelled",
        "{top} ({top move}%) and {bottom} ({bottom move}%) cancel most of each other out.",
        "The average hides both {top} at {top move}% and {bottom} at {bottom move}%.",
    ),
    *rows(
        "maker",
        "one_decided",
        "Without {maker} ({maker move}%) the others together would point the other way.",
        "{maker} alone, at {maker move}%, decides the sign: all others together went the other way.",
    ),
    *rows(
        "maker",
        "one_led",
        "{maker} did the most: its {maker move}% is {maker share}% of the coins' summed {maker noun}.",
        "Of the coins' summed {maker noun}, {maker share}% comes from {maker} alone, at {maker move}%.",
        "One coin makes up {maker share}% of the summed {maker noun}: {maker}, at {maker move}%.",
    ),
    *rows(
        "against",
        "none_against",
        "No coin went against the others.",
        "Not one coin ended on the other side.",
        "The others all went the same way.",
        "All the rest moved with it or hardly at all.",
    ),
    *rows(
        "against",
        "some_against",
        "{other} swam against it with {other move}%.",
        "Against it went {other}, at {other move}%.",
        "Not so {other}, which ended at {other move}%.",
        "{other}, at {other move}%, is furthest on the other side.",
    ),
)

_FUTURES: Final = (
    *rows(
        "funding",
        "no_funding",
        "Nothing is known of the futures now, so who pays whom is left open.",
        "This source has no futures, and who pays funding to whom stays open.",
        "Funding is not known here; what longs and shorts pay each other is left out.",
        "Who pays whom in the futures cannot be said: no rates came with these prices.",
        "For want of funding rates nothing is said of longs and shorts.",
    ),
    *ranked_rows(
        "funding",
        "",
        "In the futures {payer} pay {taker}: funding averages {funding}% every eight hours",
        "Across the coins it is the {payer} who pay; the average rate is {funding}% per eight hours",
        "Funding, the rent on a position, averages {funding}% per eight hours ({payer} pay {taker})",
    ),
    *rows(
        "cost",
        "one_dearest",
        "Of all coins {dearest} asks the most of whoever is {holder}: ${cost} a day for $10,000.",
        "Hold $10,000 {holder} in {dearest}, the coin with the largest rate, and a day costs ${cost}.",
        "The largest bill is {dearest}'s, where each $10,000 {holder} pays ${cost} a day.",
        "It is dearest in {dearest}: there a {holder} of $10,000 pays ${cost} a day.",
        "In {dearest}, where the rate is largest, $10,000 held {holder} costs ${cost} in a day.",
        "What that means in money: ${cost} a day for a {holder} of $10,000 in {dearest}, the largest rate.",
    ),
    *rows(
        "cost",
        "shared_dearest",
        "More than one coin has the largest rate, {dearest} among them: a {holder} of $10,000 there pays ${cost} a "
        "day.",
        "No coin asks more than {dearest}, and some ask as much: $10,000 held {holder} costs ${cost} a day.",
        "Hold $10,000 {holder} in {dearest}, one of the coins that share the largest rate, and a day costs ${cost}.",
    ),
    *rows(
        "interest",
        "",
        "By number of open contracts, {crowded} changed most: {interest}%.",
        "Open contracts {interest verb} most in {crowded}, by {interest size}% in a day, counted in coins.",
        "The number of open contracts moved most in {crowded}: {interest}% since yesterday.",
        "{crowded} saw its open contracts change by {interest}%, more than any other coin's.",
        "Among open contracts the largest change is {crowded}'s: {interest}% in coins, not dollars.",
        "Traders {traders} most in {crowded}: its open contracts {interest verb} by {interest size}%.",
    ),
    *ranked_rows(
        "depth",
        "",
        "Orders worth {depth} lie within 1% of the prices, all books taken together",
        "All order books together hold {depth} within 1% of the price",
        "Within 1% of the price {depth} is waiting to trade, over all coins",
        "Bids and asks close to the price, within 1% of it, add up to {depth}",
    ),
    *ranked_rows(
        "volume",
        "",
        "{volume} worth of coins was traded in the day",
        "Over the day {volume} changed hands",
        "The day's turnover is {volume}",
        "In all, trades worth {volume} were made in the day",
        "Volume over twenty-four hours comes to {volume}",
        "A day of trading came to {volume}",
    ),
    *rows("depth", "no_books", "How deep the order books are is not known."),
)

OF_DAY: Final[tuple[Wording, ...]] = (*_TITLES, *_DAY, *_HOUR, *_TOGETHER, *_FUTURES)
