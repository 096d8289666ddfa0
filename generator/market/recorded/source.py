"""The replayed source: folders of recorded candles, funding and open interest on their own clock."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

import numpy as np

from generator.catalog.assets import ASSETS
from generator.catalog.durations import DAY_MS
from generator.catalog.formats import iso
from generator.catalog.text.answers import NEEDS_5_MINUTE_BARS
from generator.catalog.words import SourceMode
from generator.errors import SourceError
from generator.market.bars import BAR_MS, BarFrame
from generator.market.observation import Observation
from generator.market.recorded.layouts import RecordedKind
from generator.market.recorded.observation import left_out_in_words, observe_asset, recording_health
from generator.market.recorded.recording import FileUse, load_recording
from generator.market.source import Progress

HISTORY_MS: Final = 30 * DAY_MS
HISTORY_SHARE: Final = 0.6


class RecordedSource:
    """A recording replayed bar by bar: at market time T only what was known at T is visible.

    Market time is wall time minus an offset. The offset is fixed at the first call so that market time is `start_at`;
    a restart gives the offset back through `offset_ms`. Without `start_at` the replay begins when 60% of the
    recording is history, 30 days at most, moved by less than a bar so that bars close when the wall clock says so.

    With `loop` it begins again after the last bar, and market time runs on.

    Args:
        folders: folders of files as publishers of candles name them, themselves and one level below.
        start_at: aware market time of the first tick; None for the default.
        assets: which assets to read; one without a file gives nulls and a limitation.
        offset_ms: wall minus market time of an earlier run; wins over `start_at`.

    Raises:
        SourceError: the folders hold no recording, or `start_at` lies outside it.
    """

    mode = SourceMode.RECORDED

    def __init__(
        self,
        folders: Sequence[Path],
        start_at: datetime | None = None,
        assets: tuple[str, ...] = ASSETS,
        *,
        loop: bool = False,
        offset_ms: int | None = None,
    ) -> None:
        self._recording = load_recording(folders, assets)
        self._assets = assets
        self._loop = loop
        self._offset_ms = offset_ms
        self._start_ms = None if start_at is None else self._checked(start_at)
        self._turn = 0
        self._replayed = self._recording

    @property
    def offset_ms(self) -> int | None:
        """Wall minus market time; None until the first call fixes it."""
        return self._offset_ms

    @property
    def files(self) -> tuple[FileUse, ...]:
        """What became of each file of the folders."""
        return self._recording.files

    @property
    def mended(self) -> int:
        """How many candles had a rounded high or low that was moved onto the open or close."""
        return self._recording.mended

    async def backfill(self, now_ms: int, days: int, progress: Progress) -> BarFrame:
        """Return the bars of the last `days` days that have closed at market time of `now_ms`."""
        market_ms = self._market_ms(now_ms)
        visible = self._visible(market_ms)
        return visible.rows(int(np.searchsorted(visible.t, market_ms - days * DAY_MS)))

    async def observe(self, now_ms: int, since_ms: int) -> Observation:
        """Observe market time of `now_ms`; at most 30 days of bars are new.

        `dropped_bars` counts the invalid candle rows of the whole recording, the same in every observation.
        """
        market_ms = self._market_ms(now_ms)
        visible = self._visible(market_ms)
        recording = self._replayed
        ended = not self._loop and market_ms >= recording.end_ms
        left_out = recording.origins[RecordedKind.CANDLES].left_out
        limits = () if recording.frame.interval_ms == BAR_MS else (NEEDS_5_MINUTE_BARS,)
        if left_out:
            limits = (*limits, f"candles of the recording: {left_out_in_words(left_out)}")

        return Observation(
            mode=self.mode,
            market_ms=market_ms,
            assets={asset: observe_asset(recording, visible, asset, market_ms, ended=ended) for asset in self._assets},
            sources=recording_health(recording, visible, market_ms, ended=ended),
            new_bars=visible.after(max(since_ms, market_ms - HISTORY_MS)),
            bar_interval_ms=recording.frame.interval_ms,
            price_basis="recorded_close",
            venues_needed=1,
            offset_ms=now_ms - market_ms,
            ended=ended,
            dropped_bars=left_out.total(),
            limitations=limits,
        )

    async def aclose(self) -> None:
        """Do nothing: the files were read and closed at the start."""

    def _checked(self, start_at: datetime) -> int:
        start_ms = round(start_at.timestamp() * 1000)
        first = self._recording.first_ms + self._recording.frame.interval_ms
        last = self._recording.end_ms
        if not first <= start_ms <= last:
            raise SourceError(
                f"{iso(start_ms)} lies outside the recording, which runs from {iso(first)} to {iso(last)}"
            )
        return start_ms

    def _market_ms(self, now_ms: int) -> int:
        if self._offset_ms is None:
            start_ms = self._default_start_ms(now_ms) if self._start_ms is None else self._start_ms
            self._offset_ms = now_ms - start_ms
        return now_ms - self._offset_ms

    def _default_start_ms(self, now_ms: int) -> int:
        recording = self._recording
        bar_ms = recording.frame.interval_ms
        history_ms = min(int(HISTORY_SHARE * (recording.end_ms - recording.first_ms)), HISTORY_MS)
        return recording.first_ms + max(history_ms // bar_ms, 1) * bar_ms + now_ms % bar_ms

    def _visible(self, market_ms: int) -> BarFrame:
        """Return the bars that have closed by `market_ms`; a loop turns the recording first."""
        if self._loop:
            self._turn_to(market_ms)
        return self._replayed.frame.closed_by(market_ms)

    def _turn_to(self, market_ms: int) -> None:
        """Lay the turn that holds `market_ms` behind as many earlier ones as 30 days need."""
        cycle = self._recording.cycle_ms
        turn = max((market_ms - self._recording.first_ms) // cycle, 0)
        if turn == self._turn:
            return
        earliest = max(turn - (-(-HISTORY_MS // cycle)) - 1, 0)
        self._replayed = self._recording.tiled(tuple(number * cycle for number in range(earliest, turn + 1)))
        self._turn = turn
