"""The settings files of /etc/emi: the examples with the operator's values put in, and what still has to be."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from generator.errors import SetupError
from generator.operate.setup.machine import Machine

ETC: Final = "/etc/emi"
EXAMPLE_ORIGIN: Final = "https://api.example.org"
SHARED: Final = "emi.env"
OF_BACKUPS: Final = "backup.env"
OF_ALARMS: Final = "alert.env"
SETTINGS_FILES: Final = {
    SHARED: 0o644,
    "generator.env": 0o600,
    "gateway.env": 0o600,
    OF_BACKUPS: 0o600,
    OF_ALARMS: 0o600,
}
"""Files and their modes; what not every program may know is root's alone."""
FIXED: Final = frozenset(
    {"EMI_BASE_URL", "EMI_SITE_DIR", "EMI_VAULT_URL", "EMI_ARENA__INBOX_URL", "EMI_STATE_DIR", "EMI_HOST", "EMI_PORT"}
)
"""Settings that units, folders and nginx agree on."""
CONTACT: Final = "EMI_CONTACT"
_SETTING: Final = re.compile(r"^#?([A-Z][A-Z0-9_]*)=(.*)$")
_NOT_PLAIN: Final = re.compile(r"[\"'\\\x00-\x1f\x7f]|^\s|\s$")


def check_values(values: Mapping[str, str]) -> None:
    """Raise SetupError for a setting that is not the operator's, or a value that a file cannot hold as it is."""
    for name, value in values.items():
        if name in FIXED:
            raise SetupError(f"{name} is set by emi setup: units, folders and nginx agree on it")
        if _NOT_PLAIN.search(value):
            raise SetupError(f"{name} has a quote, a backslash or a space at an end: write it into {ETC} by hand")


def settings_texts(examples: Mapping[str, str], origin: str, values: Mapping[str, str]) -> dict[str, str]:
    """Return the settings files by name.

    A value that no example has a line for goes to the end of the file that both programs read.

    Args:
        examples: their texts in site/edge.
        origin: the public origin.
        values: settings by name.
    """
    texts = {name: "\n".join(_lines(text, origin, values)) + "\n" for name, text in examples.items()}

    lines = (line for text in examples.values() for line in text.splitlines())
    known = {setting[1] for line in lines if (setting := _SETTING.match(line))}
    texts[SHARED] += "".join(f"{name}={value}\n" for name, value in values.items() if name not in known)
    return texts


def _lines(text: str, origin: str, values: Mapping[str, str]) -> Iterator[str]:
    for line in text.splitlines():
        setting = _SETTING.match(line)
        if setting and setting[1] in values:
            yield f"{setting[1]}={values[setting[1]]}"
        elif setting and setting[1] == CONTACT:
            yield f"#{line}"  # no contact rather than an example
        else:
            yield line.replace(EXAMPLE_ORIGIN, origin)


def settings_in(text: str) -> dict[str, str]:
    """Return the settings of a file as systemd reads them."""
    matches = (_SETTING.match(line) for line in text.splitlines() if not line.startswith("#"))
    return {match[1]: match[2].strip().strip("\"'") for match in matches if match}


def settings_there(machine: Machine) -> dict[str, dict[str, str]]:
    """Return the settings that the machine has already, by file."""
    texts = {name: machine.read(f"{ETC}/{name}") for name in SETTINGS_FILES}
    return {name: settings_in(data.decode()) for name, data in texts.items() if data is not None}


def conflicts(machine: Machine, origin: str, values: Mapping[str, str]) -> Iterator[str]:
    """Yield what is asked for and not what the files say that are there: they are the operator's by now."""
    there = settings_there(machine)
    if not there:
        return

    current = {name: value for settings in there.values() for name, value in settings.items()}
    for name, value in ({"EMI_BASE_URL": origin} | dict(values)).items():
        if current.get(name) != value:
            state = f"is {current[name]}" if name in current else "is not"
            yield f"{name} {state} in {ETC}, not {value}: edit it there and restart the programs"


def to_be_set(machine: Machine) -> list[str]:
    """Return `FILE: NAME` of what still says example, or must be said before real money is taken."""
    there = settings_there(machine)
    sells_play = there.get(SHARED, {}).get("EMI_PLAY") == "true"
    return [
        f"{ETC}/{file}: {name}"
        for file, settings in there.items()
        for name, value in settings.items()
        if ".example." in value or (name == "EMI_PAY_TO" and not value and not sells_play)
    ]
