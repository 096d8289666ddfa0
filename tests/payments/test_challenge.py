import json
from pathlib import Path
from typing import Any

import httpx2
import pytest
from x402.extensions.bazaar.facilitator import _is_valid_icon_url, _sanitize_tags
from x402.schemas import PaymentRequirements

from gateway.http.answers import MAX_HEADER_BYTES, header_bytes
from gateway.payments.challenge import Challenge, requirement
from gateway.settings import DEMO_PAYEE, GatewaySettings
from gateway.vault.folder import LoadedVault
from gateway.wire.networks import DEVNET, MAINNET
from tests.support.fake_upstream import FEE_PAYER, OTHER_SIGNER, FakeUpstream
from tests.support.gateway_app import REGIME, gateway_app, in_loop
from tests.support.gateway_wallet import decode_header
from tests.support.vaults import GENERATION, PATHS, PRICES, write_vault


@pytest.mark.parametrize("product", list(PRICES))
@in_loop
async def test_accepts_names_both_network_forms_in_order(product: str, tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        answer = await home.get(PATHS[product])

    accepts = answer.json()["accepts"]
    assert [item["network"] for item in accepts] == [DEVNET.full, DEVNET.caip2]
    assert {item["amount"] for item in accepts} == {str(PRICES[product])}
    assert {item["asset"] for item in accepts} == {"31566704"}
    assert accepts[0]["extra"] == {"decimals": 6, "name": "USDC", "feePayer": FEE_PAYER, "snapshotId": GENERATION}


@in_loop
async def test_a_facilitator_without_our_network_means_503(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, upstream=FakeUpstream(MAINNET.full)) as home:
        answer = await home.get()

    assert answer.status_code == 503
    assert "PAYMENT-REQUIRED" not in answer.headers


@in_loop
async def test_no_fee_payer_ever_seen_means_503_with_retry_after(tmp_path: Path) -> None:
    upstream = FakeUpstream(DEVNET.full)
    upstream.supported = 500

    async with gateway_app(tmp_path, upstream=upstream) as home:
        answer = await home.get()

    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) > 0


