"""S3 with CloudFront: its functions, its pointer and its template, without AWS."""

# ruff: noqa: N803 - the fakes take the arguments of AWS's SDK by their names
from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from gateway.app.problem import PROBLEMS, SECURITY_HEADERS, SITE_CORS_HEADERS
from gateway.app.site_files import PAGE_POLICY
from generator.catalog.assets import ASSETS
from generator.catalog.discovery import ONCE_CACHE_CONTROL, ONCE_PREFIXES, PAGES, PINNED_CACHE_CONTROL
from generator.catalog.text.answers import DISCLAIMER
from tests.journeys.checks import RELEASE_CACHE
from tests.outside.cloud_edges import CLOUDFRONT, NJS_MISSING, NODE_MISSING, load_release, names
from tests.outside.cloudfront import answered, asking, load, run

# The two ticks of the first test, on a machine that does other things too.
pytestmark = [pytest.mark.timeout(300), pytest.mark.outside]
RELEASE = "000000000007"
ENGINES = [
    pytest.param("node", marks=pytest.mark.skipif(bool(NODE_MISSING), reason=NODE_MISSING)),
    pytest.param("njs", marks=pytest.mark.skipif(bool(NJS_MISSING), reason=NJS_MISSING)),
]
CFN_LINT = shutil.which("cfn-lint", path=str(Path(sys.executable).parent))
FREE = "/api/market-regime.php"
every_engine = pytest.mark.parametrize("engine", ENGINES)
pointer, rendering = load("pointer"), load("render")


def release_of(*paths: str) -> str:
    """Return the store's value where these paths have variants."""
    return RELEASE + "".join(pointer.token(path) for path in paths)


def request(engine: str, folder: Path, *events: dict[str, Any], release: str | None = RELEASE) -> list[dict[str, Any]]:
    return run(engine, folder, (CLOUDFRONT / "request.js").read_text(), events, release)


def assert_problem(answer: dict[str, Any], status: int, path: str) -> None:
    body = json.loads(answer["body"]["data"])
    headers = {name: row["value"] for name, row in answer["headers"].items()}
    assert answer["statusCode"] == body["status"] == status
    assert (body["type"], body["title"]) == (f"urn:emi:problem:{PROBLEMS[status][0]}", PROBLEMS[status][1])
    assert (body["instance"], body["disclaimer"]) == (path, DISCLAIMER)
    expected = SITE_CORS_HEADERS | SECURITY_HEADERS
    expected |= {"content-type": "application/problem+json", "cache-control": "no-store"}
    assert {name: headers.get(name) for name in expected} == expected


@every_engine
def test_every_published_file_is_found_in_each_coding(engine: str, ticked: Path, tmp_path: Path) -> None:
    folder = ticked / "site" / "releases" / "000000000001"
    site = load_release(folder)
    stored = set(names(folder))
    value = "000000000001" + pointer.variants(stored)
    asked = [(path, coding) for path in site for coding in ("identity", "gzip", "br")]

    found = request(engine, tmp_path, *(asking(path, accept_encoding=coding) for path, coding in asked), release=value)

    for (path, coding), rewritten in zip(asked, found, strict=True):
        file = site[path]
        both = {"gzip", "br"} <= file.variants.keys()
        ending = {"identity": "", "gzip": ".gz", "br": ".br"}[coding] if both else ""
        assert rewritten["uri"] == f"/g/000000000001{path}{ending}"
        assert rewritten["uri"].removeprefix("/g/000000000001") in stored


@every_engine
@pytest.mark.parametrize(
    ("accepted", "ending"),
    [
        ("br, gzip", ".br"),
        ("gzip, deflate, br, zstd", ".br"),
        ("gzip;q=1.0, br;q=0", ".gz"),
        ("*", ".br"),
        ("*;q=0", ""),
        ("gzip;q=0", ""),
        ("deflate", ""),
        ("", ""),
    ],
)
def test_the_variant_is_one_that_the_client_takes(engine: str, tmp_path: Path, accepted: str, ending: str) -> None:
    found = request(engine, tmp_path, asking(FREE, accept_encoding=accepted), release=release_of("/a", FREE, "/b"))

    assert found[0]["uri"] == f"/g/{RELEASE}{FREE}{ending}"


