"""One purchase of `emi buy`, against sellers of tests/sellers in this process."""

import asyncio
import gc
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Any, Self

import pytest

import generator.client.buying
from gateway.devnet.keys import Key, new_key
from gateway.settings import DEMO_PAYEE
from gateway.wire import durable
from generator.client.buying.purchase import MOST_SENDS, Bought, Context, Order, abandon, purchase
from generator.client.buying.purchases import PurchaseFolder
from generator.client.buying.report import report_text
from generator.client.buying.web import Unanswered, WebAnswer
from generator.errors import GeneratorError
from tests.sellers.kinds import CONTROLS, KINDS, Kind, PayeeChanges, PriceAboveTheCap
from tests.sellers.play import DEVNET, WebOfTheTest, play, spent_by, stage
from tests.sellers.seller import ORIGIN, PATH, PRICE, PRODUCT, Seller, answer, challenge_of, problem
from tests.support.bodies import paid
from tests.support.devnet_app import DevnetApp, pass_rounds
from tests.support.gateway_wallet import decode_header, encode_header

KILLED_IN = (str(next(iter(generator.client.buying.__path__))), durable.__file__)


@pytest.fixture(scope="module")
def devnet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevnetApp]:
    with stage(tmp_path_factory.mktemp("devnet")) as running:
        yield running


@dataclass
class Buyer:
    """Someone who runs `emi buy` at one seller."""

    seller: Seller
    devnet: DevnetApp
    folder: Path
    key: Key
    shown: set[str] = field(default_factory=set)
    agree: Callable[[str], bool] | None = None

    @property
    def purchases(self) -> PurchaseFolder:
        return PurchaseFolder(self.folder / "purchases")

    def buy(self, **changes: Any) -> Bought | str:
        """Run it once; gives what was bought or the line that says why not."""
        clock = self.devnet.clock
        web = WebOfTheTest(self.seller, self.devnet, random.Random(0))
        order = Order(ORIGIN + PATH, PRODUCT, DEVNET, DEVNET, self.key, PRICE, own_payee=DEMO_PAYEE)
        context = Context(web, self.purchases, clock.sleep, clock.monotonic, self.agree)
        try:
            bought = asyncio.run(purchase(replace(order, **changes), context))
            self.shown.add(bought.purchase.txid)  # as it is printed, before the purchase is closed
            self.purchases.keep(bought.purchase)
            return bought
        except GeneratorError as error:
            return str(error)

    def spent(self) -> int:
        """Return the payments that the chain has."""
        return spent_by(self.key, self.devnet, "") // PRICE


def buyer_of(seller: type[Seller], devnet: DevnetApp, folder: Path) -> Buyer:
    return Buyer(seller(devnet.client, devnet.fee_payer, random.Random(1)), devnet, folder, new_key())


class Listed(Seller):
    """Answers payments from a list of steps, then honestly."""

    steps: tuple[Any, ...] = ()

    def paid(self, payment: str) -> WebAnswer:
        number = self.answered - 1
        if number >= len(self.steps):
            return super().paid(payment)
        status, settles = self.steps[number]
        if settles:
            self.settle(payment)
        if status == 0:
            raise Unanswered("cut off")
        return self.refusal(payment) if status == 402 else problem(status, "words", ("retry-after", "0"))


def listed(*steps: tuple[int, bool]) -> type[Seller]:
    return type("ListedHere", (Listed,), {"steps": steps})


@pytest.mark.parametrize("kind", [*CONTROLS, *KINDS], ids=lambda kind: kind.name)
def test_no_lie_of_a_seller_costs_more_than_one_payment(kind: Kind, devnet: DevnetApp, tmp_path: Path) -> None:
    plays = [play(kind, seed, devnet, tmp_path / "buyer") for seed in range(1_000, 1_003)]

    assert [(one.lost, one.believed, one.strayed) for one in plays] == [(0, 0, 0)] * 3
    assert all(one.sends <= MOST_SENDS for one in plays)
    assert kind.signs or not any(one.signed for one in plays)
    assert not kind.honest or all(one.bought == 4 for one in plays)


@pytest.mark.parametrize("settles", [True, False], ids=["taken", "not taken"])
@pytest.mark.parametrize("status", [402, 409, 410, 500, 200])
def test_a_payment_that_brought_nothing_is_sent_again_and_no_other_is_signed(
    devnet: DevnetApp, tmp_path: Path, status: int, settles: bool
) -> None:
    buyer = buyer_of(listed(*[(status, settles)] * 3 * MOST_SENDS), devnet, tmp_path)

    ends = [buyer.buy() for _ in range(3)]

    assert not any(isinstance(end, Bought) for end in ends)
    assert len(buyer.seller.handed) == 1
    assert buyer.spent() == int(settles)


