"""Type docs/howto/operating.md into a booted Debian, and look at what comes of it: `python -m tests.booted`.

Each line that is printed is one thing that an operator relies on. What fails is named with what the machine said, the
rest is tried all the same; exit code 1 when anything failed. `--log FILE` keeps the machine's console and journal.
"""

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tests.booted.machine import Failed, Machine, booted
from tests.booted.root import CACHE, cached_root, why_not
from tests.support.certificates import self_signed
from tests.support.processes import REPOSITORY

NAME: Final = "api.booted.test"
ORIGIN: Final = f"https://{NAME}"
EMI: Final = "/opt/emi/bin/emi"
PAIR: Final = "--cert /etc/ssl/booted.pem --key /etc/ssl/booted.key"
UNITS: Final = REPOSITORY / "site" / "edge" / "systemd"
WATCHED_S: Final = 100  # longer than the watchdog of either program
INSTANCES: Final = {"emi-check@": ("generator", "gateway")}
WATCH: Final = "emi-watch"
MEASURED: Final = (WATCH, "emi-schedule", "emi-gateway")
MEASURED_S: Final = 200
EVERY_S: Final = 60.0
FEWEST_LOOKS: Final = 2
A_LOOK_S: Final = 0.005  # is longer than this
MOST_AN_HOUR_S: Final = 3.0
CLOCK_OF_A_PROCESS: Final = 2
"""Linux: the clock of the time on a processor of the process whose number is in the other bits, complemented."""
TICKS_A_SECOND: Final = os.sysconf("SC_CLK_TCK")
BEFORE: Final = "ce9cea03"
"""The build that is upgraded from: the first whose units start."""
INSTALL: Final = """
/opt/emi/bin/pip install -q --no-index --require-hashes -r requirements.lock -r requirements-build.lock
/opt/emi/bin/pip install -q --no-index --no-deps --no-build-isolation .
"""
# Where alarms arrive: a page of this machine, as a pager's would be elsewhere.
PAGER: Final = """
import http.server, pathlib

class Pager(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        with pathlib.Path("/root/heard.jsonl").open("ab") as file:
            file.write(body.strip() + b"\\n")
        self.send_response(204)
        self.end_headers()

http.server.HTTPServer(("127.0.0.1", 9555), Pager).serve_forever()
"""
TELL: Final = "#!/bin/sh\nexec curl -sf --max-time 5 -H 'Content-Type: application/json' --data-binary @- http://127.0.0.1:9555/\n"
# Written by programs of the system whenever they run.
SOURCED: Final = "set -a; . /etc/emi/emi.env; . /etc/emi/generator.env; . /etc/emi/gateway.env; set +a"
NOT_OURS: Final = ("./var/log", "./var/lib/systemd", "./var/lib/nginx", "./root", "./var/backups", "./opt/emi", "./tmp")


class Lines:
    """What was tried, one line each."""

    def __init__(self) -> None:
        self.failed: list[str] = []

    @contextlib.contextmanager
    def line(self, what: str) -> Iterator[None]:
        """Print how one thing went; what it raises ends with it."""
        began = time.monotonic()
        try:
            yield
        except (Failed, AssertionError, subprocess.SubprocessError, OSError, ValueError, KeyError) as error:
            self.failed.append(what)
            print(f"BAD  {what} ({time.monotonic() - began:.0f} s)", flush=True)
            print("     " + "\n     ".join(str(error).strip().splitlines()[-25:]), flush=True)
        else:
            print(f"ok   {what} ({time.monotonic() - began:.0f} s)", flush=True)


def prepare(folder: Path) -> None:
    """Give a root what an operator's machine has before the first line is typed: a name, a certificate, a checkout."""
    (folder / "etc/hosts").write_text(f"127.0.0.1 localhost {NAME}\n")
    with tempfile.TemporaryDirectory() as name:
        certificate, key = self_signed(Path(name), [NAME])
        shutil.copy(certificate, folder / "etc/ssl/booted.pem")
        shutil.copy(key, folder / "etc/ssl/booted.key")
        shutil.copy(certificate, folder / "usr/local/share/ca-certificates/booted.crt")
    (folder / "etc/systemd/system/emi-broken.service").write_text("[Service]\nExecStart=/bin/false\n")
    (folder / "usr/local/bin/pager.py").write_text(PAGER)
    tell = folder / "usr/local/bin/tell-operator"
    tell.write_text(TELL)
    tell.chmod(0o755)