@every_engine
def test_a_path_is_not_found_across_two_others(engine: str, tmp_path: Path) -> None:
    found = request(
        engine, tmp_path, asking(FREE, accept_encoding="br"), release=f"{RELEASE}zz{pointer.token(FREE)}zzz"
    )

    assert found[0]["uri"] == f"/g/{RELEASE}{FREE}"


@every_engine
def test_the_query_the_folders_the_pinned_and_the_put_once_paths_lead_to_their_objects(
    engine: str, tmp_path: Path
) -> None:
    wanted = [
        (asking("/"), f"/g/{RELEASE}/index.html"),
        (asking("/docs/"), f"/g/{RELEASE}/docs/index.html"),
        (asking("/.well-known/x402"), f"/g/{RELEASE}/.well-known/x402"),
        (asking("/api/reasoning.php"), f"/g/{RELEASE}/api/reasoning.php"),
        (asking("/api/reasoning.php", ""), f"/g/{RELEASE}/api/reasoning.php"),
        (asking("/api/reasoning.php", "btc"), f"/g/{RELEASE}/api/reasoning.php"),
        (asking("/api/reasoning.php", "%20eth"), f"/g/{RELEASE}/api/reasoning/ETH.json"),
        *((asking("/api/reasoning.php", a), f"/g/{RELEASE}/api/reasoning/{a}.json") for a in ASSETS[1:]),
        (asking(f"/g/000000000003{FREE}", accept_encoding="br"), f"/g/000000000003{FREE}"),
        (asking("/g/000000000003/api/reasoning.php", "xlm"), "/g/000000000003/api/reasoning/XLM.json"),
        (asking("/g/000000000003/"), "/g/000000000003/index.html"),
        *((asking(f"{start}a.csv.gz"), f"/once{start}a.csv.gz") for start in ONCE_PREFIXES),
        (asking(FREE, "ETH", "HEAD"), f"/g/{RELEASE}{FREE}"),
    ]

    found = request(engine, tmp_path, *(event for event, _ in wanted), release=release_of(FREE))

    assert [one["uri"] for one in found] == [uri for _, uri in wanted]
    assert all(one["querystring"] == {} for one in found)


@every_engine
def test_what_cannot_be_answered_is_told_in_json(engine: str, tmp_path: Path) -> None:
    wanted = [
        (asking("/api/reasoning.php", "DOGE"), 400),
        (asking("/%zz"), 400),
        (asking("/%00"), 400),
        (asking(f"{FREE}.br"), 404),
        (asking(f"/g/{RELEASE}/../../vault/manifest.json"), 404),
        (asking("/%2e%2e/vault/manifest.json"), 404),
        (asking("/<script>"), 404),
        *((asking(FREE, method=method), 405) for method in ("POST", "PUT", "DELETE", "PATCH")),
        (asking(FREE, content_length="2"), 413),
        (asking(FREE, transfer_encoding="chunked"), 413),
    ]

    found = request(engine, tmp_path, *(event for event, _ in wanted))

    for (event, status), answer in zip(wanted, found, strict=True):
        assert_problem(answer, status, event["request"]["uri"])
    assert json.loads(found[0]["body"]["data"])["supported_assets"] == list(ASSETS)
    assert found[7]["headers"]["allow"]["value"] == "GET, HEAD, OPTIONS"


@every_engine
@pytest.mark.parametrize("release", [None, "", "soon"])
def test_without_a_release_the_answer_is_503(engine: str, tmp_path: Path, release: str | None) -> None:
    answer = request(engine, tmp_path, asking(FREE), release=release)[0]

    assert_problem(answer, 503, FREE)
    assert answer["headers"]["retry-after"]["value"] == "5"


@every_engine
def test_options_and_a_folder_without_its_slash(engine: str, tmp_path: Path) -> None:
    pages = [page.path for page in PAGES if page.path != "/"]
    options, *folders = request(
        engine, tmp_path, asking(FREE, method="OPTIONS"), *(asking(path.rstrip("/")) for path in pages)
    )

    assert options["statusCode"] == 204
    assert options["headers"]["access-control-allow-methods"]["value"] == "GET, HEAD, OPTIONS"
    assert [(folder["statusCode"], folder["headers"]["location"]["value"]) for folder in folders] == [
        (308, path) for path in pages
    ]


