import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.ledger.owner import is_gone, make_owner

FREE_PID = "4194999"  # past what Linux gives out


def renamed(owner: str, **parts: str) -> str:
    """Return an owner's name with other parts."""
    names = ("host", "boot", "namespace", "pid", "began", "chance")
    old = dict(zip(names, owner.rsplit(":", 5), strict=True))
    return ":".join({**old, **parts}.values())


def dead_owner() -> str:
    """Return the name of a process that ran here and runs no more."""
    return renamed(make_owner(), pid=FREE_PID, chance="dead")


def test_a_dead_process_of_this_namespace_is_known_to_be_gone() -> None:
    me = make_owner()

    assert is_gone(dead_owner(), me)
    assert is_gone(renamed(me, began="1"), me)
    assert not is_gone(me, me)
    assert not is_gone(renamed(me, chance="another"), me)


@pytest.mark.parametrize("part", ["host", "boot", "namespace"])
def test_a_process_of_another_machine_boot_or_namespace_is_never_called_gone(part: str) -> None:
    me = make_owner()

    assert not is_gone(renamed(dead_owner(), **{part: "other"}), me)


@pytest.mark.parametrize("part", ["boot", "namespace"])
def test_where_the_system_does_not_say_whose_ids_are_meant_no_one_is_gone(part: str) -> None:
    me = renamed(make_owner(), **{part: ""})

    assert not is_gone(renamed(dead_owner(), **{part: ""}), me)


def test_a_name_of_an_older_version_is_waited_for_since_its_id_may_count_elsewhere() -> None:
    me = make_owner()
    host = me.rsplit(":", 5)[0]

    assert not is_gone(f"{host}:{FREE_PID}:1:ab", me)
    assert not is_gone("nonsense", me)


def test_two_gateways_in_two_namespaces_of_one_host_have_names_that_do_not_meet() -> None:
    unshare = shutil.which("unshare")
    if unshare is None or os.geteuid() != 0:
        pytest.skip("needs root and unshare: a second namespace of process ids")
    code = "from gateway.ledger.owner import make_owner; print(make_owner())"

    made = subprocess.run(
        [unshare, "-pf", "--mount-proc", sys.executable, "-c", code], capture_output=True, text=True, check=False
    )

    if made.returncode != 0:
        pytest.skip("needs the right to make a namespace of process ids")
    assert not is_gone(made.stdout.strip(), make_owner())


def test_a_name_says_host_boot_namespace_process_and_when_it_began() -> None:
    host, boot, namespace, pid, began, chance = make_owner().rsplit(":", 5)

    assert (host, pid) == (socket.gethostname(), str(os.getpid()))
    assert boot == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert namespace == str(Path("/proc/self/ns/pid").stat().st_ino)
    assert began == re.sub(r"\(.*\)", "name", Path("/proc/self/stat").read_text()).split()[21]
    assert re.fullmatch(r"[0-9a-f]{8}", chance)


def test_where_the_system_says_nothing_the_name_has_empty_places(tmp_path: Path) -> None:
    _, boot, namespace, pid, began, _ = make_owner(tmp_path).rsplit(":", 5)

    assert (boot, namespace, pid, began) == ("", "", str(os.getpid()), "")


def test_a_host_whose_name_holds_colons_is_one_host() -> None:
    me = renamed(make_owner(), host="fd00::1")

    assert is_gone(renamed(me, pid=FREE_PID), me)
    assert not is_gone(renamed(me, pid=FREE_PID, host="fd01::1"), me)


@pytest.mark.parametrize("parts", [{"began": ""}, {"pid": "7seven"}, {"pid": "9" * 30}])
def test_a_process_of_which_not_enough_is_known_is_never_called_gone(parts: dict[str, str]) -> None:
    me = make_owner()

    assert not is_gone(renamed(me, chance="another", **parts), me)
