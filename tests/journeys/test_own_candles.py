"""A researcher's own files: a table of what is used of them comes first, and the answers say the same."""

import json
from pathlib import Path

from tests.market.layouts import WITH_VOLUME, bars
from tests.support.processes import emi_here


def test_a_tick_on_downloaded_files_says_what_it_uses_of_each_and_why_not_the_rest(tmp_path: Path) -> None:
    folder = tmp_path / "candles"
    folder.mkdir()
    for name, content in WITH_VOLUME["months"]("BTC", bars("BTC")).items():
        (folder / name).write_bytes(content)
    (folder / "ETHBTC.csv").write_text("")

    done = emi_here("tick", "--source", "recorded", "--data", "candles", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    table = [line.split() for line in done.stderr.splitlines() if "BTC" in line]
    assert [row[0] for row in table] == ["BTCUSDT-5m-2022-10.csv", "BTCUSDT-5m-2022-11.csv", "ETHBTC.csv"]
    assert [row[-10:-8] for row in table[:1]] == [["500", "499"]]
    body = json.loads((tmp_path / "emi-state" / "site" / "current" / "api" / "main-brain.php").read_text())
    assert "candles of the recording: 1 row left out: the same time as a later row (1)" in body["limitations"]
