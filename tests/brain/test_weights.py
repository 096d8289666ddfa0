"""The weights file: versioned, digested, refused when wrong."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from generator.brain.weights import PACKAGED, PACKAGED_OUTLOOK, Weights, digest_of
from generator.errors import WeightsError
from generator.lab.train import SEEDS


def body() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(PACKAGED.read_bytes())
    return loaded


def written(folder: Path, content: object) -> Path:
    path = folder / "weights.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_the_packaged_weights_load_and_carry_their_recipe() -> None:
    weights = Weights.load()

    far = json.loads(PACKAGED_OUTLOOK.read_bytes())
    both = f"{digest_of(body())} {digest_of(far)}"
    assert weights.digest == hashlib.sha256(both.encode()).hexdigest()
    assert far["recipe"]["candles"] == "binance-spot-5m-2022-08-2023-09"
    assert weights.recipe["network"]["units"] == weights.market.units


def test_only_training_seeds_were_used_and_the_held_out_family_was_not() -> None:
    seeds = body()["recipe"]["seeds"]

    assert all(1000 <= int(end) <= 1999 for span in seeds.values() for end in span.split("-"))
    assert "alt" not in seeds
    assert {family: f"{s.start}-{s.stop - 1}" for family, s in SEEDS.items()} == seeds


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda content: content.update(version=1), "version"),
        (lambda content: content["features"].__setitem__(1, "something_else"), "features"),
        (lambda content: content["asset"]["carry"].pop(), "shape"),
        (lambda content: content["market"].pop("direct"), "parts"),
        (lambda content: content["asset"]["rest"].__setitem__(0, float("nan")), "finite"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, spoil: Callable[[dict[str, Any]], None], reason: str) -> None:
    content = body()
    spoil(content)
    content["digest"] = digest_of(content)

    with pytest.raises(WeightsError, match=reason):
        Weights.load(written(tmp_path, content))


def test_a_changed_number_is_refused_by_the_digest(tmp_path: Path) -> None:
    content = body()
    content["market"]["inputs"][0][0] += 1e-6

    with pytest.raises(WeightsError, match="digest"):
        Weights.load(written(tmp_path, content))


@pytest.mark.parametrize("content", [[], 3, {"format": "other"}])
def test_other_json_is_refused(tmp_path: Path, content: object) -> None:
    with pytest.raises(WeightsError, match="is not a"):
        Weights.load(written(tmp_path, content))


def test_a_missing_file_and_no_json_are_refused(tmp_path: Path) -> None:
    (tmp_path / "no.json").write_text("{", encoding="utf-8")

    with pytest.raises(WeightsError, match="cannot read"):
        Weights.load(tmp_path / "absent.json")
    with pytest.raises(WeightsError, match="cannot read"):
        Weights.load(tmp_path / "no.json")


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda content: content["gain"].pop(), "gain"),
        (lambda content: content["horizons"].pop(), "horizons"),
        (lambda content: content["law"][0].__setitem__(0, float("nan")), "finite"),
        (lambda content: content.update(format="other"), "is not a"),
    ],
)
def test_a_wrong_outlook_is_refused(tmp_path: Path, spoil: Callable[[dict[str, Any]], None], reason: str) -> None:
    content = json.loads(PACKAGED_OUTLOOK.read_bytes())
    spoil(content)
    content["digest"] = digest_of(content)

    with pytest.raises(WeightsError, match=reason):
        Weights.load(outlook=written(tmp_path, content))
