"""The forward filter and the label on top of it."""

from dataclasses import astuple, dataclass

import numpy as np
import pytest

from generator.brain.engine import Engine
from generator.brain.recurrent import Recurrent
from generator.brain.regime import LABELS, LEAD, STEP_BARS, TRANSITION, RegimeFacts, RegimeFilter, facts_of, labels_of
from generator.brain.weights import Weights
from generator.catalog.words import RegimeLabel
from generator.lab.simulator import DAY, LabelledMarket, simulate
from generator.market.bars import BAR_MS, FloatArray

HALF_HOUR = STEP_BARS * BAR_MS
GROWN = np.full(2, 1000.0)  # bars seen: the network has its full trust


def network(memory: float = 0.0) -> Recurrent:
    """Return a network that passes its four inputs through, with units that remember them."""
    rng = np.random.default_rng(4)
    return Recurrent(
        mean=np.zeros(4),
        std=np.ones(4),
        input_weights=rng.normal(size=(12, 4)),
        recurrent_weights=rng.normal(size=(12, 4)),
        bias=np.zeros(12),
        output_weights=memory * np.eye(4),
        skip_weights=np.eye(4),
        output_bias=np.zeros(4),
    )


def fed(scores: FloatArray, memory: float = 0.0) -> RegimeFilter:
    """Feed scores (n, 4), one each half hour, to a market of one asset."""
    found = RegimeFilter(1, (network(memory), network(memory)))
    for number, row in enumerate(scores):
        take(found, number * HALF_HOUR - BAR_MS, np.repeat(row[:, None], 2, axis=1))
    return found


def take(  # noqa: PLR0917
    found: RegimeFilter,
    t_ms: int,
    features: FloatArray,
    support: FloatArray = GROWN,
    facts: RegimeFacts | None = None,
    steps: int = 1,
) -> None:
    """Feed one bar's features, (4, 2)."""
    if facts is not None:
        facts = RegimeFacts(*(values[None] for values in astuple(facts)))
    found.update(np.array([t_ms]), features[:, None], support[None], facts, np.array([steps]))
    found.settle()


def test_the_posterior_is_the_forward_recursion_and_not_a_smoothed_one() -> None:
    scores = np.random.default_rng(5).normal(0.0, 1.0, (80, 4))
    model, hidden = network(1.0), np.zeros((4, 1))
    for row in scores:
        hidden, last = model.step(hidden, row[:, None])

    chance = np.exp(last[:, 0]) / np.exp(last).sum()
    assert fed(scores, 1.0).posterior[:, -1] == pytest.approx(chance, abs=1e-6)


def test_a_later_surprise_leaves_the_earlier_posterior_alone() -> None:
    scores = np.random.default_rng(6).normal(0.0, 1.0, (60, 4))
    surprise = np.concatenate([scores, np.tile([3.0, -3.0, -3.0, -3.0], (30, 1))])

    assert np.array_equal(fed(scores, 1.0).posterior, fed(surprise[:60], 1.0).posterior)
    assert fed(surprise).posterior[0, -1] > 0.9


def test_an_open_half_hour_moves_the_posterior_but_not_the_memory() -> None:
    found = fed(np.tile([3.0, 0.0, 0.0, 0.0], (5, 1)))
    hidden, posterior = found.hidden.copy(), found.posterior.copy()

    take(found, 5 * HALF_HOUR - 2 * BAR_MS, np.repeat(np.array([[-3.0], [3.0], [0.0], [0.0]]), 2, axis=1))

    assert np.array_equal(found.hidden, hidden)
    assert found.posterior[1, -1] > posterior[1, -1] + 0.5


def test_without_evidence_the_posterior_and_the_memory_forget() -> None:
    found = fed(np.tile([3.0, 0.0, 0.0, 0.0], (50, 1)))
    sure, remembered = found.chances[0, -1], np.abs(found.hidden).max()

    for number in range(50, 150):
        take(found, number * HALF_HOUR - BAR_MS, np.zeros((4, 2)), np.zeros(2), steps=STEP_BARS)

    assert sure > 0.7
    assert found.chances[:, -1] == pytest.approx([0.25] * 4, abs=0.01)
    assert np.abs(found.hidden).max() < 0.01 * remembered
    assert LABELS[int(found.label[-1])] is RegimeLabel.TRANSITION


