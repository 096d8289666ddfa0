"""What a machine is to have: users, folders, settings, units and the edge, from the files of site/edge."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gateway.wire import ports
from generator.errors import SetupError
from generator.operate.setup.machine import Machine
from generator.operate.setup.made import MadeUnit
from generator.operate.setup.settings import (
    ETC,
    OF_BACKUPS,
    SETTINGS_FILES,
    SHARED,
    conflicts,
    settings_in,
    settings_texts,
    settings_there,
)
from generator.operate.setup.steps import Accounts, Command, File, Folder, Link, Step, Unit, Where

PROGRAM: Final = "/opt/emi/bin/emi"
GATEWAY: Final = f"127.0.0.1:{ports.GATEWAY}"
DEVNET: Final = f"http://127.0.0.1:{ports.DEVNET}"
SITE: Final = "/srv/emi/site"
DATA_FOLDERS: Final = ("/var/lib/emi", "/srv/emi")
UNITS: Final = "/etc/systemd/system"
DOCS: Final = "/usr/share/doc/emi"
GUIDES: Final = ("operating.md", "backups.md", "runbook.md")
"""What the units' Documentation= and an alarm's runbook name."""
NGINX: Final = "/etc/nginx"
BROTLI: Final = "/usr/lib/nginx/modules/ngx_http_brotli_static_module.so"
SYSTEMS: Final = frozenset({"12", "13"})
NEEDED: Final = {
    PROGRAM: "install the program there: docs/howto/operating.md",
    "/usr/sbin/nginx": "apt-get install nginx",
    "/usr/bin/systemd-sysusers": "apt-get install systemd",
}
# In the order of starting: what looks after the machine first, so that a program that does not start is reported.
ENABLED: Final = (
    "emi-watch.service",
    "emi-check@generator.timer",
    "emi-check@gateway.timer",
    "emi-backup.timer",
    "emi-drill.timer",
)
PROGRAMS: Final = ("emi-schedule.service", "emi-gateway.service")
PLAY: Final = {
    "EMI_PLAY": "true",
    "EMI_NETWORK": "devnet",
    "EMI_FACILITATOR_URL": f"{DEVNET}/facilitator",
    "EMI_ALGOD_URL": f"{DEVNET}/algod",
    "EMI_INDEXER_URL": f"{DEVNET}/indexer",
}
"""Settings with which play money is sold, from a devnet on this machine."""
PLAY_UNITS: Final = ("emi-purchase.timer", "emi-devnet.service")
DEFAULT_PROJECT: Final = "Educational Market Intelligence"
_PLAIN_PATH: Final = re.compile(r"(/[\w.@+-]+)+")
_BY_HAND: Final = re.compile(r"^ *# With a certificate:\n(?: *#.*\n)+", re.MULTILINE)
_NAME: Final = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))+")


@dataclass(frozen=True, slots=True)
class Choice:
    """What the operator asks for.

    Args:
        domain: the public host name.
        certificate: PEM file with the certificate and those above it.
        key: PEM file of its private key.
        values: settings by name; none of them secret, since whoever is on the machine sees a command's arguments.
    """

    domain: str
    certificate: str
    key: str
    values: Mapping[str, str]

    @property
    def origin(self) -> str:
        """What readers and payers ask."""
        return f"https://{self.domain}"


def check_domain(domain: str) -> str:
    """Return a host name in lower case and without the dot of the root at its end; SetupError where it is none.

    >>> check_domain("API.example.org.")
    'api.example.org'
    """
    name = domain.lower().removesuffix(".")
    if not _NAME.fullmatch(name) or len(name) > 253 or name.replace(".", "").isdecimal():
        raise SetupError(f"{domain!r} is not a host name such as api.example.org")
    return name


def check_path(path: str) -> str:
    """Return an absolute path that nginx's configuration can hold as it is; SetupError for another."""
    if not _PLAIN_PATH.fullmatch(path):
        raise SetupError(f"{path!r} is not an absolute path of letters, digits and . _ @ + -")
    return path


