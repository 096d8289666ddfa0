"""The free answers of one tick, each as its model: what pages and pictures read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.catalog.links import STATUS_JSON, reasoning_path
from generator.compose.body import Body
from generator.compose.derivatives import DerivativesResponse
from generator.compose.envelope import StatusResponse
from generator.compose.liquidity_lite import LiquidityLiteResponse
from generator.compose.main_brain import MainBrainResponse, ReasoningResponse
from generator.compose.market_regime import MarketRegimeResponse
from generator.compose.rounds import HumanConsensusResponse, SharedIntelligenceResponse
from generator.compose.teacher_lessons import TeacherLessonsResponse

B = TypeVar("B", bound=Body)


@dataclass(frozen=True, slots=True)
class FreeBodies:
    """The free bodies of one tick by request path; a property raises KeyError where its body is missing."""

    by_path: Mapping[str, Body]

    @property
    def market_regime(self) -> MarketRegimeResponse:
        """The kind of market there is now."""
        return self._answer("market-regime", MarketRegimeResponse)

    @property
    def main_brain(self) -> MainBrainResponse:
        """Every asset in short, with its forecast."""
        return self._answer("main-brain", MainBrainResponse)

    @property
    def liquidity_lite(self) -> LiquidityLiteResponse:
        """Order books and structure of every asset."""
        return self._answer("liquidity-lite", LiquidityLiteResponse)

    @property
    def derivatives(self) -> DerivativesResponse:
        """Funding and open interest of every asset."""
        return self._answer("derivatives", DerivativesResponse)

    @property
    def human_consensus(self) -> HumanConsensusResponse:
        """The votes of the live round."""
        return self._answer("human-consensus", HumanConsensusResponse)

    @property
    def teacher_lessons(self) -> TeacherLessonsResponse:
        """Lessons, patterns and leaderboard of the Arena."""
        return self._answer("teacher-lessons", TeacherLessonsResponse)

    @property
    def shared_intelligence(self) -> SharedIntelligenceResponse:
        """The live round in one document."""
        return self._answer("shared-intelligence", SharedIntelligenceResponse)

    @property
    def status(self) -> StatusResponse:
        """Whether the service is up to date."""
        return self._at(STATUS_JSON, StatusResponse)

    def reasoning(self, asset: str) -> ReasoningResponse:
        """Return the evidence behind the forecast of an asset."""
        return self._at(reasoning_path(asset), ReasoningResponse)

    def _answer(self, endpoint: str, model: type[B]) -> B:
        return self._at(ENDPOINT_BY_ID[endpoint].path, model)

    def _at(self, path: str, model: type[B]) -> B:
        body = self.by_path[path]
        assert isinstance(body, model)
        return body
