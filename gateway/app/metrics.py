"""What operators may watch, in a registry of its own."""

from __future__ import annotations

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

OUTCOMES: Final = ("delivered", "refused", "gone", "withheld", "pending", "unavailable", "limited")
SETTLE_KINDS: Final = ("success", "failure", "unreadable")
SECONDS: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 15.0, 30.0, 60.0)


class Metrics:
    """The gateway's counters and gauges."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.outcomes = Counter("emi_purchases", "Attempts to buy by outcome.", ["outcome"], registry=self.registry)
        self.settles = Counter(
            "emi_facilitator_settles", "Answers to settle by kind.", ["kind"], registry=self.registry
        )
        # Bound once: looking a label up costs more than counting.
        self.outcomes_by_kind = {name: self.outcomes.labels(name) for name in OUTCOMES}
        self.settles_by_kind = {name: self.settles.labels(name) for name in SETTLE_KINDS}
        self.unknown_open = Gauge(
            "emi_payments_unknown", "Payments whose outcome is not known.", registry=self.registry
        )
        self.unknown_oldest = Gauge(
            "emi_payments_unknown_oldest_seconds", "Age of the oldest such payment.", registry=self.registry
        )
        self.unclosable = Gauge(
            "emi_payments_unclosable", "Such payments that no evidence can close any more.", registry=self.registry
        )
        self.unconfirmed = Counter(
            "emi_settles_unconfirmed",
            "Answers of success to settle of which the chain had nothing for seconds.",
            registry=self.registry,
        )
        self.refused_landed = Counter(
            "emi_payments_refused_but_landed",
            "Refused payments that were found on the chain when checked again.",
            registry=self.registry,
        )
        self.delivered_unpaid = Counter(
            "emi_payments_delivered_unpaid",
            "Payments delivered on the facilitator's word that can never be on the chain.",
            registry=self.registry,
        )
        self.vault_age = Gauge("emi_vault_age_seconds", "Age of the newest vault.", registry=self.registry)
        self.quoting = Gauge("emi_quoting", "1 when quotes are made, 0 when not.", registry=self.registry)
        self.malformed = Counter(
            "emi_requests_malformed", "Requests that were no HTTP, answered 400.", registry=self.registry
        )
        self.ready = Gauge("emi_ready", "1 when /readyz says yes, 0 when not.", registry=self.registry)
        self.facilitator_age = Gauge(
            "emi_facilitator_supported_age_seconds", "Since the last good answer to /supported.", registry=self.registry
        )
        self.facilitator_failing = Gauge(
            "emi_facilitator_failing_seconds",
            "Since verify or settle first failed and has not worked again; 0 while both work.",
            registry=self.registry,
        )
        self.chain_failing = Gauge(
            "emi_chain_failing_seconds",
            "Since algod or the indexer first gave no readable answer; 0 while both do.",
            registry=self.registry,
        )
        self.facilitator_failures = Counter(
            "emi_facilitator_failures", "Calls without a readable answer.", ["call"], registry=self.registry
        )
        self.chain_failures = Counter(
            "emi_chain_failures", "Calls without a readable answer.", ["node"], registry=self.registry
        )
        self.ledger_age = Gauge(
            "emi_ledger_write_age_seconds",
            "Since the payments ledger last took a probe, which is as large as a payment.",
            registry=self.registry,
        )
        self.ledger_failures = Counter(
            "emi_ledger_failures", "Reads and writes that failed.", ["kind"], registry=self.registry
        )
        self.verify_seconds = Histogram(
            "emi_verify_seconds", "Time of POST /verify.", buckets=SECONDS, registry=self.registry
        )
        self.settle_seconds = Histogram(
            "emi_settle_seconds", "Time of POST /settle.", buckets=SECONDS, registry=self.registry
        )
        self.purchase_seconds = Histogram(
            "emi_purchase_seconds",
            "Time of an attempt to buy, from the decoded payment to the outcome.",
            buckets=SECONDS,
            registry=self.registry,
        )
