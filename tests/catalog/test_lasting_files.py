"""What outlives a release, and until when."""

import pytest

from generator.catalog.discovery import ONCE_PREFIXES, SHARE_PICTURE, SHARE_PICTURES, full_tile


def test_share_pictures_are_files_of_the_release_so_that_none_outlives_it() -> None:
    paths = [SHARE_PICTURE.path, *(picture.path for picture in SHARE_PICTURES.values())]

    assert len(set(paths)) == len(paths) > 1
    assert not [path for path in paths if path.startswith(ONCE_PREFIXES)]


@pytest.mark.parametrize(
    ("path", "full"),
    [
        ("/log/tile/0/000.p/17", "/log/tile/0/000"),
        ("/log/tile/entries/x001/234.p/255", "/log/tile/entries/x001/234"),
        ("/log/tile/0/000", None),
        ("/log/tile/0/000.p/x", None),
        ("/files/a.p/1", None),
    ],
)
def test_of_a_partial_tile_the_full_one_is_known(path: str, full: str | None) -> None:
    assert full_tile(path) == full
