"""A copy of the tree at which someone types what a page says: an empty home, free ports, a machine to install on."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.support.ports import free_port
from tests.support.processes import REPOSITORY, clean_environment

UP: Final = re.compile(r"\bemi up( --as testnet)?$")
UP_WITHIN_S: Final = 300
TYPED_WITHIN_S: Final = 300
KEPT: Final = frozenset({".venv", "emi-state", "emi.yaml", "machine"})  # for the next page
PIP_CONFIG: Final = Path.home() / ".config" / "pip" / "pip.conf"  # how this machine reaches its package index
ROOT_COMMANDS: Final = Path(__file__).with_name("root_commands.py")
PUBLIC: Final = "https://api.example.org"  # what the pages call the service's origin


@dataclass
class Desk:
    """Where pages are followed, one after the other, before one service.

    What a page names and a test cannot have is replaced: ports, the public origin, and the folders of a Debian machine,
    which lie in `machine`. There nginx runs; what else only root can do is in root_commands.py.
    """

    folder: Path
    port: int = field(default_factory=lambda: free_port(1))
    metrics_port: int = field(default_factory=free_port)
    edge_port: int = field(default_factory=free_port)
    _up: "subprocess.Popen[bytes] | None" = None
    _started: str = ""

    def __post_init__(self) -> None:
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(listed, cwd=REPOSITORY, check=True, capture_output=True, text=True, timeout=60).stdout
        for name in filter(None, names.split("\0")):
            if (REPOSITORY / name).exists():
                (self.clone / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(REPOSITORY / name, self.clone / name)
        self._tree = {path.name for path in self.clone.iterdir()}
        self._environment = self._of_a_stranger()

    @property
    def clone(self) -> Path:
        """The copy of the tree."""
        return self.folder / "clone"

    @property
    def machine(self) -> Path:
        """The root folder of the machine on which pages install things."""
        return self.folder / "machine"

    def type(self, text: str, cwd: Path | None = None) -> str:
        """Type a block and return what it printed; it must succeed. What runs until Ctrl-C is left running."""
        text = self._here(text)
        if UP.search(text.strip()):
            self.start(text)
            return ""

        log = self.folder / "typed.log"  # not a pipe: what is left running would hold it open
        with log.open("wb") as out:
            ran = subprocess.run(
                ["bash", "-ec", text],
                cwd=cwd or self.clone,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                timeout=TYPED_WITHIN_S,
                check=False,
            )

        printed = log.read_text()
        assert ran.returncode == 0, f"{text}\n{printed[-5000:]}"
        return printed

    def start(self, command: str) -> None:
        """Start the service and go to the second terminal when it is up; one that runs already is used again."""
        command = self._here(command).strip()
        if command == self._started:
            return
        self.stop()
        log = self.folder / "up.log"
        with log.open("wb") as out:
            self._up = subprocess.Popen(
                ["bash", "-ec", command],
                cwd=self.clone,
                env=self._environment,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        self._started = command
        until = time.monotonic() + UP_WITHIN_S
        while "is up:" not in log.read_text():
            assert self._up.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.2)

    def stop(self) -> None:
        """End the service and forget its state: Ctrl-C, `rm -r emi-state`."""
        if self._up is not None:
            os.killpg(self._up.pid, signal.SIGINT)
            self._up.wait(90)
        self._up, self._started = None, ""
        shutil.rmtree(self.clone / "emi-state", ignore_errors=True)

    def clear(self) -> None:
        """Remove what a page left behind, but for what was installed, and the service's own files."""
        for path in self.clone.iterdir():
            if path.name in self._tree | KEPT:
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()

    def close(self) -> None:
        """End everything that runs."""
        self.stop()
        if self.machine.exists():
            self.type("systemctl stop nginx")

    def a_machine(self) -> None:
        """Lay out a machine as Debian's packages of nginx and Caddy leave it, without nginx's optional modules."""
        if self.machine.exists():
            return
        shutil.copytree("/etc/nginx", self.machine / "etc/nginx", symlinks=True)
        for path in (self.machine / "etc/nginx/modules-enabled").iterdir():
            path.unlink()
        for folder in ("etc/caddy", "run", "srv/emi", "usr/bin", "var/log/nginx"):
            (self.machine / folder).mkdir(parents=True)
        (self.machine / "srv/emi/site").symlink_to(self.clone / "emi-state/site")
        main = self.machine / "etc/nginx/nginx.conf"
        user = "user root;" if os.geteuid() == 0 else ""
        main.write_text(re.sub(r"^user .*;", user, self._on_the_machine(main.read_text()), flags=re.MULTILINE))
        for name in ("nginx", "systemctl", "runuser"):
            command = self.machine / "usr/bin" / name
            command.write_text(f'#!/bin/sh\nexec {sys.executable} {ROOT_COMMANDS} {self.machine} {name} "$@"\n')
            command.chmod(0o755)

    def _here(self, text: str) -> str:
        """Put what there is in the place of what a page names."""
        words: Mapping[str, str] = {
            "8402": str(self.port),
            "8403": str(self.port + 1),
            "9402": str(self.metrics_port),
            PUBLIC: f"http://127.0.0.1:{self.edge_port}",
            "|80|": f"|127.0.0.1:{self.edge_port}|",
            "/opt/emi/": f"{self.clone}/.venv/",
        }
        replaced = re.sub("|".join(map(re.escape, words)), lambda found: words[found[0]], text)
        return self._on_the_machine(replaced)

    def _on_the_machine(self, text: str) -> str:
        return re.sub(r"(?<![\w/.])/(?=(?:etc|srv|run|var/log/nginx)\b)", f"{self.machine}/", text)

    def _of_a_stranger(self) -> dict[str, str]:
        home = self.folder / "home"
        home.mkdir()
        path = f"{self.machine}/usr/bin:{self.clone}/.venv/bin:{os.environ['PATH']}:/usr/sbin"
        found = clean_environment(HOME=str(home), EMI_PORT=str(self.port), PATH=path)
        return found | ({"PIP_CONFIG_FILE": str(PIP_CONFIG)} if PIP_CONFIG.exists() else {})
