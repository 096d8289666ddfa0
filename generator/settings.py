"""Settings of the generator: `EMI_` environment, then `emi.yaml` (given by the command line), then defaults."""

import shlex
from pathlib import Path
from typing import Annotated, Literal, TypeAlias, TypeVar
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from gateway.wire import ports
from gateway.wire.algorand import key_of
from gateway.wire.inbox import inbox_of
from gateway.wire.object_store import SCHEMES, BucketUrl, is_bucket
from gateway.wire.receipts import PUBLIC_SUFFIX
from generator.catalog.assets import ASSETS
from generator.catalog.contact import contact_of
from generator.catalog.durations import DAY_MINUTES
from generator.catalog.text.answers import DEFAULT_PROJECT
from generator.catalog.venues import VENUES
from generator.catalog.words import SourceMode

POSTGRES = "postgresql+psycopg://"
SOLD = "what is sold would be published"
LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")


def _split(value: object) -> object:
    """Split a comma-separated text; anything else is returned as it is."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


T = TypeVar("T")
Listed: TypeAlias = Annotated[tuple[T, ...], NoDecode, BeforeValidator(_split)]


class ArenaSettings(BaseModel):
    """The Arena's part: `EMI_ARENA__ROUND_MINUTES` and so on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    round_minutes: int = Field(
        60,
        description="Length of a round, a divisor of 1440 from 15 to 90; a change takes effect at the next 00:00 UTC.",
    )
    assets: Listed[str] = Field(("BTC",), description="Assets of the rounds, comma-separated; several take turns.")
    inbox_url: str | None = Field(
        None,
        description=(
            "Folder of signed ballots, which several machines may share; unset: STATE_DIR/inbox. What is read there is "
            "removed, so it must lie apart from site and vault."
        ),
    )
    address: str | None = Field(
        None, description="Algorand address that ballots are sent to; unset: one without a key."
    )

    @field_validator("round_minutes")
    @classmethod
    def _divides_the_day(cls, value: int) -> int:
        if not 15 <= value <= 90 or DAY_MINUTES % value:
            raise ValueError("must be a divisor of 1440 from 15 to 90, e.g. 15, 20, 30, 45, 60 or 90")
        return value

    @field_validator("inbox_url")
    @classmethod
    def _inbox_form(cls, value: str | None) -> str | None:
        if value is not None and not value.startswith("file:///") and "://" in value:
            raise ValueError(
                "must be a folder or file:///a/folder, not an object store: let several machines share a folder, "
                "or leave this unset and take ballots on chain only"
            )
        return value

    @field_validator("address")
    @classmethod
    def _an_address(cls, value: str | None) -> str | None:
        if value is not None:
            key_of(value)
        return value

    @field_validator("assets")
    @classmethod
    def _known(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        unknown = [asset for asset in value if asset not in ASSETS]
        if unknown or not value or len(set(value)) < len(value):
            raise ValueError(f"must be some of {', '.join(ASSETS)}, each once")
        return value


class GeneratorSettings(BaseSettings):
    """What `emi tick` and `emi schedule` need; the command line, which knows both programs, refuses unknown names."""

    model_config = SettingsConfigDict(env_prefix="EMI_", env_nested_delimiter="__", extra="ignore", frozen=True)

    state_dir: Path = Field(Path("emi-state"), description="Folder of everything that is written.")
    site_dir: Path | None = Field(
        None, description="The published site; unset: STATE_DIR/site. It must lie apart from the vault."
    )
    site_url: str | None = Field(
        None, description="Object store that the site is published to: `s3://bucket/prefix`, `gs://…` or `az://…`."
    )
    vault_url: str | None = Field(
        None,
        description=(
            "What is for sale: `file:///` and an absolute path, or an object store that is not the site's; "
            "unset: STATE_DIR/vault."
        ),
    )
    memory_url: str | None = Field(
        None,
        description=(
            "SQLAlchemy URL of the generator's memory; unset: SQLite in STATE_DIR. A corrupt file is named "
            "and left alone."
        ),
    )
    lease_url: str | None = Field(
        None,
        description=(
            "`postgresql+psycopg://…` in which several generators elect a leader; unset: a lock file in STATE_DIR."
        ),
    )
    base_url: str | None = Field(
        None,
        description=(
            "Public origin, in every link and challenge; unset: `http://127.0.0.1:PORT`. A public one needs "
            "SOURCE and NETWORK."
        ),
    )
    project: str = Field(DEFAULT_PROJECT, min_length=1, max_length=80, description="Name in every answer.")
    contact: str = Field(
        "",
        description=(
            "Contact in OpenAPI, security.txt and on pages: a URL, an e-mail address, or both with a comma "
            "between; unset: none is named."
        ),
    )
    source_url: str | None = Field(
        None,
        description="Where the source of this service is, an http(s) URL: linked at the foot of every page and in the "
        "quickstart, named in security.txt; unset: none is named.",
    )
    host: str = Field("127.0.0.1", description="Address the gateway listens on; with `--preview` loopback only.")
    port: int = Field(
        ports.GATEWAY, ge=1, le=65535, description="Port the gateway listens on; one in use stops the start."
    )
    seed: int | None = Field(
        None,
        ge=0,
        description=(
            "Seed of the simulated market and crowd, kept with the record; unset: one whose market is quiet at the "
            "first start. Another seed needs another STATE_DIR."
        ),
    )
    source: SourceMode | None = Field(None, description="Where prices come from; unset: simulated.")
    data_dir: Listed[Path] = Field((), description="Folders of a recording, comma-separated.")
    venues: Listed[str] = Field(
        (), description=f"Venues of the live source, comma-separated; unset: all of {', '.join(VENUES)}."
    )
    network: Literal["mainnet", "testnet", "devnet"] | None = Field(None, description="Network of the payments.")
    play: bool = Field(
        default=False,
        description="Sell play money on a public name: only with NETWORK devnet, whose facilitator and nodes stay on "
        "loopback. Every body, page and 402 says so.",
    )
    arena: ArenaSettings = ArenaSettings()
    indexer_url: str | None = Field(
        None,
        description="Indexer: the gateway proves payments with it, and the generator reads ballots on chain from it.",
    )
    indexer_token: SecretStr | None = Field(None, description="Token of the indexer.")
    log_key_file: Path | None = Field(
        None,
        description=(
            "Key of the transparency log; unset: STATE_DIR/keys/log.key, made at the first start. A key "
            "that never signed the log stops the start."
        ),
    )
    witness_policy: Path | None = Field(
        None,
        description=(
            "File in the form of C2SP tlog-policy: its witnesses that have a URL sign each new head of the log; unset: "
            "none is asked."
        ),
    )
    log_format: Literal["console", "json"] = Field("console", description="Form of the log lines.")
    schedule_metrics_port: int | None = Field(
        None,
        ge=1,
        le=65535,
        description="Prometheus metrics of the generator, on loopback; `emi schedule --metrics-port` wins.",
    )
    alert_cmd: SecretStr | None = Field(
        None,
        description="Command that `emi watch` runs for a fault, without a shell, with one JSON object on its standard "
        "input: fault, subject, event (start, still, end), since, text, runbook. After 15 seconds it is killed.",
    )
    ping_url: SecretStr | None = Field(
        None,
        description="URL that `emi watch` asks after each published tick while all is well, and with `/fail` behind "
        "its path for a fault (where its query says status=up, as status=down): a service that says when nothing comes "
        "any more.",
    )
    backup_status: Path | None = Field(
        None,
        description=(
            "File in which backups and restore drills note their result, for the doctor and the generator's metrics; "
            "unset: STATE_DIR/backups.json."
        ),
    )

    @field_validator("venues")
    @classmethod
    def _known_venues(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        unknown = [venue for venue in value if venue not in VENUES]
        if unknown:
            raise ValueError(f"{', '.join(unknown)}: must be some of {', '.join(VENUES)}")
        return value

    @field_validator("base_url")
    @classmethod
    def _origin(cls, value: str | None) -> str | None:
        if value is None:
            return None
        parts = urlsplit(value)
        if parts.username or parts.password:
            raise ValueError("credentials do not belong in a URL: it is in every answer")
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.path.strip("/") or parts.query:
            raise ValueError("must be an origin such as https://example.org")
        return value.rstrip("/")

    @field_validator("source_url")
    @classmethod
    def _page_of_the_source(cls, value: str | None) -> str | None:
        if value is None:
            return None
        parts = urlsplit(value)
        if parts.username or parts.password:
            raise ValueError("credentials do not belong in a URL: it is on every page")
        if parts.scheme not in {"http", "https"} or not parts.hostname or any(sign.isspace() for sign in value):
            raise ValueError("must be a URL such as https://example.org/source")
        return value

    @field_validator("alert_cmd")
    @classmethod
    def _argv(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None:
            shlex.split(value.get_secret_value())
        return value

    @field_validator("ping_url")
    @classmethod
    def _http(cls, value: SecretStr | None) -> SecretStr | None:
        if value is None or urlsplit(value.get_secret_value()).scheme in {"http", "https"}:
            return value
        raise ValueError("must be an http(s) URL")

    @field_validator("contact")
    @classmethod
    def _reachable(cls, value: str) -> str:
        return ", ".join(part for part in contact_of(value) if part)

    @field_validator("site_url")
    @classmethod
    def _site_form(cls, value: str | None) -> str | None:
        return None if value is None else str(BucketUrl.parse(value))

    @field_validator("vault_url")
    @classmethod
    def _vault_form(cls, value: str | None) -> str | None:
        if value is None or value.startswith("file:///"):
            return value
        if not is_bucket(value):
            forms = ", ".join(f"{scheme}://bucket/prefix" for scheme in SCHEMES)
            raise ValueError(f"must be file:///a/folder or one of {forms}")
        return str(BucketUrl.parse(value))

    @field_validator("lease_url")
    @classmethod
    def _lease_form(cls, value: str | None) -> str | None:
        if value is None or value.startswith(POSTGRES):
            return value
        raise ValueError(f"must be {POSTGRES}…, as MEMORY_URL; a lease in an object store is not supported")

    @property
    def mode(self) -> SourceMode:
        """Where prices come from."""
        return self.source or SourceMode.SIMULATED

    @property
    def origin(self) -> str:
        """The public origin without a trailing slash."""
        return self.base_url or f"http://127.0.0.1:{self.port}"

    @property
    def site_path(self) -> Path:
        """Folder of the published site."""
        return self.site_dir or self.state_dir / "site"

    @property
    def vault_path(self) -> Path:
        """Folder of the vault, where it is not in an object store."""
        if self.vault_url is None or is_bucket(self.vault_url):
            return self.state_dir / "vault"
        return Path(unquote(urlsplit(self.vault_url).path))

    @property
    def vault_bucket(self) -> str | None:
        """Object store of the vault; None where it is a folder."""
        if self.vault_url is None or not is_bucket(self.vault_url):
            return None
        return self.vault_url

    @property
    def memory(self) -> str:
        """SQLAlchemy URL of the memory."""
        return self.memory_url or f"sqlite:///{self.state_dir / 'memory.sqlite3'}"

    @property
    def log_key_path(self) -> Path:
        """File of the transparency log's key."""
        return self.log_key_file or self.state_dir / "keys" / "log.key"

    @property
    def receipt_keys_path(self) -> Path:
        """The file of the public halves of the receipt keys, if there is one."""
        return (self.state_dir / "keys" / "receipt.key").with_suffix(PUBLIC_SUFFIX)

    @property
    def backup_status_path(self) -> Path:
        """File of the last results of backups and restore drills."""
        return self.backup_status or self.state_dir / "backups.json"

    @property
    def inbox_path(self) -> Path:
        """Folder of the ballots."""
        return inbox_of(self.arena.inbox_url, self.state_dir)

    @property
    def alert_command(self) -> str:
        """The command that is run for a fault, empty for none."""
        return self.alert_cmd.get_secret_value() if self.alert_cmd else ""

    @property
    def ping_origin(self) -> str | None:
        """What is asked while all is well."""
        return self.ping_url.get_secret_value() if self.ping_url else None

    @property
    def is_loopback(self) -> bool:
        """Whether the public origin is this machine only."""
        return urlsplit(self.origin).hostname in LOOPBACK_HOSTS

    def complaint(self) -> str | None:
        """Return what is wrong between settings, or None.

        A vault inside the published folder would publish what is for sale; demo data on a public origin would be
        mistaken for live.
        """
        site = self.site_path.resolve()
        vault = self.vault_path.resolve()
        if site == vault or site in vault.parents or vault in site.parents:
            return f"VAULT_URL {vault} and SITE_DIR {site} must lie apart: {SOLD}"
        sold = self.vault_bucket
        if self.site_url and sold and BucketUrl.parse(self.site_url).overlaps(BucketUrl.parse(sold)):
            return f"VAULT_URL {sold} and SITE_URL {self.site_url} must lie apart: {SOLD}"

        if self.lease_url is not None and not self.memory.startswith(POSTGRES):
            return f"LEASE_URL is for several machines: set MEMORY_URL to the {POSTGRES}… that they share"
        if not self.is_loopback and (self.source is None or self.network is None):
            return f"BASE_URL {self.origin} is public: set SOURCE and NETWORK as well"
        if self.source == SourceMode.RECORDED and not self.data_dir:
            return "EMI_SOURCE is recorded: name the folder with --data DIR or EMI_DATA_DIR"
        return self._play_complaint() or self._inbox_complaint()

    def _play_complaint(self) -> str | None:
        """Play money must never be taken for another, nor be sold to the public without a word."""
        if self.play and self.network != "devnet":
            return f"EMI_PLAY is for EMI_NETWORK=devnet, not {self.network}: play money is of its own network"
        if self.network == "devnet" and not self.play and not self.is_loopback:
            return f"EMI_NETWORK is devnet and {self.origin} is public: set EMI_PLAY=true to sell play money there"
        return None

    def _inbox_complaint(self) -> str | None:
        """What is read as a ballot is removed afterwards: nothing else may lie there."""
        inbox = self.inbox_path.resolve()
        state = self.state_dir.resolve()
        if inbox == state or inbox in state.parents:
            return f"ARENA__INBOX_URL {inbox} must not hold STATE_DIR {state}: its files are removed as ballots"

        for name, path in (("SITE_DIR", self.site_path.resolve()), ("VAULT_URL", self.vault_path.resolve())):
            if inbox == path or inbox in path.parents or path in inbox.parents:
                return f"ARENA__INBOX_URL {inbox} and {name} {path} must lie apart"
        return None
