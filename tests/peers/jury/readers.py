"""Read the files of a service with the parsers of others. Usage: readers.py PARSER ORIGIN; what was read comes out."""

import importlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx  # type: ignore[import-not-found, import-untyped, unused-ignore]


def text(url: str) -> str:
    """Return a file that must be there."""
    return str(httpx.get(url, timeout=30).raise_for_status().text)


def llms_txt(origin: str) -> str:
    """Parse the guide for agents."""
    from llms_txt import parse_llms_file  # type: ignore[import-not-found, import-untyped, unused-ignore]

    read = parse_llms_file(text(f"{origin}/llms.txt"))
    links = {name: len(rows) for name, rows in read.sections.items()}
    assert all((read.title, read.summary, read.info, *links.values())), links
    return f"{sum(links.values())} links in {len(links)} sections"


def feedparser(origin: str) -> str:
    """Parse each Atom feed, and refuse one that is only nearly XML."""
    import feedparser as parser  # type: ignore[import-not-found, import-untyped, unused-ignore]

    feeds = [parser.parse(text(f"{origin}{path}")) for path in ("/feed.xml", "/asset/btc/feed.xml")]
    assert not any(feed.bozo for feed in feeds), [feed.get("bozo_exception") for feed in feeds]
    assert all(len({entry.id for entry in feed.entries}) == len(feed.entries) > 0 for feed in feeds)
    return f"{sum(len(feed.entries) for feed in feeds)} entries in {len(feeds)} feeds, bozo 0"


def atoma(origin: str) -> str:
    """Parse the feed strictly by RFC 4287."""
    import atoma as parser  # type: ignore[import-not-found, import-untyped, unused-ignore]

    feed = parser.parse_atom_bytes(text(f"{origin}/feed.xml").encode())
    assert feed.entries
    assert all(entry.id_ and entry.updated for entry in feed.entries)
    return f"{len(feed.entries)} entries"


def openapi_python_client(origin: str) -> str:
    """Generate a client, and call each free endpoint with it; where a path has a parameter, with one."""
    folder = Path(tempfile.mkdtemp())
    command = [str(Path(sys.executable).with_name("openapi-python-client")), "generate", "--meta", "none"]
    options = ["--url", f"{origin}/openapi.json", "--output-path", str(folder / "generated")]
    done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stdout, done.stdout

    sys.path.insert(0, str(folder))
    client = importlib.import_module("generated").Client(base_url=origin)
    calls = sorted(path.stem for path in (folder / "generated" / "api" / "free").glob("get_*.py"))
    for name in calls:
        module = importlib.import_module(f"generated.api.free.{name}")
        given: dict[str, Any] = {"asset": "ETH"} if name.endswith("of_asset") else {}
        answer = module.sync_detailed(client=client, **given)
        assert answer.status_code == 200, (name, answer.status_code)
        assert answer.parsed is not None, name
    return f"{len(calls)} of {len(calls)} free operations called and parsed"


def openapi_generator_cli(origin: str) -> str:
    """Generate a client in Go, and call each free endpoint with it; so from a slice, whose nulls are type arrays."""
    called = [_called_in_go(origin, path) for path in ("/openapi.json", "/openapi/statistics.json")]
    return f"Go: {called[0]} free operations called and decoded strictly, and {called[1]} of a slice with type arrays"


def _called_in_go(origin: str, path: str) -> int:
    folder = Path(tempfile.mkdtemp())
    generator = str(Path(sys.executable).with_name("openapi-generator-cli"))
    no_more = "apiTests=false,modelTests=false,apiDocs=false,modelDocs=false"
    form = "packageName=client,isGoSubmodule=true,enumClassPrefix=true"
    options = ["-g", "go", "-o", str(folder), f"--global-property={no_more}", f"--additional-properties={form}"]
    _run([generator, "generate", "-i", origin + path, *options], folder)

    # The client needs the standard library alone; the version of Go that its module names is newer than Debian's.
    module = folder / "go.mod"
    module.write_text(re.sub(r"(?m)^go .*", "go 1.19", module.read_text()))
    (folder / "jury").mkdir()
    (folder / "jury" / "main.go").write_bytes(Path(__file__).with_name("calls.go").read_bytes())
    return int(_run(["go", "run", "./jury", origin], folder))


def _run(command: list[str], folder: Path) -> str:
    environment = {**os.environ, "GOPROXY": "off", "HOME": str(Path.home())}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-1_500:]
    return done.stdout


PARSERS: dict[str, Callable[[str], str]] = {
    "llms-txt": llms_txt,
    "feedparser": feedparser,
    "atoma": atoma,
    "openapi-python-client": openapi_python_client,
    "openapi-generator-cli": openapi_generator_cli,
}
print(PARSERS[sys.argv[1]](sys.argv[2]))
