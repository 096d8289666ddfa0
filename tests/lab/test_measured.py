"""The figures that the methodology page shows are those of docs/explain/brain.md."""

import re
from pathlib import Path

from generator.catalog.measured import (
    CANDLE_ASSETS,
    CANDLE_DAYS,
    CANDLES,
    FULL_HOURS,
    HELD,
    HELD_LABELS,
    MOVE_SKILL,
    MOVE_SKILL_BY_HOUR,
    MOVES,
)

TOP = Path(__file__).resolve().parents[2]
REPORT = TOP / "docs" / "explain" / "brain.md"
README = TOP / "README.md"


def test_how_often_a_label_stood_is_that_of_the_report() -> None:
    text = REPORT.read_text(encoding="utf-8").split("<!-- state: begin -->")[1].split("<!-- state: end -->")[0]
    rows = [[cell.strip() for cell in line.split("|")[2:-2]] for line in text.strip().splitlines()]
    said = next(row for row in rows if row[0].count(",") == 1 and re.fullmatch(r"[\d.]+, [\d.]+", row[0]))
    gaps = next(row for row in rows if " to " in row[0] and ";" in row[0])

    for place, held in enumerate(HELD_LABELS):
        assert said[place] == f"{held.said}, {held.came}"
        assert gaps[place] == f"{held.low:+.1f} to {held.high:+.1f}; {held.hours:,}"
        assert rows[2][place] == str(held.days)


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