@every_engine
@pytest.mark.parametrize("cache_control", [RELEASE_CACHE, PINNED_CACHE_CONTROL, ONCE_CACHE_CONTROL])
def test_the_response_has_the_headers_of_its_kind_of_path(engine: str, tmp_path: Path, cache_control: str) -> None:
    code = rendering.code("response.js", cache_control, "A project")
    key = asking(f"/g/{RELEASE}{FREE}.br")["request"]
    once = asking("/once/log/tile/0/000", x_emi_generation=RELEASE)["request"]
    events = [answered(key, "application/json"), answered(once, "text/html; charset=utf-8"), answered(key, "", 304)]

    found = run(engine, tmp_path, code, events, None)

    for answer in found:
        headers = {name: row["value"] for name, row in answer["headers"].items()}
        assert {name: headers[name] for name in SITE_CORS_HEADERS} == SITE_CORS_HEADERS
        assert (headers["cache-control"], headers["vary"]) == (cache_control, "Accept-Encoding")
        assert (headers["x-generation"], headers["etag"]) == (RELEASE, '"0123"')
    assert found[0]["headers"]["content-security-policy"]["value"] == SECURITY_HEADERS["content-security-policy"]
    assert found[1]["headers"]["content-security-policy"]["value"] == PAGE_POLICY


def test_functions_fit_into_the_ten_kilobytes_that_aws_allows_and_the_project_stands_in_them() -> None:
    for name, cache_control in (("request.js", None), ("response.js", RELEASE_CACHE)):
        assert len(rendering.code(name, cache_control, "A project").encode()) <= 10_240
    assert "const PROJECT = 'It\\'s ours';" in rendering.code("request.js", None, "It's ours")


