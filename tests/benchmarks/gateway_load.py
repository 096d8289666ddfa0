"""Send requests as fast as answers come, or so many a second, and count what came back.

Run: -m tests.benchmarks.gateway_load URL WORKERS COUNT PAYMENTS [A_SECOND].
"""

import asyncio
import json
import sys
import time
from collections import Counter
from pathlib import Path

import aiohttp


async def load(url: str, workers: int, count: int, payments: list[str], a_second: float | None = None) -> Counter[int]:
    """Send requests over some connections; return how many of each status came.

    Args:
        url: on loopback.
        workers: connections, which always have a request under way unless a rate is given.
        count: requests in all.
        payments: headers to send, gone through once or, when fewer than `count`, again and again.
        a_second: how many are begun in a second, evenly.
    """
    statuses: Counter[int] = Counter()
    turns = iter(range(count))
    began = time.monotonic()

    async def worker(http: aiohttp.ClientSession) -> None:
        for turn in turns:
            if a_second is not None:
                await asyncio.sleep(began + turn / a_second - time.monotonic())
            headers = {"PAYMENT-SIGNATURE": payments[turn % len(payments)]} if payments else {}
            async with http.get(url, headers=headers) as answer:
                await answer.read()
            statuses[answer.status] += 1

    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=workers), cookie_jar=aiohttp.DummyCookieJar()
    ) as http:
        await asyncio.gather(*(worker(http) for _ in range(workers)))
    return statuses


if __name__ == "__main__":
    where, at_once, number, file, *rate = sys.argv[1:]
    sent = Path(file).read_text().split()
    print(json.dumps(asyncio.run(load(where, int(at_once), int(number), sent, *map(float, rate)))))