def test_a_payment_that_the_chain_never_had_is_signed_again_once_it_has_expired(
    devnet: DevnetApp, tmp_path: Path
) -> None:
    buyer = buyer_of(listed((402, False), (402, False)), devnet, tmp_path)

    first = buyer.buy()
    pass_rounds(devnet.clock, 109)
    second = buyer.buy()
    pass_rounds(devnet.clock, 3)
    third = buyer.buy()

    assert "may still be settled: the chain does not have it yet" in str(first)
    assert "Until then no other one is signed" in str(second)
    assert isinstance(third, Bought)
    buyer.seller.broadcast()
    assert (len(buyer.seller.handed), buyer.spent()) == (2, 1)


@pytest.mark.parametrize("status", [409, 410])
def test_a_payment_that_was_paid_before_is_never_called_refused(devnet: DevnetApp, tmp_path: Path, status: int) -> None:
    buyer = buyer_of(listed((status, True)), devnet, tmp_path)

    first, second = buyer.buy(), buyer.buy()

    assert "was paid before" in str(first)
    assert "Do not pay again" in str(first)
    assert "refused" not in str(first)
    assert isinstance(second, Bought)
    assert buyer.spent() == 1


def test_money_taken_behind_a_402_is_found_on_the_chain_and_not_called_refused(
    devnet: DevnetApp, tmp_path: Path
) -> None:
    buyer = buyer_of(listed((402, True)), devnet, tmp_path)

    first = str(buyer.buy())

    assert "was paid before: the chain has it" in first
    assert "nothing was paid" not in first
    assert isinstance(buyer.buy(), Bought)
    assert buyer.spent() == 1


def test_a_payment_abandoned_by_its_id_lets_another_one_be_signed(devnet: DevnetApp, tmp_path: Path) -> None:
    buyer = buyer_of(listed((410, True)), devnet, tmp_path)
    buyer.buy()
    found = buyer.purchases.unfinished(ORIGIN + PATH)

    abandon(buyer.purchases, found.txid if found else "")

    assert isinstance(buyer.buy(), Bought)
    assert (len(buyer.seller.handed), buyer.spent()) == (2, 2)
    with pytest.raises(GeneratorError, match="no payment X is kept"):
        abandon(buyer.purchases, "X")


def test_the_payee_of_the_first_payment_stays_until_another_is_accepted(devnet: DevnetApp, tmp_path: Path) -> None:
    buyer = buyer_of(PayeeChanges, devnet, tmp_path)

    first, second = buyer.buy(), buyer.buy()
    stranger = buyer.seller.changes()["payTo"]  # type: ignore[attr-defined]
    third = buyer.buy(accept_payee=stranger)
    fourth = buyer.buy()

    assert f"was {DEMO_PAYEE} and is now '{stranger}'" in str(second)
    assert "--accept-payee" in str(second)
    assert [isinstance(one, Bought) for one in (first, third, fourth)] == [True, True, True]


@pytest.mark.parametrize(("answer", "bought"), [(None, False), (False, False), (True, True)])
def test_a_payee_that_is_new_here_is_paid_only_once_a_person_agreed(
    devnet: DevnetApp, tmp_path: Path, *, answer: bool | None, bought: bool
) -> None:
    questions: list[str] = []
    buyer = buyer_of(Seller, devnet, tmp_path)

    def agree(question: str) -> bool:
        questions.append(question)
        return bool(answer)

    if answer is not None:
        buyer.agree = agree

    first, second = buyer.buy(own_payee=new_key().address), buyer.buy(own_payee=new_key().address)

    assert [isinstance(end, Bought) for end in (first, second)] == [bought, bought]
    assert buyer.spent() == (2 if bought else 0)
    assert len(questions) == {None: 0, False: 2, True: 1}[answer]
    assert bought or DEMO_PAYEE in str(first)


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "[::1]"])
def test_a_payee_is_the_same_under_every_name_of_this_machine(tmp_path: Path, name: str) -> None:
    PurchaseFolder(tmp_path / "purchases").pin_payee("http://127.0.0.1:8402/a", DEMO_PAYEE)

    assert PurchaseFolder(tmp_path / "purchases").payee_of(f"http://{name}:8402/b") == DEMO_PAYEE
    assert PurchaseFolder(tmp_path / "purchases").payee_of(f"http://{name}:8403/b") is None


