"""The paid products: price, path, identity, cache window. Money is integer atomic units of USDC."""

from dataclasses import dataclass
from typing import Final

from generator.catalog.money import usdc_amount

X402_VERSION: Final = 2
QUOTE_GRACE_S: Final = 900
# Past the last moment at which a quote can be paid: for clocks that differ, and a gateway that has not looked yet.
VAULT_MARGIN_S: Final = 300
# Kept however old; no more than so many, or so many bytes, are ever for sale at once.
VAULT_SNAPSHOTS: Final = 20
VAULT_MOST_SNAPSHOTS: Final = 400
VAULT_MOST_BYTES: Final = 32 * 1024 * 1024
ATLAS_SCHEMA_VERSION: Final = "0.1.0"
HUMAN_REPORT: Final = "x402-atlas-human-report"
OF_A_MONTH: Final = ("x402-main-brain", "x402-atlas", HUMAN_REPORT)
"""What is made from the kept month."""
OF_A_LABEL: Final = ("x402-market-regime", HUMAN_REPORT)
"""What is made round the market's label: without a reading the report has neither ranges nor chances."""


@dataclass(frozen=True, slots=True)
class Product:
    """One paid resource."""

    id: str  # endpoint identity, e.g. `x402-atlas`; also the key in the vault manifest
    path: str
    product_id: str | None
    title: str
    type: str  # of the 402 body and of the paid body
    model: str  # name of the 200 body's model in OpenAPI
    price_atomic: int  # USDC atomic units (6 decimals)
    cache_seconds: int  # of the paid answer, 60 or 0
    stability: str  # `stable` or `evolving`
    buy_name: str  # what `emi buy` calls it
    what_this_is: str  # one sentence for the 402 body

    @property
    def price_display(self) -> str:
        """The price in words for people, e.g. `0.02 USDC`."""
        return f"{usdc_amount(self.price_atomic)} USDC"

    @property
    def sample(self) -> str:
        """Where a whole answer of an earlier day is given away."""
        return f"/samples/{self.buy_name}.json"


PRODUCTS: Final[tuple[Product, ...]] = (
    Product(
        id="x402-market-regime",
        path="/api/x402-market-regime.php",
        product_id="SVC-X402-001",
        title="x402 Market Regime",
        type="paid_educational_market_regime",
        model="X402PaidResponse",
        price_atomic=10_000,
        cache_seconds=60,
        stability="stable",
        buy_name="market-regime",
        what_this_is=(
            "How long: spells of the market's state, what ended them, each asset's regime, ranks in the month."
        ),
    ),
    Product(
        id="x402-main-brain",
        path="/api/x402-main-brain.php",
        product_id="SVC-X402-003",
        title="x402 Main Brain",
        type="paid_educational_main_brain",
        model="X402MainBrainPaidResponse",
        price_atomic=10_000,
        cache_seconds=60,
        stability="stable",
        buy_name="main-brain",
        what_this_is=(
            "How likely each coin moves beyond several levels or touches them, over 15 minutes to a day, and what "
            "the next 24 hours usually bring; with the brain's direction and evidence."
        ),
    ),
    Product(
        id="x402-atlas",
        path="/api/x402-atlas.php",
        product_id="SVC-X402-002",
        title="x402 ATLAS (structured)",
        type="paid_educational_atlas",
        model="X402AtlasPaidResponse",
        price_atomic=20_000,
        cache_seconds=0,
        stability="evolving",
        buy_name="atlas",
        what_this_is=("One structured document: chances by level, spells, the next four hours, and all readings."),
    ),
    Product(
        id=HUMAN_REPORT,
        path="/api/x402-atlas-human-report.php",
        product_id=None,
        title="ATLAS Human Report",
        type="paid_educational_human_report",
        model="X402HumanReportPaidResponse",
        price_atomic=100_000,
        cache_seconds=0,
        stability="evolving",
        buy_name="atlas-human-report",
        what_this_is=(
            "A story of the day for people: what made it, how far the next hours may go, and the record with misses."
        ),
    ),
)
PRODUCT_BY_ID: Final[dict[str, Product]] = {product.id: product for product in PRODUCTS}