def unmet(machine: Machine, choice: Choice) -> list[str]:
    """Return what the machine lacks before anything can be made, each with the step to take."""
    release = (machine.read("/etc/os-release") or b"").decode()
    fields = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', release, re.MULTILINE))
    lacking = []
    if fields.get("ID") != "debian" or fields.get("VERSION_ID") not in SYSTEMS:
        system = fields.get("PRETTY_NAME", "an unknown system")
        lacking.append(f"this is {system}; emi setup knows Debian 12 and 13: take site/edge by hand")

    lacking += [f"{path} is missing: {step}" for path, step in NEEDED.items() if not machine.at(path).exists()]
    for path, option in ((choice.certificate, "--cert"), (choice.key, "--key")):
        if not machine.at(path).is_file():
            lacking.append(f"{path} is missing: name the file with {option}, or have a certificate issued first")
    return [*lacking, *conflicts(machine, choice.origin, choice.values)]


def plan_of(choice: Choice, edge: Path, guides: Path, machine: Machine) -> list[Step]:
    """Return the steps, in their order.

    Args:
        choice: what is asked for.
        edge: the folder site/edge of this version.
        guides: the folder docs/howto of this version.
        machine: what is there is looked at: existing settings, nginx's modules, IPv6.
    """
    systemd = edge / "systemd"
    return [
        *_accounts(systemd),
        *_folders(systemd),
        *_settings(choice, systemd),
        *_units(systemd, guides),
        *_nginx(choice, edge / "nginx", machine),
        *_started(choice, systemd),
    ]


def settings_of(choice: Choice, edge: Path) -> dict[str, str]:
    """Return what both programs will read, by name."""
    texts = _texts(choice, edge / "systemd")
    return {
        name: value
        for file, text in texts.items()
        for name, value in settings_in(text).items()
        if file != OF_BACKUPS and value
    }


def _accounts(systemd: Path) -> Iterator[Step]:
    group = "Users"
    text = (systemd / "emi.sysusers").read_text(encoding="utf-8")
    users = dict(re.findall(r'^u (\S+) \S+ ".*" (\S+)$', text, re.MULTILINE))
    groups = tuple(re.findall(r"^g (\S+) ", text, re.MULTILINE))

    yield Folder(group, "/etc/sysusers.d", 0o755, "root", "root")
    yield File(group, "/etc/sysusers.d/emi.conf", text.encode())
    yield Accounts(group, "emi.conf", tuple(users.items()), groups, DATA_FOLDERS)


def _folders(systemd: Path) -> Iterator[Step]:
    group = "Folders"
    text = (systemd / "emi.tmpfiles").read_text(encoding="utf-8")

    yield Folder(group, "/etc/tmpfiles.d", 0o755, "root", "root")
    yield File(group, "/etc/tmpfiles.d/emi.conf", text.encode())
    for path, mode, owner, owner_group in re.findall(r"^d (\S+) (\d+) (\S+) (\S+)$", text, re.MULTILINE):
        yield Folder(group, path, int(mode, 8), owner, owner_group)


def _settings(choice: Choice, systemd: Path) -> Iterator[Step]:
    for name, text in _texts(choice, systemd).items():
        yield File("Settings", f"{ETC}/{name}", text.encode(), SETTINGS_FILES[name], is_theirs=True)


def _texts(choice: Choice, systemd: Path) -> dict[str, str]:
    examples = {name: (systemd / name).read_text(encoding="utf-8") for name in SETTINGS_FILES}
    return settings_texts(examples, choice.origin, choice.values)


