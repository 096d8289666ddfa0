"""What is never published, whatever made it."""

import json

import pytest

from generator.catalog.endpoints import ENDPOINTS
from generator.errors import PublishError
from generator.release.check import Checker

NUMBER = "000000000007"
BODY = json.dumps({"success": True, "freshness": {"generation": NUMBER}}).encode()
FILES = {row.path: BODY for row in ENDPOINTS} | {"/index.html": b"<html></html>\n", "/llms.txt": b"words"}
OLD = BODY.replace(b"007", b"006")
REGIME = "/api/market-regime.php"


def test_a_whole_release_passes() -> None:
    Checker().check(NUMBER, FILES)


@pytest.mark.parametrize(
    ("files", "fault"),
    [
        ({REGIME: BODY[:-1]}, "not JSON"),
        ({REGIME: b""}, "empty"),
        ({REGIME: b"[]"}, "not a JSON object"),
        ({REGIME: OLD}, "of generation 000000000006"),
        ({"/status.json": b'{"generation":"000000000006"}'}, "of generation 000000000006"),
        ({"/api/secret.json": b"{}"}, r"not a path of the contract \(JSON_FILES in the catalog\)"),
        ({"/api/x.php": b"{}"}, r"not a path of the contract \(JSON_FILES in the catalog\)"),
        ({"/index.html": b"  \n"}, "/index.html: empty"),
        ({"/index.html": b"<html><body>half"}, "not a whole page"),
        ({"/index.html": b"\xff</html>"}, "not UTF-8"),
        ({"/a/../b.txt": b"x"}, "not a path"),
        ({"b.txt": b"x"}, "not a path"),
        ({"/lost.txt.gz": b"x"}, "a variant of nothing"),
    ],
)
def test_a_fault_is_named_and_nothing_passes(files: dict[str, bytes], fault: str) -> None:
    with pytest.raises(PublishError, match=rf"1 faults: .*{fault}(: .+)?$"):
        Checker().check(NUMBER, {**FILES, **files})


def test_what_is_too_large_does_not_pass() -> None:
    with pytest.raises(PublishError, match=r"/llms.txt: larger than 100 bytes"):
        Checker(max_file_bytes=100).check(NUMBER, {**FILES, "/llms.txt": b"x" * 101})


def test_an_endpoint_left_out_does_not_pass() -> None:
    with pytest.raises(PublishError, match=r"market-regime.php: missing"):
        Checker().check(NUMBER, {path: data for path, data in FILES.items() if path != REGIME})


def test_a_body_of_the_last_tick_does_not_pass_again() -> None:
    checker = Checker()
    checker.check(NUMBER, FILES)

    with pytest.raises(PublishError, match=rf"{len(ENDPOINTS)} faults: .*of generation 000000000007"):
        checker.check("000000000008", FILES)


def made(as_of: str, **more: object) -> bytes:
    freshness = {"generation": NUMBER, "generated_at": "2026-11-20T12:00:00Z"}
    return json.dumps({"freshness": freshness, "assets": {"BTC": [{"as_of": as_of}]}, **more}).encode()


def test_a_body_of_a_time_that_has_not_come_does_not_pass() -> None:
    moved = {"replay": {"market_time": "2022-10-20T12:00:00Z"}}
    Checker().check(NUMBER, {**FILES, REGIME: made("2026-11-20T12:00:00Z")})
    Checker().check(NUMBER, {**FILES, REGIME: made("2022-10-20T12:00:00Z", **moved)})

    with pytest.raises(PublishError, match=r"market-regime.php: as of 2026-11-20T12:00:01Z, later than its own time"):
        Checker().check(NUMBER, {**FILES, REGIME: made("2026-11-20T12:00:01Z")})
    with pytest.raises(PublishError, match=r"as of 2022-10-20T12:05:00Z, later than its own time 2022-10-20T12:00:00Z"):
        Checker().check(NUMBER, {**FILES, REGIME: made("2022-10-20T12:05:00Z", **moved)})