@pytest.mark.skipif(CFN_LINT is None, reason="cfn-lint is not installed beside this Python")
def test_the_template_is_one_that_cloudformation_takes(tmp_path: Path) -> None:
    template = tmp_path / "edge.yaml"
    template.write_text(rendering.render("A project"))

    done = subprocess.run(
        [str(CFN_LINT), "-r", "us-east-1", "--", str(template)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stdout
    assert "CODE " not in template.read_text()
    assert len(template.read_bytes()) <= 51_200
    for cache_control in (RELEASE_CACHE, PINNED_CACHE_CONTROL, ONCE_CACHE_CONTROL):
        assert template.read_text().count(f"const CACHE_CONTROL = '{cache_control}';") == 1


@pytest.mark.parametrize("status", [404, 503])
def test_the_error_pages_are_problem_documents(status: int) -> None:
    body = json.loads((CLOUDFRONT / "errors" / f"{status}.json").read_text())

    assert (body["status"], body["title"], body["disclaimer"]) == (status, PROBLEMS[status][1], DISCLAIMER)


class NotFound(Exception):
    pass


class Conflicted(Exception):
    pass


class Exceptions:
    ResourceNotFoundException = NotFound
    ConflictException = Conflicted


class FakeS3:
    """A bucket; `keys` are those of every release."""

    def __init__(self, pointer: object, keys: tuple[str, ...] = ()) -> None:
        self.pointer = pointer
        self.keys = keys

    def get_object(self, Bucket: str, Key: str) -> dict[str, Any]:
        assert (Bucket, Key) == ("bucket", "site/current.json")
        return {"Body": BytesIO(json.dumps(self.pointer).encode())}

    def get_paginator(self, name: str) -> FakeS3:
        assert name == "list_objects_v2"
        return self

    def paginate(self, Bucket: str, Prefix: str) -> Iterator[dict[str, Any]]:
        assert Bucket == "bucket"
        for key in self.keys:  # a page for each
            yield {"Contents": [{"Key": key}]} if key.startswith(Prefix) else {}


class FakeStore:
    """A key-value store; `others` are values that somebody else writes between our look and our write."""

    exceptions = Exceptions

    def __init__(self, value: str | None = None, others: tuple[str, ...] = ()) -> None:
        self.value = value
        self.others = list(others)
        self.version = 0
        self.writes = 0

    def describe_key_value_store(self, KvsARN: str) -> dict[str, str]:
        return {"ETag": f"E{self.version}"}

    def get_key(self, KvsARN: str, Key: str) -> dict[str, str]:
        if self.value is None:
            raise NotFound
        return {"Value": self.value}

    def put_key(self, KvsARN: str, Key: str, Value: str, IfMatch: str) -> None:
        if self.others:
            self.value, self.version = self.others.pop(0), self.version + 1
        if IfMatch != f"E{self.version}":
            raise Conflicted
        self.value, self.version, self.writes = Value, self.version + 1, self.writes + 1


def updated(s3: FakeS3, store: FakeStore) -> str:
    value: str = pointer.update(s3, store, "bucket", "site/", "arn:store")
    return value


def test_the_store_gets_the_generation_and_the_paths_with_variants() -> None:
    names = ("/a", "/a.br", "/a.gz", "/b", "/b.gz", "/c")
    s3 = FakeS3({"generation": RELEASE}, tuple(f"site/g/{RELEASE}{name}" for name in names))
    store = FakeStore()

    assert updated(s3, store) == store.value == RELEASE + pointer.token("/a")


def test_a_call_that_comes_twice_writes_once() -> None:
    s3, store = FakeS3({"generation": RELEASE}), FakeStore()

    updated(s3, store)
    updated(s3, store)

    assert store.writes == 1


def test_a_call_that_is_overtaken_while_it_reads_never_puts_the_older_release_back() -> None:
    s3, store = FakeS3({"generation": "000000000006"}), FakeStore("000000000005")
    read_pointer = s3.get_object

    def overtaken(**asked: str) -> dict[str, Any]:
        answer = read_pointer(**asked)
        if store.version == 0:  # another call reads the newer pointer and writes it, all while our answer is on its way
            s3.pointer, store.value, store.version = {"generation": RELEASE}, RELEASE, 1
        return answer

    s3.get_object = overtaken  # type: ignore[method-assign, assignment]

    assert updated(s3, store) == store.value == RELEASE
    assert store.writes == 0


def test_a_store_that_never_holds_still_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="changed under 5 tries"):
        updated(FakeS3({"generation": RELEASE}), FakeStore(others=("a", "b", "c", "d", "e")))


@pytest.mark.parametrize("generation", ["7", "00000000000x", 7, None, "../../../etc/"])
def test_a_pointer_that_names_no_generation_changes_nothing(generation: object) -> None:
    store = FakeStore("000000000005")

    with pytest.raises(ValueError, match="no generation"):
        updated(FakeS3({"generation": generation}), store)

    assert store.value == "000000000005"


def test_a_path_that_looks_like_one_with_variants_is_served_plain_together_with_it() -> None:
    packed, plain = "/Ab", "/BA"  # 33 * 65 + 98 == 33 * 66 + 65
    assert pointer.token(packed) == pointer.token(plain)

    told = pointer.variants({packed, f"{packed}.br", f"{packed}.gz", plain, "/c", "/c.br", "/c.gz"})

    assert told == pointer.token("/c")


def test_the_value_never_outgrows_what_the_store_takes() -> None:
    paths = {f"/{number}{ending}" for number in range(500) for ending in ("", ".br", ".gz")}

    assert len(RELEASE + pointer.variants(paths)) <= 1_024


@pytest.mark.parametrize(
    ("operation", "parameters"),
    [
        ("DescribeKeyValueStore", {"KvsARN": "arn:aws:cloudfront::123456789012:key-value-store/a"}),
        ("GetKey", {"KvsARN": "arn:aws:cloudfront::123456789012:key-value-store/a", "Key": "release"}),
        (
            "PutKey",
            {"KvsARN": "arn:aws:cloudfront::123456789012:key-value-store/a", "Key": "k", "Value": "v", "IfMatch": "E"},
        ),
    ],
)
def test_the_calls_are_those_of_the_official_sdk(operation: str, parameters: dict[str, str]) -> None:
    botocore = pytest.importorskip("botocore.session", reason="botocore is not installed")
    model = botocore.get_session().get_service_model("cloudfront-keyvaluestore").operation_model(operation)

    assert set(model.input_shape.required_members) == set(parameters)
    assert {shape.name for shape in model.error_shapes} >= (
        {"ConflictException"} if operation == "PutKey" else {"ResourceNotFoundException"}
    )
