"""The torture in its short form against the real edges."""

from pathlib import Path

import pytest

from tests.journeys import edges
from tests.torture import Writer, torture

pytestmark = pytest.mark.outside


def test_nginx_never_tears_mixes_or_lies_while_releases_come(tmp_path: Path) -> None:
    if edges.missing("nginx"):
        pytest.skip(edges.missing("nginx"))
    site = tmp_path / "site"
    Writer(site).publish()

    with edges.nginx(tmp_path / "nginx", site) as edge:
        assert torture(seconds=3, readers=2, rate=10, url=edge.origin, site=site) == 0
