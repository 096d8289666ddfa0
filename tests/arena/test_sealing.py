"""Sealed forecasts."""

import hashlib
import json
from dataclasses import fields, replace

import pytest

from generator.arena.life import open_round, schedule_round
from generator.arena.published import canonical_json, digest_of, forecast_of
from generator.arena.timetable import Timetable
from generator.catalog.words import Prediction
from generator.values.rounds import Round
from tests.support.arena_inputs import NOON, forecast_at


def an_open_round(salt: str = "00ff") -> Round:
    slot = Timetable(60).next_slot(NOON)
    waiting = schedule_round(slot, ("BTC",), opens_ms=NOON, warm_up=False)
    forecast = forecast_at(NOON)("BTC", 60)
    assert forecast is not None
    return open_round(waiting, forecast, NOON, salt=salt, regime_mode="NEUTRAL", previous=None, simulated_crowd=False)


def _whole(number: float) -> float:
    return int(number) if number == int(number) else number


def test_a_reader_gets_the_digest_with_a_json_library_and_sha256() -> None:
    sealed = an_open_round()

    as_browsers_write = json.loads(json.dumps(forecast_of(sealed)), parse_float=lambda text: _whole(float(text)))
    text = json.dumps(as_browsers_write, sort_keys=True, separators=(",", ":"))

    assert hashlib.sha256((text + "00ff").encode()).hexdigest() == sealed.sealed_digest


def test_another_salt_gives_another_digest_so_forecasts_cannot_be_guessed() -> None:
    assert an_open_round("00ff").sealed_digest != an_open_round("01ff").sealed_digest


@pytest.mark.parametrize(
    "change",
    [
        {"band_bps": 20.13},
        {"prediction": Prediction.BEARISH},
        {"probabilities": (0.3, 0.3, 0.4)},
        {"base_rate": (0.3, 0.3, 0.4)},
        {"confidence_percent": 99.0},
        {"regime_mode": "RISK_ON"},
        {"start_ms": NOON},
        {"end_ms": NOON},
        {"asset": "ETH"},
        {"round_id": "BTC-20261120-140000"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_every_part_of_the_forecast_is_sealed(change: dict[str, object]) -> None:
    sealed = an_open_round()
    assert sealed.salt is not None

    changed = replace(sealed, **change)  # type: ignore[arg-type]

    assert set(change) <= {field.name for field in fields(Round)}
    assert digest_of(forecast_of(changed), sealed.salt) != sealed.sealed_digest


def test_canonical_json_has_one_form_for_whole_numbers_and_no_nan() -> None:
    assert canonical_json({"b": 12.0, "a": [0.5, None]}) == b'{"a":[0.5,null],"b":12}'
    with pytest.raises(ValueError, match="JSON compliant"):
        canonical_json({"a": float("nan")})


def test_the_band_and_the_chances_are_frozen_as_published() -> None:
    sealed = an_open_round()

    assert sealed.band_bps == 20.12
    assert sealed.probabilities is not None
    assert all(chance == round(chance, 4) for chance in sealed.probabilities)
