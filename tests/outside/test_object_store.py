"""The site and the vault in a real S3 server process, and the whole service over it."""

import json
import signal
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import obstore
import pytest

from generator.release.bucket.objects import Objects, StoredContent
from generator.release.bucket.store import Bucket, Conflict, Stored, StoreFault, open_bucket
from tests.outside.processes import devnet, gateway
from tests.support.processes import Running, emi, get
from tests.support.servers import make_bucket, s3

pytestmark = pytest.mark.outside
SECRET = "hunter2-secret"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[dict[str, str], Running]]:
    with s3(tmp_path) as (environment, process):
        environment |= {"AWS_SECRET_ACCESS_KEY": SECRET}
        make_bucket(environment, "market")
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        yield environment, process


@pytest.mark.usefixtures("store")
def test_the_server_keeps_conditions_and_headers() -> None:
    bucket = open_bucket("s3://market/conditions")
    assert isinstance(bucket, Bucket)
    headers = {"Content-Type": "application/json", "Cache-Control": "no-store", "Content-Encoding": "br"}

    first = bucket.create("a", b"1", headers)
    second = bucket.update("a", b"2", first, headers)

    with pytest.raises(Conflict):
        bucket.create("a", b"3", {})
    for path in ("a", "nothing here"):
        with pytest.raises(Conflict):
            bucket.update(path, b"3", first, {})
    assert bucket.get("a") == Stored(b"2", second)
    assert dict(obstore.get(bucket._store, "a").attributes) == headers
    with pytest.raises(StoreFault, match="NoSuchBucket") as caught:
        open_bucket("s3://no-such-bucket/x").get("a")
    assert caught.value.refused


@pytest.mark.usefixtures("store")
def test_the_server_lists_page_by_page_and_what_is_a_day_old_goes() -> None:
    bucket = open_bucket("s3://market/pages")
    objects = Objects(bucket, "g", "8", 20)
    contents = [StoredContent.of(b"%d" % number, {"Content-Type": "text/plain"}) for number in range(40)]
    put = objects.put(contents)
    now = bucket.modified(contents[0].path)

    first = bucket.page("o", "", 25)
    rest = bucket.page("o", max(first), 25)
    for _ in range(2):
        objects.sweep({one.path for one in contents[:3]}, now + timedelta(hours=24, minutes=1))

    assert (put, objects.put(contents[:3])) == (40, 0)
    assert [*first, *rest] == sorted(one.path for one in contents)
    assert set(bucket.files("o")) == {one.path for one in contents[:3]}


@pytest.mark.timeout(400)
def test_the_whole_service_over_an_object_store_sells_also_while_the_store_is_down(
    store: tuple[dict[str, str], Running], tmp_path: Path
) -> None:
    environment, process = store
    market, elsewhere = tmp_path / "generator", tmp_path / "gateway"  # another machine: they share the store alone

    def buy(product: str, origin: str, chain: str) -> CompletedProcess[str]:
        words = ("buy", product, "--url", origin, "--devnet-url", chain, "--json")
        return emi(*words, cwd=elsewhere, EMI_STATE_DIR=str(elsewhere))

    urls = {"EMI_SITE_URL": "s3://market/all/site", "EMI_VAULT_URL": "s3://market/all/vault"}
    settings = {"EMI_STATE_DIR": str(market), **urls, **environment}
    done = emi("tick", cwd=tmp_path, timeout_s=240, **settings)
    assert done.returncode == 0, done.stderr
    assert not (market / "vault").exists()

    with (
        devnet(tmp_path / "devnet", "devnet") as chain,
        gateway(elsewhere, "devnet", chain, **urls, **environment) as origin,
    ):
        first = wait_quote(origin)
        process.process.send_signal(signal.SIGSTOP)
        bought = buy("main-brain", origin, chain)
        assert bought.returncode == 0, bought.stderr
        assert json.loads(bought.stdout)["snapshotId"] == first
        assert wait_quote(origin) == first
        process.process.send_signal(signal.SIGCONT)

        again = emi("tick", cwd=tmp_path, timeout_s=240, **settings)
        assert again.returncode == 0, again.stderr
        newer = wait_quote(origin, other_than=first)
        bought = buy("atlas", origin, chain)
        assert json.loads(bought.stdout)["snapshotId"] == newer

    logs = "".join(path.read_text(errors="replace") for path in tmp_path.rglob("*.log"))
    assert SECRET not in logs + done.stdout + done.stderr + again.stdout + again.stderr


def wait_quote(origin: str, other_than: str = "", within_s: float = 120) -> str:
    """Return the snapshot that the gateway quotes now, waiting for one."""
    until = time.monotonic() + within_s
    seen: Any = None
    while time.monotonic() < until:
        status, _, body = get(f"{origin}/api/x402-main-brain.php")
        seen = json.loads(body)
        if status == 402 and seen["quote"]["snapshotId"] != other_than:
            return str(seen["quote"]["snapshotId"])
        time.sleep(0.2)
    raise AssertionError(f"no quote: {seen}")
