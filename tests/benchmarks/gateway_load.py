"""Send requests as fast as answers come, and count what came back.

Run: -m tests.benchmarks.gateway_load URL WORKERS COUNT PAYMENTS.
"""

import asyncio
import json
import sys
from collections import Counter
from pathlib import Path

import aiohttp


async def load(url: str, workers: int, count: int, payments: list[str]) -> Counter[int]:
    """Send requests over connections that always have one under way; return how many of each status came.

    Args:
        url: on loopback.
        workers: connections.
        count: requests in all.
        payments: headers to send, gone through once or, when fewer than `count`, again and again.
    """
    statuses: Counter[int] = Counter()
    turns = iter(range(count))

    async def worker(http: aiohttp.ClientSession) -> None:
        for turn in turns:
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
    where, at_once, number, file = sys.argv[1:]
    print(json.dumps(asyncio.run(load(where, int(at_once), int(number), Path(file).read_text().split()))))
