"""Settings of both programs from flags, environment, `emi.yaml` and defaults, with one line for what is wrong."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from generator.catalog.words import SourceMode
from generator.errors import GeneratorError
from generator.settings import GeneratorSettings

if TYPE_CHECKING:
    from gateway.settings import GatewaySettings

PREFIX: Final = "EMI_"
FILE: Final = "emi.yaml"
_REMOVED: Final = {
    "EMI_LEASE_TTL_SECONDS": "a leader that says nothing is replaced after 3 seconds; remove it",
    "EMI_RECEIPT_KEY_FILE": "the key of receipts is STATE_DIR/keys/receipt.key; move it there with receipt.pub",
    "EMI_VERIFY_TIMEOUT_SECONDS": "a verify has a third of EMI_SETTLE_TIMEOUT_SECONDS; remove it",
}
_OF_A_SERVICE: Final = re.compile(r"EMI_SERVICE_(HOST|PORT(_\w+)?)|EMI_PORT_\d+_(TCP|UDP|SCTP)(_\w+)?")
_URL_OF_A_SERVICE: Final = re.compile(r"(tcp|udp|sctp)://")

Settings = TypeVar("Settings")


def generator_settings(**flags: Any) -> GeneratorSettings:
    """Return the generator's settings; `flags` that are not None win.

    Raises:
        GeneratorError: a value is wrong, or a name is known to neither program.
    """
    settings = _load(GeneratorSettings, flags)
    complaint = settings.complaint()
    if complaint:
        raise GeneratorError(complaint)
    return settings


def gateway_settings(**flags: Any) -> GatewaySettings:
    """Return the gateway's settings, as `generator_settings` does the generator's."""
    from gateway.settings import GatewaySettings

    return _load(GatewaySettings, flags)


def replay_start(settings: GeneratorSettings, at: str | None, *, loop: bool) -> datetime | None:
    """Return the market time at which a recording starts, None for its own; without an offset it is UTC.

    Raises:
        GeneratorError: --at is not a time, it or --loop is given where there is nothing to replay, or no folder has
            candles.
    """
    if (at is not None or loop) and settings.source != SourceMode.RECORDED:
        raise GeneratorError("--at and --loop move a recording: use them with --source recorded --data DIR")
    start = None if at is None else _time(at)
    if settings.source == SourceMode.RECORDED:
        _check_folders(settings.data_dir)
    return start


def _time(at: str) -> datetime:
    try:
        start = datetime.fromisoformat(at)
    except ValueError as error:
        raise GeneratorError(f"--at {at!r} is not a time; write e.g. 2022-10-20T12:00:00Z") from error
    return start.astimezone(UTC) if start.tzinfo else start.replace(tzinfo=UTC)


def _check_folders(folders: Sequence[Path]) -> None:
    """Refuse what cannot be a recording, before anything is started; what is in it is read later."""
    from generator.catalog.assets import ASSETS
    from generator.market.recorded.files import check_candles

    for folder in folders:
        if not folder.is_dir():
            raise GeneratorError(f"--data {folder} is not a folder; name the one that holds the recording")
    check_candles(folders, ASSETS)


def _check_kubernetes(environment: Mapping[str, str]) -> None:
    """Explain the variables that Kubernetes adds for a Service called `emi`; they are no settings."""
    added = [
        name
        for name, value in environment.items()
        if _OF_A_SERVICE.fullmatch(name) or (name == "EMI_PORT" and _URL_OF_A_SERVICE.match(value))
    ]

    if added:
        raise GeneratorError(
            f"environment: {', '.join(sorted(added))}: Kubernetes adds these for a Service named 'emi', they are no "
            "settings; write 'enableServiceLinks: false' into the pod's spec, or give the Service another name"
        )


def _load(kind: Callable[..., Settings], flags: Mapping[str, Any]) -> Settings:
    _check_kubernetes(os.environ)
    known = known_names()

    # What is not known is named before a value is judged: it may be the misspelt one.
    for name in os.environ:
        if name.startswith(PREFIX):
            _check_known(name.upper(), known, "environment")

    values = _tree(_file(), known) | {name: value for name, value in flags.items() if value is not None}
    try:
        return kind(**values)
    except ValidationError as error:
        raise GeneratorError(_one_line(error, values)) from error


def known_names() -> dict[str, bool]:
    """Return every setting's environment name and whether it is a secret, over both programs."""
    from gateway.settings import GatewaySettings

    names: dict[str, bool] = {}
    for kind in (GeneratorSettings, GatewaySettings):
        for name, secret in _names(kind):
            names[name] = names.get(name, False) or secret
    return names


