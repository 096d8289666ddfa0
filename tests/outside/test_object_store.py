"""The site and the vault in a real S3 server process, with faults between it and us; then the whole service over it."""

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import obstore
import pytest

from generator.errors import LeadershipLost, PublishError
from generator.wings.bucket.site import BucketSite
from generator.wings.bucket.store import Bucket, Conflict, Stored, StoreFault, open_bucket, swap
from tests.outside.object_stores import MISSING, Store, Trouble, object_store, read_json
from tests.outside.processes import devnet, gateway
from tests.support.processes import emi, get

pytestmark = [pytest.mark.outside, pytest.mark.skipif(bool(MISSING), reason=MISSING)]


@pytest.fixture(scope="module")
def _server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with object_store(tmp_path_factory.mktemp("moto")) as running:
        yield running


@pytest.fixture
def store(_server: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    for name, value in _server.environment.items():
        monkeypatch.setenv(name, value)
    yield _server
    _server.well()


def files(n: int, writer: str = "") -> dict[str, bytes]:
    return {f"/api/{name}.json": f"{name} {n} {writer}".encode() for name in "abcdef"}


def site(bucket: Bucket, writer: str, epoch: int = 0, deadline_s: float = 20.0) -> BucketSite:
    made = BucketSite(bucket, writer, lambda: epoch, deadline_s)
    made.open()
    return made


def publish(to: BucketSite, writer: str = "") -> int:
    number = to.generation() + 1
    to.publish(f"{number:012d}", files(number, writer), time.time())
    return number


def followed(bucket: Bucket) -> tuple[int, dict[str, bytes]]:
    """Read like a reader: the pointer, then every file below it."""
    number = read_json(bucket, "current.json")["generation"]
    found = {path: bucket.get(path) for path in bucket.files(f"g/{number}")}
    return int(number), {path.removeprefix(f"g/{number}"): stored.data for path, stored in found.items() if stored}


def test_the_server_keeps_conditions_and_headers(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    bucket = store.bucket("conditions", monkeypatch)
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


def test_of_many_swaps_at_once_one_wins(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    bucket = store.bucket("races", monkeypatch)
    known: Stored | None = None

    for turn in range(20):
        won: list[Stored] = []

        def try_it(who: int, known: Stored | None = known, won: list[Stored] = won, turn: int = turn) -> None:
            with suppress(Conflict):
                won.append(swap(bucket, "pointer", f"{turn} {who}".encode(), known, {}))

        threads = [threading.Thread(target=try_it, args=(who,)) for who in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert len(won) == 1
        known = bucket.get("pointer")
        assert known == won[0]


PUTS = [*((f"/g/{3:012d}/api/{name}", 0) for name in "abcdef"), ("current.json", 0)]


@pytest.mark.parametrize("how", ["503", "403", "dropped", "lost"])
@pytest.mark.parametrize(("where", "n"), PUTS)
def test_a_fault_at_any_object_leaves_a_whole_release_and_the_next_tick_publishes(
    how: str, where: str, n: int, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket = store.bucket(f"faults/{how}/{PUTS.index((where, n))}", monkeypatch)
    publish(site(bucket, "a"))
    ours = site(bucket, "b")
    assert ours.generation() + 1 == 3
    store.trouble = Trouble(how, "PUT", where, n)

    if how == "lost":  # for good at this one object: what was stored is found by reading it back
        publish(ours)
        assert followed(bucket) == (3, files(3))
    else:
        with pytest.raises(PublishError) as caught:
            publish(ours)
        assert "AKIDTEST" not in str(caught.value)
        assert followed(bucket) == (1, files(1))

    store.well()
    number = publish(ours)
    assert followed(bucket) == (number, files(number))


def test_two_publishers_never_mix_and_never_use_one_number_twice(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    bucket = store.bucket("two", monkeypatch)
    epochs = iter(range(1, 1_000))
    done = threading.Event()

    def work(writer: str) -> list[int]:
        """Publish under new leases that the other one takes over at any moment, as after a SIGSTOP."""
        published = []
        for _ in range(6):
            ours = site(bucket, writer, next(epochs))
            for _ in range(3):
                with suppress(LeadershipLost, PublishError):
                    published.append(publish(ours, writer))
        return published

    def read() -> int:
        followed_releases = 0
        while not done.is_set():
            if bucket.get("current.json") is None:
                continue
            number, seen = followed(bucket)
            assert seen in (files(number, "a"), files(number, "b"))
            followed_releases += 1
        return followed_releases

    with ThreadPoolExecutor(3) as pool:
        reader = pool.submit(read)
        writers = [pool.submit(work, name) for name in ("a", "b")]
        try:
            published = [writer.result() for writer in writers]
        finally:
            done.set()
        assert reader.result() > 0

    numbers = published[0] + published[1]
    assert all(published)
    assert len(set(numbers)) == len(numbers)
    assert followed(bucket)[0] == max(numbers)


@pytest.mark.timeout(400)
def test_the_whole_service_over_an_object_store_sells_also_while_the_store_is_down(
    store: Store, tmp_path: Path
) -> None:
    market, elsewhere = tmp_path / "generator", tmp_path / "gateway"  # another machine: they share the store alone

    def buy(product: str, origin: str, chain: str) -> CompletedProcess[str]:
        words = ("buy", product, "--url", origin, "--devnet-url", chain, "--json")
        return emi(*words, cwd=elsewhere, EMI_STATE_DIR=str(elsewhere))

    urls = {"EMI_SITE_URL": "s3://market/all/site", "EMI_VAULT_URL": "s3://market/all/vault"}
    settings = {"EMI_STATE_DIR": str(market), **urls, **store.environment}
    done = emi("tick", cwd=tmp_path, timeout_s=240, **settings)
    assert done.returncode == 0, done.stderr
    assert not (market / "vault").exists()

    with (
        devnet(tmp_path / "devnet", "devnet") as chain,
        gateway(elsewhere, "devnet", chain, **urls, **store.environment) as origin,
    ):
        first = wait_quote(origin)
        store.trouble = Trouble("dropped")
        bought = buy("main-brain", origin, chain)
        assert bought.returncode == 0, bought.stderr
        assert json.loads(bought.stdout)["snapshotId"] == first
        assert wait_quote(origin) == first
        store.well()

        again = emi("tick", cwd=tmp_path, timeout_s=240, **settings)
        assert again.returncode == 0, again.stderr
        newer = wait_quote(origin, other_than=first)
        bought = buy("atlas", origin, chain)
        assert json.loads(bought.stdout)["snapshotId"] == newer

    logs = "".join(path.read_text(errors="replace") for path in tmp_path.rglob("*.log"))
    for secret in ("hunter2", "AKIDTEST"):
        assert secret not in logs + done.stdout + done.stderr + again.stdout + again.stderr


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
