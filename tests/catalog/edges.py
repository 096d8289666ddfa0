"""Write the assets of the catalog into the edge recipes: `python -m tests.catalog.edges`.

nginx and Caddy cannot change the case of `?asset=`, so each names every asset; the 400 of all edges lists them.
"""

import json
import re
from pathlib import Path
from typing import Final

from generator.catalog.assets import ASSETS, DEFAULT_ASSET

EDGES: Final = Path(__file__).parents[2] / "site" / "edge"
# Per file: a row of its table for every asset but the default one; empty where it has none.
ROWS: Final = {
    "nginx/emi.conf": "    {asset} /api/reasoning/{asset}.json;\n",
    "caddy/Caddyfile": '\t\t\t"~(?i)^{asset}$" /api/reasoning/{asset}.json\n',
    "cloudflare/worker.js": "",
}


def written(text: str, row: str) -> str:
    """Return an edge's recipe with the assets of the catalog."""
    spaced = ", " if "const ASSETS" in text else ","
    text = re.sub(rf'\["{DEFAULT_ASSET}"[^]\n]*\]', json.dumps(ASSETS, separators=(spaced, ":")), text)
    if not row:
        return text
    table = re.compile("(?:" + re.escape(row).replace(r"\{asset\}", "[A-Z0-9]+") + ")+")
    rows = "".join(row.replace("{asset}", asset) for asset in ASSETS if asset != DEFAULT_ASSET)
    return table.sub(lambda _: rows, text)


def main() -> None:
    for name, row in ROWS.items():
        path = EDGES / name
        path.write_text(written(path.read_text(), row))


if __name__ == "__main__":
    main()
