"""The figures that the methodology page shows are those of docs/explain/brain.md, measured on the packaged weights."""

import re
from pathlib import Path

from generator.brain.weights import Weights
from generator.catalog.measured import (
    CANDLE_ASSETS,
    CANDLE_DAYS,
    CANDLES,
    DAYS,
    FULL_HOURS,
    HELD,
    MARKETS,
    MEASURED,
    MOVE_SKILL,
    MOVE_SKILL_BY_HOUR,
    MOVES,
    SEEDS,
    WEIGHTS,
)

TOP = Path(__file__).resolve().parents[2]
REPORT = TOP / "docs" / "explain" / "brain.md"
README = TOP / "README.md"


def test_the_published_figures_are_those_of_the_report() -> None:
    text = REPORT.read_text(encoding="utf-8").split("<!-- measured: begin -->")[1].split("<!-- measured: end -->")[0]
    text = text.strip().split("\nSeeds ")[0]  # further spans of seeds stand below the first
    row = r"^\| (\w+) \| this brain \| ([\d.]+) \| [\d.]+ \| ([\d.]+)(?: \([\d., ]+\))? \|"
    rows = re.findall(row, text, re.MULTILINE)

    assert {(one.family, one.accuracy_percent, one.error_points) for one in MEASURED} == {
        (family, round(100 * float(accuracy), 1), round(100 * float(error), 1)) for family, accuracy, error in rows
    }
    assert text.startswith(f"Seeds {SEEDS}, weights `{WEIGHTS}`, {2 * DAYS} days a market, the first {DAYS}")


def test_the_published_figures_are_of_the_packaged_weights() -> None:
    first, last = (int(seed) for seed in SEEDS.split("-"))

    assert Weights.load().digest.startswith(WEIGHTS)
    assert last - first + 1 == MARKETS


def test_the_coverage_of_all_horizons_is_that_of_the_report() -> None:
    text = REPORT.read_text(encoding="utf-8").split("<!-- coverage: begin -->")[1].split("<!-- coverage: end -->")[0]
    number = r"([\d.]+)"
    rows = re.findall(rf"^\| (\w+) \| (\d+) \| {number} \({number} to {number}\) \| (\d+) \|", text, re.MULTILINE)
    skills = re.findall(rf"\| \+{number} \(\+{number} to \+{number}\) \| (\d+) \|", text)

    assert text.strip().startswith(f"{CANDLES}: {CANDLE_ASSETS} assets, {CANDLE_DAYS} days, {FULL_HOURS} full hours")
    assert [tuple(map(str, (one.horizon, one.stated, one.held, one.low, one.high, one.moves))) for one in HELD] == rows
    assert len(HELD) == 8
    for skill, row in zip((MOVE_SKILL, MOVE_SKILL_BY_HOUR), skills, strict=True):
        assert (*(f"{value:.2f}" for value in skill), str(MOVES)) == row


def test_the_readme_names_all_four_horizons_as_they_were_measured() -> None:
    text = README.read_text(encoding="utf-8")

    for half, most in zip(HELD[::2], HELD[1::2], strict=True):
        assert f"- {half.words}: {half.interval} and {most.interval} of {half.moves:,} moves\n" in text
    assert f"{FULL_HOURS} full\nhours" in text
    assert f"scored {MOVE_SKILL.words} better" in text
    assert f"{MOVE_SKILL_BY_HOUR.words} better than a base rate by hour of the day ({MOVES:,} outcomes)" in text
