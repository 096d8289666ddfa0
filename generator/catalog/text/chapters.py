"""The words of the nine chapters of Learn; their questions and numbers are counted from the record."""

from typing import Final, NamedTuple


class ChapterText(NamedTuple):
    """A chapter; `name` is its place below /learn/ and its anchor there."""

    name: str
    short: str  # in lists of chapters
    title: str
    about: str  # for search engines, and under its name on /learn/
    idea: tuple[str, ...]  # paragraphs, read after the first guess
    practice: str = ""  # the kind of question on the practice page that exercises it, if one does


class Remark(NamedTuple):
    """What an answer says of its own count: by where its interval lies against what it is compared with."""

    above: str
    inside: str
    below: str
    few: str = "Too few to say more."  # cases for an interval


LUCK_AT_TIMES: Final = "One such count in twenty looks so by luck alone."
REMARKS: Final = {
    "again": Remark(
        above=f"That is above any hour's share: in this record a rise made another one likelier. {LUCK_AT_TIMES}",
        inside="Any hour's share lies inside, so this count shows no effect of a rise.",
        below=f"That is below any hour's share: in this record a rise made another one less likely. {LUCK_AT_TIMES}",
    ),
    "rule": Remark(
        above="Days went further: their hours did not cancel as independent ones do.",
        inside="The rule says half, which lies inside: these days do not speak against it.",
        below="Days went less far: ups and downs cancelled more than independent hours do.",
        few="So few days may differ from a rule by luck.",
    ),
    "wild": Remark(
        above="Wild hours came in groups: that is why it can be said how far.",
        inside="Those 20 lie inside: in these hours no grouping can be shown.",
        below="Here a wild hour was followed by another less often than any hour is.",
    ),
    "tails": Remark(
        above="That is more than luck makes of a bell curve: the tails are fat.",
        inside="A bell curve's share lies inside: in these hours no fat tails can be shown.",
        below="That is fewer than a bell curve has: the tails of these hours were thin.",
        few="So few hours say little of their tails.",
    ),
    "together": Remark(
        above="These coins moved together.",
        inside="That lies inside: here they moved together no more than independent ones.",
        below="These moved against each other more often than independent ones.",
    ),
    "thin": Remark(
        above="Books thinned out when prices ran: a large order costs most just when many want to trade.",
        inside="By the count of those hours, that difference may well be luck.",
        below="Here books were deeper when prices ran.",
        few="So few hours say little of wild ones.",
    ),
    "held_90": Remark(
        above="More held than the 90 promised: the ranges were too wide, and said less than was known.",
        inside="The 90 promised lie inside: as far as this many hours can show, the ranges kept their promise.",
        below="Fewer held than the 90 promised: the ranges were too narrow.",
        few="So few hours cannot show whether a promise is kept.",
    ),
    "held_50": Remark(
        above="More held than the 50 promised: the ranges were too wide, which is as wrong as too narrow.",
        inside="The 50 promised lie inside. Ranges that hold too much are as wrong as ranges that hold too little.",
        below="Fewer held than the 50 promised: the ranges were too narrow.",
        few="So few hours cannot show whether a promise is kept.",
    ),
    "best_rule": Remark(
        above=f"Luck again: none of these rules knows anything. {LUCK_AT_TIMES}",
        inside="One half lies inside: what luck gave in the one stretch it did not give in the other.",
        below=f"Luck the other way: none of these rules knows anything. {LUCK_AT_TIMES}",
    ),
}


