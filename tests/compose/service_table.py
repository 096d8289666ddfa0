"""The fields that the service promises, as data: model -> field -> type.

`T?` may be null; `T[]` is an array; `Name` is an object of that component; `{Name}` maps asset symbols to it.
"""

from typing import Final

_NOTICE: Final = {"success": "boolean", "project": "string", "type": "string", "mode": "string",
                  "educational_notice": "string", "updated_utc": "string"}  # fmt: skip
_RICH: Final = {
    "success": "boolean", "project": "string", "endpoint": "string", "name": "string", "version": "string",
    "schema_version": "string", "access": "string", "status": "string", "purpose": "string",
    "endpoint_role": "object", "agent_guidance": "AgentGuidance", "usage_characteristics": "UsageCharacteristics",
    "source": "object", "summary": "string", "capability_boundary": "object", "developer_resources": "object",
    "expanded_access": "object", "related_resources": "object", "truth_statement": "string", "disclaimer": "string",
    "updated": "string",
}  # fmt: skip
_PAID: Final = {"project": "string", "endpoint": "string", "payment_status": "string", "disclaimer": "string"}

FIELDS: Final[dict[str, dict[str, str]]] = {
    "MarketRegimeResponse": {
        **_RICH, "regime": "object", "market_mode": "string", "market_state": "string", "confidence": "number",
    },
    "AgentGuidance": {
        "recommended_for": "string[]", "when_to_use": "string", "when_not_to_use": "string", "next_step": "string",
    },
    "UsageCharacteristics": {
        "machine_readable": "boolean", "stable_schema": "boolean", "cache_seconds": "integer",
        "authentication": "string", "payment_required": "boolean", "response_format": "string",
    },
    "MainBrainResponse": {
        **_RICH, "brain": "object", "market_context": "object", "public_performance": "object",
        "market_state": "object", "coins": "{CoinSnapshot}", "educational_only": "boolean",
    },
    "CoinSnapshot": {
        "asset": "string", "bias": "string?", "confidence": "number?", "summary": "string?", "price": "number?",
        "change_24h": "number?", "price_source": "string?",
    },
    "LiquidityLiteResponse": {
        "success": "boolean", "ok": "boolean", "project": "string", "endpoint": "string", "name": "string",
        "version": "string", "access": "string", "description": "string", "source_mode": "string", "source": "string",
        "legacy_endpoint": "string?", "engine": "string?", "provider": "string?", "generated_at": "string?",
        "updated_at": "string?", "updated_utc": "string?", "truth_statement": "string?",
        "educational_only": "boolean", "not_financial_advice": "boolean", "asset_count": "integer?",
        "assets_verified": "integer?", "assets_failed": "integer?", "assets": "{LiquidityLiteAsset}",
        "upsell": "object?", "disclaimer": "string",
    },
    "LiquidityLiteAsset": {
        "asset": "string", "status": "string?", "liquidity_context": "string?", "market_structure": "string?",
        "bias": "string?", "price": "number?", "change_24h": "number?", "confidence": "number?", "notes": "string[]?",
        "limitations": "string[]",
    },
    "DerivativesResponse": {
        "success": "boolean", "project": "string", "endpoint": "string", "name": "string", "version": "string",
        "access": "string", "source_mode": "string", "generated_at": "string?", "updated_utc": "string?",
        "status": "string?", "engine": "string?", "engine_version": "string?", "source": "string?",
        "summary": "string?", "overall_state": "string?", "overall_vote": "string?", "truth_statement": "string?",
        "confidence": "number?", "assets": "{DerivativesAsset}", "evidence": "string[]?", "limitations": "string[]?",
        "related_endpoints": "object?", "explore": "object?", "upgrade_path": "object?", "disclaimer": "string",
    },
    "DerivativesAsset": {
        "asset": "string", "state": "string?", "vote": "string?", "confidence": "number?", "funding": "object?",
        "open_interest": "object?", "liquidations": "object?", "evidence": "string[]?", "limitations": "string[]?",
    },
    "HumanConsensusResponse": {
        **_NOTICE, "asset": "string", "round": "RoundInfo", "human_consensus": "HumanConsensus",
        "developer_note": "string",
    },
    "RoundInfo": {
        "round_id": "string", "asset": "string", "start": "string", "end": "string", "seconds_left": "integer",
        "timer": "string",
    },
    "HumanConsensus": {
        "total": "integer", "bullish": "integer", "bearish": "integer", "neutral": "integer",
        "bullish_percent": "number", "bearish_percent": "number", "neutral_percent": "number", "consensus": "string",
        "disagreement_score": "number",
    },
    "TeacherLessonsResponse": {
        **_NOTICE, "teacher_brain": "TeacherBrain", "latest_lessons": "TeacherLesson[]", "developer_note": "string",
        "privacy_note": "string",
    },
    "TeacherBrain": {"status": "string", "role": "string", "metrics": "object"},
    "TeacherLesson": {
        "lesson_id": "string", "round_id": "string", "asset": "string", "brain_prediction": "string",
        "human_consensus": "string", "actual_outcome": "string", "brain_correct": "integer",
        "crowd_correct": "integer", "agreement": "integer", "shared_intelligence_score": "number",
        "learning_score": "number", "pattern_type": "string", "summary": "string", "created_at": "string",
    },
    "ReasoningResponse": {
        **_NOTICE, "asset": "string", "reasoning": "Reasoning", "supported_assets": "string[]",
        "developer_note": "string",
    },
    "Reasoning": {"prediction": "string", "confidence": "number?", "summary": "string", "reason_points": "string[]"},
    "StatisticsResponse": {
        **_NOTICE, "main_brain": "object", "core_learning": "object", "arena": "object", "teacher_brain": "object",
        "api_ecosystem": "object", "developer_note": "string",
    },
    "SharedIntelligenceResponse": {
        **_NOTICE, "asset": "string", "round": "object", "my_prediction": "string?", "brain_snapshot": "object",
        "human_layer": "HumanConsensus", "combined_intelligence": "object", "teacher_brain": "object",
        "events": "object", "price": "object", "system_integrity": "object",
    },
    "X402PaymentRequiredResponse": {
        "error": "string", "project": "string", "ecosystem": "string", "endpoint": "string", "type": "string",
        "x402Version": "integer", "resource": "object", "accepts": "object[]", "message": "string",
        "what_this_is": "string", "what_this_is_not": "string", "related_pages": "object", "disclaimer": "string",
    },
    "X402PaidResponse": {
        **_PAID, "type": "string", "market_mode": "string?", "market_state": "string?", "summary": "string?",
        "confidence": "number?", "risk_score": "number?", "source": "string",
    },
    "X402MainBrainPaidResponse": {**_PAID, "summary": "object"},
    "X402AtlasPaidResponse": {
        **_PAID, "schema_version": "string", "intelligence_layer": "object", "summary": "string?",
        "success": "boolean", "product_id": "string", "confidence": "object", "evidence": "object",
        "limitations": "string[]", "updated": "string", "educational_only": "boolean",
    },
    "X402HumanReportPaidResponse": {**_PAID, "report": "object"},
}  # fmt: skip

REQUIRED: Final[dict[str, tuple[str, ...]]] = {
    "MarketRegimeResponse": (
        "success", "project", "endpoint", "version", "schema_version", "access", "status", "purpose", "source",
        "regime", "summary",
    ),
    "MainBrainResponse": (
        "success", "project", "endpoint", "version", "schema_version", "access", "status", "purpose", "source",
        "brain", "market_context", "public_performance", "summary",
    ),
}  # fmt: skip

# Left out of an answer while it is unknown; the service says that it may be present.
MAY_BE_ABSENT: Final = {("MarketRegimeResponse", "confidence")}
