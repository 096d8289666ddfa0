"""A plan shown, applied and undone."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from generator.errors import SetupError
from generator.operate.setup.journal import Journal
from generator.operate.setup.machine import Machine
from generator.operate.setup.made import MadeFile, MadeLink, MadeUnit, Undoing
from generator.operate.setup.steps import Command, Step, Unit

Say = Callable[[str], None]

MARKS: Final = {True: "  = ", False: "  + "}
"""What a line begins with: it is there, it is to be made."""
RELOAD: Final = ("systemctl", "daemon-reload")


@dataclass(slots=True)
class Applied:
    """What an apply came to.

    Args:
        count: of the steps that changed something.
        failed: why each command failed that did; the next apply runs it again.
    """

    count: int = 0
    failed: list[str] = field(default_factory=list)


def shown(plan: Sequence[Step], machine: Machine) -> Iterator[str]:
    """Yield a line for each user, folder, file and command, under the headings of their groups; nothing is touched."""
    there = {step: step.is_there(machine) for step in plan if not isinstance(step, Command)}
    to_make = [step for step, is_there in there.items() if not is_there]
    changing = {step.group for step in to_make} | {step.plan(machine, {}).key for step in to_make}

    group = ""
    for step in plan:
        text = step.line()
        if not text:
            continue
        if step.group != group:
            group = step.group
            yield group
        is_there = _follows(step) not in changing if isinstance(step, Command) else there[step]
        for line in text.splitlines():
            yield f"{MARKS[is_there]}{line}"


def apply(plan: Sequence[Step], machine: Machine, journal: Journal, say: Say) -> Applied:
    """Make what is missing, each step noted before it is done, and take away what no plan has any more.

    A command that fails keeps no later step from being made: a machine whose program does not start has its timers
    and its alarm.

    Raises:
        SetupError: an account, a folder or a file could not be made, which the rest needs; the journal has it, so
            that `undo` cleans up after it.
    """
    applied = Applied()
    changed: set[str] = set()  # groups and keys
    _retire(plan, machine, journal, say, applied)
    for step in plan:
        keep: dict[str, bytes] = {}
        item = step.plan(machine, keep)
        number = journal.unfinished(item.key)
        if number is None:
            if _is_there(step, item.key, machine, journal, changed):
                continue
            number = journal.begin(item, keep)

        try:
            step.do(machine)
        except (OSError, SetupError) as error:
            if not isinstance(step, Command | Unit):
                raise SetupError(f"{step.line()}: {error}") from error
            applied.failed.append(str(error))
            continue
        journal.end(number)

        changed |= {step.group, item.key}
        if text := step.line():
            say(text)
            applied.count += 1
    return applied


def _is_there(step: Step, key: str, machine: Machine, journal: Journal, changed: set[str]) -> bool:
    if isinstance(step, Command):
        return journal.is_done(key) and _follows(step) not in changed
    return step.is_there(machine)


def _follows(command: Command) -> str:
    return command.follows or command.group


def _retire(plan: Sequence[Step], machine: Machine, journal: Journal, say: Say, applied: Applied) -> None:
    """Undo what an earlier version made and this plan does not have, such as a unit of another name."""
    wanted = {step.plan(machine, {}).key for step in plan}
    kinds = MadeFile | MadeLink | MadeUnit  # a folder may hold data, and accounts own it: those stay until an undo
    undoing = Undoing(machine, journal.kept())
    retired = 0
    for number, item in journal.newest_first():
        if item.key in wanted or not isinstance(item, kinds):
            continue
        try:
            undone = item.undo(undoing)
        except (OSError, SetupError) as error:
            applied.failed.append(f"{item.key} of an earlier version: {error}")
            continue
        if not undone.is_left:
            journal.undone(number)
            retired += 1
        say(f"earlier {undone.line}")

    applied.count += retired
    if retired and machine.is_running:
        machine.run(RELOAD)


def undo(machine: Machine, journal: Journal, say: Say, *, delete_data: bool) -> tuple[int, bool]:
    """Undo what the journal has, newest first, as far as it goes.

    Returns:
        How many things are left, and whether one of them is left because it could not be undone.
    """
    undoing = Undoing(machine, journal.kept(), delete_data=delete_data)
    left = 0
    for number, item in journal.newest_first():
        try:
            undone = item.undo(undoing)
        except (OSError, SetupError) as error:
            undoing.has_failed = True
            left += 1
            say(f"failed: {item.key}: {error}")
            continue

        if undone.is_left:
            left += 1
            say(f"left: {undone.line}")
            continue
        journal.undone(number)
        if undone.line:
            say(undone.line)

    if not left:
        journal.remove()
    return left, undoing.has_failed
