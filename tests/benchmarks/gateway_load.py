"""Send requests as fast as answers come, and tell what came back. Run: -m ...gateway_load URL WORKERS COUNT [FILE [SPREAD_S]]."""

import asyncio
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import aiohttp


async def load(url: str, workers: int, count: int, payments: list[str] | None, spread_s: float) -> dict[str, Any]:
    """Send `count` requests over `workers` connections; with payments, one each in turn.

    Args:
        url: on loopback.
        workers: connections that always have one request under way.
        count: requests in all.
        spread_s: seconds over which the workers begin, so that they do not march in step.
        payments: headers to send, gone through once or, when fewer than `count`, again and again.

    Returns:
        How many of each status, and the seconds that answers took, sorted.
    """
    statuses: Counter[int] = Counter()
    waits: list[float] = []
    turns = iter(range(count))

    async def worker(http: aiohttp.ClientSession, number: int) -> None:
        await asyncio.sleep(spread_s * number / workers)
        for turn in turns:
            headers = {"PAYMENT-SIGNATURE": payments[turn % len(payments)]} if payments else {}
            began = time.perf_counter()
            async with http.get(url, headers=headers) as answer:
                await answer.read()
            waits.append(time.perf_counter() - began)
            statuses[answer.status] += 1

    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=workers), cookie_jar=aiohttp.DummyCookieJar()
    ) as http:
        await asyncio.gather(*(worker(http, number) for number in range(workers)))
    return {"statuses": dict(statuses), "waits": sorted(waits)}


def main() -> None:
    """Load one URL and print JSON."""
    url, workers, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    payments = Path(sys.argv[4]).read_text().split() if len(sys.argv) > 4 else None
    spread_s = float(sys.argv[5]) if len(sys.argv) > 5 else 0.0
    print(json.dumps(asyncio.run(load(url, workers, count, payments, spread_s))))


if __name__ == "__main__":
    main()