def _units(systemd: Path, guides: Path) -> Iterator[Step]:
    group = "Units"
    reload = ("systemctl", "daemon-reload")

    yield Folder(group, DOCS, 0o755, "root", "root")
    for name in GUIDES:
        yield File(group, f"{DOCS}/{name}", (guides / name).read_bytes())

    yield Command(group, afterwards=reload)
    for path in sorted((*systemd.glob("*.service"), *systemd.glob("*.timer"))):
        yield File(group, f"{UNITS}/{path.name}", path.read_bytes())
    yield Command(group, reload)


def _nginx(choice: Choice, recipe: Path, machine: Machine) -> Iterator[Step]:
    group = "nginx"
    reload = ("systemctl", "reload-or-restart", "nginx")

    yield Command(group, afterwards=reload)
    for path in sorted(recipe.glob("emi-*.conf")):
        yield File(group, f"{NGINX}/snippets/{path.name}", path.read_bytes())
    if machine.at(BROTLI).exists():
        yield File(group, f"{NGINX}/snippets/emi-brotli.conf", (recipe / "brotli.conf").read_bytes())
    yield File(group, f"{NGINX}/sites-available/emi.conf", _site(choice, recipe, machine).encode())
    yield Link(group, f"{NGINX}/sites-enabled/emi.conf", "../sites-available/emi.conf")

    yield Command(group, ("nginx", "-t"), where=Where.THIS)
    yield Command(group, reload)


def _site(choice: Choice, recipe: Path, machine: Machine) -> str:
    """Return nginx's server blocks with the marks of the recipe replaced."""
    settings = settings_there(machine).get(SHARED, choice.values)
    project = settings.get("EMI_PROJECT", DEFAULT_PROJECT)
    if re.search(r'["\'\\$\n]', project):
        raise SetupError("EMI_PROJECT has a quote, a backslash or a dollar sign, which nginx cannot take")

    marks = {
        "listen @LISTEN@;": _listening(choice, machine),
        "@SITE_DIR@": SITE,
        "@GATEWAY@": GATEWAY,
        "@SERVER_NAME@": choice.domain,
        "@PROJECT@": project,
    }
    text = (recipe / "emi.conf").read_text(encoding="utf-8") + _redirect(recipe, machine)
    text = _BY_HAND.sub("", text)
    head, _, rest = text.partition("\n\n")  # its first paragraphs explain the marks
    for mark, value in marks.items():
        rest = rest.replace(mark, value)
    return f"{head.splitlines()[0]}\n\n{rest}"


def _redirect(recipe: Path, machine: Machine) -> str:
    text = (recipe / "redirect.conf").read_text(encoding="utf-8")
    return text if _has_ipv6(machine) else text.replace("    listen [::]:80;\n", "")


def _listening(choice: Choice, machine: Machine) -> str:
    lines = ["listen 443 ssl http2;"]
    if _has_ipv6(machine):
        lines.append("listen [::]:443 ssl http2;")
    lines += [f"ssl_certificate {choice.certificate};", f"ssl_certificate_key {choice.key};"]
    return "\n    ".join(lines)


def _has_ipv6(machine: Machine) -> bool:
    return bool(machine.read("/proc/net/if_inet6"))


def _started(choice: Choice, systemd: Path) -> Iterator[Step]:
    """Enable every unit before the first is started: one that does not start keeps no other from coming up."""
    plays = choice.values.get("EMI_PLAY") == "true"
    names = (*ENABLED, *(PLAY_UNITS if plays else ()), *PROGRAMS)

    for name in names:
        yield Unit("Enabled", name)
    for name in names:
        yield Command("Started", ("systemctl", "start", name), follows=MadeUnit(name=name).key)

    # When it is undone: all of them end, and none is left that systemd remembers as failed.
    ours = tuple(path.name.replace("@.", "@*.") for path in sorted(systemd.glob("*.service")))
    yield Command("Ended", afterwards=("systemctl", "reset-failed", "emi-*"))
    yield Command(
        "Ended", afterwards=("systemctl", "stop", *(name for name in names if name.endswith(".timer")), *ours)
    )