def test_a_paid_body_of_a_time_that_has_not_come_does_not_pass() -> None:
    body = {"updated": "2026-11-20T12:00:00Z", "intelligence_layer": {"regime": {"as_of": "2026-11-20T12:05:00Z"}}}

    with pytest.raises(PublishError, match="x402-atlas: as of 2026-11-20T12:05:00Z"):
        Checker.check_paid(NUMBER, {"x402-atlas": body})


def test_what_was_good_is_looked_at_again_only_when_it_changed() -> None:
    checker = Checker()
    checker.check(NUMBER, FILES)

    with pytest.raises(PublishError, match=r"1 faults: /llms.txt"):
        checker.check(NUMBER, {**FILES, "/llms.txt": b"\xff"})


def test_what_was_good_in_a_release_is_good_by_itself() -> None:
    checker = Checker()
    checker.check(NUMBER, FILES)

    assert checker.fault(REGIME, BODY) is None
    assert checker.fault(REGIME, OLD) == "of generation 000000000006"
    assert checker.fault("/llms.txt", b"") == "empty"


def faults(checker: Checker, **files: bytes) -> str:
    with pytest.raises(PublishError) as refused:
        checker.check(NUMBER, {**FILES, **{f"/{name}": content for name, content in files.items()}})
    return str(refused.value)


def test_a_file_may_be_8_mib_and_no_larger() -> None:
    whole = b"x" * 8 * 1024 * 1024
    Checker().check(NUMBER, {**FILES, "/llms.txt": whole})

    assert "/llms.txt: larger than 8388608 bytes" in faults(Checker(), **{"llms.txt": whole + b"x"})


def test_a_release_may_be_256_mib_and_no_larger() -> None:
    part = b"x" * 8 * 1024 * 1024
    rest = 256 * 1024 * 1024 - 31 * len(part) - sum(map(len, FILES.values()))
    full = {f"/{number}.bin": part for number in range(31)} | {"/rest.bin": part[:rest]}
    Checker().check(NUMBER, {**FILES, **full})

    with pytest.raises(PublishError, match="the release is larger than 268435456 bytes"):
        Checker().check(NUMBER, {**FILES, **full, "/one.bin": b"x"})


def test_of_many_faults_five_are_named_and_all_are_counted() -> None:
    five = faults(Checker(), **{f"{number}.txt": b"" for number in range(5)})
    seven = faults(Checker(), **{f"{number}.txt": b"" for number in range(7)})

    named = "; ".join(f"/{number}.txt: empty" for number in range(5))
    assert five == f"release {NUMBER} not published: 5 faults: {named}"
    assert seven == f"release {NUMBER} not published: 7 faults: {named} and 2 more"


@pytest.mark.parametrize("ending", [".html", ".md", ".txt", ".xml", ".yaml", ".css", ".js", ".svg"])
def test_every_kind_of_text_must_be_text(ending: str) -> None:
    assert "not UTF-8" in faults(Checker(), **{f"a{ending}": b"\xff"})
    assert f"/a{ending}: empty" in faults(Checker(), **{f"a{ending}": b" \n"})


@pytest.mark.parametrize("path", ["/a/", "/a//b.txt", "/a/../b.txt", "a.txt", "/a\n.txt"])
def test_what_is_not_a_path_does_not_pass(path: str) -> None:
    with pytest.raises(PublishError, match="not a path"):
        Checker().check(NUMBER, {**FILES, path: b"x"})


def test_a_body_as_of_its_own_time_passes_and_a_second_later_does_not() -> None:
    def body(as_of: str) -> bytes:
        made = {"generation": NUMBER, "generated_at": "2026-11-20T09:53:00Z"}
        return json.dumps({"freshness": made, "rows": [{"as_of": as_of}]}).encode()

    Checker().check(NUMBER, {**FILES, REGIME: body("2026-11-20T09:53:00Z")})

    with pytest.raises(PublishError, match="as of 2026-11-20T09:53:01Z, later than its own time"):
        Checker().check(NUMBER, {**FILES, REGIME: body("2026-11-20T09:53:01Z")})
