"""How a lesson is put: what was given to each outcome and what came, how large that is, and what it scored.

Each sentence has seven forms that take turns by the number of the round, so that twenty lessons in a row do not read as
one. A form states the same facts as the others of its kind.
"""

from typing import Final

from generator.catalog.words import Prediction

FORMS: Final = 7
OUTCOME: Final = {Prediction.BULLISH: "up", Prediction.NEUTRAL: "a small move", Prediction.BEARISH: "down"}

CHANCES: Final = (
    "It gave up {up}, small move {small}, down {down}; {outcome} came.",
    "Sealed before the start: up {up}%, small move {small}%, down {down}%. It was {outcome}.",
    "{came} in 100 had been given to what came, {outcome} (up {up}, small move {small}, down {down}).",
    "Out of 100 the forecast gave {up} to up, {small} to a small move and {down} to down, and {outcome} it was.",
    "What came was {outcome}, {rank}: {up} up, {small} small move, {down} down.",
    "The chances were {up} up, {small} small move and {down} down of 100; the outcome was {outcome}.",
    "Before the round, of 100: {up} for up, {small} for a small move, {down} for down. After it: {outcome}.",
)

RANKS: Final = {
    (0, 1): "the largest of three chances",
    (1, 1): "the middle one of three chances",
    (2, 1): "the smallest of three chances",
    (0, 2): "one of the two largest chances",
    (1, 2): "one of the two smallest chances",
    (0, 3): "one of three equal chances",
}
"""By how many chances are larger than that of what came, and how many are as large, in whole percent."""

SIZES: Final = (
    "{name} {moved}, {sigmas} standard deviations of its week{rarity}.",
    "By its own week that is {sigmas} standard deviations: {name} {moved}{rarity}.",
    "{name} {moved}; measured by the week before it, {sigmas} standard deviations{rarity}.",
    "A {sigmas}-sigma move by its week: {name} {moved}{rarity}.",
    "Its week's standard deviation was {sigma}%; {name} {moved}, {sigmas} times as much{rarity}.",
    "{name} {moved} against a standard deviation of {sigma}% in its week, {sigmas} times that{rarity}.",
    "How large is that? {name} {moved}, and its week makes it {sigmas} standard deviations{rarity}.",
)
RARITY: Final = "; of real hours about {share} go as far"

SCORES: Final = (
    "Brier score {score}, the base rate's {base}: {verdict}.",
    "The base rate alone would have scored {base}; these chances scored {score}, {verdict}.",
    "Scored by Brier, where lower is better: {score}, and {base} for the base rate ({verdict}).",
    "That scores {score}; always giving the base rate scores {base}: {verdict}.",
    "Against {base} for the base rate the forecast scored {score}, {verdict}.",
    "With a Brier score of {score} it came out {verdict}; the base rate had {base}.",
    "{base} is what the base rate scored, {score} what these chances did: {verdict}.",
)
BETTER: Final = "better by {by}"
WORSE: Final = "worse by {by}"
LEVEL: Final = "level"

VOTES: Final = "{most} of {total} {kind}{votes} said {choice}."
SPLIT: Final = "The {total} {kind}votes were split."
NO_ONE: Final = "No one voted."
NO_VOTING: Final = "It was a backtest: voting was not possible."
