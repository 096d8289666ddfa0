"""A machine is set up, looked at again, taken down, and survives whatever ends it on the way."""

import re
from contextlib import suppress
from pathlib import Path

import pytest

from generator.errors import SetupError
from generator.operate.setup.apply import apply, shown, undo
from generator.operate.setup.journal import Journal
from generator.operate.setup.machine import Machine
from generator.operate.setup.plan import ENABLED, PLAY, PROGRAMS, Choice, check_domain, plan_of
from generator.operate.setup.settings import to_be_set
from generator.operate.setup.steps import Command, Folder, Step
from generator.site.resources import Resources
from tests.support.debian import Commands, Dying, PowerCut, debian, everything_in

EDGE = Resources.locate().site / "edge"
GUIDES = Resources.locate().howto
CHOICE = Choice("api.test", "/tls/chain.pem", "/tls/key.pem", {"EMI_CONTACT": "ops@api.test"})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return debian(tmp_path)


class Booted(Machine):
    """A machine on which systemd runs."""

    @property
    def is_running(self) -> bool:
        return True


def machine_at(root: Path) -> tuple[Machine, Commands]:
    commands = Commands(root)
    return Machine(root, commands), commands


def set_up(machine: Machine, choice: Choice = CHOICE, edge: Path = EDGE) -> list[str]:
    """Apply the plan; return the lines of what changed."""
    lines: list[str] = []
    journal = Journal.open(machine)
    try:
        apply(plan_of(choice, edge, GUIDES, machine), machine, journal, lines.append)
    finally:
        journal.close()
    return lines


def taken_down(machine: Machine, *, delete_data: bool = False) -> tuple[int, bool, list[str]]:
    lines: list[str] = []
    journal = Journal.open(machine)
    try:
        left, has_failed = undo(machine, journal, lines.append, delete_data=delete_data)
    finally:
        journal.close()
    return left, has_failed, lines


def small_edge(folder: Path) -> Path:
    """Return one unit and one snippet of the edge: a plan of each kind of step and few of them."""
    for name in ("systemd/emi-drill.timer", "nginx/emi-free.conf", "nginx/emi.conf", "nginx/redirect.conf"):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((EDGE / name).read_bytes())
    for path in EDGE.glob("systemd/*"):
        if path.suffix in {".env", ".sysusers", ".tmpfiles"}:
            (folder / "systemd" / path.name).write_bytes(path.read_bytes())
    return folder


def test_a_dry_run_names_every_step_and_touches_nothing(root: Path) -> None:
    before = everything_in(root)
    machine, commands = machine_at(root)
    plan = plan_of(CHOICE, EDGE, GUIDES, machine)

    text = "\n".join(shown(plan, machine))

    assert (everything_in(root), commands.ran) == (before, [])
    named = [getattr(step, "path", getattr(step, "name", "")) for step in plan]
    assert [name for name in named if name not in text] == []
    assert [name for name in ("emi-generator", "emi-gateway", "nginx -t", "daemon-reload") if name not in text] == []


def test_a_second_apply_changes_nothing(root: Path) -> None:
    machine, commands = machine_at(root)
    first = set_up(machine)
    between = everything_in(root)
    commands.ran.clear()

    assert len(first) > 50
    assert set_up(machine) == []
    assert (everything_in(root), commands.ran) == (between, [])
    assert not [line for line in shown(plan_of(CHOICE, EDGE, GUIDES, machine), machine) if line.startswith("  + ")]


def test_settings_get_the_domain_and_the_values_and_stay_the_operators(root: Path) -> None:
    machine, _ = machine_at(root)
    set_up(machine)
    shared = root / "etc/emi/emi.env"

    text = shared.read_text()
    assert "\nEMI_BASE_URL=https://api.test\n" in text
    assert "\nEMI_CONTACT=ops@api.test\n" in text
    assert (root / "etc/emi/gateway.env").stat().st_mode & 0o777 == 0o600

    shared.write_text(text + "EMI_RATE_LIMIT_PER_MINUTE=60\n")
    assert set_up(machine) == []
    assert shared.read_text().endswith("EMI_RATE_LIMIT_PER_MINUTE=60\n")


