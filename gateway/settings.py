"""What an operator may set for the gateway; every wrong value is one clear line."""

import ipaddress
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self
from urllib.parse import unquote, urlsplit

from algosdk.encoding import is_valid_address
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    model_validator,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict
from yarl import URL

from gateway.wire import ports
from gateway.wire.algorand import DEMO_ARENA
from gateway.wire.inbox import inbox_of
from gateway.wire.loopback import is_loopback
from gateway.wire.networks import NETWORKS, Network
from gateway.wire.object_store import SCHEMES, BucketUrl

# SHA-512/256 of a sentence, not of a key: no one can spend what is paid to it.
DEMO_PAYEE: Final = "NCUXCXKC37MGDLOR2IEMU5UXTQKCZZBJ3SO64F6QUAMJLWQUMVUW7M734E"
BUCKETS: Final = tuple(f"{scheme}://" for scheme in SCHEMES)
POSTGRES: Final = "postgresql+psycopg://"


def _overlap(one: str, other: str) -> bool:
    return BucketUrl.parse(one).overlaps(BucketUrl.parse(other))


def _beginning(value: str, allowed: tuple[str, ...]) -> str:
    if not value.startswith(allowed):
        raise ValueError(f"{value.split(':', 1)[0]}: is not supported here; use {' or '.join(allowed)}")
    return value


def _algorand_address(value: str) -> str:
    if not is_valid_address(value):
        raise ValueError(f"{value!r} is not an Algorand address (58 characters with a checksum)")
    return value


