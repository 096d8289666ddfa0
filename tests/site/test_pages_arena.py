"""The Arena and the track-record pages: what is sealed stays sealed, and no miss is left out."""

import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from gateway.wire.notes import TAPPED
from generator.arena.rates import rate
from generator.arena.scoring import brier
from generator.catalog.assets import ASSETS
from generator.catalog.words import SourceMode
from generator.compose.rounds import CrowdChances
from generator.compose.scores import against, hour_of
from generator.site.pages.arena import burst_words, chances_words, crowd_scores, record_words, tapped_words
from generator.site.pages.recipes import PageView
from generator.site.pages.record import headline
from generator.site.words.reference import Reference
from generator.values.chances import Probabilities
from generator.values.scores import BacktestScores, CrowdRecord, Estimate
from generator.values.votes import Burst, LockedCrowd, RecordCrowd, Tally
from tests.support import builders
from tests.support.builders import CONTEXTS, NOW_MS, SEALED_PROBABILITIES, SEALED_SALT
from tests.support.page_view import Rendered, arena, predictions, rendered, rounds, view, view_of
from tests.support.ranges import how_far


def nothing_yet() -> PageView:
    return view(SourceMode.LIVE, known=False, empty=True)


SCRIPT = Path(__file__).parents[2] / "site" / "assets" / "kept-votes.js"
EMPTY = view(SourceMode.LIVE, known=False, empty=True)


