"""Print the CloudFormation template with the functions' code in it: `python3 render.py [--project NAME] > edge.yaml`."""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
PLACE = re.compile(r"^( *)FunctionCode: CODE (\S+)(?: (.+))?$", re.MULTILINE)
PROJECT = "const PROJECT = 'Educational Market Intelligence';"
CACHE = re.compile(r"^const CACHE_CONTROL = '[^']*';$", re.MULTILINE)


def code(name: str, cache_control: str | None, project: str) -> str:
    """Return a function's code.

    Args:
        name: its file.
        cache_control: what it sets, for the response function.
        project: the service's name.
    """
    text = (FOLDER / name).read_text(encoding="utf-8")
    quoted = project.replace("\\", "\\\\").replace("'", "\\'")
    text = text.replace(PROJECT, f"const PROJECT = '{quoted}';")
    return text if cache_control is None else CACHE.sub(f"const CACHE_CONTROL = '{cache_control}';", text)


def render(project: str) -> str:
    """Return the template as CloudFormation takes it."""
    template = (FOLDER / "template.yaml").read_text(encoding="utf-8")

    def put(found: re.Match[str]) -> str:
        space, name, cache_control = found.groups()
        return f"{space}FunctionCode: |\n{textwrap.indent(code(name, cache_control, project), space + '  ')}".rstrip()

    return PLACE.sub(put, template)


def main() -> None:
    """Print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--project", default="Educational Market Intelligence", help="as in EMI_PROJECT")
    sys.stdout.write(render(parser.parse_args().project))


if __name__ == "__main__":
    main()
