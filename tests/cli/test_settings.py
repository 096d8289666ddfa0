"""Settings: precedence, and one clear line for every wrong one."""

from pathlib import Path

import pytest

from generator.cli._settings import gateway_settings, generator_settings, known_names
from generator.errors import GeneratorError
from tests.support.processes import emi_here


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_flag_wins_over_the_environment_and_that_over_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("emi.yaml").write_text("port: 1111\nseed: 11\nproject: From file\n")
    monkeypatch.setenv("EMI_PORT", "2222")
    monkeypatch.setenv("EMI_SEED", "22")

    settings = generator_settings(port=3333)

    assert (settings.port, settings.seed, settings.project) == (3333, 22, "From file")


def test_nested_settings_come_from_file_and_environment_together(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("emi.yaml").write_text("arena:\n  round_minutes: 15\n  assets: [BTC, ETH]\n")
    monkeypatch.setenv("EMI_ARENA__ROUND_MINUTES", "30")

    settings = generator_settings()

    assert (settings.arena.round_minutes, settings.arena.assets) == (30, ("BTC", "ETH"))


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("EMI_PORT", "70000", "EMI_PORT is '70000'"),
        ("EMI_PORTT", "8402", "unknown setting EMI_PORTT; did you mean EMI_PORT?"),
        ("EMI_ROUND_MINUTES", "30", "unknown setting EMI_ROUND_MINUTES; did you mean EMI_ARENA__ROUND_MINUTES?"),
        ("EMI_VERIFY_TIMEOUT_SECONDS", "5", "was removed: a verify has a third of EMI_SETTLE_TIMEOUT_SECONDS"),
        ("EMI_LEASE_TTL_SECONDS", "3", "was removed: .* remove it"),
        ("EMI_RECEIPT_KEY_FILE", "r.key", "was removed: .*/keys"),
        ("EMI_COLOUR", "red", "unknown setting EMI_COLOUR; valid: EMI_ALERT_CMD"),
        ("EMI_ARENA__ROUND_MINUTES", "7", "must be a divisor of 1440 from 15 to 90, e.g. 15, 20, 30"),
        ("EMI_SOURCE", "magic", "EMI_SOURCE is 'magic'"),
        ("EMI_ARENA__ADDRESS", "INVALID", "not an Algorand address"),
        ("EMI_ARENA__ROUND_MINUTES", "37", "EMI_ARENA__ROUND_MINUTES is 37|EMI_ARENA__ROUND_MINUTES is '37'"),
        ("EMI_ARENA__ASSETS", "DOGE", "BTC, ETH, XRP"),
        ("EMI_VENUES", "mtgox", "kraken"),
        ("EMI_BASE_URL", "example", "must be an origin"),
        ("EMI_CONTACT", "someone", "must be a URL, an e-mail address, or one of each"),
        ("EMI_CONTACT", "a@b.example, c@d.example", "must be a URL, an e-mail address, or one of each"),
        ("EMI_SOURCE_URL", "example.org/source", "must be a URL such as https://example.org/source"),
        ("EMI_SOURCE_URL", "https://me:secret@example.org", "credentials do not belong in a URL"),
        ("EMI_VAULT_URL", "ftp://x", "EMI_VAULT_URL"),
        ("EMI_NETWORK", "moon", "EMI_NETWORK is 'moon'"),
        ("EMI_ARENA__INBOX_URL", "s3://bucket/ballots", "let several machines share a folder"),
        ("EMI_ARENA__ASSETS", "BTC,BTC", "each once"),
        ("EMI_BASE_URL", "https://api.example.org", "SOURCE and NETWORK"),
        ("EMI_SOURCE", "recorded", "--data DIR or EMI_DATA_DIR"),
    ],
)
def test_a_wrong_value_is_named_with_what_is_allowed(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    monkeypatch.setenv(name, value)

    with pytest.raises(GeneratorError, match=said):
        generator_settings()


@pytest.mark.parametrize("text", ["nonsense: 1", "- a list", "port: [unclosed", "arena:\n  colour: red\n"])
def test_a_wrong_file_is_one_line(text: str) -> None:
    Path("emi.yaml").write_text(text)

    with pytest.raises(GeneratorError) as caught:
        generator_settings()

    assert "emi.yaml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_secret_is_never_in_the_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMI_FACILITATOR_TOKEN", "hunter2-very-secret")
    monkeypatch.setenv("EMI_SETTLE_TIMEOUT_SECONDS", "-1")

    with pytest.raises(GeneratorError) as caught:
        gateway_settings()

    assert "hunter2" not in str(caught.value)
    assert "hunter2" not in repr(caught.value.__cause__)


def test_credentials_in_a_url_are_never_in_the_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMI_ALGOD_URL", "https://user:hunter2@node.example")

    with pytest.raises(GeneratorError, match="EMI_ALGOD_URL: credentials do not belong") as caught:
        gateway_settings()

    assert "hunter2" not in str(caught.value)


def test_a_vault_inside_the_site_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EMI_VAULT_URL", f"file://{tmp_path}/emi-state/site/vault")

    with pytest.raises(GeneratorError, match="would be published"):
        generator_settings()


@pytest.mark.parametrize("vault", ["s3://bucket/site", "s3://bucket/site/vault", "s3://bucket"])
def test_a_vault_in_the_bucket_and_prefix_of_the_site_is_refused_by_both_programs(
    monkeypatch: pytest.MonkeyPatch, vault: str
) -> None:
    monkeypatch.setenv("EMI_SITE_URL", "s3://bucket/site")
    monkeypatch.setenv("EMI_VAULT_URL", vault)

    for program in (generator_settings, gateway_settings):
        with pytest.raises(GeneratorError, match="must lie apart"):
            program()


@pytest.mark.parametrize("name", ["EMI_SITE_URL", "EMI_VAULT_URL"])
def test_credentials_in_the_url_of_an_object_store_are_refused_and_not_repeated(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "s3://AKIDTEST:hunter2@bucket/x")

    for program in (generator_settings, gateway_settings):
        with pytest.raises(GeneratorError, match=f"{name}.*credentials") as caught:
            program()
        assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("EMI_PORT", "tcp://10.0.0.1:8402"),
        ("EMI_SERVICE_HOST", "10.0.0.1"),
        ("EMI_SERVICE_PORT_HTTP", "8402"),
        ("EMI_PORT_8402_TCP_ADDR", "10.0.0.1"),
    ],
)
def test_a_variable_that_kubernetes_adds_is_explained(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)

    with pytest.raises(GeneratorError, match="enableServiceLinks: false") as error:
        generator_settings()

    assert name in str(error.value)
    assert "Kubernetes" in str(error.value)


def test_the_example_file_names_every_setting() -> None:
    text = (Path(__file__).parents[2] / "emi.example.yaml").read_text()

    for name in known_names():
        assert f"# {name.removeprefix('EMI_').split('__')[-1].lower()}:" in text.replace("#   ", "# "), name


def test_version_and_help_are_words_that_people_type(tmp_path: Path) -> None:
    shown = [emi_here(*words, cwd=tmp_path).stdout for words in (["version"], ["--version"], ["help"])]

    assert shown[0] == shown[1]
    assert shown[0].startswith("emi ")
    assert "Usage:" in shown[2]
