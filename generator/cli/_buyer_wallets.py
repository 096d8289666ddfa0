"""The optional script with Pera and Defly for the buyer page, as `emi gateway --build-wallets` builds it."""

import gzip
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Final

from generator.errors import GeneratorError

NPM: Final = "npm"
# As in gateway/buyer/page.py; a test holds both equal.
FOLDER: Final = "buyer-wallets"
SCRIPT: Final = "wallets.js.gz"
BUNDLE: Final = "wallets.js"
SOURCES: Final = ("package.json", "package-lock.json", "entry.js")
INSTALL_S: Final = 600.0
BUNDLE_S: Final = 120.0
SMALLEST: Final = 10_000


def build() -> None:
    """Build the script into STATE_DIR/buyer-wallets, with the npm of this machine."""
    from generator.cli._settings import gateway_settings

    target = gateway_settings().state_dir / FOLDER
    script = make(target, NPM, os.environ)
    print(f"built {script} ({script.stat().st_size:,} bytes); the buyer page offers Pera and Defly now")


def make(target: Path, npm: str, environment: Mapping[str, str]) -> Path:
    """Build the packed script into a folder and return it; what is there stays in use until the new one is whole.

    Raises:
        GeneratorError: npm is missing or fails, or nothing usable came out; the old script stays.
    """
    npm_path = shutil.which(npm)
    if npm_path is None:
        raise GeneratorError(f"{npm} is not on this machine; install Node.js with npm (apt install npm)")

    try:
        target = target.absolute()  # the tools run in a folder of their own
        target.mkdir(mode=0o755, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".building-", dir=target) as name:
            packed = gzip.compress(_bundle(Path(name), npm_path, environment), 9, mtime=0)

        # The gateway may read the old file meanwhile: the new one takes its name when it is on the disk.
        draft = target / f".{SCRIPT}.part"
        with draft.open("wb") as out:
            out.write(packed)
            out.flush()
            os.fsync(out.fileno())
        return draft.replace(target / SCRIPT)
    except OSError as error:
        raise GeneratorError(f"buyer wallets not built in {target}: {error.strerror or error}") from error


def _bundle(work: Path, npm: str, environment: Mapping[str, str]) -> bytes:
    sources = resources.files("generator.cli").joinpath("wallets")
    for name in SOURCES:
        (work / name).write_bytes(sources.joinpath(name).read_bytes())

    # No script of a package runs here: only what the lock file names is unpacked.
    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"]
    _run([npm, "ci", *quiet], work, environment, INSTALL_S)
    esbuild = ["entry.js", "--bundle", "--format=esm", "--platform=browser", "--minify", "--define:global=globalThis"]
    _run(
        [str(work / "node_modules" / ".bin" / "esbuild"), *esbuild, f"--outfile={BUNDLE}"], work, environment, BUNDLE_S
    )

    content = (work / BUNDLE).read_bytes()
    if len(content) < SMALLEST:
        raise GeneratorError(f"buyer wallets not built: the bundle has only {len(content)} bytes")
    return content


def _run(command: Sequence[str], work: Path, environment: Mapping[str, str], timeout_s: float) -> None:
    """Run one tool; its last lines are the error when it fails."""
    what = Path(command[0]).name
    try:
        done = subprocess.run(  # noqa: S603  npm as found on the path, and what it installed from our lock file
            command,
            cwd=work,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise GeneratorError(f"buyer wallets not built: {what} took longer than {timeout_s:g} s") from error

    if done.returncode != 0:
        lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise GeneratorError(f"buyer wallets not built: {what} failed: {' / '.join(lines[-3:])[:300]}")