CHAPTERS: Final = (
    ChapterText(
        "base-rates",
        "Base rates",
        "Before you ask what will happen, ask how often it does",
        "How often an hour ends near its start, and why that count is the forecast to beat.",
        (
            (
                "The base rate is how often something happened in the past. It is the first forecast of everything, "
                "and hard to beat: most of what a chart seems to say is less than what a plain count says."
            ),
            (
                "Start there, and move away only as far as the evidence carries you. Whoever claims skill has to do "
                "better than somebody who names the most frequent outcome every time."
            ),
        ),
    ),
    ChapterText(
        "volatility",
        "Volatility",
        "How far is easier to say than which way",
        "How moves grow with the square root of time, why wild hours come in groups, and where a 90% range ends.",
        (
            (
                "In most markets calm hours follow calm hours, and wild ones wild ones. So a range can be given in "
                "which the price should end 50 or 90 times in 100, though not on which side."
            ),
            (
                "Ups and downs cancel in part. If hours are independent, a move grows with the square root of time: "
                "four hours go twice as far as one, and a day of 24 hours about 4.9 times as far."
            ),
        ),
        "how_far",
    ),
    ChapterText(
        "fat-tails",
        "Fat tails",
        "Large moves are rarer than you feel and commoner than the bell curve says",
        "How many hours went further than three standard deviations, and what a 90% range leaves out.",
        (
            (
                "If moves followed a normal distribution, one hour in 370 would go further than three standard "
                "deviations. Prices have fat tails: calm and wild hours are mixed, and news comes at once."
            ),
            (
                "So a 90% range is not nearly a 100% range, and what lies outside of it may lie far outside. A few "
                "hours can make much of what a month moves."
            ),
        ),
    ),
    ChapterText(
        "correlation",
        "Correlation",
        "All coins are mostly one bet",
        "How often nearly all assets went the same way in an hour, and how many bets the coins are.",
        (
            (
                "Crypto assets mostly rise and fall together. Holding many of them spreads the risk of one project, "
                "hardly the risk of the market."
            ),
            (
                "The same is true of evidence: assets that all went up are closer to one observation than to one each, "
                "which is why intervals on these pages count hours together."
            ),
        ),
    ),
    ChapterText(
        "funding",
        "Funding",
        "Funding says who pays to keep a position",
        "Who paid whom in futures this month, how much, and what open interest adds.",
        (
            (
                "A perpetual future has no expiry date. To keep its price near the spot price, one side pays the other "
                "every few hours: above zero longs pay shorts, below zero shorts pay longs. About 0.01% per 8 hours is "
                "the usual rate on most venues and a sign of nothing; well above it, demand to be long is strong."
            ),
            (
                "Every contract has one long and one short, so there are always as many of one as of the other. Open "
                "interest counts contracts: it grows when new ones are opened, whatever the price does."
            ),
        ),
    ),
    ChapterText(
        "order-books",
        "Order books",
        "A price holds for a small amount only",
        "What lies in the order books, how far a large sale moves a price, and what a trade costs.",
        (
            (
                "The price on a screen is that of the last small trade. An order book lists who would buy or sell how "
                "much at which price; its depth is what lies close to the middle."
            ),
            "A large order takes the best offers first and moves on to worse ones: the difference is called slippage.",
        ),
    ),
    ChapterText(
        "calibration",
        "Calibration",
        "A chance can be checked, over many cases",
        "Whether 90% ranges held nine times in ten, and why a proper score rewards honest chances.",
        (
            (
                "Of all outcomes that were given 40 in 100, about 40 in 100 should happen. In the picture the "
                "chances of a move that were given lie from left to right, how often it happened from bottom to "
                "top: honest chances lie on the dashed line."
            ),
            (
                "A score is proper if an honest chance has the best mean of all that could be said. The Brier score "
                "is: the squared distance of each chance from what happened, and smaller is better."
            ),
            (
                "Confidence in a regime is another number. The true regime is never revealed, so it can be checked on "
                "simulated markets only."
            ),
        ),
        "will_it_move",
    ),
    ChapterText(
        "luck",
        "Luck",
        "The best of many always looks skilled",
        "What a hundred rules that know nothing would have got right, and how little a few cases say.",
        (
            (
                "A run of hits is often luck, and the best of many has the most of it. Ask how many were tried before "
                "you admire the winner, and look at what it did afterwards."
            ),
            (
                "The fewer the cases, the wider the interval in which the true rate may lie. That is why every rate "
                "here has its count, and below 30 cases you see the counts alone."
            ),
        ),
    ),
    ChapterText(
        "silence",
        "Saying nothing",
        "Sometimes the honest answer is “I cannot tell”",
        "How often the brain made no call, and what calls by a hair would have been worth.",
        (
            (
                "A direction that leads by a hair is a coin with a name on it. The brain names an outcome only where "
                "its chance, or its record, carries it; otherwise it makes no call and gives the chances alone."
            ),
            "A forecaster who always has an opinion is not better informed, only louder.",
        ),
        "which_way",
    ),
)
CHAPTER_OF: Final = {chapter.name: chapter for chapter in CHAPTERS}
# Anchors that /learn/ had when it was one long page: they lead to what took their place.
EARLIER: Final = {"volatility": ("how-far",), "calibration": ("confidence",), "luck": ("few-cases",)}
