"""What systemd knows of its units, asked over the system's message bus.

`emi watch` asks once a minute for as long as the machine runs, and to start `systemctl` for it would cost as much as
all else that a look does. Source: https://www.freedesktop.org/wiki/Software/systemd/dbus/
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from jeepney import DBusAddress, DBusErrorResponse, Properties, SizeLimitError, new_method_call
from jeepney.io.blocking import DBusConnection, open_dbus_connection
from jeepney.wrappers import unwrap_msg

from generator.operate.watch.seen import Unit

BUS: Final = Path("/run/dbus/system_bus_socket")
SYSTEMD: Final = "org.freedesktop.systemd1"
MANAGER: Final = DBusAddress("/org/freedesktop/systemd1", SYSTEMD, f"{SYSTEMD}.Manager")


def system_bus() -> Path:
    """Return the socket of the system's message bus: the environment's own, as for all programs, or the usual one."""
    address = os.environ.get("DBUS_SYSTEM_BUS_ADDRESS", f"unix:path={BUS}")
    return Path(address.removeprefix("unix:path="))


def units_of(pattern: str, within_s: float, bus: Path) -> tuple[Unit, ...] | None:
    """Return the units under names of a pattern that systemd has loaded; None where it does not run, or knows none.

    Args:
        pattern: of the shell, such as `emi-*`.
        within_s: for each answer.
        bus: socket of the system's message bus.

    Raises:
        OSError, ValueError: there is no answer, or it is none of D-Bus.
    """
    if not bus.exists():
        return None
    try:
        with open_dbus_connection(f"unix:path={bus}", auth_timeout=within_s) as connection:
            return tuple(_loaded(connection, pattern, within_s)) or None
    except DBusErrorResponse as error:
        raise ValueError(f"systemd refuses: {error.name}") from error
    except SizeLimitError as error:
        raise ValueError("the system's bus answers too much") from error


def _loaded(connection: DBusConnection, pattern: str, within_s: float) -> Iterator[Unit]:
    def ask(question: Any) -> Any:
        (answer,) = unwrap_msg(connection.send_and_get_reply(question, timeout=within_s))
        return answer

    for row in ask(new_method_call(MANAGER, "ListUnitsByPatterns", "asas", ([], [pattern]))):
        name, _description, load, active, _sub, _follows, path, *_job = row
        if load != "loaded":
            continue
        restarts = 0
        if name.endswith(".service"):
            service = DBusAddress(path, SYSTEMD, f"{SYSTEMD}.Service")
            _, restarts = ask(Properties(service).get("NRestarts"))
        yield Unit(name, active == "failed", restarts)