def test_the_label_moves_at_the_bar_where_another_leads_by_015() -> None:
    found = fed(np.tile([3.0, 0.0, 0.0, 0.0], (60, 1)))
    row, seen = np.array([[0.0], [1.0], [0.0], [0.0]]), []

    for number in range(60):
        take(found, 60 * HALF_HOUR + number * BAR_MS, np.repeat(row, 2, axis=1))
        seen.append((int(found.label[-1]), found.chances[1, -1] - found.chances[0, -1]))

    moved = next(bar for bar, (label, _) in enumerate(seen) if label == 1)
    assert [label for label, _ in seen] == [0] * moved + [1] * (60 - moved)
    assert seen[moved - 1][1] < LEAD <= seen[moved][1]
    assert found.since[-1] == 60 * HALF_HOUR + moved * BAR_MS
    assert LABELS[int(found.previous[-1])] is RegimeLabel.RISK_ON


@pytest.mark.parametrize(
    ("chances", "before", "label"),
    [
        ([0.50, 0.30, 0.10, 0.10], 4, 0),  # from no label to the likeliest, whatever its lead
        ([0.31, 0.30, 0.20, 0.19], 4, 0),
        ([0.40, 0.54, 0.05, 0.01], 0, 0),  # 0.14 behind: it stays
        ([0.40, 0.55, 0.04, 0.01], 0, 1),  # 0.15 behind: it moves
        ([0.38, 0.36, 0.05, 0.21], 3, 0),
        ([0.30, 0.28, 0.22, 0.20], 2, 2),
        ([0.2999, 0.28, 0.2201, 0.20], 2, 4),  # nothing is decided
    ],
)
def test_the_label_stays_until_another_leads_by_015(chances: list[float], before: int, label: int) -> None:
    found = labels_of(np.array(chances)[:, None, None], np.array([float(before)]))

    assert found.tolist() == [[label]]


CALM, WILD, UNKNOWN = 0.0, 1.0, np.nan


@pytest.mark.parametrize(
    ("change", "trend", "stressed", "against"),
    [
        ([0.01, 0.01, 0.01], 0, UNKNOWN, [False, True, False, False]),
        ([-0.01, -0.01, 0.01], 0, UNKNOWN, [True, False, False, False]),
        ([-0.01, -0.01, -0.01], 1, UNKNOWN, [False, False, False, False]),  # the trend is up still
        ([0.01, 0.01, 0.01], -1, UNKNOWN, [False, False, False, False]),  # and down
        ([0.0005, 0.0005, 0.01], 0, UNKNOWN, [True, True, False, False]),  # most are flat
        ([0.01, 0.01, -0.01], 0, CALM, [False, True, False, True]),
        ([0.01, 0.01, -0.01], 0, WILD, [False, True, True, False]),
        ([-0.05, -0.05, -0.05], -1, UNKNOWN, [True, False, True, False]),  # beyond a usual day of 4%
        ([-0.03, -0.03, -0.03], -1, UNKNOWN, [True, False, False, False]),
        ([np.nan, np.nan, np.nan], 0, UNKNOWN, [False, False, False, False]),
    ],
)
def test_the_facts_of_the_day_speak_against_what_they_contradict(
    change: list[float], trend: int, stressed: float, against: list[bool]
) -> None:
    facts = facts_of(np.array(change), np.full(4, float(trend)), np.full(4, stressed), np.full(4, 0.04))

    assert facts.against()[:, -1].tolist() == against


def test_an_assets_day_is_evidence_on_it_and_their_share_on_the_market() -> None:
    facts = facts_of(np.array([0.01, -0.01, -0.01]), np.zeros(4), np.full(4, UNKNOWN), np.full(4, 0.04))

    risk_on, risk_off, _, _ = facts.against().tolist()

    assert risk_on == [False, True, True, True]
    assert risk_off == [True, False, False, False]


