"""`emi setup` as it is typed: what it refuses, what it shows, what it remembers."""

from pathlib import Path

import pytest

from tests.support.debian import debian, everything_in
from tests.support.processes import emi_here

PAIR = ("--cert", "/tls/chain.pem", "--key", "/tls/key.pem")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return debian(tmp_path)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["localhost", "--apply"], "'localhost' is not a host name"),
        (["-a.test", "--dry-run"], "No such option"),
        (["192.0.2.1"], "'192.0.2.1' is not a host name"),
        (["https://api.test"], "is not a host name"),
        (["api.test", "--set", "EMI_NOTHING=1"], "is not NAME=VALUE of a setting"),
        (["api.test", "--set", "EMI_ALGOD_TOKEN=x"], "EMI_ALGOD_TOKEN is a secret"),
        (["api.test", "--set", "EMI_BASE_URL=https://b.test"], "EMI_BASE_URL is set by emi setup"),
        (["api.test", "--set", 'EMI_CONTACT=a"b'], "EMI_CONTACT has a quote"),
        (["api.test", "--set", "EMI_NETWORK=moon"], "EMI_NETWORK is 'moon'"),
        (["api.test", "--set", "EMI_PAY_TO=ABC"], "'ABC' is not an Algorand address"),
        (["api.test", "--cert", "tls.pem"], "'tls.pem' is not an absolute path"),
        (["api.test", "--apply", "--undo"], "choose one of"),
        (["api.test", "--delete-data"], "--delete-data goes with --undo"),
        (["--apply"], "name the DOMAIN"),
        (["api.test", "--set", "EMI_PROJECT=A $B", "--dry-run", *PAIR], "which nginx cannot take"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_and_nothing_is_made(root: Path, words: list[str], said: str) -> None:
    before = everything_in(root)

    done = emi_here("setup", *words, "--root", str(root), cwd=root)

    assert done.returncode != 0
    assert said in done.stderr
    assert everything_in(root) == before


def test_without_a_flag_the_plan_is_shown_and_nothing_is_made(root: Path) -> None:
    before = everything_in(root)

    done = emi_here("setup", "api.test", *PAIR, "--root", str(root), cwd=root)

    assert done.returncode == 0, done.stderr
    assert "user    emi-gateway" in done.stdout
    assert everything_in(root) == before


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ("usr/sbin/nginx", "apt-get install nginx"),
        ("opt/emi/bin/emi", "install the program there"),
        ("tls/key.pem", "name the file with --key"),
    ],
)
def test_what_the_machine_lacks_is_named_before_anything_is_made(root: Path, missing: str, said: str) -> None:
    (root / missing).unlink()
    before = everything_in(root)

    done = emi_here("setup", "api.test", *PAIR, "--root", str(root), "--apply", cwd=root)

    assert done.returncode == 1
    assert said in done.stderr
    assert everything_in(root) == before


def test_another_system_than_debian_12_and_13_is_refused(tmp_path: Path) -> None:
    root = debian(tmp_path, version="11")

    done = emi_here("setup", "api.test", *PAIR, "--root", str(root), "--apply", cwd=root)

    assert "emi setup knows Debian 12 and 13" in done.stderr


def test_another_name_than_that_of_the_settings_is_refused(root: Path) -> None:
    (root / "etc/emi").mkdir()
    (root / "etc/emi/emi.env").write_text("EMI_BASE_URL=https://first.test\n")

    done = emi_here("setup", "second.test", *PAIR, "--root", str(root), "--apply", cwd=root)

    assert "EMI_BASE_URL is https://first.test in /etc/emi, not https://second.test" in done.stderr


def test_undo_where_nothing_was_set_up_says_so(root: Path) -> None:
    done = emi_here("setup", "--undo", "--root", str(root), cwd=root)

    assert (done.returncode, done.stdout) == (0, "Nothing to undo: nothing was set up here.\n")
