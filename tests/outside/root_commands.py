"""What a page has root do, done by a test: `root_commands.py MACHINE COMMAND ARGUMENT...`.

nginx is the real one, over the configuration in MACHINE. systemd's part is played: a reload starts nginx, a restart of
Caddy has Caddy read its configuration with the environment of its unit. Another user is the same one.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

BEFORE = "/usr/sbin:/usr/bin:/sbin:/bin"


def run(command: Sequence[str], **environment: str) -> int:
    return subprocess.run(command, env={**os.environ, **environment}, check=False, timeout=60).returncode


def nginx(machine: Path, *arguments: str) -> int:
    program = shutil.which("nginx", path=BEFORE) or "nginx"
    return run([program, "-p", str(machine / "etc/nginx"), "-c", str(machine / "etc/nginx/nginx.conf"), *arguments])


def caddy(machine: Path) -> int:
    unit = (machine / "etc/systemd/system/caddy.service.d/emi.conf").read_text()
    found = dict(shlex.split(line)[0].split("=", 1) for line in re.findall(r"^Environment=(.*)$", unit, re.MULTILINE))
    config = str(machine / "etc/caddy/Caddyfile")
    return run(["caddy", "validate", "--config", config, "--adapter", "caddyfile"], **found)


def main() -> int:
    machine, name, *arguments = Path(sys.argv[1]), *sys.argv[2:]
    written = machine / "run/nginx.pid"  # also by a check of the configuration, without a number
    running = written.exists() and bool(written.read_text().strip())
    match [name, *arguments]:
        case ["nginx", *given]:
            code = nginx(machine, *given)
        case ["systemctl", "reload", "nginx"]:
            code = nginx(machine, *(("-s", "reload") if running else ()))
        case ["systemctl", "stop", "nginx"]:
            code = nginx(machine, "-s", "stop") if running else 0
        case ["systemctl", "restart", "caddy"]:
            code = caddy(machine)
        case ["systemctl", "daemon-reload"]:
            code = 0
        case ["runuser", "-u", _, "--", *command]:
            code = run(command)
        case _:
            print(f"no page has root run this: {name} {' '.join(arguments)}", file=sys.stderr)
            code = 2
    return code


if __name__ == "__main__":
    sys.exit(main())