def _http_url(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        raise ValueError(f"{value!r} is not a plain http:// or https:// URL")
    if parts.username or parts.password:
        raise ValueError("credentials do not belong in a URL; use the token setting")
    return str(URL(value)).rstrip("/")


def _ip_networks(value: Any) -> Any:
    items = value.split(",") if isinstance(value, str) else list(value)
    names = tuple(str(item).strip() for item in items if str(item).strip())
    for name in names:
        ipaddress.ip_network(name, strict=False)
    return names


def _vault_url(value: str) -> str:
    return value if value.startswith("file:///") else str(BucketUrl.parse(_beginning(value, ("file:///", *BUCKETS))))


def _site_url(value: str) -> str:
    return str(BucketUrl.parse(_beginning(value, BUCKETS)))


def _ledger_url(value: SecretStr) -> SecretStr:
    return SecretStr(_beginning(value.get_secret_value(), ("sqlite:///", POSTGRES)))


AlgorandAddress = Annotated[str, AfterValidator(_algorand_address)]
HttpUrl = Annotated[str, AfterValidator(_http_url)]


class ArenaAddress(BaseModel):
    """What the gateway reads of the Arena's settings; the others are the generator's."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    address: AlgorandAddress | None = None
    inbox_url: str | None = None


class GatewaySettings(BaseSettings):
    """The gateway's settings, from keyword arguments, then the environment (prefix EMI_), then defaults."""

    model_config = SettingsConfigDict(
        env_prefix="EMI_",
        env_nested_delimiter="__",
        extra="ignore",
        frozen=True,
        env_ignore_empty=True,
        hide_input_in_errors=True,
    )

    state_dir: Path = Path("./emi-state")
    site_dir: Path | None = None
    site_url: Annotated[str, AfterValidator(_site_url)] | None = None
    vault_url: Annotated[str, AfterValidator(_vault_url)] | None = None
    ledger_url: Annotated[SecretStr, AfterValidator(_ledger_url)] | None = Field(  # a database's URL holds its password
        default=None,
        description="Payments ledger; unset: SQLite in STATE_DIR. `sqlite:///` a file, or `postgresql+psycopg://` for "
        "several gateways (`requirements-postgres.lock`). A corrupt file is named and left alone.",
    )
    base_url: HttpUrl | None = None
    project: str = Field(default="Educational Market Intelligence", min_length=1, max_length=80)
    contact: str | None = None
    host: str = "127.0.0.1"
    port: int = Field(default=ports.GATEWAY, ge=0, le=65535)
    network: Literal["mainnet", "testnet", "devnet"] = "devnet"
    play: bool = False
    pay_to: AlgorandAddress | None = Field(
        default=None,
        description="Algorand address that is paid; unset: a demo address, for which a public origin on mainnet sells "
        "nothing (503).",
    )
    arena: ArenaAddress = ArenaAddress()
    facilitator_url: HttpUrl | None = Field(
        default=None,
        description=(
            "x402 facilitator; `emi up` starts the devnet's, `emi gateway` needs one. On mainnet this and the two "
            "nodes are `https://`, or on loopback."
        ),
    )
    facilitator_token: SecretStr | None = Field(default=None, description="Sent as a bearer token, never shown.")
    algod_url: HttpUrl | None = Field(
        default=None, description="Node that proves what became of a payment; as for the facilitator."
    )
    algod_token: SecretStr | None = Field(default=None, description="Token of the node.")
    indexer_url: HttpUrl | None = None
    indexer_token: SecretStr | None = None
    settle_timeout_seconds: float = Field(
        default=15.0,
        gt=0,
        le=120,
        description="Of the facilitator: later is an unknown outcome, which evidence ends. A verify has a third of it.",
    )
    free_votes_per_address: int = Field(
        default=40,
        ge=1,
        le=500,
        description=(
            "Voters with free ballots in a round, or a daily question, from one network address: a class behind one "
            "router. An address may have six connections open for each, 64 at least."
        ),
    )
    payments_at_once: int = Field(
        default=1_024,
        ge=1,
        le=16_384,
        description=(
            "Payments in progress at once, and connections to facilitator and nodes; more are 503 with Retry-After."
        ),
    )
    vault_max_age_seconds: int = Field(
        default=900, ge=60, le=86_400, description="Age past which a quote is not sold (503)."
    )
    rate_limit_per_minute: int = Field(
        default=600,
        ge=1,
        le=1_000_000,
        description=(
            "Payment attempts of one address; more is 429 with Retry-After. Loopback and repeats are not counted."
        ),
    )
    trusted_proxies: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_ip_networks)] = Field(
        default=(),
        description="Addresses or networks whose X-Forwarded-For is believed, comma-separated. All clients behind "
        "another proxy on loopback count as one address.",
    )
    metrics_port: int | None = Field(
        default=None,
        ge=1,
        le=65535,
        description=("Prometheus metrics of the gateway, on loopback; the generator's: EMI_SCHEDULE_METRICS_PORT."),
    )
    log_format: Literal["console", "json"] = "console"

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if self.base_url is None and not is_loopback(self.host):
            raise ValueError(f"set BASE_URL when HOST is not loopback: quotes name it, and {self.host} is not enough")
        if not self.base_is_loopback and "network" not in self.model_fields_set:
            raise ValueError("set NETWORK (mainnet, testnet or devnet) when BASE_URL is public")
        self._check_encrypted()
        self._check_play()

        vault = self.vault_dir.resolve()
        site = self.site_path.resolve()
        if vault == site or vault in site.parents or site in vault.parents:
            raise ValueError(
                f"the vault {vault} and the site {site} must lie apart: the site is public, the vault is not"
            )
        if self.site_url and self.vault_bucket and _overlap(self.site_url, self.vault_bucket):
            places = f"the vault {self.vault_bucket} and the site {self.site_url}"
            raise ValueError(f"{places} must lie apart: the site is public")
        return self

    def _check_encrypted(self) -> None:
        """Refuse plain http beyond this machine where real money and tokens would travel over it."""
        for name in ("facilitator_url", "algod_url", "indexer_url") if self.network == "mainnet" else ():
            parts = urlsplit(getattr(self, name) or "")
            if parts.scheme == "http" and not is_loopback(parts.hostname or ""):
                raise ValueError(
                    f"EMI_{name.upper()} {parts.geturl()} is plain http, and EMI_NETWORK is mainnet: "
                    "use https://, or a loopback address (localhost, 127.0.0.0/8, ::1)"
                )

    def _check_play(self) -> None:
        """Refuse play money that could be taken for another, and a devnet that is not this machine's own."""
        if not self.play:
            if self.network == "devnet" and not self.base_is_loopback:
                raise ValueError(
                    f"EMI_NETWORK is devnet and {self.origin} is public: set EMI_PLAY=true to sell play money there"
                )
            return

        if self.network != "devnet":
            raise ValueError(
                f"EMI_PLAY is for EMI_NETWORK=devnet, not {self.network}: play money is of its own network"
            )
        for name in ("facilitator_url", "algod_url", "indexer_url"):
            url = getattr(self, name)
            if url is not None and not is_loopback(urlsplit(url).hostname or ""):
                raise ValueError(f"EMI_PLAY: the devnet stays on loopback, and EMI_{name.upper()} is {url}")

    @property
    def site_path(self) -> Path:
        """Where the published site lies."""
        return self.site_dir or self.state_dir / "site"

    @property
    def vault_dir(self) -> Path:
        """Where the vault lies, if not in an object store."""
        if self.vault_url is None or self.vault_bucket:
            return self.state_dir / "vault"
        return Path(unquote(urlsplit(self.vault_url).path))

    @property
    def vault_bucket(self) -> str | None:
        """The object store where the vault lies; None where it is a folder."""
        return self.vault_url if self.vault_url is not None and self.vault_url.startswith(BUCKETS) else None

    @property
    def ledger_where(self) -> Path | str:
        """The payments ledger: a file, or the URL of a file or of a database for several gateways."""
        return self.ledger_url.get_secret_value() if self.ledger_url else self.state_dir / "payments.sqlite3"

    @property
    def receipt_key_path(self) -> Path:
        """Where the key that signs receipts lies, if there is one."""
        return self.state_dir / "keys" / "receipt.key"

    @property
    def origin(self) -> str:
        """The base URL that quotes name."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return self.base_url or f"http://{host}:{self.port}"

    @property
    def base_is_loopback(self) -> bool:
        """Whether the base URL can only be reached from this machine."""
        return is_loopback(urlsplit(self.origin).hostname or "")

    @property
    def verify_timeout_seconds(self) -> float:
        """How long the facilitator's verify may take; later is 503 with Retry-After."""
        return self.settle_timeout_seconds / 3

    @property
    def chain_network(self) -> Network:
        """The network's row of the table."""
        return NETWORKS[self.network]

    @property
    def arena_address(self) -> str:
        """Where ballots are addressed."""
        return self.arena.address or DEMO_ARENA

    @property
    def free_vote_path(self) -> Path:
        """Where the free ballots of the round are counted."""
        return self.state_dir / "free-vote.count"

    @property
    def inbox_path(self) -> Path:
        """The generator's folder of ballots, to which free ones are added where it exists."""
        return inbox_of(self.arena.inbox_url, self.state_dir)

    @property
    def payee(self) -> str:
        """Who is paid: PAY_TO, or the demo payee."""
        return self.pay_to or DEMO_PAYEE

    def quote_refusal(self, source_mode: str) -> str | None:
        """Say why no quote may be made of a vault of this source mode (live, recorded, simulated), if so."""
        if self.network != "mainnet" or self.base_is_loopback:
            return None
        if self.payee == DEMO_PAYEE:
            return "the payee is the demo address; real money is not taken for it"
        if source_mode != "live":
            return f"the data is {source_mode}; real money is taken for live data only"
        return None