def published(scores: FloatArray, facts: RegimeFacts | None, steps: int = 1) -> FloatArray:
    """Return the market's chances after one bar of these scores, from even ones."""
    found = RegimeFilter(1, (network(), network()))
    take(found, 0, np.repeat(scores[:, None], 2, axis=1), GROWN, facts, steps)
    return found.chances[:, -1]


def test_evidence_divides_odds_by_the_root_of_e_before_the_smoothing() -> None:
    scores = np.log([0.4, 0.3, 0.2, 0.1])
    falling = facts_of(np.array([-0.01]), np.zeros(2), np.full(2, CALM), np.full(2, 0.04))

    # At the temperature of no calibration, 1.18; against are risk_on and, as it is calm, high_volatility.
    heated = np.array([0.4, 0.3, 0.2, 0.1]) ** (1 / 1.18)
    odds = heated * [0.60653066, 1.0, 1.0, 0.60653066]
    now = odds / odds.sum()
    share = 1 - 0.5 ** (1 / 3)  # of the way in one bar, half of it in three

    assert published(scores, falling) == pytest.approx(0.25 + share * (now - 0.25))
    assert published(scores, None) == pytest.approx(0.25 + share * (heated / heated.sum() - 0.25))


def test_chances_go_half_of_the_way_to_the_posterior_in_a_quarter_of_an_hour() -> None:
    found = RegimeFilter(1, (network(), network()))
    heated = np.array([0.4, 0.3, 0.2, 0.1]) ** (1 / 1.18)

    for bar in range(3):
        take(found, bar * BAR_MS, np.repeat(np.log([[0.4], [0.3], [0.2], [0.1]]), 2, axis=1))

    assert found.chances[:, -1] == pytest.approx(0.5 * 0.25 + 0.5 * heated / heated.sum())


@dataclass(frozen=True)
class Run:
    """An engine after a market of a family it was never trained on, with its label at every bar."""

    market: LabelledMarket
    engine: Engine
    label: list[int]
    since: list[int]
    chances: list[FloatArray]
    against: list[list[bool]]


@pytest.fixture(scope="module")
def run() -> Run:
    market = simulate("alt", 60001, days=6)
    found = Run(market, Engine(Weights.load(), market.frame.assets), [], [], [], [])
    for _ in found.engine.replay(market.frame):
        found.label.append(int(found.engine.filter.label[-1]))
        found.since.append(int(found.engine.filter.since[-1]) + BAR_MS)
        found.chances.append(found.engine.filter.chances[:, -1])
        found.against.append(found.engine.facts().against()[:, -1].tolist())
    return found


def test_the_regime_is_far_better_than_chance_on_a_family_never_trained_on(run: Run) -> None:
    scored = ~run.market.moving
    scored[: 3 * DAY] = False
    likeliest = np.array(run.chances).argmax(axis=1)
    label = np.array(run.label)
    shown, truth = np.where(label == TRANSITION, likeliest, label)[scored], run.market.regime[scored]

    balanced = np.mean([(shown[truth == regime] == regime).mean() for regime in np.unique(truth)])

    assert balanced > 0.55  # four classes: chance is 0.25


def test_a_label_dates_from_the_close_of_the_bar_that_first_showed_it(run: Run) -> None:
    closes, first = (run.market.frame.t + BAR_MS).tolist(), 0
    for row, label in enumerate(run.label):
        first = row if label != run.label[first] else first
        assert run.since[row] == closes[first]
    reading = run.engine.reading()

    assert reading is not None
    assert reading.regime.since_ms == closes[first]
    assert reading.regime.dwell_minutes == (closes[-1] - closes[first]) // 60_000
    assert len(set(run.since)) > 3


def test_every_label_shown_is_near_the_likeliest_and_only_flat_chances_have_none(run: Run) -> None:
    for label, chances in zip(run.label, run.chances, strict=True):
        if label == TRANSITION:
            assert chances.max() < 0.30
        else:
            assert chances[label] > chances.max() - LEAD


def test_facts_do_not_forbid_a_label(run: Run) -> None:
    shown = [against[label] for label, against in zip(run.label, run.against, strict=True) if label != TRANSITION]

    assert any(shown)
    assert sum(shown) < 0.25 * len(shown)