def _text(html: bytes) -> str:
    plain = re.sub(r"<script.*?</script>|<svg.*?</svg>", " ", html.decode(), flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", plain)).replace("\xa0", " "))


def _page(path: str, of: PageView | None = None) -> str:
    return _text((Rendered(of) if of else rendered())[f"{path}index.html"])


def test_the_live_round_shows_crowd_brain_price_and_band() -> None:
    text = _page("/arena/")

    assert "Live: BTC, 09:00 to 10:00 UTC" in text
    assert "No real vote. 21 simulated votes: 11 up, 4 small move, 6 down." in text
    assert "Small move, with a chance of 36.0%" in text
    assert "±0.226%" in text
    assert "BTC is 0.230% above its start" in text


@pytest.mark.parametrize(
    ("simulated", "words"),
    [
        (Tally(10, 6, 4), "1 real vote: 1 up, 0 small move, 0 down. 20 simulated votes: 10 up, 4 small move"),
        (Tally(), "21 real votes: 11 up, 4 small move, 6 down. "),
    ],
)
def test_only_simulated_votes_are_called_simulated(simulated: Tally, words: str) -> None:
    base = view()
    ctx = replace(base.ctx, arena=replace(base.ctx.arena, live_simulated_tally=simulated))

    text = _page("/arena/", replace(base, ctx=ctx))

    assert words in text
    assert "No real vote" not in text


def test_real_and_simulated_voters_are_rated_apart_on_the_arena_and_the_record() -> None:
    base = view()
    six = {"bullish": 1, "bearish": 5, "neutral": 0}
    rows: list[Any] = [{**row, "simulated_votes": six} if any(row["votes"].values()) else row for row in base.rounds]
    files = Rendered(replace(base, rounds=rows))

    arena_page, record = (_text(files[f"{path}index.html"]) for path in ("/arena/history/", "/track-record/"))

    assert "6 real, 6 simulated" in arena_page  # 12 votes in all, 7 bullish: 6 of those are real
    for who in ("Real voters", "Simulated voters"):
        assert re.search(rf"{who} \d+\.\d% of 39 \(95% interval", arena_page)
        assert who in re.sub(r"<[^>]+>", " ", files["/track-record/index.html"].decode())
    assert not re.search(r"People \d+\.\d% of", arena_page + record)


def test_the_open_round_shows_its_band_and_fingerprint_and_the_brain_as_sealed() -> None:
    text = _page("/arena/")

    assert "Vote: where will BTC be at 11:00 UTC?" in text
    assert "▲ Up more than 0.226% higher 40 · 33 · 27 ● Small move within 0.226% 30 · 40 · 30" in text
    assert "▼ Down more than 0.226% lower 27 · 33 · 40 One tap says “a little more likely”: it sends" in text
    assert "9f2c" * 16 in text


def test_nothing_of_a_sealed_forecast_is_on_the_arena_page() -> None:
    ctx = CONTEXTS["full"]()
    base = view()

    html = Rendered(replace(base, ctx=ctx))["/arena/index.html"].decode()

    assert SEALED_SALT not in html
    assert not [chance for chance in SEALED_PROBABILITIES if f"{100 * chance:.1f}" in _text(html.encode())]


def test_history_keeps_misses_and_void_rounds_with_their_reason() -> None:
    text = _page("/arena/history/")
    table = "".join(text.split("Finished rounds, newest first")[1:])

    assert table.count("wrong") > 10
    assert "void : too few venues" in table or "void: too few venues" in table
    assert "Outcome" in table


def test_how_to_vote_gives_command_and_note_of_the_open_round() -> None:
    text = _page("/arena/")

    assert "emi vote up" in text
    assert 'emi-arena/v2:j{"r":"BTC-20261120-090000","q":[40,33,27]}' in text


def test_each_button_shows_and_sends_the_chances_of_one_press() -> None:
    markup = rendered()["/arena/index.html"].decode()
    script = SCRIPT.read_text()

    for choice, chances in TAPPED.items():
        button = markup.split(f'value="{choice}"')[1].split("</button>")[0]
        assert f'data-chances="{chances}"' in button
        assert f"{chances.up} · {chances.neutral} · {chances.down}" in button
        assert f'"{chances}"' in script


def finished(outcomes: str, *, warm_up: bool = False) -> list[Any]:
    """Return rounds that ended u, s, d or v (void), each with base rates of 30, 40 and 30 in 100."""
    words = {"u": "BULLISH", "s": "NEUTRAL", "d": "BEARISH", "v": None}
    base = {"up": 0.3, "neutral": 0.4, "down": 0.3}
    return [{"outcome": words[one], "forecast": {"base_rate": base}, "warm_up": warm_up} for one in outcomes]


def test_what_a_tap_would_have_scored_is_said_from_thirty_rounds_of_live_play_on() -> None:
    fewest = finished("u" * 12 + "s" * 9 + "d" * 9)

    assert tapped_words(fewest[1:] + finished("vv") + finished("uu", warm_up=True)) == ""
    # By hand: up scores .36 + .1089 + .0729 = .5418 where it comes, .6818 by a small move, .8018 by a fall.
    assert "each of the last 30 scored rounds" in tapped_words(fewest)
    assert f"Brier score of {(12 * 0.5418 + 9 * 0.6818 + 9 * 0.8018) / 30:.3f} for up" in tapped_words(fewest)
    assert f"the base rates had {(21 * 0.74 + 9 * 0.54) / 30:.3f}" in tapped_words(fewest)


def test_one_tap_costs_little_where_no_one_can_tell() -> None:
    thirds = [brier(tuple(chance / 100 for chance in TAPPED["BULLISH"]), came) for came in range(3)]

    assert sum(thirds) / 3 - 2 / 3 < 0.01


def test_the_crowd_by_record_is_the_headline_and_a_burst_is_next_to_the_count() -> None:
    text = _page("/arena/")

    by_record = text.index("By record, of 4 voters who have one: 2 up, 1 small move, 1 down; weighed by record: up.")
    every = text.index("All votes: No real vote. 21 simulated votes: 11 up")
    assert by_record < every < text.index("Burst: 9 votes") < every + 120


def test_the_crowd_comes_with_what_may_be_wrong_with_it() -> None:
    text = _page("/arena/")

    assert "above one in three, so new addresses count for nothing" in text
    assert "Burst: 9 votes came in the minute of 08:50 UTC, 8 of them for the same answer and 7 from new" in text


def test_from_thirty_votes_on_a_crowd_and_a_burst_are_written_in_percent() -> None:
    arena = builders.arena()
    crowd = LockedCrowd(RecordCrowd(40, 0.6, 0.3, 0.1, Tally(20, 15, 5)), (Burst(NOW_MS, 60, 45, 30),))
    ctx = replace(builders.full_context(), arena=replace(arena, crowd=crowd))

    assert record_words(ctx) == "By record, of 40 voters who have one: 60.0% up, 10.0% small move, 30.0% down."
    assert "75.0% of them for the same answer and 50.0% from new addresses" in burst_words(ctx)[0]


def test_a_crowd_that_an_earlier_version_locked_has_no_counts_and_says_none() -> None:
    crowd = LockedCrowd(RecordCrowd(4, 0.6, 0.3, 0.1), ())
    ctx = replace(builders.full_context(), arena=replace(builders.arena(), crowd=crowd))

    assert record_words(ctx) == "By record, of 4 voters who have one: up."


def test_patterns_and_places_stand_with_their_counts_and_intervals() -> None:
    text = _page("/arena/history/")

    assert "all rounds with a call and a crowd 46 39.1% 34.8% 30.4% Neither was right more often." in text
    assert "AAAAAA…BBBB may be luck, provisional 1 58.5% of 41 (95% interval 51.4 to 65.7%) 312 +1.9%" in text
    assert "CCCCCC…DDDD beyond luck 1 204 312 +0.035 +0.012 to +0.057 +0.029" in text
    assert "17 voters so far, 16 with too few votes or days." in text


def test_the_luck_of_the_best_of_so_many_is_said_with_its_figures_where_places_stand() -> None:
    text = _page("/arena/history/")

    assert (
        "By luck alone, with no skill at all, the best of 5 voters would save up to 0.029 by their chances and the "
        "best of 17 voters would be up to 3.4% above the likeliest (in 95 of 100 cases no more)."
    ) in text
    assert "a round that was left out saved nothing, and neither did a word" in text
    assert "By luck alone" not in _page("/arena/history/", nothing_yet())


def test_an_arena_where_nothing_was_played_says_so() -> None:
    text, history = (_page(path, nothing_yet()) for path in ("/arena/", "/arena/history/"))

    assert "No round is live" in text
    assert "No round takes votes at the moment" in text
    assert "No round since the start has been scored yet" in history
    assert "None" not in (text + history).replace("None yet.", "")


@pytest.mark.parametrize("name", CONTEXTS)
def test_pages_of_every_state_have_no_holes(name: str) -> None:
    of = replace(view_of(CONTEXTS[name](), rounds(3), predictions(2)), reference=Reference({}))
    files = dict(Rendered(of))  # every page can be made

    for path in ("/", "/arena/", "/arena/history/", "/track-record/", "/learn/"):
        # "None yet." and "None has ended yet." are sentences of ours; a hole is alone.
        text = re.sub(r"None (?=yet|has ended)", "", _text(files[f"{path}index.html"]))
        assert not {"None", "nan", "NaN", "inf", "Undefined"} & set(re.findall(r"\w+", text)), path


def test_a_young_record_shows_one_figure_and_one_picture_and_folds_the_rest() -> None:
    base = view()
    tested = BacktestScores(base.ctx.arena.hourly_record, base.ctx.arena.arena_record, how_far(480))
    young = replace(base.ctx.arena, how_far=(), backtest=tested)
    html = Rendered(replace(base, ctx=replace(base.ctx, arena=young)))["/track-record/index.html"].decode()

    shown, folded = html.split('<details class="young">')

    assert (shown.count('<p class="number">'), shown.count('<figure class="chart"')) == (1, 1)
    assert folded.index("</section>\n\n</details>") < folded.index('id="downloads"')


def test_the_record_draws_ranges_first_then_rates_and_skill() -> None:
    html = rendered()["/track-record/index.html"].decode()

    drawn = re.findall(r'<figure class="chart" id="chart-([a-z-]+)"', html)

    assert drawn == ["coverage", "saved", "hourly-rates", "hourly-skill", "arena-rates", "arena-skill"]


def test_below_thirty_nothing_is_drawn_and_the_page_says_how_many_are_missing() -> None:
    few = arena(resolved=12)
    base = view()
    young = replace(few, how_far=how_far(36), arena_record=replace(few.arena_record, resolved=29, hit=rate(11, 29)))

    html = Rendered(replace(base, ctx=replace(base.ctx, arena=young)))["/track-record/index.html"]

    assert b"<figure" not in html
    assert "12 of 30 live calls have been judged: fewer would say more about luck" in _text(html)
    assert "Too early to tell" in _text(html)


def test_before_the_first_outcome_the_record_reads_well() -> None:
    text = _page("/track-record/", nothing_yet())

    assert "No forecast has been scored yet." in text
    assert "No range for 1 hour has been judged yet" in text
    assert "0 of 30" in text
    assert "No hourly forecast has been judged yet." in text


def test_every_hour_and_asset_has_its_cell_hit_or_miss() -> None:
    html = rendered()["/track-record/index.html"].decode()
    grid = "".join(html.split('<table class="grid">')[3:])
    due = [made for made in predictions() if made.outcome is not None][: 24 * len(ASSETS)]
    hours = {made.start_ms for made in due}
    shown = [made for made in predictions() if made.start_ms in sorted(hours, reverse=True)[:24] and made.outcome]

    called = [made for made in shown if made.call != "none"]
    assert grid.count("right: ") == sum(made.prediction == made.outcome for made in called)
    assert grid.count("wrong: ") == sum(made.prediction != made.outcome for made in called)
    assert grid.count("no call") == len(shown) - len(called) > 0


@pytest.mark.parametrize(
    ("hours", "words"),
    [
        (36, "Too early to tell"),
        (480, "How far prices move: not shown to beat every simple rule"),
    ],
)
def test_the_headline_claims_no_more_than_the_intervals_allow(hours: int, words: str) -> None:
    assert headline(hour_of(how_far(hours))) == words


@pytest.mark.parametrize(
    ("signs", "said"),
    [
        (
            (1, 1, 1),
            "The ranges scored better than those from the last hour, the last day and EWMA.",
        ),
        (
            (1, 0, -1),
            (
                "The ranges scored better than those from the last hour and worse than those from EWMA; "
                "against the last day the "
                "difference could be chance."
            ),
        ),
        ((0, 0, 0), "Against the last hour, the last day and EWMA the difference could be chance."),
    ],
)
def test_the_comparison_is_true_of_its_intervals(signs: tuple[int, ...], said: str) -> None:
    hour = hour_of(how_far())
    assert hour is not None
    brain, *simple = hour.scores
    ends = {1: (1.0, 3.0), 0: (-1.0, 1.0), -1: (-3.0, -1.0)}
    changed = [
        replace(one, pinball_saved=(found := Estimate(sum(ends[sign]) / 2, *ends[sign])), qlike_saved=found)
        for one, sign in zip(simple, signs, strict=True)
    ]

    assert against(replace(hour, scores=(brain, *changed))) == said


def test_direction_is_called_unknown_once_and_with_its_numbers() -> None:
    text = _page("/track-record/")

    assert text.count("Which way prices will move is not known.") == 1
    assert "of 1204 calls 34.1% (95% interval 31.5 to 36.9%) were right" in text
    assert "always naming the commonest outcome, 35.9%" in text


def test_confidence_is_shown_with_how_often_it_came_true() -> None:
    text = _page("/track-record/")

    assert "36.9% 900 36.1% 33.0 to 39.3% yes" in text
    assert "44.8% 290 36.2% 30.9 to 41.9% no" in text


def test_chances_are_said_of_real_and_simulated_votes_apart() -> None:
    given = CrowdChances(
        n=2,
        chances=Probabilities(up=0.65, neutral=0.2, down=0.15),
        simulated_n=1,
        simulated_chances=Probabilities(up=0.15, neutral=0.25, down=0.6),
    )

    assert chances_words(given) == (
        "2 real votes gave chances, on average up 65.0%, small move 20.0%, down 15.0%. "
        "1 simulated vote gave chances, on average up 15.0%, small move 25.0%, down 60.0%."
    )


@pytest.mark.parametrize(
    ("rounds", "words"),
    [(29, "Fewer than 30 rounds say nothing about skill."), (30, "Against the base rate +6.2% (95% interval -1.0 to")],
)
def test_a_crowd_is_said_to_have_skill_by_its_interval_from_thirty_rounds_on(rounds: int, words: str) -> None:
    numbers = {"log_score": 1.0, "log_score_base_rate": 1.1, "log_score_brain": 1.05}
    skill = Estimate(value=6.2, low=-1.0, high=13.4)
    scores = CrowdRecord(
        n=rounds, votes=70, brier=0.61, brier_base_rate=0.65, brier_brain=0.63, skill_percent=skill, **numbers
    )

    said = crowd_scores(scores, "real")

    assert said.startswith(f"Chances of real voters, {rounds} rounds: Brier score 0.610, base rate 0.650, brain 0.630")
    assert words in said