def test_payees_that_cannot_be_read_stop_a_purchase_before_it_is_signed(devnet: DevnetApp, tmp_path: Path) -> None:
    buyer = buyer_of(Seller, devnet, tmp_path)
    (tmp_path / "payees.json").write_text("{")

    assert "is not readable; nothing was paid" in str(buyer.buy())
    assert buyer.seller.handed == []


@pytest.mark.parametrize(
    ("steps", "sent"), [([(503, False), (429, False), (0, True), (500, True)], 5), ([(503, False)] * 11, 12)]
)
def test_the_same_payment_is_sent_again_after_503_429_and_a_broken_answer(
    devnet: DevnetApp, tmp_path: Path, steps: list[tuple[int, bool]], sent: int
) -> None:
    buyer = buyer_of(listed(*steps), devnet, tmp_path)

    assert isinstance(buyer.buy(), Bought)
    assert (buyer.seller.answered, len(buyer.seller.handed), buyer.spent()) == (sent, 1, 1)


class Starting(Seller):
    """Has no price at first, as a service that is starting, and says when to ask again."""

    waits: tuple[int, ...] = ()

    def price(self, url: str) -> WebAnswer:
        if not self.waits:
            return super().price(url)
        wait_s, self.waits = self.waits[0], self.waits[1:]
        return problem(503, "The service has not started yet.", ("retry-after", str(wait_s)))


@pytest.mark.parametrize(("waits", "bought"), [((5, 1, 5), True), ((30, 40), False), ((2_000_000,), False)])
def test_a_service_that_is_starting_is_asked_again_when_it_says(
    waits: tuple[int, ...], *, bought: bool, devnet: DevnetApp, tmp_path: Path
) -> None:
    starting = buyer_of(type("Starting", (Starting,), {"waits": waits}), devnet, tmp_path)
    before = devnet.clock.monotonic()

    end = starting.buy()

    assert isinstance(end, Bought) == bought
    assert devnet.clock.monotonic() - before >= (sum(waits) if bought else sum(waits[:-1]))
    assert isinstance(end, Bought) or "answered 503 instead of a price" in end


