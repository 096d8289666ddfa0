"""From `emi log init` to a head on chain: what an anchor shows, and that a log which was changed after it is named."""

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from algosdk.account import address_from_private_key

from generator.cli._published import Published
from generator.record.log.merkle import leaf_hash
from generator.record.log.note import Checkpoint
from generator.record.log.tiles import Edge
from generator.record.published import read_keys
from generator.record.verify import open_log
from tests.support.processes import Running, emi, emi_up
from tests.support.published_log import publish

pytestmark = [pytest.mark.outside, pytest.mark.timeout(600)]


@dataclass
class Keeper:
    """A service whose log's key was made first, and the anchor of its head."""

    folder: Path
    up: Running
    txid: str
    said: str

    @property
    def key(self) -> Path:
        return self.folder / "kept" / "log.key"

    @property
    def site(self) -> Path:
        return self.folder / "state" / "site"

    def emi(self, *words: str) -> tuple[int, str]:
        done = emi(*words, cwd=self.folder, timeout_s=120, EMI_STATE_DIR="state", EMI_LOG_KEY_FILE=str(self.key))
        return done.returncode, done.stdout + done.stderr

    def verify(self, where: Path, txid: str, name: str) -> tuple[int, str]:
        """Verify a folder as somebody who was never there."""
        return self.emi("verify", str(where), "--anchor", txid, "--seen", str(self.folder / f"seen-{name}"))


@pytest.fixture(scope="module")
def keeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keeper]:
    folder = tmp_path_factory.mktemp("anchor")
    key = str(folder / "kept" / "log.key")
    made = emi(
        "log", "init", cwd=folder, EMI_STATE_DIR="state", EMI_LOG_KEY_FILE=key, EMI_BASE_URL="http://127.0.0.1:9"
    )
    assert made.returncode == 0, made.stderr
    with emi_up(folder, EMI_STATE_DIR="state", EMI_LOG_KEY_FILE=key) as up:
        up.wait_answer(within_s=200)
        up.wait_text("is up:", within_s=200)
        sent = emi("log", "anchor", cwd=folder, timeout_s=120, EMI_STATE_DIR="state", EMI_LOG_KEY_FILE=key)
        assert sent.returncode == 0, sent.stderr
        found = re.search(r"emi verify --anchor ([A-Z2-7]{52})", sent.stdout)
        assert found is not None, sent.stdout
        yield Keeper(folder, up, found[1], sent.stdout)


def forged(keeper: Keeper) -> Path:
    """Copy what is published, change its first forecast and sign it again: the keeper cheats, with the right key."""
    site = Path(shutil.copytree(keeper.site, keeper.folder / "forged", symlinks=True))
    head = open_log(Published(site).read)
    log = [json.loads(entry) for entry in head.reader.audit()]
    place = next(number for number, entry in enumerate(log) if "sealed" in entry["kind"] or "made" in entry["kind"])
    log[place]["at"] = log[0]["at"]
    log[place]["note"] = "written later"
    data = [json.dumps(entry, sort_keys=True, separators=(",", ":")).encode() for entry in log]
    root = Edge().append(map(leaf_hash, data))[0].root()
    signer = read_keys(keeper.key)[0]
    shutil.rmtree(site / "once" / "log")
    for path, content in publish(data).items():
        target = site / "once" / "log" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    note = Checkpoint(signer.verifier.name, len(data), root).signed([signer])
    for path, content in (("checkpoint", note), ("keys.txt", f"{signer.verifier.text}\n".encode())):
        (site / "current" / "log" / path).unlink()  # a hard link of what is published
        (site / "current" / "log" / path).write_bytes(content)
    return site


def test_an_anchor_is_confirmed_and_verify_says_by_when_and_by_whom(keeper: Keeper) -> None:
    account = address_from_private_key((keeper.folder / "state" / "keys" / "anchor.key").read_text().strip())
    code, said = keeper.verify(keeper.site, keeper.txid, "honest")

    assert "confirmed in block" in keeper.said
    size = int(keeper.said.split(" ", 1)[0])
    assert size > 0
    assert code == 0, said
    stated = re.search(r"anchored: the first (\d+) entries were there by (\S+), by account (\S+)", said)
    assert stated is not None, said
    assert (int(stated[1]), stated[3]) == (size, account)


def test_a_log_changed_after_its_anchor_is_named_although_its_own_key_signed_it(keeper: Keeper) -> None:
    code, said = keeper.verify(forged(keeper), keeper.txid, "forged")

    assert code == 1
    assert f"emi: anchor {keeper.txid}: " in said
    assert "history was changed" in said