def test_undo_leaves_the_machine_as_it_was(root: Path) -> None:
    (root / "etc/nginx/sites-available/emi.conf").write_text("# the operator's own\n")
    (root / "etc/nginx/sites-enabled/emi.conf").symlink_to("../sites-available/older.conf")
    (root / "etc/emi").mkdir(mode=0o700)
    before = everything_in(root)
    machine, _ = machine_at(root)
    set_up(machine)
    assert everything_in(root) != before

    left, has_failed, lines = taken_down(machine)

    assert (left, has_failed, everything_in(root)) == (0, False, before), lines


def test_undo_leaves_data_edited_settings_and_their_owners_without_its_flag(root: Path) -> None:
    before = everything_in(root)
    machine, _ = machine_at(root)
    set_up(machine)
    (root / "var/lib/emi/gateway/payments.sqlite3").write_text("who has paid")
    (root / "etc/emi/gateway.env").write_text("EMI_PAY_TO=someone\n")

    left, has_failed, _ = taken_down(machine)

    assert (left > 0, has_failed) == (True, False)
    assert (root / "var/lib/emi/gateway/payments.sqlite3").exists()
    assert (root / "etc/emi/gateway.env").read_text() == "EMI_PAY_TO=someone\n"
    assert machine.user_id("emi-gateway") is not None
    assert not list((root / "etc/systemd/system").iterdir())
    assert taken_down(machine, delete_data=True)[:2] == (0, False)
    assert everything_in(root) == before


def test_no_data_is_deleted_while_a_program_cannot_be_stopped(root: Path) -> None:
    machine, commands = machine_at(root)
    set_up(machine)
    (root / "var/lib/emi/generator/memory.sqlite3").touch()
    commands.fail = "systemctl disable emi-schedule"

    left, has_failed, _ = taken_down(machine, delete_data=True)

    assert (left > 0, has_failed) == (True, True)
    assert (root / "var/lib/emi/generator/memory.sqlite3").exists()


def test_accounts_that_cannot_be_made_end_the_apply_and_undo_cleans_up(root: Path) -> None:
    before = everything_in(root)
    machine, commands = machine_at(root)
    commands.fail = "systemd-sysusers"

    with pytest.raises(SetupError, match="systemd-sysusers"):
        set_up(machine)

    assert taken_down(machine)[:2] == (0, False)
    assert everything_in(root) == before


@pytest.mark.parametrize("running", [False, True])
def test_a_unit_that_fails_keeps_no_other_from_coming_up(root: Path, running: bool) -> None:
    commands = Commands(root, fail="systemctl start emi" if running else "systemctl enable emi")
    machine = Booted(root, commands) if running else Machine(root, commands)
    journal = Journal.open(machine)

    applied = apply(plan_of(CHOICE, EDGE, GUIDES, machine), machine, journal, lambda _line: None)

    names = (*ENABLED, *PROGRAMS)
    word = commands.fail.split()[1]
    assert [line.split(":")[0].split()[2] for line in applied.failed] == list(names)
    assert [line for line in commands.ran if line.startswith(f"systemctl {word}")] == [
        f"systemctl {word} {name}" for name in names
    ]


def test_every_unit_is_enabled_before_the_first_starts_and_programs_start_last(root: Path) -> None:
    commands = Commands(root)
    set_up(Booted(root, commands), Choice("play.test", "/tls/chain.pem", "/tls/key.pem", PLAY))

    verbs = [line.split()[1:] for line in commands.ran if line.startswith(("systemctl enable", "systemctl start"))]

    assert [verb for verb, _ in verbs] == sorted(verb for verb, _ in verbs)
    assert [name for verb, name in verbs if verb == "start"][-2:] == list(PROGRAMS)


