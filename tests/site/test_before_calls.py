"""The record's page of forecasts from before calls: one table, dated once, and a grid that says what its words are."""

from dataclasses import replace

from generator.arena.rates import rate
from generator.catalog.words import Call
from generator.site.pages.recipes import PageView
from generator.values.scores import BeforeCalls
from tests.support.builders import HOUR_MS
from tests.support.page_view import START_MS, Rendered, context, predictions, view_of

LAST_MS = START_MS - 2 * HOUR_MS


def before(**words: tuple[int, int]) -> BeforeCalls:
    by_word = {Call(word): rate(*hits) for word, hits in words.items()}
    return BeforeCalls(rate(1, 3), by_word, rate(1, 3), LAST_MS)


def view(*, has_before: bool) -> PageView:
    ctx = context()
    arena = ctx.arena
    due = predictions(4)
    if has_before:
        hourly = replace(arena.hourly_record, before_calls=before(small_move=(40, 100), up=(9, 30)))
        of_arena = replace(arena.arena_record, before_calls=before(small_move=(4, 12)))
        arena = replace(arena, hourly_record=hourly, arena_record=of_arena)
        due = tuple(replace(made, call=None) if made.start_ms <= LAST_MS else made for made in due)
    return view_of(replace(ctx, arena=arena), predictions=due)


def text(*, has_before: bool) -> str:
    return Rendered(view(has_before=has_before))["/track-record/index.md"].decode()


def test_words_of_every_hour_and_of_the_arena_are_one_table() -> None:
    shown = text(has_before=True)

    assert shown.count("FLAT was scored as a small move\n") == 1
    assert "| small move | each hour | 100 | 40.0% |" in shown
    assert "| up | each hour | 30 | 30.0% |" in shown
    assert "| small move | the Arena | 12 | 4 of 12 |" in shown


def test_the_grid_says_up_to_when_a_small_move_was_the_word_flat() -> None:
    said = "Up to 20 Nov 2026, 07:00 UTC forecasts had a word and no call: FLAT was scored as a small move."

    assert said in text(has_before=True)
    assert "FLAT was scored" not in text(has_before=False)
