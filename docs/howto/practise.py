"""Practise on past hours: answer how far each goes, score it, write a record. `practise.py ORIGIN RECORD`."""

import json
import sys
import urllib.request
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from statistics import pstdev

TIMEOUT_S = 15


def main(origin, record, fetch=None):
    """Answer every item of the newest month, then read what came."""
    fetch = fetch or fetched
    month = fetch(f"{origin}/learn/practice/months.json")["months"][0]
    items = fetch(origin + month["items"])["items"]
    answers = {item["truth_sha256"][:12]: answer(item["prices"]) for item in items}

    truths = fetch(origin + month["truths"])["truths"]
    rows = [row(month["items"], truth, answers[truth["item"]]) for truth in truths]
    Path(record).write_text(json.dumps({"format": "emi-practice-record/1", "answers": rows}, indent=1))

    for name in ("score", "brain_score", "usual_score"):
        print(f"{name} {sum(one[name] for one in rows) / len(rows):.4f}")


def answer(prices):
    """Give both ranges in percent: put your own rule here. This one takes the spread of the 48 hours."""
    steps = [100 * (after / before - 1) for before, after in pairwise(prices)]
    sigma = pstdev(steps)
    return {"low_90": -1.64 * sigma, "low_50": -0.67 * sigma, "high_50": 0.67 * sigma, "high_90": 1.64 * sigma}


def row(items, truth, ranges):
    """Score one answer, the brain's and the usual hour's."""
    move = truth["move"]
    return {
        "month": items,
        "item": truth["item"],
        "question": "how_far",
        "answer": ranges,
        "given": datetime.now(UTC).isoformat(timespec="seconds"),
        "score": score(ranges, move),
        "brain_score": score(truth["brain"]["ranges"], move),
        "usual_score": score(truth["usual"]["ranges"], move),
    }


def score(ranges, move):
    """Return the mean interval score: the width, and a fine for what ends outside."""
    total = 0.0
    for level, fine in (("50", 4), ("90", 20)):
        low, high = ranges[f"low_{level}"], ranges[f"high_{level}"]
        total += (high - low) + fine * (max(0.0, low - move) + max(0.0, move - high))
    return total / 2


def fetched(address):
    """Read one JSON file."""
    with urllib.request.urlopen(address, timeout=TIMEOUT_S) as body:  # noqa: S310  the address that was typed
        return json.load(body)


if __name__ == "__main__":
    main(sys.argv[1].rstrip("/"), sys.argv[2])