def test_what_failed_to_start_is_started_by_the_next_apply_and_nothing_else(root: Path) -> None:
    commands = Commands(root, fail="systemctl start emi-gateway")
    machine = Booted(root, commands)
    set_up(machine)
    commands.fail = "-"
    commands.ran.clear()

    assert set_up(machine) == ["run     systemctl start emi-gateway.service"]
    assert commands.ran == ["systemctl start emi-gateway.service"]


def test_a_unit_of_an_earlier_version_is_stopped_and_removed(tmp_path: Path) -> None:
    edge = small_edge(tmp_path / "edge")
    older = edge / "systemd/emi-older.timer"
    older.write_text("[Timer]\n")
    root = debian(tmp_path / "root")
    before = everything_in(root)
    machine, _ = machine_at(root)
    set_up(machine, edge=edge)
    older.unlink()

    lines = set_up(machine, edge=edge)

    assert "earlier removed /etc/systemd/system/emi-older.timer" in lines
    assert not (root / "etc/systemd/system/emi-older.timer").exists()
    assert set_up(machine, edge=edge) == []
    assert taken_down(machine)[:2] == (0, False)
    assert everything_in(root) == before


def test_undo_ends_all_units_and_forgets_those_that_failed(root: Path) -> None:
    commands = Commands(root)
    machine = Booted(root, commands)
    set_up(machine)
    commands.ran.clear()

    assert taken_down(machine)[:2] == (0, False)

    assert commands.ran[0].startswith("systemctl stop ")
    assert {path.name for path in EDGE.glob("systemd/*.service") if "@" not in path.name} <= set(
        commands.ran[0].split()
    )
    assert commands.ran[1] == "systemctl reset-failed emi-*"


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_whatever_change_the_power_goes_at_undo_and_apply_go_through(tmp_path: Path, after: bool) -> None:
    edge = small_edge(tmp_path / "edge")
    whole = debian(tmp_path / "whole")
    set_up(machine_at(whole)[0], edge=edge)
    wanted = {path: found for path, found in everything_in(whole).items() if "emi-setup" not in path}

    for number in range(1, 100):
        root = debian(tmp_path / str(number))
        (root / "etc/nginx/sites-available/emi.conf").write_text("# the operator's own\n")
        before = everything_in(root)
        commands = Commands(root)
        try:
            set_up(Dying(root, commands, [number], after), edge=edge)
        except PowerCut:
            machine = Machine(root, commands)
        else:
            break

        with suppress(PowerCut):
            taken_down(Dying(root, commands, [number // 2 + 1], after))
        if Journal.exists(machine):
            assert taken_down(machine)[:2] == (0, False)
        assert everything_in(root) == before, number

        with suppress(PowerCut):
            set_up(Dying(root, commands, [number], after), edge=edge)
        set_up(machine, edge=edge)
        made = {path: found for path, found in everything_in(root).items() if "emi-setup" not in path}
        assert made == wanted, number

    assert number > 30


def test_an_upgrade_renews_files_of_setup_and_undo_still_leaves_nothing(tmp_path: Path) -> None:
    edge = small_edge(tmp_path / "edge")
    root = debian(tmp_path / "root")
    before = everything_in(root)
    machine, commands = machine_at(root)
    set_up(machine, edge=edge)
    commands.ran.clear()
    timer = edge / "systemd/emi-drill.timer"
    timer.write_text(timer.read_text() + "# of the next version\n")

    lines = set_up(machine, edge=edge)

    assert [line.split()[1] for line in lines] == ["/etc/systemd/system/emi-drill.timer", "systemctl"]
    assert "of the next version" in (root / "etc/systemd/system/emi-drill.timer").read_text()
    assert taken_down(machine)[:2] == (0, False)
    assert everything_in(root) == before


def test_a_row_that_was_cut_off_is_as_if_it_was_never_written(root: Path) -> None:
    machine, _ = machine_at(root)
    set_up(machine)
    journal = root / "var/lib/emi-setup/journal.jsonl"
    whole = journal.read_bytes()
    journal.write_bytes(whole + b'{"begin": 99, "ma')

    assert set_up(machine) == []
    assert journal.read_bytes() == whole


def test_two_setups_at_once_are_refused(root: Path) -> None:
    machine, _ = machine_at(root)
    journal = Journal.open(machine)

    with pytest.raises(SetupError, match="another emi setup"):
        Journal.open(machine)
    journal.close()


def test_each_command_follows_the_steps_that_it_is_for(root: Path) -> None:
    machine, _ = machine_at(root)
    plan: list[Step] = plan_of(CHOICE, EDGE, GUIDES, machine)

    for group in {step.group for step in plan}:
        kinds = [isinstance(step, Command) and bool(step.command) for step in plan if step.group == group]
        assert kinds == sorted(kinds), group


def test_the_folders_are_as_the_units_have_them(root: Path) -> None:
    machine, _ = machine_at(root)
    plan = plan_of(CHOICE, EDGE, GUIDES, machine)
    planned = {step.path: (step.owner, step.owner_group, step.mode) for step in plan if isinstance(step, Folder)}

    wanted = {}
    for unit in EDGE.glob("systemd/*.service"):
        rows = dict(re.findall(r"^(\w+)=(.*)$", unit.read_text(), re.MULTILINE))
        if "StateDirectory" in rows and rows.get("DynamicUser") != "yes":
            owner = (rows.get("User", "root"), rows.get("Group", "root"), int(rows["StateDirectoryMode"], 8))
            for instance in ("generator", "gateway") if "@" in unit.name else ("",):
                folder = f"/var/lib/{rows['StateDirectory']}".replace("%i", instance)
                wanted[folder] = (owner[0].replace("%i", instance), *owner[1:])

    assert len(wanted) == 3
    assert {path: planned.get(path) for path in wanted} == wanted


def test_the_site_that_is_enabled_has_no_mark_left_and_the_pair_that_was_named(root: Path) -> None:
    machine, _ = machine_at(root)
    set_up(machine)

    text = (root / "etc/nginx/sites-enabled/emi.conf").read_text()

    assert not re.search(r"@[A-Z_]+@", text)
    assert re.findall(r"ssl_certificate\w* (.*);", text) == ["/tls/chain.pem", "/tls/key.pem"]
    assert "return 308 https://api.test$request_uri;" in text
    assert text.count("server_name api.test;") == 2


@pytest.mark.parametrize("has_ipv6", [True, False])
def test_ipv6_is_listened_to_where_the_machine_has_it(root: Path, has_ipv6: bool) -> None:
    (root / "proc/net").mkdir(parents=True)
    (root / "proc/net/if_inet6").write_text("0" * 32 + " 01 80 10 80 lo\n" if has_ipv6 else "")
    machine, _ = machine_at(root)
    set_up(machine)

    assert (root / "etc/nginx/sites-available/emi.conf").read_text().count("listen [::]:") == (2 if has_ipv6 else 0)


def test_play_money_starts_the_devnet_and_a_purchase_an_hour(root: Path) -> None:
    machine, commands = machine_at(root)
    choice = Choice("play.test", "/tls/chain.pem", "/tls/key.pem", PLAY)

    set_up(machine, choice)

    assert {"systemctl enable emi-devnet.service", "systemctl enable emi-purchase.timer"} <= set(commands.ran)
    assert "\nEMI_PLAY=true\n" in (root / "etc/emi/emi.env").read_text()
    assert "EMI_FACILITATOR_URL=http://127.0.0.1:8403/facilitator\n" in (root / "etc/emi/gateway.env").read_text()
    assert to_be_set(machine) == []


@pytest.mark.parametrize(
    ("domain", "name"), [("api.example.org.", "api.example.org"), ("API.example.org", "api.example.org")]
)
def test_a_name_is_taken_without_the_dot_of_the_root(domain: str, name: str) -> None:
    assert check_domain(domain) == name
    with pytest.raises(SetupError, match="is not a host name"):
        check_domain(f"{name}..")