def _names(kind: type[BaseModel], prefix: str = PREFIX) -> Iterator[tuple[str, bool]]:
    for name, field in kind.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from _names(inner, f"{prefix}{name.upper()}__")
        else:
            yield prefix + name.upper(), "Secret" in str(inner)


def _check_known(name: str, known: Mapping[str, bool], where: str) -> None:
    if name in known:
        return
    if name in _REMOVED:
        raise GeneratorError(f"{where}: {name} was removed: {_REMOVED[name]}")

    last = name.removeprefix(PREFIX)
    nested = [other for other in known if other.endswith(f"__{last}")]
    meant = nested or difflib.get_close_matches(name, known, n=1, cutoff=0.85)
    if meant:
        raise GeneratorError(f"{where}: unknown setting {name}; did you mean {' or '.join(meant)}?")
    raise GeneratorError(f"{where}: unknown setting {name}; valid: {', '.join(sorted(known))}")


def _file() -> dict[Any, Any]:
    """Read `emi.yaml` of the working folder, empty when there is none."""
    path = Path(FILE)
    if not path.exists():
        return {}
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        data = YAML(typ="safe").load(path.read_text())
    except (OSError, YAMLError, UnicodeDecodeError) as error:
        raise GeneratorError(f"{FILE}: cannot be read: {' '.join(str(error).split())}") from error
    if not isinstance(data, dict | None):
        raise GeneratorError(f"{FILE}: must be a mapping such as 'port: 8402'")
    return data or {}


def _tree(data: Mapping[Any, Any], known: Mapping[str, bool], prefix: str = PREFIX) -> dict[str, Any]:
    """Return a file's values as they would stand in the environment; what that also sets is left to it."""
    values: dict[str, Any] = {}
    for key, given in data.items():
        place, _, rest = str(key).lower().partition("__")
        value = {rest: given} if rest else given
        name = prefix + place.upper()
        if isinstance(value, dict):
            values[place] = values.get(place, {}) | _tree(value, known, f"{name}__")
            continue
        if value is None:
            continue

        _check_known(name, known, FILE)
        if name in os.environ:
            continue

        if isinstance(value, list):
            values[place] = ",".join(map(str, value))
        elif isinstance(value, int | float) and not isinstance(value, bool):  # `port: true` is not port 1
            values[place] = value
        else:
            values[place] = str(value)
    return values


def _one_line(error: ValidationError, values: Mapping[str, Any]) -> str:
    """Return the first error as `EMI_X is VALUE (from ...): what is allowed`, without the value of a secret."""
    first = error.errors(include_url=False)[0]
    given = first["input"]
    message = first["msg"].removeprefix("Value error, ")
    place = [str(part) for part in first["loc"] if isinstance(part, str)]
    if not place:
        return message  # of several settings together

    name = PREFIX + "__".join(place).upper()
    is_secret = known_names().get(name, False) or "@" in str(given)  # a URL with credentials
    is_scalar = isinstance(given, str | int | float | bool)
    shown = f" is {given!r}" if is_scalar and not is_secret else ""
    where = f" (from {FILE} or a flag)" if place[0] in values else ""
    return f"{name}{shown}{where}: {message[0].lower() + message[1:]}"
