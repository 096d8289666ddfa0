"""The leaf that both programs import: it loads libraries only, and none of the heavy ones."""

import subprocess
import sys
from pathlib import Path

from gateway import wire

MODULES = sorted(path.stem for path in Path(next(iter(wire.__path__))).glob("*.py") if path.stem != "__init__")
HEAVY = "numpy", "ccxt", "starlette", "obstore", "generator", "pydantic"


def test_the_leaf_loads_no_heavy_library_and_nothing_else_of_ours() -> None:
    program = (
        "import sys\n"
        + "".join(f"import gateway.wire.{module}\n" for module in MODULES)
        + "print(*(name for name in sys.modules))"
    )

    loaded = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.split()

    assert {name.partition(".")[0] for name in loaded}.isdisjoint(HEAVY)
    assert {name for name in loaded if name.startswith("gateway.")} == {
        "gateway.wire",
        *(f"gateway.wire.{module}" for module in MODULES),
    }
