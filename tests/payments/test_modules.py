"""A purchase stays readable: it enters few modules."""

import asyncio
import sys
import threading
from pathlib import Path
from types import FrameType

import gateway
from tests.support.gateway_app import gateway_app, in_loop

HOME = Path(next(iter(gateway.__path__)))
PATH = {
    "app/limits.py",
    "ledger/store.py",
    "ledger/thread.py",
    "payments/decide.py",
    "payments/endpoint.py",
    "payments/parse.py",
    "payments/purchase.py",
    "upstream/chain.py",
    "upstream/facilitator.py",
    "upstream/http_client.py",
}
# Asked for a value on the way: the time, settings, what is for sale on which terms, encodings and the network's constants.
VALUES = {
    "clock.py",
    "payments/challenge.py",
    "settings.py",
    "vault/folder.py",
    "wire/algorand.py",
    "wire/loopback.py",
    "wire/networks.py",
}


@in_loop
async def test_a_purchase_enters_these_modules_and_no_other(tmp_path: Path) -> None:
    entered: set[str] = set()

    def note(frame: FrameType, event: str, _arg: object) -> None:
        path = Path(frame.f_code.co_filename)
        if buying.is_set() and event == "call" and path.is_relative_to(HOME):
            entered.add(str(path.relative_to(HOME)))

    buying = threading.Event()
    # The ledger's threads begin with the gateway.
    threading.setprofile(note)
    async with gateway_app(tmp_path) as home:
        threading.setprofile(None)
        await home.send(home.buyer.pay())
        for task in home.state._tasks:
            task.cancel()
        await asyncio.wait(home.state._tasks)
        payment = home.buyer.pay()
        buying.set()
        sys.setprofile(note)
        answer = await home.send(payment)
        sys.setprofile(None)
        buying.clear()

    assert answer.status_code == 200
    assert sorted(entered - VALUES) == sorted(PATH)
