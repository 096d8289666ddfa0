"""Examples carry chances in whole percents."""

import json

from hypothesis import given
from hypothesis import strategies as st

from generator.site.files.discovery import as_example


def test_chances_are_rounded_wherever_they_stand_and_nothing_else_is() -> None:
    body = {"a": [{"probabilities": {"down": 0.3123, "neutral": 0.3623, "up": 0.3254}, "confidence": 36.23}], "up": 0.5}

    assert as_example(body) == {
        "a": [{"probabilities": {"down": 0.31, "neutral": 0.36, "up": 0.33}, "confidence": 36.23}],
        "up": 0.5,
    }


def test_words_under_the_same_names_stay() -> None:
    body = {"down": "a", "neutral": "b", "up": None}

    assert as_example(body) == body


@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_rounded_chances_add_up_to_one_and_are_near(first: float, second: float) -> None:
    low, high = sorted((first, second))
    chances = {"down": low, "neutral": high - low, "up": 1.0 - high}
    shown = as_example(chances)

    assert json.loads(json.dumps(shown)) == shown
    assert abs(sum(shown.values()) - 1) < 1e-9
    assert all(abs(shown[word] - chances[word]) <= 0.0151 and shown[word] >= 0 for word in chances)
