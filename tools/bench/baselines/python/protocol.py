"""What every baseline of `cargo xtask bench search` has in common: verbs, timing, memory.

    python NAME_baseline.py VARIANT build DATA FOLDER
    python NAME_baseline.py VARIANT first DATA FOLDER MODE
    python NAME_baseline.py VARIANT ask DATA FOLDER SECONDS

DATA holds `chunks.jsonl`, `vectors.npy`, `queries.jsonl` and `query_vectors.npy` as the bench writes
them; FOLDER is the baseline's own. Each verb prints one JSON object. Query vectors are ready: a baseline
never embeds.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np

K = 10
# What each index gives to a hybrid answer at least, as in kb.
CANDIDATES = 100
VECTOR_WEIGHT = 0.35
FILTERS = ["half", "tenth", "hundredth"]
BATCH = 16
PASSES = 3
# Of a slow baseline no more queries are asked once its time is over, but never fewer than these.
LEAST_RUNS = 30


class Query:
    """One question: as typed, as ready terms, as a vector of unit length."""

    def __init__(self, line, vector):
        self.text = line["text"]
        self.terms = line["terms"].split()
        self.vector = np.ascontiguousarray(vector)


def chunks(data):
    """The chunks in order: path, title, text, terms and one 0 or 1 for each filter."""
    with open(data / "chunks.jsonl", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def vectors(data):
    """Vectors of the chunks, float32, [chunks, dimensions]."""
    return np.load(data / "vectors.npy")


def flags(data):
    """For each filter one bool per chunk."""
    rows = [[chunk[name] for name in FILTERS] for chunk in chunks(data)]
    columns = np.array(rows, dtype=bool).T
    return dict(zip(FILTERS, columns))


def queries(data):
    table = np.load(data / "query_vectors.npy")
    with open(data / "queries.jsonl", encoding="utf-8") as lines:
        return [Query(json.loads(line), vector) for line, vector in zip(lines, table)]


def fuse(by_keyword, by_vector):
    """The best of both lists of (row, score): scores by minimum and maximum of their list, weighted."""
    fused = {}
    for weight, hits in ((1 - VECTOR_WEIGHT, by_keyword), (VECTOR_WEIGHT, by_vector)):
        if not hits:
            continue
        low = min(score for _, score in hits)
        span = max(score for _, score in hits) - low
        for row, score in hits:
            share = (score - low) / span if span > 0 else 1.0
            fused[row] = fused.get(row, 0.0) + weight * share
    return sorted(fused, key=fused.get, reverse=True)[:K]


def memory():
    """Memory of this process alone: what it holds, and pages of files that it has mapped, which the
    system may drop. Both 0 where the system does not tell."""
    try:
        lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    except OSError:
        lines = []
    kilobytes = {line.split()[0]: int(line.split()[1]) for line in lines[1:]}
    return {
        "private_bytes": kilobytes.get("Private_Dirty:", 0) * 1024,
        "mapped_bytes": kilobytes.get("Private_Clean:", 0) * 1024,
    }


def disk_bytes(folder):
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def percentiles(seconds):
    """Median, 95th percentile by nearest rank and mean, in microseconds."""
    ordered = sorted(seconds)

    def at(percent):
        return ordered[max(0, -(-len(ordered) * percent // 100) - 1)] * 1e6

    mean = sum(ordered) / len(ordered) * 1e6
    return {"p50_us": at(50), "p95_us": at(95), "mean_us": mean, "runs": len(ordered)}


def timed(asked, answer, limit_seconds):
    """Times of all queries in a few passes, after some that are not counted."""
    for query in asked[:LEAST_RUNS]:
        answer(query)
    times = []
    end = time.perf_counter() + limit_seconds
    for query in asked * PASSES:
        start = time.perf_counter()
        answer(query)
        now = time.perf_counter()
        times.append(now - start)
        if now > end and len(times) >= LEAST_RUNS:
            break
    return percentiles(times)


def ask(baseline, data, limit_seconds):
    asked = queries(data)
    cells, nearest = [], {}
    for mode in baseline.modes:
        for name in [None, *baseline.filters]:
            figures = timed(asked, lambda query: baseline.answer(mode, query, name), limit_seconds)
            cells.append({"mode": mode, "filter": name, **figures})
            if mode == "semantic":
                hits = [baseline.answer(mode, query, name) for query in asked]
                nearest[name or "all"] = [[int(row) for row, _ in found] for found in hits]
    result = {"cells": cells, "nearest": nearest, **memory()}
    if hasattr(baseline, "batch"):
        groups = [asked[at : at + BATCH] for at in range(0, len(asked) - BATCH + 1, BATCH)]
        result["batch"] = timed(groups, baseline.batch, limit_seconds)
    return result


def run(baselines):
    """Runs the verb of the command line on the baseline of that name: name -> (class, arguments)."""
    variant, verb, data, folder, *rest = sys.argv[1:]
    kind, *arguments = baselines[variant]
    baseline = kind(*arguments)
    data, folder = Path(data), Path(folder)
    if verb == "build":
        folder.mkdir(parents=True)
        start = time.perf_counter()
        baseline.build(data, folder)
        seconds = time.perf_counter() - start
        result = {"build_seconds": seconds, "disk_bytes": disk_bytes(folder)}
    elif verb == "first":
        query = queries(data)[0]
        before = memory()["private_bytes"]
        start = time.perf_counter()
        baseline.open(data, folder)
        hits = baseline.answer(rest[0], query, None)
        elapsed = time.perf_counter() - start
        result = {"first_us": elapsed * 1e6, "hits": len(hits), "start_private_bytes": before}
    elif verb == "ask":
        baseline.open(data, folder)
        result = ask(baseline, data, float(rest[0]))
    else:
        sys.exit(f"unknown verb {verb}")
    print(json.dumps({"version": baseline.version, **result}))
