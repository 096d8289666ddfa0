"""The generator and the gateway are installed as two users, who share the vault and the inbox and nothing else."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from ruamel.yaml import YAML

from generator.cli.up import OF_PRODUCTION

EDGE: Final = Path(__file__).parents[2] / "site" / "edge"
SYSTEMD: Final = EDGE / "systemd"
UNITS: Final = {"generator": SYSTEMD / "emi-schedule.service", "gateway": SYSTEMD / "emi-gateway.service"}
CONTAINERFILE: Final = (EDGE / "container" / "Containerfile").read_text()
COMPOSE: Final[Mapping[str, Any]] = YAML(typ="safe").load(EDGE / "container" / "compose.yaml")
VAULT: Final = "/var/lib/emi/vault"
INBOX: Final = "/var/lib/emi/inbox"
SITE: Final = "/srv/emi/site"
STATUSES: Final = "/var/lib/emi-backup"


def words(unit: Path, name: str) -> list[str]:
    """Return what a unit says under a name, over all its lines, without systemd's mark for what may be missing."""
    lines = re.findall(rf"^{name}=(.*)$", unit.read_text(), re.MULTILINE)
    return [word.removeprefix("-") for line in lines for word in line.split()]


def mounts(service: str) -> dict[str, str]:
    """Return where a service mounts which volume, and how."""
    rows = [volume.split(":") for volume in COMPOSE["services"][service]["volumes"]]
    return {row[1]: row[2] if len(row) > 2 else "rw" for row in rows}


@pytest.mark.parametrize("program", UNITS)
def test_a_program_has_a_user_and_a_state_folder_of_its_own(program: str) -> None:
    unit, state = UNITS[program], f"/var/lib/emi/{program}"
    users = (SYSTEMD / "emi.sysusers").read_text()

    assert words(unit, "User") == [f"emi-{program}"]
    assert re.search(rf'^u emi-{program} -:emi "[^"]+" {state}$', users, re.MULTILINE)
    assert f"EMI_STATE_DIR={state}" in words(unit, "Environment")
    assert words(unit, "StateDirectory") == [f"emi/{program}"]
    assert (words(unit, "StateDirectoryMode"), words(unit, "UMask")) == (["0700"], ["0077"])


def test_a_program_gives_back_what_its_threads_freed() -> None:
    one = "MALLOC_ARENA_MAX=1"

    assert all(one in words(unit, "Environment") for unit in UNITS.values())
    assert f" {one} " in CONTAINERFILE
    assert dict([one.split("=")]).items() <= OF_PRODUCTION.items()


def test_neither_unit_sees_what_is_the_other_s() -> None:
    assert set(words(UNITS["gateway"], "InaccessiblePaths")) == {"/var/lib/emi/generator", "/srv/emi", "/etc/emi"}
    assert words(UNITS["generator"], "InaccessiblePaths") == ["/var/lib/emi/gateway"]


def test_the_vault_is_written_by_the_generator_and_read_by_the_gateway_s_group() -> None:
    rows = {
        row.split()[1]: row.split()[2:] for row in (SYSTEMD / "emi.tmpfiles").read_text().splitlines() if row[0] == "d"
    }

    assert rows[VAULT] == ["0750", "emi-generator", "emi"]
    assert rows[SITE] == ["2750", "emi-generator", "www-data"]
    assert rows[INBOX] == ["3730", "emi-generator", "emi"]
    assert rows[STATUSES] == ["1775", "root", "emi"]  # sticky: the group adds files and touches none of others
    assert set(words(UNITS["generator"], "ReadWritePaths")) == {VAULT, INBOX, SITE, STATUSES}
    assert words(UNITS["gateway"], "ReadWritePaths") == [INBOX]
    assert words(UNITS["gateway"], "Group") == words(UNITS["generator"], "Group") == ["emi"]
    shared = (SYSTEMD / "emi.env").read_text().splitlines()
    assert {f"EMI_VAULT_URL=file://{VAULT}", f"EMI_ARENA__INBOX_URL={INBOX}"} <= set(shared)


@pytest.mark.parametrize("program", UNITS)
def test_a_program_is_given_the_shared_settings_and_its_own_secrets(program: str) -> None:
    service = COMPOSE["services"][program]

    assert words(UNITS[program], "EnvironmentFile") == ["/etc/emi/emi.env", f"/etc/emi/{program}.env"]
    assert service["env_file"] == ["emi.env", f"{program}.env"]


def test_the_shared_settings_hold_no_secret_and_no_place_of_one_program() -> None:
    shared = (SYSTEMD / "emi.env").read_text()

    assert re.findall(r"EMI_\w*(?:TOKEN|MEMORY|LEDGER|LEASE|KEY|STATE_DIR)\w*", shared) == []


def test_two_containers_have_two_users_and_share_the_vault_read_only_at_the_gateway() -> None:
    ids = dict(re.findall(r"useradd --system --uid (\d+) --gid emi .* emi-(\w+) &&", CONTAINERFILE))

    for uid, program in ids.items():
        assert COMPOSE["services"][program]["user"] == f"{uid}:10001"
        assert mounts(program)[f"/var/lib/emi/{program}"] == "rw"
    assert set(ids.values()) == set(UNITS)
    assert set(mounts("generator")) & set(mounts("gateway")) == {VAULT, INBOX}
    assert (mounts("generator")[VAULT], mounts("gateway")[VAULT]) == ("rw", "ro")
    assert mounts("edge")[SITE] == "ro"
    assert COMPOSE["services"]["gateway"]["environment"]["EMI_STATE_DIR"] == "/var/lib/emi/gateway"


def test_the_folders_of_the_image_belong_to_who_writes_them() -> None:
    folders = dict(re.findall(r"install -d (-o \S+ -g \S+ -m \d+) (\S+)", CONTAINERFILE))

    for program in UNITS:
        assert folders[f"-o emi-{program} -g emi -m 0700"] == f"/var/lib/emi/{program}"
    assert folders["-o emi-generator -g emi -m 0750"] == VAULT
    assert folders["-o emi-generator -g emi -m 3730"] == INBOX
    assert folders["-o emi-generator -g emi -m 0755"] == SITE


def test_secrets_next_to_the_compose_file_get_neither_into_git_nor_into_the_image() -> None:
    for ignoring in (EDGE.parents[1] / ".gitignore", EDGE / "container" / "Containerfile.dockerignore"):
        assert "site/edge/container/*.env" in ignoring.read_text().splitlines(), ignoring.name


def test_images_of_others_are_named_by_digest() -> None:
    base = re.search(r"^ARG BASE=(\S+)$", CONTAINERFILE, re.MULTILINE)

    assert base is not None
    for image in (base[1], COMPOSE["services"]["edge"]["image"]):
        assert re.search(r"^docker\.io/[a-z/-]+:[\w.-]+@sha256:[0-9a-f]{64}$", image), image
