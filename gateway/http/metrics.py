"""What operators may watch, in a registry of its own."""

from functools import partial
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, ProcessCollector

from gateway.wire.program import UNNAMED, Program

OUTCOMES: Final = ("delivered", "refused", "gone", "withheld", "pending", "unavailable", "limited")
SETTLE_KINDS: Final = ("success", "failure", "unreadable")
SECONDS: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 15.0, 30.0, 60.0)


class Metrics:
    """The gateway's counters and gauges."""

    def __init__(self, program: Program = UNNAMED) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        build = Info("emi_build", "What runs: version and commit.", registry=self.registry)
        build.info({"version": program.version, "commit": program.commit or ""})
        counter = partial(Counter, registry=self.registry)
        gauge = partial(Gauge, registry=self.registry)
        histogram = partial(Histogram, registry=self.registry)

        self.outcomes = counter("emi_purchases", "Attempts to buy by outcome.", ["outcome"])
        self.settles = counter("emi_facilitator_settles", "Answers to settle by kind.", ["kind"])
        # Bound once: looking a label up costs more than counting.
        self.outcomes_by_kind = {name: self.outcomes.labels(name) for name in OUTCOMES}
        self.settles_by_kind = {name: self.settles.labels(name) for name in SETTLE_KINDS}
        self.known_headers = counter(
            "emi_payment_headers_known", "Repeats of a delivered header, which need not be decoded again."
        )
        self.unknown_open = gauge("emi_payments_unknown", "Payments whose outcome is not known.")
        self.unknown_oldest = gauge("emi_payments_unknown_oldest_seconds", "Age of the oldest such payment.")
        self.unclosable = gauge("emi_payments_unclosable", "Such payments that no evidence can close any more.")
        self.unconfirmed = counter(
            "emi_settles_unconfirmed", "Answers of success to settle of which the chain had nothing for seconds."
        )
        self.refused_landed = counter(
            "emi_payments_refused_but_landed", "Refused payments that were found on the chain when checked again."
        )
        self.delivered_unpaid = counter(
            "emi_payments_delivered_unpaid",
            "Payments delivered on the facilitator's word that can never be on the chain.",
        )
        self.vault_age = gauge("emi_vault_age_seconds", "Age of the newest vault.")
        self.quoting = gauge("emi_quoting", "1 when quotes are made, 0 when not.")
        self.malformed = counter("emi_requests_malformed", "Requests that were no HTTP, answered 400.")
        self.ready = gauge("emi_ready", "1 when /readyz says yes, 0 when not.")
        self.facilitator_age = gauge(
            "emi_facilitator_supported_age_seconds", "Since the last good answer to /supported."
        )
        self.facilitator_failing = gauge(
            "emi_facilitator_failing_seconds",
            "Since verify or settle first failed and has not worked again; 0 while both work.",
        )
        self.chain_failing = gauge(
            "emi_chain_failing_seconds", "Since algod or the indexer first gave no readable answer; 0 while both do."
        )
        self.facilitator_failures = counter("emi_facilitator_failures", "Calls without a readable answer.", ["call"])
        self.chain_failures = counter("emi_chain_failures", "Calls without a readable answer.", ["node"])
        self.ledger_age = gauge(
            "emi_ledger_write_age_seconds",
            "Since the payments ledger last took a probe, which is as large as a payment.",
        )
        self.ledger_fault = gauge(
            "emi_ledger_fault", "1 while the payments ledger is gone, damaged or takes no payment, and nothing is sold."
        )
        self.ledger_failures = counter("emi_ledger_failures", "Reads and writes that failed.", ["kind"])
        self.verify_seconds = histogram("emi_verify_seconds", "Time of POST /verify.", buckets=SECONDS)
        self.settle_seconds = histogram("emi_settle_seconds", "Time of POST /settle.", buckets=SECONDS)
        self.purchase_seconds = histogram(
            "emi_purchase_seconds",
            "Time of an attempt to buy, from the decoded payment to the outcome.",
            buckets=SECONDS,
        )