def test_every_payment_carries_an_identifier_also_where_none_is_declared(devnet: DevnetApp, tmp_path: Path) -> None:
    class Silent(Seller):
        def required(self) -> dict[str, Any]:
            return super().required() | {"extensions": {}}

    sellers = [buyer_of(kind, devnet, tmp_path / kind.__name__) for kind in (Seller, Silent, Seller)]

    ended = [one.buy() for one in sellers]

    sent = [decode_header(one.seller.handed[0])["extensions"] for one in sellers]
    identifiers = {one["payment-identifier"]["info"]["id"] for one in sent}
    assert all(isinstance(one, Bought) for one in ended)
    assert len(identifiers) == 3
    assert all(len(identifier) >= 32 for identifier in identifiers)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"amount": "-5"}, "malformed"),
        ({"payTo": "SOMEONE"}, "never paid from here"),
        ({"asset": "7"}, "asset 7"),
        ({"amount": str(PRICE + 1)}, "above the limit"),
    ],
)
def test_an_offer_outside_the_limits_is_never_signed(
    devnet: DevnetApp, tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    class Changed(PriceAboveTheCap):
        def changes(self) -> dict[str, Any]:
            return changes

    buyer = buyer_of(Changed, devnet, tmp_path)

    assert words in str(buyer.buy())
    assert buyer.seller.handed == []
    assert not (tmp_path / "purchases").exists()


def test_a_payment_that_cannot_be_kept_is_never_sent(devnet: DevnetApp, tmp_path: Path) -> None:
    (tmp_path / "purchases").write_text("a file where the folder should be")
    buyer = buyer_of(Seller, devnet, tmp_path)

    assert "cannot be kept" in str(buyer.buy())
    assert buyer.seller.handed == []


@pytest.mark.parametrize("content", ["{", "[]", '{"txid": "X", "url": "http://127.0.0.1/thing", "header": "e30="}'])
def test_a_purchase_file_that_cannot_be_read_stops_before_another_is_signed(tmp_path: Path, content: str) -> None:
    (tmp_path / "purchases").mkdir()
    (tmp_path / "purchases" / "X.json").write_text(content)

    with pytest.raises(GeneratorError, match="not a readable purchase"):
        PurchaseFolder(tmp_path / "purchases").unfinished("http://127.0.0.1/thing")


def test_a_node_of_another_network_proves_nothing(devnet: DevnetApp, tmp_path: Path) -> None:
    buyer = buyer_of(listed((402, False)), devnet, tmp_path)
    buyer.buy()
    pass_rounds(devnet.clock, 2_000)

    ended = buyer.buy(node_url="http://localhost:1")

    assert isinstance(ended, str)
    assert len(buyer.seller.handed) == 1


def test_what_does_not_agree_is_named_and_what_came_is_kept(devnet: DevnetApp, tmp_path: Path) -> None:
    class Wrong(Seller):
        def delivery(self, payment: str) -> WebAnswer:
            receipt = encode_header(self.receipt(payment) | {"transaction": "T", "network": "N", "payer": "P"})
            return answer(200, b'{"snapshotId": "8"}', ("payment-response", receipt))

    buyer = buyer_of(Wrong, devnet, tmp_path)

    said = str(buyer.buy())

    kept = buyer.purchases.unfinished(ORIGIN + PATH)
    for words in ("another transaction", "another network", "another payer", "SHA-256", "another snapshot", "product"):
        assert words in said
    assert kept is not None
    assert (kept.status, kept.body, len(kept.failed)) == ("paid", {"snapshotId": "8"}, 6)


def test_words_of_a_seller_cannot_steer_the_terminal(devnet: DevnetApp, tmp_path: Path) -> None:
    class Loud(Seller):
        def price(self, _url: str) -> WebAnswer:
            return problem(503, "\x1b[2J\u202epay\r\nnow")

    assert "\x1b" not in str(buyer_of(Loud, devnet, tmp_path).buy())
    assert "\u202e" not in str(buyer_of(Loud, devnet, tmp_path).buy())


class Killed(BaseException):
    """The power went."""


class LineCounter:
    """Count the lines that a purchase runs, and kill it at one of them; 0 for never."""

    def __init__(self, last: int) -> None:
        self._last = last
        self.count = 0
        self._before = sys.gettrace()

    def __enter__(self) -> Self:
        sys.settrace(self._enter)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._before)

    def _enter(self, frame: FrameType, _event: str, _arg: Any) -> Callable[..., Any] | None:
        return self._line if frame.f_code.co_filename.startswith(KILLED_IN) else None

    def _line(self, _frame: FrameType, event: str, _arg: Any) -> Callable[..., Any]:
        if event == "line":
            self.count += 1
            if self.count == self._last:
                raise Killed
        return self._line


# A process that is killed leaves its descriptors to the kernel; here they are found open.
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("steps", [(), ((402, True),), ((503, True), (402, False))], ids=["honest", "402", "503, 402"])
def test_killed_at_any_line_a_buyer_pays_once_and_gets_what_it_paid_for(
    devnet: DevnetApp, tmp_path: Path, steps: tuple[tuple[int, bool], ...]
) -> None:
    with LineCounter(0) as whole:
        buyer_of(listed(*steps), devnet, tmp_path / "whole").buy()

    for last in range(1, whole.count + 1, 13):
        buyer = buyer_of(listed(*steps), devnet, tmp_path / str(last))
        with pytest.raises(Killed), LineCounter(last):
            buyer.buy()
        ends = [buyer.buy() for _ in range(3)]
        assert (last, any(isinstance(end, Bought) for end in ends)) == (last, True)
        assert (last, buyer.spent()) == (last, len(buyer.shown))
    gc.collect()


def test_the_report_as_text_says_all_parts_and_cannot_steer_a_terminal() -> None:
    body = paid("full", "x402-atlas-human-report")
    body["report"]["far"]["text"] += "\x1b[2J"

    text = report_text(body)

    assert text is not None
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 88
    headings = [part["heading"] for part in body["report"].values() if isinstance(part, dict) and "heading" in part]
    for part in (*headings, "\u2588", "Coin by coin", "usual days"):
        assert part in text
    assert report_text({"endpoint": "x402-atlas"}) is None


def test_the_seller_in_the_test_is_honest_by_itself(devnet: DevnetApp) -> None:
    seller = Seller(devnet.client, devnet.fee_payer, random.Random(0))

    assert seller.price("").status == challenge_of(seller.required(), seller.quote()).status == 402
