"""`emi read`: bars in, readings out, line by line."""

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from generator.brain.engine import Engine
from generator.brain.json_lines import BarError, JsonLinesReader
from generator.brain.weights import Weights
from generator.catalog.words import READ_BIAS, READ_REGIME
from generator.cli.read import read
from generator.errors import GeneratorError
from generator.market.bars import BAR_MS, BarFrame
from tests.market.layouts import READ, WITH_VOLUME, ohlcv, usual
from tests.market.layouts import bars as candles
from tests.support.markets import START_MS, market

NAMES = {"o": "open", "h": "high", "l": "low", "c": "close", "v": "volume"}
MORE = ("depth_usd", "spread_bps", "imbalance", "funding", "open_interest", "liq_long_usd", "liq_short_usd")
REGIMES = {"risk_on", "risk_off", "range", "high_volatility", "transition"}


def lines(frame: BarFrame) -> list[str]:
    """Write bars as the contract says, null where unknown."""
    fields = {**NAMES, **{name: name for name in MORE}}
    out = []
    for row, t_ms in enumerate(frame.t.tolist()):
        assets: dict[str, dict[str, float | None]] = {}
        for column, asset in enumerate(frame.assets):
            values = {short: float(frame.fields[name][row, column]) for short, name in fields.items()}
            assets[asset] = {short: None if math.isnan(value) else value for short, value in values.items()}
        out.append(json.dumps({"t": t_ms, "assets": assets}))
    return out


def ran(text: str, *arguments: str) -> tuple[int, list[dict[str, Any]], str]:
    app = typer.Typer()
    app.command()(read)
    result = CliRunner().invoke(app, list(arguments), input=text)
    return result.exit_code, [json.loads(line) for line in result.stdout.splitlines()], str(result.exception)


FRAME = market(160, seed=5)


@pytest.fixture(scope="module")
def answers() -> list[dict[str, Any]]:
    """Return what the command answers to `FRAME`."""
    code, answers, _ = ran("\n".join(lines(FRAME)) + "\n")
    assert code == 0
    return answers


def test_each_bar_gives_one_line_of_the_agreed_form_from_the_first_on(answers: list[dict[str, Any]]) -> None:
    assert [answer["t"] for answer in answers] == FRAME.t.tolist()
    for answer in answers:
        assert set(answer) == {
            "t", "regime", "confidence", "probs", "bias", "bias_confidence", "volatility_outlook", "assets"
        }  # fmt: skip
        assert answer["regime"] in REGIMES
        assert 0.0 <= answer["confidence"] <= 1.0
        assert set(answer["probs"]) == REGIMES - {"transition"}
        assert sum(answer["probs"].values()) == pytest.approx(1.0)
        assert answer["bias"] in {"UP", "DOWN", "NEUTRAL"}
        assert set(answer["volatility_outlook"]) == {"15m", "1h", "4h", "24h"}
        assert list(answer["assets"]) == list(FRAME.assets)
    last = answers[-1]["assets"]["BTC"]
    assert last["liquidity"] in {"thin", "normal", "deep"}
    assert last["derivatives"] == "balanced"
    assert sum(last["arena"].values()) == pytest.approx(1.0)
    assert sum(last["arena_60m"].values()) - last["arena_60m"]["band_bps"] == pytest.approx(1.0)
    assert 0.0 < last["band_bps"] < last["arena_60m"]["band_bps"]
    for edges in last["ranges"].values():
        assert edges == sorted(edges)
        assert len(edges) == 4
    assert [answers[0]["assets"]["BTC"][name] for name in ("arena", "arena_60m", "band_bps")] == [None] * 3


def test_the_answers_are_the_engines_readings(answers: list[dict[str, Any]]) -> None:
    batch = Engine(Weights.load(), FRAME.assets)

    for first, last in ((0, 150), (150, 160)):
        answer = answers[last - 1]
        reading, forecast = batch.update(FRAME.rows(first, last)), batch.forecast("ETH", 15)
        assert reading is not None
        assert reading.outlook is not None
        assert forecast is not None
        assert answer["regime"] == READ_REGIME[reading.regime.label]
        assert answer["confidence"] == max(reading.regime.holding.values())  # below three days there is no label
        assert answer["bias"] == READ_BIAS[reading.direction]
        assert answer["volatility_outlook"]["24h"] == reading.outlook.h24
        assert (ranges := reading.assets["ETH"].ranges) is not None
        assert answer["assets"]["ETH"]["ranges"]["4h"][3] == 100 * ranges["4h"].high_90
        assert list(answer["probs"].values()) == list(reading.regime.holding.values())
        assert answer["assets"]["ETH"]["arena"]["up"] == forecast.probabilities.up


