"""The figures that the methodology page shows are those of docs/explain/brain.md, measured on the packaged weights."""

import re
from pathlib import Path

from generator.brain.weights import Weights
from generator.catalog.measured import DAYS, MARKETS, MEASURED, SEEDS, WEIGHTS

REPORT = Path(__file__).resolve().parents[2] / "docs" / "explain" / "brain.md"


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
