"""Every product in full for free: the last answer of the newest finished UTC day, or a bundled one of a simulated day.

The last answer of a day is known only once the next day began, and free twenty minutes later, when no one can pay for
it any more. The newest answer is noted in the memory every quarter of an hour, so that a restart over midnight loses
fifteen minutes of a day at most.
"""

import json
from collections.abc import Mapping
from datetime import date, datetime
from importlib import resources
from typing import Any, Final, Literal, NamedTuple, Protocol

from pydantic import Field, create_model

from gateway.wire.foreign import read_json
from generator.catalog.durations import DAY_S
from generator.catalog.links import SAMPLE_REPORT
from generator.catalog.products import HUMAN_REPORT, PRODUCT_BY_ID, PRODUCTS, Product
from generator.catalog.words import SourceMode
from generator.compose.all import MODELS
from generator.compose.body import Body, encode

NEWEST_KEY: Final = "sample_newest"
SAMPLE_KEY: Final = "sample_of_day"
NOTED_EVERY_S: Final = 900
FREE_AFTER_S: Final = 20 * 60  # a quote is good for 15 minutes after a newer one
BUNDLED: Final = "samples"  # the folder with one file a product
SAMPLE_PATHS: Final = (*(product.sample for product in PRODUCTS), SAMPLE_REPORT)
# What a settled body says of its payment is not true of a sample.
PAYMENT_STATUS: Final = "free_sample"
SIMULATED: Final = "No price in it is real: the market is simulated, and its record of sides says nothing of real ones."


class SampleMarks(Body):
    """What a sample says of itself."""

    sample: Literal["last_of_day", "bundled"] = Field(description="Of which kind it is.")
    sample_day: str | None = Field(description="UTC day on which it was sold; null for the bundled one.")
    sample_note: str = Field(description="The same in words.")
    payment_status: Literal["free_sample"] = Field(description="free_sample.")


def sample_model(product: Product) -> type[Body]:
    """Return the model of a sample of a product: that of its answer, with what a sample says of itself."""
    model = MODELS[product.model]
    about = f"A sample of {product.title}: an answer as it was sold, free."
    return create_model(f"{product.model}Sample", __base__=(SampleMarks, model), __doc__=about)


class SampleNotes(Protocol):
    """What is asked of the memory."""

    def meta(self, key: str) -> str | None: ...  # noqa: D102

    def set_meta(self, key: str, value: str) -> None: ...  # noqa: D102


class Sold(NamedTuple):
    """One answer as sold and the UTC day on which it was made."""

    day: date
    body: Mapping[str, Any]


class Samples:
    """Give one answer of every product away."""

    def __init__(self, notes: SampleNotes) -> None:
        self._samples = [Sample(notes, product) for product in PRODUCTS]

    def files(self, sold: Mapping[str, Mapping[str, Any]], at: datetime) -> dict[str, bytes]:
        """Take what this tick sells, by product, and return samples by path; LeadershipLost when another leads now."""
        files = {sample.product.sample: sample.file(sold.get(sample.product.id), at) for sample in self._samples}
        return _with_first_address(files)


class Sample:
    """Keep one answer of a product a day and give the newest finished one."""

    def __init__(self, notes: SampleNotes, product: Product) -> None:
        self.product = product
        self._notes = notes
        self._newest_key = f"{NEWEST_KEY}_{product.buy_name}"
        self._sample_key = f"{SAMPLE_KEY}_{product.buy_name}"
        self._opened = False
        self._newest: Sold | None = None
        self._sample: Sold | None = None
        self._noted_at_s = float("-inf")
        self._file = b""

    def file(self, body: Mapping[str, Any] | None, at: datetime) -> bytes:
        """Take what this tick sells, None while nothing, and return the file; LeadershipLost when another leads now."""
        if not self._opened:
            self._newest = self._read(self._newest_key)
            self._sample = self._read(self._sample_key)
            self._opened = True

        if self._newest is not None and self._newest.day < at.date():
            # Yesterday's last answer can still be paid for: it is not given away meanwhile, nor replaced.
            if at.timestamp() % DAY_S < FREE_AFTER_S:
                return self._content()
            self._sample = self._newest
            self._file = b""
            self._note(self._sample_key, self._newest)

        if body is not None:
            self._newest = Sold(at.date(), body)
            # A negative age is that of a clock that was set back.
            age_s = at.timestamp() - self._noted_at_s
            if not 0 <= age_s < NOTED_EVERY_S:
                self._note(self._newest_key, self._newest)
                self._noted_at_s = at.timestamp()
        return self._content()

    def _content(self) -> bytes:
        if not self._file:
            sample = of_day(self._sample, self.product) if self._sample else bundled(self.product)
            self._file = encode(sample)
        return self._file

    def _note(self, key: str, answer: Sold) -> None:
        self._notes.set_meta(key, json.dumps({"day": answer.day.isoformat(), "body": answer.body}))

    def _read(self, key: str) -> Sold | None:
        try:
            noted = read_json(self._notes.meta(key) or "null")
            if noted is None:
                return None
            return Sold(date.fromisoformat(noted["day"]), noted["body"])
        except (ValueError, KeyError, TypeError):
            # Another version wrote it: the next day brings a new one.
            return None


def of_day(answer: Sold, product: Product) -> dict[str, Any]:
    """Return the sample that is an answer which was for sale on its day, at the price in force now."""
    note = f"A sample: the last full answer of {answer.day.isoformat()}, as it was sold on that day."
    if answer.body.get("source_mode") == SourceMode.SIMULATED:
        note = f"{note} {SIMULATED}"
    return _marked(answer.body, product, "last_of_day", note, answer.day.isoformat())


def bundled(product: Product = PRODUCT_BY_ID[HUMAN_REPORT]) -> dict[str, Any]:
    """Return the sample that comes with the program: one answer of a simulated market."""
    note = f"A bundled sample of a chosen simulated day. {SIMULATED}"
    return _marked(_bundled_answer(product), product, "bundled", note, None)


def _bundled_answer(product: Product) -> dict[str, Any]:
    file = resources.files("generator.site.files").joinpath(BUNDLED, f"{product.buy_name}.json")
    answer: dict[str, Any] = read_json(file.read_text(encoding="utf-8"))
    return answer


def bundled_as_sold() -> dict[str, dict[str, Any]]:
    """Return the bundled answer of each product in the form in which one is sold, by request path."""
    return {product.path: _at_price_of(product, _bundled_answer(product)) for product in PRODUCTS}


def bundled_files() -> dict[str, bytes]:
    """Return every bundled sample by its path."""
    return _with_first_address({product.sample: encode(bundled(product)) for product in PRODUCTS})


def _with_first_address(files: dict[str, bytes]) -> dict[str, bytes]:
    return {**files, SAMPLE_REPORT: files[PRODUCT_BY_ID[HUMAN_REPORT].sample]}


def _marked(body: Mapping[str, Any], product: Product, kind: str, note: str, day: str | None) -> dict[str, Any]:
    head = {"sample": kind, "sample_day": day, "sample_note": note}
    return {"success": True, **head, **_at_price_of(product, body), "payment_status": PAYMENT_STATUS}


def _at_price_of(product: Product, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return an answer with the price that its product has now wherever it states one: a sample is older than that."""
    price = {"price": product.price_display, "price_atomic": product.price_atomic}
    priced = {name: price.get(name, value) for name, value in body.items()}

    report = priced.get("report")
    if isinstance(report, dict) and isinstance(report.get("receipt"), dict):
        receipt = report["receipt"] | {"price_atomic": product.price_atomic}
        priced["report"] = report | {"receipt": receipt}
    return priced