def test_an_answer_comes_before_the_next_bar_is_sent() -> None:
    program = "import typer; from generator.cli.read import read; typer.run(read)"
    first, second = lines(market(2))
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        answers = []
        for line in (first, second):
            child.stdin.write(line + "\n")
            child.stdin.flush()
            answers.append(json.loads(child.stdout.readline()))
        child.stdin.close()

        assert child.wait(timeout=30) == 0
    assert [answer["t"] for answer in answers] == [START_MS, START_MS + BAR_MS]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("{", "line 3"),
        ("[]", "expected"),
        ('{"t":1}', "expected"),
        ('{"t":"now","assets":{}}', "whole number"),
        ('{"t":true,"assets":{}}', "whole number"),
        ('{"t":-300000,"assets":{}}', "whole number"),
        ('{"t":1700000000000,"assets":{"BTC":7}}', "BTC must be an object"),
        ('{"t":1700000000000,"assets":{"BTC":{"c":"ten"}}}', "c must be a number"),
    ],
)
def test_a_bad_line_ends_the_run_and_is_named(bad: str, reason: str) -> None:
    good = lines(market(2))

    code, answers, complaint = ran("\n".join([*good, bad, *good]) + "\n")

    assert code == 1
    assert len(answers) == 2
    assert len(complaint.strip().splitlines()) == 1
    assert "line 3" in complaint
    assert reason in complaint


def test_wrong_weights_are_one_clear_line(tmp_path: Any) -> None:
    (tmp_path / "w.json").write_text("{}", encoding="utf-8")

    code, answers, complaint = ran("", "--weights", str(tmp_path / "w.json"))

    assert (code, answers) == (1, [])
    assert len(complaint.strip().splitlines()) == 1


def test_missing_fields_assets_and_empty_lines_are_unknown() -> None:
    bars = [{"t": START_MS + i * BAR_MS, "assets": {"X": {"c": 10 + i % 5}, "Y": None}} for i in range(150)]
    empty = {"t": START_MS + 150 * BAR_MS, "assets": {}}

    code, answers, _ = ran("\n".join(map(json.dumps, bars)) + "\n\n" + json.dumps(empty) + "\n")

    assert code == 0
    assert len(answers) == 151
    assert answers[-2]["assets"]["X"]["arena"] is not None
    unknown = dict.fromkeys(("liquidity", "derivatives", "arena", "band_bps", "arena_60m", "call"))
    assert answers[-1]["assets"]["Y"] == {**unknown, "ranges": dict.fromkeys(("15m", "1h", "4h", "24h"))}


def test_numbers_that_json_has_but_prices_have_not_are_survived() -> None:
    brain = JsonLinesReader(Weights.load())
    good, strange = (json.loads(line) for line in lines(market(2)))
    brain.answer(good)
    strange["assets"]["BTC"].update(c=float("nan"), h=float("inf"), v=-1, funding=10**400)

    answer = brain.answer(strange)

    assert json.dumps(answer, allow_nan=False)


def test_a_bar_twice_changes_nothing_and_the_first_must_be_on_the_grid() -> None:
    brain = JsonLinesReader(Weights.load())
    first = json.loads(lines(market(1))[0])

    assert brain.answer(first) == brain.answer(first)
    with pytest.raises(BarError, match="5-minute"):
        JsonLinesReader(Weights.load()).answer({**first, "t": first["t"] + 1})
    with pytest.raises(BarError, match="at least one"):
        JsonLinesReader(Weights.load()).answer({**first, "assets": {}})


def test_a_folder_of_candles_is_read_as_its_bars_would_be(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = candles("BTC")[:300]
    (tmp_path / "Binance_BTCUSDT_5m.csv").write_bytes(
        WITH_VOLUME["CryptoDataDownload"]("BTC", made)["Binance_BTCUSDT_5m.csv"]
    )
    (tmp_path / "ETHBTC.csv").write_text("")
    bars = [
        {"t": bar.t, "assets": {"BTC": {"o": bar.o, "h": bar.h, "l": bar.low, "c": bar.c, "v": bar.v}}} for bar in made
    ]

    read(None, [tmp_path])

    shown = capsys.readouterr()
    answers = [json.loads(line) for line in shown.out.splitlines()]
    assert answers == ran("\n".join(map(json.dumps, bars)))[1]
    table = [line.split() for line in shown.err.splitlines()]
    assert table[1][:3] == ["Binance_BTCUSDT_5m.csv", "CryptoDataDownload", "BTCUSDT"]
    assert table[1][-3:] == ["300", "300", "-"]
    assert " ".join(table[2][-7:]) == "ETH in BTC: no pair in dollars"


def test_hourly_candles_are_refused_as_bars(tmp_path: Path) -> None:
    (tmp_path / "BTCUSDT.csv").write_bytes(usual(ohlcv(candles("BTC", 12 * BAR_MS, 40))))

    with pytest.raises(GeneratorError, match="these are bars of 60 minutes; the brain reads those of 1 or 5 minutes"):
        read(None, [tmp_path])


def test_rounded_highs_that_were_mended_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "BTCUSDT.csv").write_bytes(READ["rounded highs"](candles("BTC")[:50]))

    read(None, [tmp_path])

    assert capsys.readouterr().err.endswith("rows whose rounded high or low was moved onto the open or close: 50\n")
