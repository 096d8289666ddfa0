from pathlib import Path
from typing import Any

import pytest
from algosdk.encoding import is_valid_address
from pydantic import ValidationError

from gateway.ledger.engine import sqlite_path
from gateway.settings import DEMO_PAYEE, GatewaySettings
from gateway.wire.networks import DEVNET, MAINNET, TESTNET


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"pay_to": "NOTANADDRESS"}, "not an Algorand address"),
        ({"facilitator_url": "ftp://facilitator.example"}, "not a plain http"),
        ({"algod_url": "https://user:secret@algod.example"}, "credentials do not belong"),
        ({"base_url": "https://api.example/?a=b"}, "not a plain http"),
        ({"vault_url": "ftp://bucket/vault"}, "not supported here"),
        ({"vault_url": "s3://key:secret@bucket/vault"}, "credentials and options do not belong"),
        ({"vault_url": "s3://bucket/../vault"}, "must be one of"),
        ({"site_url": "file:///srv/site"}, "not supported here"),
        ({"site_url": "s3://bucket/x", "vault_url": "s3://bucket/x/"}, "must lie apart"),
        ({"site_url": "s3://bucket/x", "vault_url": "s3://bucket/x/vault"}, "must lie apart"),
        ({"site_url": "s3://bucket/x/site", "vault_url": "s3://bucket/x"}, "must lie apart"),
        ({"site_url": "s3://bucket/x", "vault_url": "s3://bucket"}, "must lie apart"),
        ({"ledger_url": "postgresql://db.example/x"}, "not supported here"),
        ({"port": 70_000}, "65535"),
        ({"settle_timeout_seconds": 0}, "greater than 0"),
        ({"network": "moonnet"}, "mainnet"),
        ({"trusted_proxies": "10.0.0.0/99"}, "10.0.0.0/99"),
        ({"host": "0.0.0.0"}, "set BASE_URL"),
        ({"base_url": "https://api.example"}, "set NETWORK"),
        ({"vault_url": "file:///srv/site/vault", "site_dir": "/srv/site"}, "must lie apart"),
        ({"site_dir": "/srv/vault/site", "vault_url": "file:///srv/vault"}, "must lie apart"),
    ],
)
def test_a_wrong_setting_says_what_is_wrong(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        GatewaySettings(**given)


OUTGOING = ("facilitator_url", "algod_url", "indexer_url")


@pytest.mark.parametrize("name", OUTGOING)
@pytest.mark.parametrize("host", ["facilitator.example", "10.0.0.7:8080", "[2001:db8::1]", "0.0.0.0:8080"])
def test_on_mainnet_plain_http_beyond_this_machine_is_refused(name: str, host: str) -> None:
    given: dict[str, Any] = {"network": "mainnet", name: f"http://{host}/x"}

    with pytest.raises(ValidationError) as refused:
        GatewaySettings(**given)

    said = refused.value.errors()[0]["msg"]
    assert f"EMI_{name.upper()} http://{host}/x is plain http" in said
    assert "use https://, or a loopback address" in said
    assert "\n" not in said


@pytest.mark.parametrize("name", OUTGOING)
@pytest.mark.parametrize(
    ("network", "url"),
    [
        ("mainnet", "https://node.example/x"),
        ("mainnet", "http://127.9.9.9:4001/x"),
        ("mainnet", "http://[::1]:4001/x"),
        ("mainnet", "http://localhost:4001/x"),
        ("testnet", "http://node.example/x"),
        ("devnet", "http://node.example/x"),
    ],
)
def test_encrypted_loopback_and_play_money_urls_are_taken(name: str, network: str, url: str) -> None:
    given: dict[str, Any] = {"network": network, name: url}

    assert getattr(GatewaySettings(**given), name) == url


def test_defaults_are_a_devnet_on_this_machine() -> None:
    settings = GatewaySettings(state_dir=Path("/srv/emi"))

    assert settings.chain_network is DEVNET
    assert settings.payee == DEMO_PAYEE
    assert settings.base_is_loopback
    assert settings.vault_dir == Path("/srv/emi/vault")
    assert settings.ledger_where == Path("/srv/emi/payments.sqlite3")


def test_urls_name_folders_and_lists_are_split() -> None:
    settings = GatewaySettings(
        vault_url="file:///srv/my%20vault", ledger_url="sqlite:////srv/p.db", trusted_proxies="10.0.0.1, 10.1.0.0/16"
    )

    assert settings.vault_dir == Path("/srv/my vault")
    assert sqlite_path(settings.ledger_where) == Path("/srv/p.db")
    assert settings.trusted_proxies == ("10.0.0.1", "10.1.0.0/16")


def test_an_object_store_differs_from_a_folder() -> None:
    settings = GatewaySettings(vault_url="s3://bucket/vault/", site_url="s3://bucket/vault-site")

    assert settings.vault_bucket == "s3://bucket/vault"
    assert GatewaySettings(vault_url="file:///srv/vault").vault_bucket is None
    assert GatewaySettings().vault_bucket is None


def test_secrets_never_show() -> None:
    settings = GatewaySettings(facilitator_token="hush-1", algod_token="hush-2", indexer_token="hush-3")

    assert "hush" not in repr(settings) + str(settings) + settings.model_dump_json()


def test_networks_are_those_of_the_contract() -> None:
    assert MAINNET.forms == (
        "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73ktiC1qzkkit8=",
        "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k",
    )
    assert [network.asset_id for network in (MAINNET, TESTNET, DEVNET)] == [31_566_704, 10_458_941, 31_566_704]
    assert {len(network.genesis_hash_bytes) for network in (MAINNET, TESTNET, DEVNET)} == {32}


def test_the_demo_payee_is_an_address_made_from_a_hash() -> None:
    assert is_valid_address(DEMO_PAYEE)
