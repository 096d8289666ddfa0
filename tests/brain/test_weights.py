"""The outlook's file: digested, refused when wrong."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from generator.brain.weights import PACKAGED, Weights, digest_of
from generator.errors import WeightsError


def body() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(PACKAGED.read_bytes())
    return loaded


def written(folder: Path, content: object) -> Path:
    path = folder / "outlook.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_the_packaged_file_loads_and_carries_its_recipe() -> None:
    weights = Weights.load()

    assert weights.digest == digest_of(body())
    assert weights.recipe["candles"] == "binance-spot-5m-2022-08-2023-09"
    assert weights.outlook.levels.shape == (4, 8)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda content: content["gain"].pop(), "gain"),
        (lambda content: content["horizons"].pop(), "horizons"),
        (lambda content: content["law"][0].__setitem__(0, float("nan")), "finite|cannot read"),
        (lambda content: content.pop("recipe"), "recipe"),
        (lambda content: content.update(format="other"), "is not a"),
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
    content["gain"][0] += 1e-6

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
