"""What a year costs and weighs is shown as multiples of what it was first."""

from dataclasses import fields, replace

from tests.year.figures import Point, drawn, table

FIRST = Point(**dict.fromkeys((field.name for field in fields(Point)), 2.0))


def test_times_are_multiples_of_the_first_and_sizes_are_megabytes() -> None:
    lines = table([FIRST, replace(FIRST, day=30, start_s=3.0, record_mb=200.0)])

    assert lines[0].startswith("| day | start, times the first |")
    assert lines[-1].split(" | ")[:2] == ["| 30", "1.50"]
    assert " | 200.0 | " in lines[-1]


def test_the_drawing_names_each_figure_and_how_much_it_grew() -> None:
    svg = drawn([FIRST, replace(FIRST, record_mb=200.0)])

    assert svg.count("<polyline") == len(fields(Point)) - 1
    assert ">100.00 times<" in svg
