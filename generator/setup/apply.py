"""A plan shown, applied and undone."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from generator.errors import SetupError
from generator.setup.journal import Journal
from generator.setup.machine import Machine
from generator.setup.made import Undoing
from generator.setup.steps import Command, Step

Say = Callable[[str], None]

MARKS: Final = {True: "  = ", False: "  + "}
"""What a line begins with: it is there, it is to be made."""


def shown(plan: Sequence[Step], machine: Machine) -> Iterator[str]:
    """Yield a line for each user, folder, file and command, under the headings of their groups; nothing is touched."""
    there = {step: step.is_there(machine) for step in plan if not isinstance(step, Command)}
    complete = {step.group for step in plan} - {step.group for step, is_there in there.items() if not is_there}

    group = ""
    for step in plan:
        text = step.line()
        if not text:
            continue
        if step.group != group:
            group = step.group
            yield group
        mark = MARKS[there.get(step, step.group in complete)]
        for line in text.splitlines():
            yield f"{mark}{line}"


def apply(plan: Sequence[Step], machine: Machine, journal: Journal, say: Say) -> int:
    """Make what is missing, each step noted before it is done; return how many steps changed something.

    Raises:
        SetupError: a step failed; the journal has it, so that `undo` cleans up after it.
    """
    changed_groups: set[str] = set()
    count = 0
    for step in plan:
        keep: dict[str, bytes] = {}
        made = step.plan(machine, keep)
        number = journal.unfinished(made.key)
        if number is None:
            if _is_there(step, made.key, machine, journal, changed_groups):
                continue
            number = journal.begin(made, keep)

        try:
            step.do(machine)
        except OSError as error:
            raise SetupError(f"{step.line()}: {error}") from error
        journal.end(number)

        changed_groups.add(step.group)
        if text := step.line():
            say(text)
            count += 1
    return count


def _is_there(step: Step, key: str, machine: Machine, journal: Journal, changed_groups: set[str]) -> bool:
    if isinstance(step, Command):
        return journal.is_done(key) and step.group not in changed_groups
    return step.is_there(machine)


def undo(machine: Machine, journal: Journal, say: Say, *, delete_data: bool) -> tuple[int, bool]:
    """Undo what the journal has, newest first, as far as it goes.

    Returns:
        How many things are left, and whether one of them is left because it could not be undone.
    """
    undoing = Undoing(machine, journal.kept(), delete_data=delete_data)
    left = 0
    for number, made in journal.newest_first():
        try:
            undone = made.undo(undoing)
        except (OSError, SetupError) as error:
            undoing.has_failed = True
            left += 1
            say(f"failed: {made.key}: {error}")
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
