"""`service.md` rule by rule: what it asks, and the test that shows it. Its fields are in `service_table.py`."""

from __future__ import annotations

import importlib
from typing import Final

import pytest

# Section and number of the rule, what it asks in our words, and where it is shown (module below tests: test).
RULES: Final[tuple[tuple[str, str, tuple[str, ...]], ...]] = (
    ("1", "the market regime, direction, liquidity, derivatives, Arena, lessons and statistics are published",
     ("journeys.test_main_job:test_every_free_path_answers_what_openapi_promises",)),
    ("1", "all output is educational and says what it is not; confidence is no promise",
     ("compose.test_fixed_sentences:test_every_body_says_that_it_is_educational_and_no_advice",
      "publish.test_pages:test_every_page_carries_the_educational_notice_in_every_state")),
    ("1", "no funds or private keys are held, nothing of the payer is in a paid body",
     ("compose.test_fixed_sentences:test_a_paid_body_carries_its_type_receipt_and_nothing_of_the_payer",)),
    ("1", "scoring, weights and internals are in no answer",
     ("compose.test_walker:test_every_published_key_path_is_one_of_its_model",
      "publish.test_published_tree:test_every_key_path_is_one_of_the_models_and_names_no_internal",
      "publish.test_published_tree:test_no_number_of_the_weights_is_in_any_published_file")),
    ("1", "free endpoints need no account, three machine endpoints and one report are paid",
     ("publish.test_openapi:test_operation_ids_are_unique_and_nothing_needs_a_credential",
      "publish.test_openapi:test_a_paid_operation_tells_its_terms")),
    ("1", "the recommended order for an agent", ("publish.test_discovery:test_llms_gives_the_recommended_order",)),
    ("1", "the five discovery resources are served",
     ("journeys.test_main_job:test_every_discovery_file_and_page_is_there",)),
    ("1", "the buyer page: the report by default, structured ATLAS with product=agent",
     ("buyer.test_page:test_product_agent_shows_the_structured_atlas_and_anything_else_the_report",)),
    ("1", "product ids, paths and prices of the catalogue",
     ("contract.test_service_table:test_a_product_has_the_price_cache_and_stability_of_the_service",
      "contract.test_service_table:test_a_free_product_carries_its_id")),
    ("2.1", "every free answer carries success, project and a disclaimer, identity, version, access and update time",
     ("compose.test_fixed_sentences:test_every_free_body_carries_the_envelope",)),
    ("2.1", "timestamps are ISO 8601", ("contract.test_formats:test_a_time_is_utc_with_z",)),
    ("2.2-2.10", "every field of the free answers with its type and nullability",
     ("contract.test_service_table:test_a_free_body_has_every_field_with_its_type",
      "contract.test_service_table:test_the_published_schema_has_the_field_with_its_type",
      "contract.test_service_table:test_the_published_schema_requires_what_the_service_requires")),
    ("2.2", "usage characteristics, agent guidance and the other blocks of the rich answers",
     ("compose.test_fixed_sentences:test_the_rich_bodies_carry_purpose_and_characteristics",)),
    ("2.6", "round ids, seconds left and timer", ("compose.test_honesty:test_the_round_clock_is_as_of_the_update",)),
    ("2.6", "the consensus word and the disagreement score",
     ("compose.test_honesty:test_consensus_and_disagreement_follow_the_counts",)),
    ("2.11", "every field of the 402 body and of the paid answers",
     ("contract.test_service_table:test_a_paid_body_has_every_field_with_its_type",
      "publish.test_openapi:test_every_challenge_with_the_gateways_part_fits_the_402_schema")),
    ("2.11", "the report is a plain-English rendering",
     ("compose.test_paid:test_the_report_reads_at_grade_nine_or_below",)),
    ("3", "one live round with seconds_left counting down",
     ("test_tick:test_a_restart_goes_on_where_it_stopped", "compose.test_honesty:test_the_round_clock_is_as_of_the_update")),
    ("3", "no payment: 402; settled payment: 200; invalid payment: 402",
     ("gateway.test_challenge:test_rule_1_no_payment_gets_402_whose_header_the_body_repeats",
      "gateway.test_purchase:test_rule_13_settled_delivers_the_quoted_bytes_and_the_computed_txid",
      "gateway.test_payment:test_rule_7_on_the_wire_it_is_402_with_a_fresh_challenge_and_no_facilitator_call")),
    ("4", "all are GET", ("gateway.test_challenge:test_rule_5_other_methods_get_405_with_allow",
                          "gateway.test_preview:test_head_options_and_other_methods")),
    ("4", "only reasoning has a parameter", ("publish.test_openapi:test_only_reasoning_has_a_query_and_it_defaults_to_btc",)),
    ("4.1.1", "a cache window of 60 seconds on every free endpoint",
     ("gateway.test_preview:test_a_free_file_has_the_headers_of_the_contract",
      "publish.test_openapi:test_a_free_operation_is_stable_and_cached_for_a_minute")),
    ("4.1.2", "without asset, reasoning is for BTC",
     ("compose.test_fixed_sentences:test_the_default_reasoning_is_that_of_btc",
      "journeys.test_main_job:test_reasoning_answers_for_every_asset_in_any_case")),
    ("4.1.3", "supported_assets lists the assets",
     ("compose.test_fixed_sentences:test_reasoning_lists_the_supported_assets",)),
    ("4.1.4", "stated purposes and limits", ("compose.test_fixed_sentences:test_the_boundary_states_the_limit_of_the_service",)),
    ("4.1.5", "each free resource names its richer one",
     ("contract.test_service_table:test_a_free_body_names_its_richer_resource_and_its_type",)),
    ("4.2", "x402 v2, network, asset 31566704, amounts exactly",
     ("gateway.test_challenge:test_rule_2_accepts_names_both_network_forms_in_order",
      "publish.test_discovery:test_x402_document_gives_the_exact_terms_of_every_product")),
    ("4.2.1", "no valid payment: 402 with the requirements",
     ("gateway.test_challenge:test_rule_1_no_payment_gets_402_whose_header_the_body_repeats",)),
    ("4.2.2", "verified and settled: 200 with payment_status settled",
     ("journeys.test_main_job:test_every_product_can_be_bought",)),
    ("4.2.3", "the report is a product of its own",
     ("compose.test_paid:test_each_paid_answer_has_fields_that_no_free_answer_has",
      "gateway.test_purchase:test_rule_16_another_product_is_402_also_after_a_restart")),
    ("4.2.4", "the headers of payment and challenge (not shown there; contract section 4)",
     ("gateway.test_challenge:test_rule_5_options_allows_what_clients_send",)),
    ("5.1", "free endpoints need no credential",
     ("publish.test_openapi:test_operation_ids_are_unique_and_nothing_needs_a_credential",)),
    ("5.2", "access is granted per request once settled",
     ("gateway.test_purchase:test_rule_10_the_intent_stands_before_settle_is_asked",)),
    ("5.3", "the payer's key never reaches the service", ("buyer.test_buy:test_the_wallet_key_is_kept_where_only_its_owner_can_read_it",)),
    ("5.4", "the encoding of the proof (not shown there; x402)",
     ("gateway.test_payment:test_rules_8_and_9_a_good_payment_reads_as_the_sdk_reads_it",)),
    ("6", "no events beyond the events object", ("compose.test_fixed_sentences:test_at_most_twenty_lessons_and_ten_events_are_shown",)),
    ("7", "402 body: error, x402Version 2, accepts, message",
     ("gateway.test_challenge:test_rule_1_no_payment_gets_402_whose_header_the_body_repeats",)),
    ("7", "client advice is passed on", ("publish.test_discovery:test_llms_gives_notice_advice_limits_and_version_rules",)),
    ("7", "other errors (not shown there; RFC 9457)",
     ("publish.test_openapi:test_errors_are_problem_details",
      "gateway.test_preview:test_an_unsupported_asset_is_400_and_names_those_supported")),
    ("8", "cache windows and prices", ("contract.test_service_table:test_a_product_has_the_price_cache_and_stability_of_the_service",)),
    ("8", "free access is no promise of capacity",
     ("publish.test_discovery:test_llms_gives_notice_advice_limits_and_version_rules",)),
    ("9.1", "OpenAPI 3.1.0 as JSON and YAML",
     ("publish.test_published_tree:test_the_openapi_document_is_valid",
      "journeys.test_main_job:test_openapi_in_yaml_equals_the_json")),
    ("9.2", "catalogue version 1.3.0", ("publish.test_openapi:test_the_document_is_valid_openapi",)),
    ("9.3", "version and schema_version in free answers",
     ("compose.test_fixed_sentences:test_every_free_body_carries_the_envelope",)),
    ("9.4", "ATLAS has schema 0.1.0 and evolves; the others are stable",
     ("contract.test_service_table:test_a_product_has_the_price_cache_and_stability_of_the_service",
      "compose.test_fixed_sentences:test_a_paid_body_carries_its_type_receipt_and_nothing_of_the_payer")),
    ("9.5", "readers are told to read version and update time",
     ("publish.test_openapi:test_the_guidance_tells_order_advice_limits_and_versions",)),
)  # fmt: skip

SECTIONS: Final = ("1", "2.1", "2.2-2.10", "2.11", "3", "4", "4.1.1", "4.1.2", "4.1.3", "4.1.4", "4.1.5", "4.2",
                   "4.2.1", "4.2.2", "4.2.3", "4.2.4", "5.1", "5.2", "5.3", "5.4", "6", "7", "8",
                   "9.1", "9.2", "9.3", "9.4", "9.5")  # fmt: skip


@pytest.mark.parametrize(("section", "asks", "shown"), RULES, ids=lambda value: str(value)[:60])
def test_the_rule_is_shown_by_a_test_that_exists(section: str, asks: str, shown: tuple[str, ...]) -> None:
    for place in shown:
        module, name = place.split(":")
        found = getattr(importlib.import_module(f"tests.{module}"), name, None)
        assert callable(found), f"section {section}, {asks}: {place} is gone"


def test_every_section_has_its_rules() -> None:
    assert set(SECTIONS) <= {section for section, _, _ in RULES}