def check_out(folder: Path, commit: str | None = None) -> None:
    """Put a checkout below /root/emi: this folder as it is, or one of its commits."""
    shutil.rmtree(folder / "root/emi", ignore_errors=True)
    (folder / "root/emi").mkdir()
    if commit is None:
        listed = ["git", "-C", str(REPOSITORY), "ls-files", "-z", "-c", "-o", "--exclude-standard"]
        names = [name for name in subprocess.check_output(listed).decode().split("\0") if (REPOSITORY / name).is_file()]
        packed = ["tar", "-C", str(REPOSITORY), "-c", "--null", "-T", "-"]
        archive = subprocess.run(packed, input="\0".join(names).encode(), capture_output=True, check=True).stdout
    else:
        archive = subprocess.check_output(["git", "-C", str(REPOSITORY), "archive", commit])
    head = subprocess.check_output(["git", "-C", str(REPOSITORY), "rev-parse", commit or "HEAD"])
    (folder / "root/emi/.git").mkdir()
    (folder / "root/emi/.git/HEAD").write_bytes(head)
    subprocess.run(["tar", "-C", str(folder / "root/emi"), "-x"], input=archive, check=True)


def status(machine: Machine) -> dict[str, Any]:
    """Return what readers get as the status, through the edge."""
    body: dict[str, Any] = json.loads(machine.types(f"curl -sfk {ORIGIN}/status.json"))
    return body


def wait_for_sales(machine: Machine, within_s: float = 150) -> None:
    """Wait for the first tick of the generator, and until the gateway sells it."""
    machine.waits(lambda: machine.types("curl -sf http://127.0.0.1:8402/readyz"), "a sale", within_s)
    machine.waits(lambda: status(machine)["tick_id"], "a tick", within_s)


def heard(machine: Machine) -> list[dict[str, str]]:
    """Return the alarms that have arrived."""
    return [json.loads(row) for row in machine.types("cat heard.jsonl 2>/dev/null || true").splitlines()]


def files_of(machine: Machine) -> str:
    """Return all files of the machine with owner and mode, but for what its own programs write."""
    left_out = " -o ".join(f"-path {path}" for path in NOT_OURS)
    found = f"cd / && find . -xdev \\( {left_out} \\) -prune -o -printf '%p %u:%g %m\\n' | sort"
    rows = machine.types(found).splitlines()
    return "\n".join(
        row for row in rows if not re.match(r"\./(etc/(passwd|group|g?shadow|subuid|subgid)-|etc/\.pwd)", row)
    )


def unit_rows(path: Path) -> dict[str, str]:
    """Return the settings of a unit's file; of several with one name the last."""
    return dict(re.findall(r"^(\w+)=(.*)$", path.read_text(), re.MULTILINE))


def see_unit(machine: Machine, path: Path) -> None:
    """See that a unit does what it is there for: it is active, or it ran once with success."""
    rows = unit_rows(path)
    for name in names_of(path):
        if path.suffix == ".timer":
            assert machine.shows(name, "ActiveState") == "active", f"{name} is {machine.shows(name, 'ActiveState')}"
            assert machine.shows(name, "NextElapseUSecRealtime"), f"{name} never elapses"
        elif rows["Type"] == "oneshot":
            machine.types(f"systemctl start {name} || {{ journalctl -q -n 12 -u {name} -o cat; exit 1; }}")
            assert machine.shows(name, "Result") == "success"
        else:
            stays_up(machine, name)


def names_of(path: Path) -> list[str]:
    """Return the units of a file: its own name, or that of each instance of a template."""
    if "@" not in path.name:
        return [path.name]
    return [f"{path.stem}{instance}{path.suffix}" for instance in INSTANCES[path.stem]]


def stays_up(machine: Machine, name: str) -> None:
    """See that a program has been up for longer than its watchdog waits, and was never started again."""

    def up_s() -> float:
        since = float(machine.shows(name, "ActiveEnterTimestampMonotonic") or 0) / 1e6
        assert machine.shows(name, "NRestarts") == "0", machine.types(f"journalctl -q -n 12 -u {name} -o cat")
        return time.clock_gettime(time.CLOCK_MONOTONIC) - since if since else 0.0

    state = machine.shows(name, "ActiveState")
    assert state == "active", f"{name} is {state}\n" + machine.types(f"journalctl -q -n 12 -u {name} -o cat")
    machine.waits(lambda: up_s() > WATCHED_S, f"{name} up for {WATCHED_S} s", WATCHED_S + 20)


