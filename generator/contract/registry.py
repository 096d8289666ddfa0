"""All published models by their names in OpenAPI."""

from __future__ import annotations

from typing import Final

from generator.contract.base import Body
from generator.contract.derivatives import DerivativesResponse
from generator.contract.human_consensus import HumanConsensusResponse
from generator.contract.liquidity_lite import LiquidityLiteResponse
from generator.contract.main_brain import MainBrainResponse
from generator.contract.market_regime import MarketRegimeResponse
from generator.contract.paid_atlas import X402AtlasPaidResponse
from generator.contract.paid_human_report import X402HumanReportPaidResponse
from generator.contract.paid_main_brain import X402MainBrainPaidResponse
from generator.contract.paid_market_regime import X402PaidResponse
from generator.contract.payment_required import X402PaymentRequiredResponse
from generator.contract.problem import Problem
from generator.contract.reasoning import ReasoningResponse
from generator.contract.shared_intelligence import SharedIntelligenceResponse
from generator.contract.statistics import StatisticsResponse
from generator.contract.status import StatusResponse
from generator.contract.teacher_lessons import TeacherLessonsResponse

MODELS: Final[dict[str, type[Body]]] = {
    model.__name__: model
    for model in (
        MarketRegimeResponse,
        MainBrainResponse,
        LiquidityLiteResponse,
        DerivativesResponse,
        HumanConsensusResponse,
        TeacherLessonsResponse,
        ReasoningResponse,
        StatisticsResponse,
        SharedIntelligenceResponse,
        StatusResponse,
        X402PaymentRequiredResponse,
        X402PaidResponse,
        X402MainBrainPaidResponse,
        X402AtlasPaidResponse,
        X402HumanReportPaidResponse,
        Problem,
    )
}
