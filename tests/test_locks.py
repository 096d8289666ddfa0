"""The lock files hold what pyproject.toml asks for, and whatever is installed comes from them."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT: Final = Path(__file__).parents[1]
PROJECT: Final[Mapping[str, Any]] = tomllib.loads((ROOT / "pyproject.toml").read_text())
RUN: Final[list[str]] = PROJECT["project"]["dependencies"]
EXTRAS: Final[Mapping[str, list[str]]] = PROJECT["project"]["optional-dependencies"]
ASKED: Final = {
    "requirements.lock": RUN,
    "requirements-dev.lock": RUN + PROJECT["dependency-groups"]["dev"],
    **{f"requirements-{extra}.lock": EXTRAS[extra] for extra in EXTRAS},
    "requirements-build.lock": PROJECT["build-system"]["requires"],
}
INSTALLERS: Final = ("README.md", ".ci/wheel", "docs/howto/operating.md", "site/edge/container/Containerfile")


def pins(name: str) -> dict[str, str]:
    rows = re.findall(r"^([a-z0-9][a-z0-9.-]*)==([^ ;]+)", (ROOT / name).read_text(), re.MULTILINE)
    return {canonicalize_name(package): version for package, version in rows}


def test_every_lock_file_is_known_here() -> None:
    assert {path.name for path in ROOT.glob("requirements*.lock")} == set(ASKED)


@pytest.mark.parametrize("name", ASKED)
def test_a_lock_pins_what_the_project_asks_for(name: str) -> None:
    pinned = pins(name)

    for asked in map(Requirement, ASKED[name]):
        version = pinned.get(canonicalize_name(asked.name))
        assert version is not None, asked
        assert asked.specifier.contains(version), (asked, version)


@pytest.mark.parametrize("name", ASKED)
def test_a_lock_has_a_hash_for_every_package_and_names_no_registry(name: str) -> None:
    text = (ROOT / name).read_text()
    entries = text.replace("\\\n", " ").splitlines()

    assert [entry for entry in entries if not re.search(r"==.* --hash=sha256:[0-9a-f]{64}", entry)] == []
    assert "://" not in text


def test_a_package_has_one_version_in_all_locks() -> None:
    versions: dict[str, set[str]] = {}
    for name in ASKED:
        for package, version in pins(name).items():
            versions.setdefault(package, set()).add(version)

    assert {package: found for package, found in versions.items() if len(found) > 1} == {}


@pytest.mark.parametrize("name", INSTALLERS)
def test_nothing_is_built_or_installed_that_no_hash_covers(name: str) -> None:
    commands = re.findall(r"pip\"? (?:install|wheel) [^&\n]*", (ROOT / name).read_text())

    assert commands
    for command in commands:
        from_source = re.search(r" \.(?: |$)", command)
        assert re.search(r"--no-build-isolation" if from_source else r"\.lock|\.whl", command), command


@pytest.mark.parametrize(
    ("name", "extras"),
    [
        ("site/edge/container/Containerfile", {"live", "cloud", "postgres"}),
        ("docs/howto/serving.md", {"cloud", "postgres"}),
        ("docs/howto/operating.md", {"live"}),
        ("docs/howto/backups.md", {"live"}),
    ],
)
def test_what_installs_a_service_installs_the_extras_that_it_may_be_set_to(name: str, extras: set[str]) -> None:
    text = (ROOT / name).read_text()
    installed = set(re.findall(r"-r requirements-(\w+)\.lock", text)) & set(EXTRAS)

    assert installed >= extras


def test_a_first_try_installs_neither_venues_nor_object_stores() -> None:
    assert not pins("requirements.lock").keys() & {"ccxt", "cryptography", "obstore"}
