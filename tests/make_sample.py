"""Make the bundled samples again: `python -m tests.make_sample` plays four simulated days and keeps the last answers.

The market is the one that a service shows that begins when those days end: one that is quiet then.

Two ticks an hour are enough: one that stores the forecasts before their hour, and one that sees the prices at its turn.
"""

import asyncio
import json
import re
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from generator.catalog.products import PRODUCT_BY_ID
from generator.market.simulated.schedule import quiet_seed
from generator.runtime.app import build
from generator.runtime.startup import open_market
from generator.runtime.tick import tick
from generator.settings import GeneratorSettings
from generator.site.files import sample
from tests.support.clock import ManualClock
from tests.support.services import without_background

START: Final = datetime(2026, 11, 17, 12, 0, tzinfo=UTC)
HOURS: Final = 4 * 24
_PLAIN_LIST: Final = re.compile(r"\[\n(?:\s+(?:[-+.\deE]+|null|true|false),?\n)+\s*\]")
TARGET: Final = Path(sample.__file__).parent / sample.BUNDLED


async def made(state: Path) -> dict[str, object]:
    """Return the last answer of every product, by the name of its file."""
    clock = ManualClock(START)
    seed = quiet_seed(int(START.timestamp()) // 60 + HOURS * 60)
    app = build(GeneratorSettings(state_dir=state, seed=seed), clock, None)
    without_background(app)
    await open_market(app, clock.now(), lambda *_: None, 0)
    for _ in range(HOURS):
        await tick(app, clock.now())
        await tick(app, clock.step(timedelta(minutes=59)))
        clock.step(timedelta(minutes=1))
    await tick(app, clock.now())
    await app.aclose()
    manifest = json.loads((state / "vault" / "manifest.json").read_text())
    paths = {PRODUCT_BY_ID[row["id"]].buy_name: row["body"]["path"] for row in manifest["products"]}
    return {f"{name}.json": json.loads((state / "vault" / path).read_text()) for name, path in paths.items()}


def text_of(body: object) -> str:
    """Return a body as indented JSON, a list of numbers on one line: a series has hundreds."""
    indented = json.dumps(body, indent=1, ensure_ascii=False) + "\n"
    return _PLAIN_LIST.sub(lambda plain: " ".join(plain[0].split()), indented)


def main() -> None:
    """Write the samples."""
    with tempfile.TemporaryDirectory() as folder:
        bodies = asyncio.run(made(Path(folder) / "state"))
    for name, body in bodies.items():
        written = (TARGET / name).write_text(text_of(body), encoding="utf-8")
        print(f"{name}: {written:,} characters")


if __name__ == "__main__":
    main()
