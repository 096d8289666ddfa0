"""Check one forecast's proof offline: python3 check_proof.py PROOF LOG_KEY QUORUM WITNESS_KEY...

Needs pynacl and nothing of the service. Keys come from who owns them; QUORUM of the witnesses must have signed.
"""

import base64
import hashlib
import json
import sys
from datetime import datetime, timezone
from pathlib import Path

from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def read_key(text, kind):
    name, digest, encoded = text.strip().split("+", 2)
    data = base64.b64decode(encoded, validate=True)
    key_id = sha256(name.encode(), b"\n", data)[:4]
    if data[:1] != kind or key_id.hex() != digest:
        sys.exit(f"{name}: not a key of the kind that is needed")
    return name, key_id, VerifyKey(data[1:])


def root_of(leaf, index, size, path):  # RFC 9162, section 2.1.3.2
    at, last, node = index, size - 1, leaf
    for value in path:
        if last == 0:
            sys.exit("the proof is too long")
        if at & 1 or at == last:
            node = sha256(b"\x01", value, node)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            node = sha256(b"\x01", node, value)
        at, last = at >> 1, last >> 1
    if last or index >= size:
        sys.exit("the proof is too short")
    return node


def canonical(item):
    if isinstance(item, dict):
        return {key: canonical(inner) for key, inner in item.items()}
    return int(item) if isinstance(item, float) and item.is_integer() else item


def main(proof, log_key, quorum, *witness_keys):
    head, _, note = Path(proof).read_text(encoding="utf-8").partition("\n\n")
    first, extra, index, *path = head.split("\n")
    if first != "c2sp.org/tlog-proof@v1" or extra[:6] != "extra " or index[:6] != "index ":
        sys.exit("this is not a proof of a forecast")
    extra = json.loads(base64.b64decode(extra[6:], validate=True))
    path = [base64.b64decode(line, validate=True) for line in path]
    text, _, signatures = note.rpartition("\n\n")
    origin, size, root = text.split("\n")[:3]
    text += "\n"

    leaf = sha256(b"\x00", extra["entry"].encode())
    if base64.b64encode(root_of(leaf, int(index[6:]), int(size), path)).decode() != root:
        sys.exit("the entry is not in this log")

    log = read_key(log_key, b"\x01")
    witnesses = {key[:2]: key[2] for key in (read_key(text, b"\x04") for text in witness_keys)}
    signed, seen = False, {}
    for line in signatures.splitlines():
        name, encoded = line.removeprefix("\N{EM DASH} ").split(" ")
        data = base64.b64decode(encoded, validate=True)
        if (name, data[:4]) == log[:2] and name == origin:
            log[2].verify(text.encode(), data[4:])
            signed = True
        elif (name, data[:4]) in witnesses:
            at = int.from_bytes(data[4:12], "big")
            witnesses[name, data[:4]].verify(f"cosignature/v1\ntime {at}\n{text}".encode(), data[12:])
            seen[name, data[:4]] = min(at, seen.get((name, data[:4]), at))
    if not signed or len(seen) < int(quorum):
        sys.exit(f"the log signed: {signed}; witnesses: {len(seen)} of {quorum}")
    entry, forecast = json.loads(extra["entry"]), extra["forecast"]
    content = json.dumps(canonical(forecast), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    digest = sha256(content.encode(), extra["salt"].encode()).hex()
    step = ".".join((*([entry["game"]] if "game" in entry else []), entry["kind"]))
    if (step, entry["round_id"], entry["commitment"]) != ("round.sealed", forecast["round_id"], digest):
        sys.exit("the forecast is not what was sealed")
    seen_by = datetime.fromtimestamp(sorted(seen.values())[int(quorum) - 1], timezone.utc)
    start = datetime.fromisoformat(entry["start"])
    if seen_by >= start:
        sys.exit(f"late: witnesses saw it at {seen_by}, the round started at {start}")
    print(f"{forecast['round_id']}: seen by {seen_by}, before {start}: {forecast['probabilities']}")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (BadSignatureError, KeyError, TypeError, ValueError, IndexError) as error:
        sys.exit(f"refused: {type(error).__name__} {error}")