@in_loop
async def test_a_new_fee_payer_is_quoted_after_a_minute(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        home.upstream.supported["kinds"][0]["extra"]["feePayer"] = OTHER_SIGNER
        await home.state.refresh()
        early = await home.get()
        home.clock.step(61)
        await home.state.refresh()

        late = await home.get()

    assert early.json()["accepts"][0]["extra"]["feePayer"] == FEE_PAYER
    assert late.json()["accepts"][0]["extra"]["feePayer"] == OTHER_SIGNER


def quoted(answer: httpx2.Response) -> str:
    """Return the snapshot that a demand names."""
    snapshot: str = answer.json()["accepts"][0]["extra"]["snapshotId"]
    return snapshot


@in_loop
async def test_between_two_vaults_there_is_no_moment_without_a_quote(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        seen = []

        async def encode(coming: LoadedVault) -> None:
            seen.append(quoted(await home.get()))
            await home.state.quotes.encode(coming)
            await home.state.quotes.encode()  # the facilitator was asked meanwhile
            seen.append(quoted(await home.get()))

        write_vault(tmp_path / "vault", generation="000000000008")  # in which 7 cannot be paid any more
        home.clock.step(1)
        assert await home.state.vault.refresh(encode)

        assert [*seen, quoted(await home.get())] == [GENERATION, GENERATION, "000000000008"]


@in_loop
async def test_challenges_are_encoded_again_for_a_new_vault_or_a_new_offer_alone(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        encoded = [home.state.quotes.at(REGIME)]
        await home.state.refresh()
        encoded.append(home.state.quotes.at(REGIME))
        write_vault(tmp_path / "vault", generation="000000000008")
        await home.state.refresh()
        encoded.append(home.state.quotes.at(REGIME))
        home.upstream.supported["kinds"][0]["extra"]["feePayer"] = OTHER_SIGNER
        home.clock.step(61)
        await home.state.refresh()
        encoded.append(home.state.quotes.at(REGIME))

    first, again, of_a_vault, of_an_offer = encoded
    assert first is again is not None
    assert of_a_vault is not first
    assert of_an_offer is not of_a_vault


@in_loop
async def test_the_402_is_the_same_whatever_accept_says(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        answers = [await home.get(accept=kind) for kind in ("text/html", "*/*", "application/json", "image/png")]

    assert len({(answer.status_code, answer.content, answer.headers["PAYMENT-REQUIRED"]) for answer in answers}) == 1
    assert answers[0].headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("product", list(PRICES))
@in_loop
async def test_all_response_headers_stay_under_4096_bytes(product: str, tmp_path: Path) -> None:
    async with gateway_app(tmp_path, base_url="http://127.0.0.1:8402") as home:
        answer = await home.get(PATHS[product])

    assert header_bytes(answer.headers.raw) < MAX_HEADER_BYTES


@in_loop
async def test_a_challenge_is_cut_as_soon_as_its_headers_reach_4096_bytes(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, base_url="http://127.0.0.1:8402") as home:
        challenge = home.state.quotes.at(REGIME)
        assert isinstance(challenge, Challenge)

        def size(length: int) -> int:
            return header_bytes(challenge.failed("", (b"payment-response", b"r" * length)).headers)

        whole = MAX_HEADER_BYTES - 1 - size(0)

    assert size(whole) == 4_095
    assert size(whole + 1) < 4_000


@in_loop
async def test_each_member_of_a_challenge_has_its_value(tmp_path: Path) -> None:
    manifest = write_vault(_folder(tmp_path / "again"))
    [product] = [row for row in manifest["products"] if row["path"] == REGIME]

    async with gateway_app(tmp_path) as home:
        answer = await home.get()
        origin = home.state.settings.origin
    terms = decode_header(answer.headers["PAYMENT-REQUIRED"])

    extensions = terms.pop("extensions")
    accepted = {
        "scheme": "exact",
        "asset": str(DEVNET.asset_id),
        "amount": str(product["price_atomic"]),
        "payTo": DEMO_PAYEE,
        "maxTimeoutSeconds": 60,
        "extra": {"decimals": 6, "name": "USDC", "feePayer": FEE_PAYER, "snapshotId": GENERATION},
    }
    assert terms == {
        "x402Version": 2,
        "error": "Payment required",
        "resource": {
            "url": f"{origin}{REGIME}",
            "description": product["description"],
            "mimeType": "application/json",
            "tags": ["crypto", "market-data", "volatility", "education"],
            "serviceName": "Educational Market Intelligence",
        },
        "accepts": [{**accepted, "network": form} for form in (DEVNET.full, DEVNET.caip2)],
    }
    assert extensions["bazaar"] == product["bazaar"]
    assert extensions["payment-identifier"]["info"] == {"required": True}
    assert answer.json() == {**product["challenge"], **terms, "extensions": extensions}
    assert next(iter(answer.json())) == "error"


def _folder(path: Path) -> Path:
    path.mkdir()
    return path


@pytest.mark.parametrize(
    ("example", "schema", "kept"),
    [
        (0, 0, {"payment-identifier", "payment-identifier.schema", "bazaar", "bazaar.example"}),
        (800, 0, {"payment-identifier", "bazaar", "bazaar.example"}),
        (5_000, 0, {"payment-identifier", "bazaar"}),
        (0, 5_000, {"payment-identifier"}),
    ],
)
@in_loop
async def test_what_an_extension_can_do_without_goes_first(
    example: int, schema: int, kept: set[str], tmp_path: Path
) -> None:
    def sized(folder: Path) -> None:
        manifest = write_vault(folder)
        for product in manifest["products"]:
            product["bazaar"]["info"]["output"]["example"] = {"text": "y" * example}
            product["bazaar"]["info"]["output"]["type"] = "z" * schema
        (folder / "manifest.json").write_text(json.dumps(manifest))

    async with gateway_app(tmp_path, vault=sized) as home:
        answer = await home.get()
    extensions = decode_header(answer.headers["PAYMENT-REQUIRED"]).get("extensions", {})

    bazaar = extensions.get("bazaar", {"info": {"output": {}}})
    parts = {
        "payment-identifier.schema": "schema" in extensions.get("payment-identifier", {}),
        "bazaar.example": "example" in bazaar["info"]["output"],
    }
    shown = {*extensions, *(part for part, is_there in parts.items() if is_there)}
    assert shown == kept


@in_loop
async def test_a_long_declaration_is_cut_and_the_terms_stay(tmp_path: Path) -> None:
    def bloated(folder: Path) -> None:
        manifest = write_vault(folder)
        for product in manifest["products"]:
            product["bazaar"]["info"]["output"]["example"] = {"text": "y" * 5_000}
        (folder / "manifest.json").write_text(json.dumps(manifest))

    async with gateway_app(tmp_path, vault=bloated) as home:
        answer = await home.get()

    assert header_bytes(answer.headers.raw) < MAX_HEADER_BYTES
    assert len(decode_header(answer.headers["PAYMENT-REQUIRED"])["accepts"]) == 2


@in_loop
async def test_resource_url_comes_from_the_base_url_and_not_from_the_request(tmp_path: Path) -> None:
    async with gateway_app(tmp_path, base_url="https://api.example", network="devnet", play=True) as home:
        answer = await home.get(host="evil.example")

    assert answer.json()["resource"]["url"] == f"https://api.example{REGIME}"


@in_loop
async def test_head_shows_the_challenge_without_body_and_never_buys(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        answer = await home.client.head(REGIME, headers={"PAYMENT-SIGNATURE": home.buyer.pay().header})

    assert (answer.status_code, answer.content) == (402, b"")
    assert "PAYMENT-REQUIRED" in answer.headers
    assert home.upstream.asked("/verify") == []


@in_loop
async def test_every_answer_on_a_paid_path_exposes_its_headers_and_varies(tmp_path: Path) -> None:
    async with gateway_app(tmp_path) as home:
        paid = await home.send(home.buyer.pay())
        answers = [paid, await home.get(), await home.client.post(REGIME), await home.get("/api/x402-nothing.php")]

    assert [answer.status_code for answer in answers] == [200, 402, 405, 404]
    for answer in answers:
        assert answer.headers["Vary"] == "PAYMENT-SIGNATURE, X-PAYMENT"
        exposed = answer.headers["Access-Control-Expose-Headers"]
        assert {"PAYMENT-RESPONSE", "ETag", "Date", "Link", "X-Request-Id"} <= set(exposed.split(", "))


@pytest.mark.parametrize(
    ("settings", "source_mode", "status"),
    [
        ({"base_url": "https://api.example", "network": "mainnet"}, "live", 503),
        ({"base_url": "https://api.example", "network": "mainnet", "pay_to": OTHER_SIGNER}, "simulated", 503),
        ({"base_url": "https://api.example", "network": "mainnet", "pay_to": OTHER_SIGNER}, "live", 402),
        ({"network": "mainnet"}, "simulated", 402),
    ],
)
@in_loop
async def test_public_mainnet_refuses_a_demo_payee_and_data_that_is_not_live(
    settings: dict[str, Any], source_mode: str, status: int, tmp_path: Path
) -> None:
    def vault(folder: Path) -> None:
        write_vault(folder, source_mode=source_mode)

    async with gateway_app(tmp_path, upstream=FakeUpstream(MAINNET.full), vault=vault, **settings) as home:
        answer = await home.get()

    assert answer.status_code == status


@pytest.mark.parametrize(
    ("project", "origin", "shown"),
    [
        ("Markets", "https://example.org", {"serviceName": "Markets", "iconUrl": "https://example.org/favicon.svg"}),
        ("M" * 33, "http://127.0.0.1:8402", {}),
    ],
)
@in_loop
async def test_catalogs_get_a_name_tags_and_an_icon_that_they_take(
    project: str, origin: str, shown: dict[str, str], tmp_path: Path
) -> None:
    async with gateway_app(tmp_path, project=project, base_url=origin, network="devnet", play=True) as home:
        answer = await home.get()

    header = decode_header(answer.headers["PAYMENT-REQUIRED"])["resource"]
    named = {name: value for name, value in header.items() if name in {"serviceName", "iconUrl"}}
    assert named == shown
    assert _sanitize_tags(header["tags"]) == header["tags"]
    assert answer.json()["resource"] == header
    assert all(_is_valid_icon_url(header[name]) for name in named if name == "iconUrl")


@in_loop
async def test_header_and_body_of_the_terms_are_the_same_text_member_by_member(tmp_path: Path) -> None:
    async with gateway_app(
        tmp_path, project="Markets", base_url="https://example.org", network="devnet", play=True
    ) as home:
        answer = await home.get()

    header = decode_header(answer.headers["PAYMENT-REQUIRED"])
    body = json.loads(answer.content)
    for member in ("x402Version", "resource", "accepts"):
        assert json.dumps(header[member]) == json.dumps(body[member]), member


def test_terms_are_what_the_official_model_writes() -> None:
    terms = requirement(
        GatewaySettings(), network=DEVNET.full, price_atomic=10_000, fee_payer=FEE_PAYER, snapshot_id=GENERATION
    )

    written = PaymentRequirements.model_validate(terms).model_dump(by_alias=True)

    assert list(terms.items()) == list(written.items())
