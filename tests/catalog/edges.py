"""Write the assets and moved pages of the catalog into the edge recipes: `python -m tests.catalog.edges`.

nginx and Caddy cannot change the case of `?asset=`, so each names every asset; the 400 of all edges lists them. A page
that moved is redirected with what lies below its old address.
"""

import json
import re
from pathlib import Path
from typing import Final, NamedTuple

from generator.catalog.assets import ASSETS, DEFAULT_ASSET
from generator.catalog.moved import MOVED

EDGES: Final = Path(__file__).parents[2] / "site" / "edge"


class Tables(NamedTuple):
    """What one file has of them: a row for every asset but the default one, and one for every moved page."""

    asset: str = ""
    moved: str = ""
    before_moved: str = ""  # the line that its table of moved pages begins after


ROWS: Final = {
    "nginx/emi.conf": Tables(
        "    {asset} /api/reasoning/{asset}.json;\n",
        '    "~^{old}" "{new}";\n',
        'map $uri $emi_moved {\n    default "";\n',
    ),
    "caddy/Caddyfile": Tables(
        '\t\t\t"~(?i)^{asset}$" /api/reasoning/{asset}.json\n',
        '\t\t\t\t\t"~^{old}" "{new}"\n',
        "map {path} {moved} {\n",
    ),
    "cloudflare/worker.js": Tables(),
    "cloudflare/moved.js": Tables(moved='  ["{old}", "{new}"],\n', before_moved="export const MOVED = [\n"),
}


def written(text: str, tables: Tables) -> str:
    """Return an edge's recipe with the assets and the moved pages of the catalog."""
    spaced = ", " if "const ASSETS" in text else ","
    text = re.sub(rf'\["{DEFAULT_ASSET}"[^]\n]*\]', json.dumps(ASSETS, separators=(spaced, ":")), text)

    if tables.asset:
        named = re.compile("(?:" + re.escape(tables.asset).replace(r"\{asset\}", "[A-Z0-9]+") + ")+")
        rows = "".join(tables.asset.replace("{asset}", asset) for asset in ASSETS if asset != DEFAULT_ASSET)
        text = named.sub(lambda _: rows, text)

    if tables.moved:
        row = re.escape(tables.moved).replace(r"\{old\}", '[^"]+').replace(r"\{new\}", '[^"]+')
        listed = re.compile(f"{re.escape(tables.before_moved)}(?:{row})*")
        rows = "".join(tables.moved.replace("{old}", old).replace("{new}", new) for old, new in MOVED.items())
        text = listed.sub(lambda _: tables.before_moved + rows, text)
    return text


def main() -> None:
    for name, tables in ROWS.items():
        path = EDGES / name
        path.write_text(written(path.read_text(), tables))


if __name__ == "__main__":
    main()
