"""The mutations of a review that left tests green, and those that were tried with them: none of the 44 may live again.

Each names the function it lies in and what is there now, compared by syntax: a line break or a comment may change.
Where a function or an expression was rewritten, its row must be rewritten too; the run fails for a row that finds
nothing.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from tests.mutants.sites import Function, Site, Source


@dataclass(frozen=True)
class Fixed:
    """One mutation: `before` becomes `after` within a function, or between the functions for an empty name."""

    room: str
    function: str
    before: str
    after: str
    what: str
    survived: bool = False  # the tests of the review's day did not notice it


SURVIVORS: Final = (
    Fixed("scores", "_ended", "log_e9(chance_of(chances, outcome))", "log_e9(chance_of(_, outcome))",
          "the published log score is the base rate's"),
    Fixed("scores", "design_effect", "max(1.0, spread / (n * share * (1 - share)))",
          "spread / (n * share * (1 - share))", "the design effect falls below 1"),
    Fixed("scores", "_spoiled", "sealed_ms >= inputs.next_close_ms", "sealed_ms > inputs.next_close_ms",
          "a forecast sealed at the close of its bar counts"),
    Fixed("scores", "", "PRIOR_ROUNDS: Final = 30", "PRIOR_ROUNDS: Final = 60", "twice the prior of voters"),
    Fixed("scores", "asset_of", "slot.start_ms // (slot.end_ms - slot.start_ms)", "slot.start_ms // 3_600_000",
          "the assets take turns by the hour, whatever the length of a round"),
    Fixed("bodies", "looks_better", "low > chance", "True",
          "skill is claimed without the rule of the most frequent outcome"),
    Fixed("bodies", "compared",
          "any(loss is not None and loss.high is not None and loss.high < 0 for loss in losses)",
          "all(loss is not None and loss.high is not None and loss.high < 0 for loss in losses)",
          "worse only if worse by both losses"),
    Fixed("bodies", "", "FRESH_MS: Final = 180_000", "FRESH_MS: Final = 360_000", "a price is fresh for six minutes"),
    Fixed("bodies", "atlas_liquidity", "-depth[asset]", "depth[asset]", "ATLAS names the shallowest asset first"),
    Fixed("pages", "_chips", "price(coin.price)", "UNKNOWN", "no price on the landing page"),
    Fixed("pages", "_chips", "ROUGHNESS[regime.regime.volatility]", "UNKNOWN", "no state on the landing page"),
    Fixed("pages", "_answer", "hour.low_90", "hour.low_50", "another range in the example of the landing page"),
    Fixed("pages", "live_view", "published.change_bps", "None", "no move on the Arena page"),
    Fixed("payments", "__init__", "asyncio.Semaphore(settings.payments_at_once)",
          "asyncio.Semaphore(10 * settings.payments_at_once)", "ten times as many payments in flight"),
    Fixed("chain", "extend_watch", "max(watched_round, finding.round)", "finding.round",
          "the watch goes back to an older round"),
    Fixed("ledger", "begin_settle", "payments.c.settles == attempt", "payments.c.settles >= 0",
          "settle is asked again although a newer attempt of the same holder is open"),
    Fixed("ledger", "attach_body", 'payments.c.sha256 == ""', "payments.c.txid == txid",
          "the body of an adopted payment is chosen twice"),
    Fixed("record", "prepare", "self._tiled if self._tiled <= edge.size else 0", "self._tiled",
          "a checkpoint larger than the log is not reset"),
    Fixed("release", "", "KEPT_AT_MOST: Final = 12", "KEPT_AT_MOST: Final = 1_200",
          "releases of the future pile up after the clock was set back"),
    Fixed("release", "", "WORTH: Final = 0.9", "WORTH: Final = 1.0", "a variant is kept that saves nothing"),
)  # fmt: skip

CAUGHT: Final = (
    Fixed("scores", "outcome_of", "abs(change) <= band_bps", "abs(change) < band_bps", "a move on the band's edge"),
    Fixed("scores", "_persistence_e8", "2 * E8", "E8", "the last outcome, wrong, costs 1"),
    Fixed("bodies", "looks_better", "skill > 0", "skill >= 0", "no skill is claimed as skill"),
    Fixed("bodies", "_shown_by", "record.resolved < ENOUGH", "record.resolved > ENOUGH", "a verdict on too few"),
    Fixed("payments", "_decide_new", "_is_sent(finding)", "False", "a challenge for a payment on the chain"),
    Fixed("payments", "_decide_answered", "success and finding.presence in {Presence.POOLED, Presence.UNKNOWN}",
          "success", "delivered although the chain does not have it"),
    Fixed("payments", "_refusal", "answer.before_broadcast and record.settles == 1", "answer.before_broadcast",
          "a second settle's refusal counts as the first's"),
    Fixed("payments", "_fate_on_chain", "finding.following and finding.round <= transfer.last_valid",
          "finding.round <= transfer.last_valid", "a node that is behind proves that nothing was paid"),
    Fixed("payments", "_is_repeated", "max(record.last_valid, record.delivered_round) + REPEAT_ROUNDS",
          "record.last_valid + REPEAT_ROUNDS", "a late first delivery is not repeated"),
    Fixed("payments", "_priced", "payment.amount_atomic != body.price_atomic",
          "payment.amount_atomic > body.price_atomic", "too little is enough"),
    Fixed("payments", "_priced", "not self._vault.payable(snapshot)", "False", "an expired quote is sold"),
    Fixed("payments", "order_of", "holder not in {None, payment.txid}", "holder is None",
          "an identifier is used twice"),
    Fixed("payments", "_take_over", "not self._leases.is_over(record)", "False", "two processes settle at once"),
    Fixed("payments", "remember", "self._bytes > MAX_REMEMBERED_BYTES or len(self._delivered) > MAX_REMEMBERED",
          "False", "deliveries are remembered without end"),
    Fixed("payments", "_check_terms", 'txn.get("arcv") != receiver(payee)', "False", "paid to another receiver"),
    Fixed("chain", "proves_absence", "self.round <= last_valid + MARGIN_ROUNDS", "self.round <= last_valid",
          "absence counts ten rounds too early"),
    Fixed("ledger", "", 'payments.c.state != "settled"', 'payments.c.state != "absent"', "settled is settled again"),
    Fixed("ledger", "apply", "payments.c.refusal_round.is_(None)", "payments.c.refusal_round.is_not(None)",
          "the round of a refusal is never noted"),
    Fixed("log", "open_note", "not is_verified", "False", "a note that no trusted key signed is taken"),
    Fixed("record", "entries", "roots.get(edge.size, edge.root()) != edge.root()", "False",
          "history may be changed between two visits"),
    Fixed("record", "_behind", "seen.size > size", "False",
          "a log that shrank is published"),
    Fixed("record", "pass_fence", "epoch < stored", "False", "a writer of an older epoch writes"),
    Fixed("release", "_refuse_a_rival", "int(generation) <= _number(pointed)", "False",
          "a generation older than the one that readers see is published"),
    Fixed("release", "_to_write", "there is not None and (not was_cut) and (path not in again)", "False",
          "an immutable file is overwritten"),
)  # fmt: skip
FIXED: Final = (*SURVIVORS, *CAUGHT)


def find(row: Fixed, files: Sequence[Path]) -> tuple[Path, Site] | None:
    """Return where a mutation is to be made, the first place in the room that reads so; None where none does.

    Where the function has another name by now, it is the one place in the room, if there is but one.
    """
    named = list(_places(row, files, row.function))
    if named:
        return named[0]
    elsewhere = list(_places(row, files, None))
    return elsewhere[0] if len(elsewhere) == 1 else None


def _places(row: Fixed, files: Sequence[Path], function: str | None) -> Iterator[tuple[Path, Site]]:
    kind, wanted = _parsed(row.before)
    for path in files:
        source = _source(path.read_text(encoding="utf-8"))
        for node in ast.walk(source.tree) if function is None else _within(source.tree, function):
            if isinstance(node, kind) and ast.dump(node) == wanted:
                start, end = source.span(node)
                after = f"({row.after})" if isinstance(node, ast.expr) else row.after
                yield path, source.place("fixed", start, end, after)


@cache
def _source(text: str) -> Source:
    """Parse a module once for all the rows of its room."""
    return Source(text)


def _parsed(text: str) -> tuple[type[ast.expr | ast.stmt], str]:
    """Return the kind of an expression or statement, and its tree as text."""
    statement = ast.parse(text).body[0]
    node = statement.value if isinstance(statement, ast.Expr) else statement
    return type(node), ast.dump(node)


def _within(tree: ast.AST, function: str) -> Iterator[ast.AST]:
    """Give every node of the functions of a name, or all that are in none."""
    if function:
        for node in ast.walk(tree):
            if isinstance(node, Function) and node.name == function:
                yield from ast.walk(node)
        return
    waiting = [tree]
    while waiting:
        node = waiting.pop(0)
        yield node
        waiting += [child for child in ast.iter_child_nodes(node) if not isinstance(child, Function)]
