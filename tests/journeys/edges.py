"""nginx and Caddy on loopback, from the very recipes of site/edge, without privileges and in folders of their own."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.support.ports import free_port
from tests.support.processes import started

RECIPES: Final = Path(__file__).resolve().parents[2] / "site" / "edge"
PROJECT: Final = "Educational Market Intelligence"
MODULES: Final = Path("/usr/lib/nginx/modules")
BROTLI: Final = MODULES / "ngx_http_brotli_static_module.so"
NOWHERE: Final = "127.0.0.1:1"
"""A gateway that is not running."""


@dataclass(frozen=True)
class Edge:
    """A running edge: its origin, its process, and where its logs are."""

    origin: str
    process: subprocess.Popen[bytes]
    folder: Path

    def logs(self) -> str:
        """Return what it wrote into any log."""
        return "".join(path.read_text() for path in self.folder.glob("*log"))


def program(name: str) -> str | None:
    """Return the path of nginx or caddy, also where only root's PATH has it."""
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


def missing(name: str) -> str:
    """Say what this machine lacks for an edge, empty when it has all."""
    if name == "nginx" and not BROTLI.exists():
        return "nginx and its brotli module: apt-get install nginx libnginx-mod-http-brotli-static"
    return "" if program(name) else f"{name}: apt-get install {name}"


@contextlib.contextmanager
def nginx(folder: Path, site: Path, gateway: str = NOWHERE, *, brotli: bool = True, http: str = "") -> Iterator[Edge]:
    """Run nginx with the recipe.

    Args:
        folder: empty, becomes its prefix.
        site: EMI_SITE_DIR.
        gateway: host and port.
        brotli: whether the optional module and snippet are there.
        http: lines before the recipe in the http block.
    """
    port = free_port()
    words = {
        "@SITE_DIR@": str(site),
        "@GATEWAY@": gateway,
        "@LISTEN@": f"127.0.0.1:{port}",
        "@SERVER_NAME@": "_",
        "@PROJECT@": PROJECT,
        "/var/log/nginx": str(folder),
    }
    snippets = folder / "snippets"
    snippets.mkdir(parents=True)
    for recipe in (RECIPES / "nginx").glob("emi-*.conf"):
        shutil.copy(recipe, snippets)
    if brotli:
        shutil.copy(RECIPES / "nginx" / "brotli.conf", snippets / "emi-brotli.conf")
    (folder / "emi.conf").write_text(rendered((RECIPES / "nginx" / "emi.conf").read_text(), words))
    with bare_nginx(folder, f"{http}\ninclude emi.conf;", port, f"load_module {BROTLI};" if brotli else "") as edge:
        yield edge


@contextlib.contextmanager
def bare_nginx(folder: Path, http: str, port: int, main: str = "") -> Iterator[Edge]:
    """Run nginx with one worker and these lines in its http block."""
    folder.mkdir(parents=True, exist_ok=True)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    # As root, workers would become another user, who cannot read a test's folder.
    user = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(
        f"{main}\n{user}\ndaemon off;\nworker_processes 1;\npcre_jit on;\npid {folder}/nginx.pid;\n"
        f"error_log {folder}/log warn;\nevents {{ worker_connections 1024; }}\n"
        f"http {{\naccess_log off;\n{temporary}\n{http}\n}}\n"
    )
    command = [program("nginx") or "nginx", "-p", str(folder), "-e", "log", "-c", str(folder / "nginx.conf")]
    with _running(command, folder, port, {}) as edge:
        yield edge


@contextlib.contextmanager
def caddy(folder: Path, site: Path, gateway: str = NOWHERE, *, more: str = "") -> Iterator[Edge]:
    """Run Caddy with the recipe; arguments as for `nginx`, `more` are lines for the site's block."""
    port = free_port()
    folder.mkdir(parents=True)
    recipe = (RECIPES / "caddy" / "Caddyfile").read_text()
    words = {
        "\tadmin off\n": "\tadmin off\n\tdefault_bind 127.0.0.1\n",  # tests listen on loopback
        "\timport conditions\n": f"\timport conditions\n{more}",
    }
    (folder / "Caddyfile").write_text(rendered(recipe, words))
    found = {"SITE_ADDRESS": f"http://:{port}", "SITE_DIR": str(site), "GATEWAY": gateway, "PROJECT": PROJECT}
    homes = {name: str(folder) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")}
    command = [program("caddy") or "caddy", "run", "--config", "Caddyfile", "--adapter", "caddyfile"]
    with _running(command, folder, port, found | homes) as edge:
        yield edge


def rendered(recipe: str, words: Mapping[str, str]) -> str:
    """Put the words in place of their marks.

    Raises:
        ValueError: the recipe does not have a mark.
    """
    for mark, word in words.items():
        if mark not in recipe:
            raise ValueError(f"the recipe has no {mark}")
        recipe = recipe.replace(mark, word)
    return recipe


@contextlib.contextmanager
def _running(command: Sequence[str], folder: Path, port: int, found: Mapping[str, str]) -> Iterator[Edge]:
    origin = f"http://127.0.0.1:{port}"
    with started(command, folder, {**os.environ, **found}, origin) as process:
        process.wait_open()
        yield Edge(origin, process.process, folder)
