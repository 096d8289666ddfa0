import contextlib
import gzip
import os
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from gateway.buyer import page as buyer_bundle
from gateway.buyer.page import POLICY
from generator.cli import _buyer_wallets
from generator.cli._buyer_wallets import make
from generator.errors import GeneratorError
from tests.buyer.test_page import page_of, selling

SCRIPT = b"export const pera = () => 0;" * 1_000


def put(folder: Path, content: bytes = SCRIPT) -> None:
    target = folder / "buyer-wallets"
    target.mkdir(exist_ok=True)
    (target / "wallets.js.gz").write_bytes(gzip.compress(content) if content else b"")


@pytest.fixture
def client(tmp_path: Path) -> TestClient:
    return page_of(selling(tmp_path))


def test_without_the_bundle_the_policy_is_strict_and_the_page_offers_no_such_wallet(client: TestClient) -> None:
    page = client.get("/x402-buyer/")

    assert page.headers["content-security-policy"] == POLICY
    assert "https:" not in POLICY
    assert 'value="pera"' not in page.text
    assert client.get("/x402-buyer/wallets.js").status_code == 404


def test_with_the_bundle_this_page_alone_has_a_looser_policy_that_names_each_host(
    client: TestClient, tmp_path: Path
) -> None:
    put(tmp_path)

    page = client.get("/x402-buyer/")

    policy = page.headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "unsafe-eval" not in policy
    assert "wss://*.perawallet.app" in policy
    assert 'value="pera"' in page.text
    assert 'value="defly"' in page.text
    refused = client.get("/x402-buyer/prepare?product=none")
    assert refused.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"


def test_the_bundle_is_served_packed_under_a_name_that_changes_with_it(client: TestClient, tmp_path: Path) -> None:
    put(tmp_path)
    first = client.get("/x402-buyer/").text.split('data-bundle="')[1].split('"')[0]

    packed = client.get(first)
    put(tmp_path, SCRIPT + b"//")
    second = client.get("/x402-buyer/").text.split('data-bundle="')[1].split('"')[0]

    assert (packed.content, packed.headers["content-encoding"]) == (SCRIPT, "gzip")
    assert packed.headers["content-type"] == "text/javascript; charset=utf-8"
    assert first != second


def test_a_folder_or_an_empty_file_in_its_place_counts_as_none(client: TestClient, tmp_path: Path) -> None:
    put(tmp_path, b"")
    empty = client.get("/x402-buyer/")
    (tmp_path / "buyer-wallets" / "wallets.js.gz").unlink()
    (tmp_path / "buyer-wallets" / "wallets.js.gz").mkdir()

    assert empty.headers["content-security-policy"] == POLICY
    assert client.get("/x402-buyer/").status_code == 200
    assert client.get("/x402-buyer/wallets.js").status_code == 404


def test_the_builder_and_the_gateway_mean_the_same_file() -> None:
    assert (_buyer_wallets.FOLDER, _buyer_wallets.SCRIPT) == (buyer_bundle.FOLDER, buyer_bundle.SCRIPT)


def npm(folder: Path, script: str) -> str:
    """Write a program that stands in for npm."""
    fake = folder / "npm"
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(0o755)
    return str(fake)


BUNDLER = """mkdir -p node_modules/.bin
echo "$@" > ../../arguments
printf '#!/bin/sh\\nhead -c 20000 /dev/zero | tr "\\\\0" x > wallets.js\\n' > node_modules/.bin/esbuild
chmod +x node_modules/.bin/esbuild"""


def test_a_build_runs_no_install_script_and_leaves_only_the_script(tmp_path: Path) -> None:
    target = tmp_path / "buyer-wallets"

    script = make(target, npm(tmp_path, BUNDLER), os.environ)

    assert gzip.decompress(script.read_bytes()) == b"x" * 20_000
    assert (tmp_path / "arguments").read_text().split()[:2] == ["ci", "--ignore-scripts"]
    assert sorted(path.name for path in target.iterdir()) == ["wallets.js.gz"]


def test_a_build_below_the_working_folder_finds_the_tools_it_installed(tmp_path: Path) -> None:
    with contextlib.chdir(tmp_path):
        script = make(Path("emi-state/buyer-wallets"), npm(tmp_path, BUNDLER), os.environ)

        assert gzip.decompress(script.read_bytes()) == b"x" * 20_000


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo 'no matching version' >&2; exit 1", "npm failed: no matching version"),
        ("mkdir -p node_modules/.bin; exit 0", "cannot|No such file"),
        (
            BUNDLER.replace("20000", "2"),
            "only 2 bytes",
        ),
    ],
)
def test_a_build_that_fails_is_one_line_and_the_old_script_is_kept(tmp_path: Path, script: str, words: str) -> None:
    put(tmp_path)

    with pytest.raises(GeneratorError, match=words):
        make(tmp_path / "buyer-wallets", npm(tmp_path, script), os.environ)

    assert [gzip.decompress(path.read_bytes()) for path in (tmp_path / "buyer-wallets").iterdir()] == [SCRIPT]


def test_without_npm_the_line_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(GeneratorError, match="apt install npm"):
        make(tmp_path, str(tmp_path / "none"), os.environ)
