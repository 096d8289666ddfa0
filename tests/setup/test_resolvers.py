"""A resolver at a link-local address is named, with the drop-in that lets the units reach it."""

import subprocess
from pathlib import Path

import pytest

from generator.cli.doctor import check_resolver
from generator.operate.setup.machine import Machine
from generator.operate.setup.resolvers import DROP_IN, advice, link_local_resolvers


def machine_with(root: Path, resolv: str) -> Machine:
    for path, text in (("etc/resolv.conf", resolv), ("etc/systemd/system/emi-schedule.service", "")):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return Machine(root)


@pytest.mark.parametrize(
    ("resolv", "found"),
    [
        ("nameserver 169.254.169.253\n", ["169.254.169.253"]),
        ("search x\n nameserver fe80::1%eth0\nnameserver 9.9.9.9\n", ["fe80::1"]),
        ("nameserver 127.0.0.53\noptions edns0\n", []),
        ("# nameserver 169.254.169.253\nnameserver\nnameserver what\n", []),
    ],
)
def test_link_local_resolvers_are_found(resolv: str, found: list[str], tmp_path: Path) -> None:
    assert link_local_resolvers(machine_with(tmp_path, resolv)) == found


def test_the_step_that_is_advised_ends_the_advice(tmp_path: Path) -> None:
    machine = machine_with(tmp_path, "nameserver 169.254.169.253\n")
    step = advice(machine)
    assert step is not None
    assert [check.found for check in check_resolver(tmp_path)] == [step]

    command = step.partition("allow it: ")[2].partition(" && systemctl")[0].replace("/etc/", f"{tmp_path}/etc/")
    subprocess.run(["/bin/sh", "-ec", command], check=True)

    assert machine.at(DROP_IN).read_text() == "[Service]\nIPAddressAllow=169.254.169.253\n"
    assert advice(machine) is None
    assert check_resolver(tmp_path) == []


def test_a_machine_without_our_units_is_not_advised(tmp_path: Path) -> None:
    machine_with(tmp_path, "nameserver 169.254.169.253\n")
    (tmp_path / "etc/systemd/system/emi-schedule.service").unlink()

    assert check_resolver(tmp_path) == []
