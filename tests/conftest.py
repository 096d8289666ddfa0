"""How every test runs, and those that draw their own examples: the same each time, and a slow machine fails none.

`pytest --hypothesis-profile=search` looks for new ones.
"""

import gc
import importlib.util
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any, Final

# Every worker imports every test and hypothesis, whose asserts pytest rewrites: compiled once, not in each run
# (processes that tests start do the same).
sys.dont_write_bytecode = False

import pytest  # noqa: E402  compiled as above
import structlog  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402

from tests.support.once import Shared  # noqa: E402  as above
from tests.support.statements import share_compiled_statements  # noqa: E402

os.environ.setdefault("EMI_SEED", "2026")  # the same market whenever a test starts one

# Nothing of what is imported and collected can be freed: to look for it takes each worker half a second.
gc.disable()

MEMORY: Final = Path("/dev/shm")
ROOM: Final = 2 * 1024**3

# A disk takes 10 ms to keep a commit, and tests make tens of thousands: they write to memory where that has room.
if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", PATIENT, derandomize=True, database=None)
settings.register_profile("search", PATIENT, max_examples=1_000)
settings.load_profile("same")

share_compiled_statements()


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


# Where this is Python's own, each event loop sets another for its length, and Python names both in an error that it
# keeps to itself: with all that the test's coroutine returned, arrays of numbers too.
signal.signal(signal.SIGINT, _interrupted)

# What a test that failed has logged is printed, without the frames drawn around each traceback (13 ms each).
structlog.configure(
    processors=[
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),
    ]
)

# httpx2 asks for it at each request, and Python would look through every folder each time: None says it is not there.
if importlib.util.find_spec("sniffio") is None:
    sys.modules["sniffio"] = None  # type: ignore[assignment]


# Recordings, the lab, searches and sweeps: a third of the time, and seldom what a change breaks elsewhere.
LONG: Final = tuple(Path(__file__).with_name("long.txt").read_text(encoding="utf-8").split())
_DEFAULT: Final = "not outside"


def runs_all_but_the_long(config: pytest.Config) -> bool:
    """Return whether this is `pytest` alone, which leaves them out; a path, `-k` or `-m` asks for what it names."""
    if hasattr(config, "workerinput"):
        return bool(config.workerinput["without_long"])
    asked = config.option.keyword or config.option.markexpr != _DEFAULT
    return config.args_source is pytest.Config.ArgsSource.TESTPATHS and not asked


def is_long(path: str) -> bool:
    """Return whether a path below the repository is of a file or folder of long.txt."""
    return any(f"{path}/".startswith(f"{name}/") for name in LONG)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the long ones out of `pytest` alone."""
    path = collection_path.relative_to(config.rootpath).as_posix()
    return True if is_long(path) and runs_all_but_the_long(config) else None


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell each worker what the process that starts it was asked for."""
    node.workerinput["without_long"] = runs_all_but_the_long(node.config)


def pytest_configure(config: pytest.Config) -> None:
    """Let the workers of pytest-xdist share what `once` makes: their folders lie next to each other in the run's."""
    if hasattr(config, "workerinput"):
        Shared.folder = Path(config.option.basetemp).parent


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Start one worker more than there are cores: a sixth of the time, one waits for a process or a timer."""
    return (os.cpu_count() or 1) + 1


WAITING: Final = ("faults/test_table.py", "journeys/test_main_job.py", "faults/test_kill.py", "lab/test_evaluation.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that wait longest for processes: begun last, they would leave the other workers idle."""
    items.sort(key=lambda item: not item.path.as_posix().endswith(WAITING))


def pytest_collection_finish() -> None:
    """Leave what all tests share out of every later collection of garbage, which would walk it hundreds of times."""
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(10_000, 20, 20)
