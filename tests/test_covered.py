"""The floors of what the suite runs: a room falls below its own, appears without one, or goes."""

from tests.covered import FLOORS, PROGRAMS, ROOT, broken, room_of, shares


def summary(ran: int, of: int, branches: int = 0, all_branches: int = 0) -> dict[str, int]:
    return {
        "covered_lines": ran,
        "num_statements": of,
        "covered_branches": branches,
        "num_branches": all_branches,
    }


def test_a_room_is_counted_over_all_its_files_lines_and_branches_alike() -> None:
    files = {
        "gateway/wire/a.py": summary(8, 10),
        "gateway/wire/deep/b.py": summary(2, 6, 1, 4),
        "gateway/clock.py": summary(0, 0),
    }

    assert shares(files) == {"gateway": 100.0, "gateway/wire": 55.0}


def test_a_room_below_its_floor_without_one_or_gone_is_named() -> None:
    ran = {"gateway/wire": 89.9, "gateway/vault": 95.0, "gateway/new": 99.0}

    lines = broken(ran, {"gateway/wire": 90, "gateway/vault": 95, "gateway/old": 50})

    assert [line.partition(":")[0] for line in lines] == ["gateway/wire", "gateway/new", "gateway/old"]


def test_every_room_has_a_floor() -> None:
    files = [path.relative_to(ROOT).as_posix() for program in PROGRAMS for path in (ROOT / program).rglob("*.py")]

    assert {room_of(file) for file in files} == FLOORS.keys()