def set_up(machine: Machine, lines: Lines) -> None:
    """Install, apply, and wait for what readers and payers get."""
    with lines.line("the lines of Install"):
        machine.types(f"cd emi {INSTALL}")
    with lines.line("emi setup --dry-run, and --apply"):
        machine.types(f"cd emi; {EMI} setup {NAME} {PAIR} --play --dry-run; {EMI} setup {NAME} {PAIR} --play --apply")
    with lines.line("alarms are set, and --apply again"):
        machine.types("systemd-run -q --unit=operator /usr/bin/python3 /usr/local/bin/pager.py")
        machine.types("echo EMI_ALERT_CMD=/usr/local/bin/tell-operator >> /etc/emi/alert.env")
        machine.types(f"systemctl restart emi-watch; {EMI} watch --test; {EMI} setup --apply")
        assert [message["fault"] for message in heard(machine)] == ["test"]
        assert machine.types(f"test -f {heard(machine)[0]['runbook'].partition('#')[0]} && echo there")
    with lines.line("a command that writes where it may not is seen"):
        machine.types("cp /etc/emi/alert.env keep.env; echo 'EMI_ALERT_CMD=touch /var/tmp/alarm' > /etc/emi/alert.env")
        machine.types("systemctl restart emi-watch")
        assert "ended with code 1" in machine.fails(f"{EMI} watch --test")
        machine.types("mv keep.env /etc/emi/alert.env; systemctl restart emi-watch")
    with lines.line("what the units call their documentation is there"):
        machine.types(
            "for file in $(sed -n 's/^Documentation=//p' /etc/systemd/system/emi-* | tr ' ' '\\n' | sort -u); "
            "do test -f ${file#file://}; done"
        )
    with lines.line("emi --version names the commit"):
        head = subprocess.check_output(["git", "-C", str(REPOSITORY), "rev-parse", "HEAD"], text=True)
        assert head[:12] in machine.types(f"{EMI} --version")
    with lines.line("the first release, and a gateway that sells"):
        wait_for_sales(machine)


def keep_backups(machine: Machine, lines: Lines) -> None:
    """Make a backup and try it, whole and damaged."""
    with lines.line("a purchase through nginx, and a backup after it"):
        machine.types("systemctl start emi-purchase; systemctl start emi-backup")
    with lines.line("the drill succeeds on a good backup"):
        machine.types("systemctl start emi-drill || { journalctl -q -n 12 -u emi-drill -o cat; exit 1; }")
    with lines.line("the drill fails on a bad one"):
        newest = "newest=$(find /var/backups/emi -type f -name 'memory*' | sort | tail -1); test -n \"$newest\";"
        machine.types(
            f"{newest} cp -a $newest keep; printf damage | dd of=$newest bs=1 seek=2000 conv=notrunc status=none"
        )
        machine.fails("systemctl start emi-drill")
        machine.types(f"{newest} cp -a keep $newest; systemctl start emi-drill")


def see_alarms(machine: Machine, lines: Lines) -> None:
    """Break six things, see the operator notified of each, and mend them."""
    memory = "/var/lib/emi/generator/memory.sqlite3"
    key = "/var/lib/emi/generator/keys/log.key"
    ledger = "/var/lib/emi/gateway/payments.sqlite3"
    with lines.line("a generator that was killed is started again"):
        before = status(machine)["tick_id"]
        machine.types("systemctl kill --kill-who=main -s KILL emi-schedule")
        machine.waits(lambda: machine.shows("emi-schedule", "NRestarts") == "1", "a restart", 60)
        machine.waits(lambda: status(machine)["tick_id"] > before, "a tick after it", 90)

    began = time.monotonic()
    machine.types(
        f"for file in {key} {memory} {ledger}; do mv $file $file.away; done\n"
        "systemctl start --no-block emi-broken; systemctl stop nginx"
    )
    for fault in ("restarted", "log-key", "memory", "ledger", "unit", "edge"):
        with lines.line(f"the operator is notified of {fault}"):
            wait_for_alarm(machine, fault, 0)
            print(f"     {time.monotonic() - began:.0f} s after all of them began", flush=True)
    machine.types(
        f"for file in {key} {memory} {ledger}; do mv $file.away $file; done\n"
        "systemctl reset-failed emi-broken; systemctl start nginx; systemctl restart emi-gateway emi-schedule"
    )


def wait_for_alarm(machine: Machine, fault: str, before: int) -> None:
    """Wait for the message of a fault that is not among the first `before`."""
    machine.waits(lambda: fault in {row["fault"] for row in heard(machine)[before:]}, f"the alarm {fault}", 180)


