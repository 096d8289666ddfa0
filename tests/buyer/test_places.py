"""Places for free ballots: counted once for all gateways of a folder, over restarts and damage, without an address."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from gateway.buyer.places import (
    FOR_NEW_NETWORKS,
    FOR_NEWCOMERS,
    FREED_BEFORE_CLOSE_MS,
    PER_NETWORK,
    PER_ROUND,
    Claim,
    NoPlace,
    Places,
)
from gateway.http.limits import network_of
from gateway.wire.inbox import AnnouncedRound

CLOSES_MS = 1_795_298_400_000
TAKING = AnnouncedRound("BTC-20261120-130000", CLOSES_MS, CLOSES_MS - 600_000)
NOW_MS = TAKING.read_ms
ADDRESS = "203.0.113.77"


def claim(number: int, *, earlier: bool = False, address: str | None = None, network: str | None = None) -> Claim:
    """Ask for a place from a network of its own."""
    return Claim(f"voter {number}", address or f"address {number}", network or f"network {number}", earlier)


def take(places: Places, asked: Claim, now_ms: int = NOW_MS) -> NoPlace | None:
    return places.take(TAKING, asked, now_ms, lambda: None)


def fill(places: Places, count: int, *, earlier: bool = False, first: int = 0) -> list[NoPlace | None]:
    return [take(places, claim(number, earlier=earlier)) for number in range(first, first + count)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "free-vote.count"


def test_newcomers_get_250_places_and_five_minutes_before_the_close_all(path: Path) -> None:
    places, late_ms = Places(path), CLOSES_MS - FREED_BEFORE_CLOSE_MS

    assert fill(places, FOR_NEWCOMERS) == [None] * 250
    assert take(places, claim(900)) is NoPlace.NEWCOMERS
    assert take(places, claim(900, earlier=True)) is None
    assert take(places, claim(901), late_ms - 1) is NoPlace.NEWCOMERS
    assert take(places, claim(901), late_ms) is None
    assert places.full(TAKING, NOW_MS) is NoPlace.NEWCOMERS
    assert places.full(TAKING, late_ms) is None


def test_no_more_than_500_whoever_they_are(path: Path) -> None:
    places = Places(path)

    assert fill(places, PER_ROUND, earlier=True) == [None] * 500
    assert take(places, claim(900, earlier=True), CLOSES_MS - 3_000) is NoPlace.ROUND
    assert places.full(TAKING, NOW_MS) is NoPlace.ROUND


def test_a_network_has_60_places_and_an_address_in_it_40(path: Path) -> None:
    places = Places(path)
    of_one = [take(places, claim(number, address="a", network="n")) for number in range(41)]
    others = [take(places, claim(number, network="n", earlier=True)) for number in range(100, 121)]

    assert of_one == [None] * 40 + [NoPlace.ADDRESS]
    assert others == [None] * (PER_NETWORK - 40) + [NoPlace.NETWORK]


def test_thirty_of_a_class_who_each_change_their_mind_twice_all_have_a_place(path: Path) -> None:
    places = Places(path)

    said = [take(places, claim(pupil, address="a", network="n")) for _ in range(3) for pupil in range(30)]

    assert said == [None] * 90


def test_places_of_an_address_are_a_setting_and_its_network_has_no_fewer(path: Path) -> None:
    places = Places(path, per_address=100)

    of_one = [take(places, claim(number, address="a", network="n")) for number in range(101)]

    assert of_one == [None] * 100 + [NoPlace.ADDRESS]


def test_nine_networks_cannot_buy_a_round_out_even_with_earlier_voters(path: Path) -> None:
    places = Places(path)
    bought = [
        take(places, claim(number, network=f"bought {number % 9}", earlier=number % 2 == 0)) for number in range(900)
    ]

    assert bought.count(None) == 250 - FOR_NEW_NETWORKS + 250
    assert set(bought) == {None, NoPlace.NEWCOMERS, NoPlace.NEW_NETWORKS}
    assert fill(places, FOR_NEW_NETWORKS, first=1_000) == [None] * 50
    assert take(places, claim(2_000, earlier=True)) is NoPlace.ROUND


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("203.0.113.77", "203.0.113.0/24"),
        ("::ffff:203.0.113.77", "203.0.113.0/24"),
        ("2001:db8:1:2::3", "2001:db8:1::/48"),
        ("127.0.0.1", None),
        ("::1", None),
        ("a proxy", None),
    ],
)
def test_a_network_is_an_ipv4_24_or_an_ipv6_48(address: str, network: str | None) -> None:
    assert network_of(address) == network


def test_loopback_is_counted_for_the_round_alone(path: Path) -> None:
    places = Places(path)

    assert [take(places, Claim(str(number), None, None, earlier=False)) for number in range(61)] == [None] * 61


def test_a_changed_vote_is_stored_and_takes_no_second_place_also_after_a_restart(path: Path) -> None:
    stored: list[int] = []
    for _ in range(3):
        Places(path).take(TAKING, claim(1), NOW_MS, lambda: stored.append(1))

    assert stored == [1, 1, 1]
    assert fill(Places(path), FOR_NEWCOMERS - 1, first=2) == [None] * 249


def test_a_restart_and_a_second_gateway_count_on(path: Path) -> None:
    one, two = Places(path), Places(path)
    said = [take((one, two)[number % 2], claim(number, network="n")) for number in range(61)]

    assert said == [None] * 60 + [NoPlace.NETWORK]
    assert take(Places(path), claim(900, network="n")) is NoPlace.NETWORK


def test_processes_at_once_count_together(path: Path) -> None:
    program = (
        "import sys, json; from pathlib import Path; from tests.buyer.test_places import Places, claim, take\n"
        "places, first = Places(Path(sys.argv[1])), int(sys.argv[2])\n"
        "print(json.dumps([take(places, claim(first + n, network='n')) is None for n in range(40)]))"
    )
    runs = [
        subprocess.Popen([sys.executable, "-c", program, str(path), str(first)], stdout=subprocess.PIPE, text=True)
        for first in (0, 100)
    ]

    assert sum(sum(json.loads(run.communicate()[0])) for run in runs) == PER_NETWORK


def test_the_file_holds_no_address_and_no_voter_and_is_its_owners_alone(path: Path) -> None:
    asked = Claim("voter", ADDRESS, "203.0.113.0/24", earlier=False)
    take(Places(path), asked)

    assert path.stat().st_mode & 0o777 == 0o600
    assert b"203.0" not in path.read_bytes()
    assert b"voter" not in path.read_bytes()


def test_with_the_round_its_key_and_all_hashes_go(path: Path) -> None:
    places = Places(path)
    take(places, claim(1))
    key = path.read_bytes().split()[2]
    places.forget(CLOSES_MS - 1)
    kept = path.read_bytes()
    places.forget(CLOSES_MS)

    assert (key in kept, path.read_bytes()) == (True, b"")
    take(Places(path), claim(1))
    assert path.read_bytes().split()[2] != key


def test_the_next_round_has_a_key_of_its_own_and_all_places(path: Path) -> None:
    fill(Places(path), FOR_NEWCOMERS)
    key = path.read_bytes().split()[2]
    following = AnnouncedRound("BTC-20261120-140000", CLOSES_MS + 3_600_000, NOW_MS)

    assert Places(path).take(following, claim(1), NOW_MS, lambda: None) is None
    assert key not in path.read_bytes()


def test_what_cannot_be_stored_takes_no_place(path: Path) -> None:
    places = Places(path)

    def fails() -> None:
        raise OSError("full")

    for number in range(FOR_NEWCOMERS + 1):
        with pytest.raises(OSError, match="full"):
            places.take(TAKING, claim(number), NOW_MS, fails)
    assert take(places, claim(900)) is None


@pytest.mark.parametrize("cut", [1, 20, 60, 100])
def test_a_line_cut_short_by_a_power_cut_still_counts_for_the_round(path: Path, cut: int) -> None:
    fill(Places(path), FOR_NEWCOMERS)
    path.write_bytes(path.read_bytes()[:-cut])
    after = Places(path)

    assert take(after, claim(900)) is NoPlace.NEWCOMERS
    assert take(after, claim(901, earlier=True)) is None
    assert take(Places(path), claim(902)) is NoPlace.NEWCOMERS


DAMAGED: dict[str, Callable[[bytes], bytes]] = {
    "the first line": lambda data: b"x" + data.replace(b" ", b"?", 2),
    "every line": lambda data: data.replace(b"new", b"\xff\x00\xff"),
    "all but the ends of lines": lambda data: b"\n".join(b"\xff" for _ in data.split(b"\n")),
}


@pytest.mark.parametrize("damage", DAMAGED.values(), ids=DAMAGED.keys())
def test_of_a_damaged_file_the_number_of_ballots_is_kept(path: Path, damage: Callable[[bytes], bytes]) -> None:
    fill(Places(path), FOR_NEWCOMERS)
    path.write_bytes(damage(path.read_bytes()))
    after = Places(path)

    assert take(after, claim(900)) is NoPlace.NEWCOMERS
    assert take(after, claim(901, earlier=True)) is None
    assert take(Places(path), claim(902)) is NoPlace.NEWCOMERS
    assert take(Places(path), claim(902), CLOSES_MS - FREED_BEFORE_CLOSE_MS) is None


def test_damage_never_takes_more_than_the_newcomers_places(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"\n" + b"garbage\n" * 5_000)

    assert take(Places(path), claim(1)) is NoPlace.NEWCOMERS
    assert fill(Places(path), PER_ROUND - FOR_NEWCOMERS, earlier=True, first=2) == [None] * 250


def test_a_file_that_cannot_be_read_counts_as_if_newcomers_had_their_places(path: Path) -> None:
    path.mkdir(parents=True)  # in its place, so that not even root can read it
    with capture_logs() as logged:
        places = Places(path)
        said = [take(places, claim(1)), take(places, claim(2, earlier=True)), take(places, claim(3, earlier=True))]

    assert said == [NoPlace.NEWCOMERS, None, None]
    assert take(places, claim(4), CLOSES_MS - FREED_BEFORE_CLOSE_MS) is None
    assert len(logged) == 1


def test_where_no_file_can_be_kept_a_process_counts_by_itself(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file in the place of the folder")
    places = Places(tmp_path / "state" / "free-vote.count")

    assert fill(places, FOR_NEWCOMERS + 1) == [None] * 250 + [NoPlace.NEWCOMERS]


def test_a_file_removed_under_a_gateway_is_written_again(path: Path) -> None:
    places = Places(path)
    fill(places, FOR_NEWCOMERS - 1)
    path.unlink()

    assert take(places, claim(900)) is None
    assert take(Places(path), claim(901)) is NoPlace.NEWCOMERS


def test_a_new_file_of_another_gateway_loses_nothing_that_this_one_knows(path: Path) -> None:
    places = Places(path)
    fill(places, FOR_NEWCOMERS - 2)
    path.unlink()
    take(Places(path), claim(900))

    assert take(places, claim(901)) is None
    assert take(places, claim(902)) is None
    assert take(Places(path), claim(903)) is NoPlace.NEWCOMERS


def test_a_gateway_that_is_stopped_with_the_lock_holds_up_no_other(path: Path) -> None:
    take(Places(path), claim(1))
    program = (
        "import fcntl, sys, time; f = open(sys.argv[1], 'r+'); fcntl.flock(f, 2); print(flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    holder.stdout.readline()

    said = [take(Places(path, lock_steps=1), claim(2)), take(Places(path, lock_steps=1), claim(3, earlier=True))]
    holder.kill()
    holder.communicate()

    assert said == [NoPlace.NEWCOMERS, None]
    assert take(Places(path), claim(2)) is None
