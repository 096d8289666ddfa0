"""Run the units: a copy of the scripts as modules, and what Python says of the same numbers and bytes."""

import base64
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

from algosdk import account, encoding, transaction

from gateway.wire.networks import DEVNET
from generator.arena.practice.verdicts import BETS_50, BETS_90, Chances, Verdict, judge_chances, judge_ranges

ROOT: Final = Path(__file__).parents[2]
HERE: Final = Path(__file__).parent
FALLS: Final = [Chances((0.97, 0.02, 0.01), (0.3, 0.4, 0.3), came=2)] * 6
USUAL: Final = [Chances((0.3, 0.4, 0.3), (0.3, 0.4, 0.3), came=place % 3) for place in range(12)]


def expected() -> dict[str, Any]:
    """Return what the units compare with, made by Python: payments with an id, and verdicts."""
    _, payer = account.generate_account()
    _, payee = account.generate_account()
    params = transaction.SuggestedParams(0, 500, 1_500, DEVNET.genesis_hash, DEVNET.genesis_id, flat_fee=True)
    dear = transaction.SuggestedParams(1_000, 500, 1_500, DEVNET.genesis_hash, DEVNET.genesis_id, flat_fee=True)
    payment = transaction.AssetTransferTxn(payer, params, payee, 20_000, DEVNET.asset_id)
    paying = transaction.AssetTransferTxn(payer, dear, payee, 20_000, DEVNET.asset_id)
    closing = transaction.AssetTransferTxn(payer, params, payee, 20_000, DEVNET.asset_id, close_assets_to=payee)

    held = {
        "all": [True] * 40,
        "none": [False] * 10,
        "few": [True, False] * 10,
        "mended": [False] * 20 + [True, False] * 140,
    }
    ranges = {
        name: [_verdict(judge_ranges(inside, bets)) for bets in (BETS_50, BETS_90)] for name, inside in held.items()
    }
    chances = {
        name: {
            "answers": [{"said": row.said, "baseRate": row.base_rate, "came": row.came} for row in rows],
            "verdict": _verdict(judge_chances(rows)),
        }
        for name, rows in (("falls", FALLS), ("usual", USUAL), ("repeats", USUAL * 3), ("mended", FALLS + USUAL * 25))
    }
    return {
        "agreed": {
            "payer": payer,
            "payee": payee,
            "amount": "20000",
            "asset": str(DEVNET.asset_id),
            "hash": DEVNET.genesis_hash,
        },
        "payment": _plain(payment),
        "txid": payment.get_txid(),
        "closing": _plain(closing),
        "paying": _plain(paying),
        "held": held,
        "ranges": ranges,
        "chances": chances,
    }


def _verdict(of: Verdict) -> dict[str, Any]:
    return {"finding": of.finding, "answers": of.answers, "more": of.more}


def _plain(unsigned: transaction.Transaction) -> str:
    content = base64.b64decode(encoding.msgpack_encode(unsigned))
    return base64.b64encode(content).decode()


def run_units(folder: Path, node: str) -> subprocess.CompletedProcess[str]:
    """Run every unit in an empty folder, where node takes the scripts for modules."""
    shutil.copytree(ROOT / "site" / "assets", folder / "assets", ignore=shutil.ignore_patterns("*.css", "*.ico"))
    for unit in HERE.glob("*.mjs"):
        shutil.copy(unit, folder)
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "expected.json").write_text(json.dumps(expected()))

    units = sorted(path.name for path in folder.glob("*.test.mjs"))
    return subprocess.run(
        [node, "--test", *units], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