def refuse_to_start_behind(machine: Machine, lines: Lines) -> None:
    """Lose the memory alone, and see that no new record is played over the published one."""
    with lines.line("a start whose memory is behind the published log is refused, and the operator notified"):
        wait_for_sales(machine)
        before = len(heard(machine))
        machine.types("systemctl stop emi-schedule; mkdir lost; mv /var/lib/emi/generator/memory.sqlite3* lost/")
        machine.types("systemctl start --no-block emi-schedule")
        wait_for_alarm(machine, "record", before)
        assert "behind the published log" in heard(machine)[-1]["text"]
        machine.types("systemctl stop emi-schedule; rm /var/lib/emi/generator/memory.sqlite3*")
        machine.types(
            "mv lost/* /var/lib/emi/generator/; systemctl reset-failed emi-schedule; systemctl start emi-schedule"
        )


@contextlib.contextmanager
def measured(machine: Machine, lines: Lines) -> Iterator[None]:
    """Print what each long-lived program costs over this block and over whole looks of the watch.

    The watch uses its processor in its looks alone, one a minute. How many of them lie in a stretch of time depends on
    where it begins. So the watch is started again, and its cost is what it used from the end of one look to that of a
    later one, over the time between the two.
    """
    machine.types("systemctl restart emi-watch")
    machine.waits(lambda: looked_at_s(machine) > ready_at_s(machine) + A_LOOK_S, "a look after the start", 30)
    before = {name: processor_s(machine, name) for name in MEASURED}
    first_s = looked_at_s(machine)
    began = time.monotonic()
    yield
    with lines.line(f"the watch costs at most {MOST_AN_HOUR_S:g} seconds of processor an hour"):
        machine.waits(lambda: looked_at_s(machine) > first_s + FEWEST_LOOKS * EVERY_S - 1, "whole looks", MEASURED_S)
        spans = {name: time.monotonic() - began for name in MEASURED} | {WATCH: looked_at_s(machine) - first_s}
        costs = {name: 3_600 * (processor_s(machine, name) - before[name]) / spans[name] for name in MEASURED}
        figures = ", ".join(f"{name} {cost:.2f} over {spans[name]:.0f} s" for name, cost in costs.items())
        print(f"     processor seconds an hour: {figures}", flush=True)
        assert 0 < costs[WATCH] <= MOST_AN_HOUR_S, costs


def looked_at_s(machine: Machine) -> float:
    """Return when the watch ended its last look, in seconds of the monotonic clock; before the first, when it began."""
    return int(machine.shows(WATCH, "WatchdogTimestampMonotonic")) / 1e6


def ready_at_s(machine: Machine) -> float:
    """Return since when the watch has been ready, in seconds of the monotonic clock."""
    return int(machine.shows(WATCH, "ActiveEnterTimestampMonotonic")) / 1e6


def processor_s(machine: Machine, unit: str) -> float:
    """Return what a unit's main process used so far, with all of its threads, and its children that have ended.

    The clock of a process counts nanoseconds; what /proc says of children, in hundredths of a second, is all there is.
    """
    pid = int(machine.shows(unit, "MainPID"))
    clock = (~pid << 3) | CLOCK_OF_A_PROCESS
    used_s = float(machine.types(f"python3 -c 'import time; print(time.clock_gettime({clock}))'"))
    fields = machine.types(f"cat /proc/{pid}/stat").rpartition(")")[2].split()
    return used_s + sum(map(int, fields[13:15])) / TICKS_A_SECOND


def lose_and_restore(machine: Machine, lines: Lines) -> None:
    """Lose the machine's data, put the backup back as docs/howto/backups.md does, ask for what was bought before."""
    with lines.line("lost and restored, the record continues and what was bought before is delivered"):
        machine.types(
            f"{SOURCED}; {EMI} key backup identity.txt; EMI_STATE_DIR=/var/lib/emi/generator {EMI} backup "
            "/var/backups/emi --gateway-state /var/lib/emi/gateway --settings /etc/emi "
            "--keys \"$(sed -n 's/^# public key: //p' identity.txt)\""
        )
        machine.types("systemctl start emi-backup")
        signer = machine.types("journalctl -q -u emi-backup -o cat | sed -n 's/^signed by //p' | tail -1").strip()
        before = status(machine)

        # All is lost that is not in the backups or in the operator's hands: the identity, and who signs. What takes its
        # place begins a record and keys of its own, as a machine does that was just set up.
        everything = "/var/lib/emi/*/* /srv/emi/site/* /var/lib/emi-backup/*"
        machine.types(f"systemctl stop emi-schedule emi-gateway; rm -rf {everything}")
        machine.types("systemctl start emi-schedule emi-gateway")
        wait_for_sales(machine)

        machine.types("systemctl stop emi-schedule emi-gateway; rm /srv/emi/site/current")
        machine.types(
            f"{SOURCED}\nEMI_STATE_DIR=/var/lib/emi/generator {EMI} restore /var/backups/emi "
            f"--gateway-state /var/lib/emi/gateway --identity identity.txt --signer {signer}"
        )
        machine.types("systemctl start emi-schedule emi-gateway")
        wait_for_sales(machine)
        after = status(machine)
        assert after["tick_id"] > before["tick_id"], (before["tick_id"], after["tick_id"])

        folder = machine.folder / "var/lib/private/emi-purchase/purchases"
        bought = [json.loads(path.read_text()) for path in folder.glob("*.json")]
        assert bought
        for row in bought:
            assert row["status"] == "settled"
            again = machine.types(f"curl -sfk -H 'PAYMENT-SIGNATURE: {row['header']}' '{row['url']}'")
            assert json.loads(again) == row["body"]


def take_down(machine: Machine, lines: Lines, before: str) -> None:
    """Undo it all, and compare with the machine of before."""
    with lines.line("--undo --delete-data leaves nothing"):
        machine.types(f"{EMI} setup --undo --delete-data")
        machine.types(
            "systemctl stop pager || true; rm -rf /var/lib/private/emi-* /var/lib/emi-purchase /var/lib/emi-devnet"
        )
        left = sorted(set(before.splitlines()) ^ set(files_of(machine).splitlines()))
        assert not left, "\n".join(left)
        failed = machine.types("systemctl list-units --failed --no-legend --plain 'emi*'").strip()
        assert not failed, failed


def upgrade(machine: Machine, lines: Lines) -> None:
    """Set the machine up with the build of before, and upgrade it as the page says."""
    with lines.line(f"an upgrade from {BEFORE}: its record continues, its units that are no more are gone"):
        check_out(machine.folder, BEFORE)
        # Another service than the one before: its timer, which may elapse now, would make no backup that holds less.
        machine.types("rm -rf /var/backups/emi")
        machine.types(f"cd emi {INSTALL} {EMI} setup {NAME} {PAIR} --play --apply")
        wait_for_sales(machine)
        before = status(machine)

        check_out(machine.folder)
        machine.types(
            f"cd emi {INSTALL} {EMI} setup --apply; systemctl restart emi-schedule; systemctl restart emi-gateway"
        )
        wait_for_sales(machine)
        machine.waits(lambda: status(machine)["tick_id"] > before["tick_id"], "a tick of the new build", 90)
        assert not machine.types("ls /etc/systemd/system | grep -E 'alert|doctor' || true")
        for path in sorted((*UNITS.glob("*.service"), *UNITS.glob("*.timer"))):
            for name in names_of(path):
                assert machine.shows(name, "ActiveState") != "failed", name
        machine.types(f"{EMI} doctor --url {ORIGIN}")


def main() -> int:
    """Run it; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.booted")
    parser.add_argument("--log", type=Path, default=CACHE / "console.log")
    options = parser.parse_args()
    if reason := why_not():
        print(f"skipped: {reason}")
        return 0

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the machine goes with this process
    began = time.monotonic()
    root = cached_root()
    lines = Lines()
    print(f"     the root is there ({time.monotonic() - began:.0f} s)", flush=True)
    with booted(root, options.log) as machine:
        try:
            prepare(machine.folder)
            check_out(machine.folder)
            machine.types("update-ca-certificates")
            before = files_of(machine)
            set_up(machine, lines)
            keep_backups(machine, lines)
            with measured(machine, lines):
                for path in sorted((*UNITS.glob("*.service"), *UNITS.glob("*.timer"))):
                    with lines.line(f"unit {path.name}"):
                        see_unit(machine, path)
            see_alarms(machine, lines)
            refuse_to_start_behind(machine, lines)
            lose_and_restore(machine, lines)
            take_down(machine, lines, before)
            upgrade(machine, lines)
        finally:
            with options.log.open("a") as log:
                log.write(machine.types("journalctl -q --no-pager -o short-monotonic"))

    print(f"{len(lines.failed)} failed, after {time.monotonic() - began:.0f} s: {', '.join(lines.failed) or 'nothing'}")
    return 1 if lines.failed else 0


if __name__ == "__main__":
    sys.exit(main())
