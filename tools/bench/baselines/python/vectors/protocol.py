"""What every peer of `cargo xtask bench vectors` has in common: verbs, timing, memory.

    python NAME_peer.py VARIANT build DATA PLACE
    python NAME_peer.py VARIANT sweep DATA PLACE SECONDS
    python NAME_peer.py VARIANT cold DATA PLACE SETTING
    python NAME_peer.py VARIANT load DATA PLACE SETTING SECONDS

DATA holds `rows.npy` and `queries.npy`, float32 rows of unit length; PLACE is the folder of the peer.
SETTING is the number of a setting in the answer of `sweep`. Each verb prints one JSON object. The verbs
of ours are the same: `tools/bench/src/vectors/kb_process.rs`.

A peer is a class with `version`, `build(rows, place)`, `open(place)`, `settings(rows)` (a list of dicts,
from fast to thorough) and `search(query, k, setting)`, which returns row numbers, best first.
"""

import json
import resource
import sys
import time
from pathlib import Path

import numpy as np

K = 10
# Of a slow peer no more queries are asked once its time is over, but never fewer than these.
LEAST_QUERIES = 100
PASSES = 3
# Queries before private memory is read.
BEFORE_MEMORY = 100
# Rows that are handed over at once.
BLOCK = 50_000
# What a graph is built with, in all peers: links of a row (twice as many at the bottom) and candidates.
LINKS = 16
CANDIDATES = 128


def lists(rows):
    """Inverted lists for so many rows."""
    if rows >= 500_000:
        return 4096
    return 1024 if rows >= 50_000 else 256


def powers(first, last):
    """first, twice that and so on up to last."""
    return [first << step for step in range(64) if first << step <= last]


def blocks(rows):
    """Pieces of a table as (number of the first row, copied piece): a mapped table is never whole in memory."""
    for first in range(0, len(rows), BLOCK):
        yield first, np.ascontiguousarray(rows[first : first + BLOCK])


def sample(rows, count):
    """At most so many rows, spread evenly."""
    return np.ascontiguousarray(rows[:: max(1, len(rows) // count)])


def private_bytes():
    """Private resident memory of this process; 0 where the system does not tell."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon:"))


def disk_bytes(place):
    return sum(file.stat().st_size for file in place.rglob("*") if file.is_file())


def cpu_seconds():
    """Processor time of all threads of this process and of its children."""
    kinds = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, kinds))


def percentiles(seconds):
    """Median, 95th percentile by nearest rank and mean, in microseconds."""
    ordered = sorted(seconds)

    def at(percent):
        return ordered[max(0, -(-len(ordered) * percent // 100) - 1)] * 1e6

    mean = sum(ordered) / len(ordered) * 1e6
    return {"p50_us": at(50), "p95_us": at(95), "mean_us": mean, "runs": len(ordered)}


def build(peer, data, place):
    place.mkdir(parents=True)
    rows = np.load(data / "rows.npy", mmap_mode="r")
    start, cpu = time.perf_counter(), cpu_seconds()
    peer.build(rows, place)
    return {
        "wall_seconds": time.perf_counter() - start,
        "cpu_seconds": cpu_seconds() - cpu,
        "disk_bytes": disk_bytes(place),
    }


def answers(peer, queries, setting, limit_seconds):
    """The answers of as many queries as fit the time."""
    found = []
    end = time.perf_counter() + limit_seconds
    for query in queries:
        found.append([int(row) for row in peer.search(query, K, setting)])
        if time.perf_counter() > end and len(found) >= LEAST_QUERIES:
            break
    return found


def timed(peer, queries, setting, limit_seconds):
    """Seconds of each query, in a few passes, and the processor time of all together."""
    times = []
    cpu = cpu_seconds()
    end = time.perf_counter() + limit_seconds
    for _ in range(PASSES):
        for query in queries:
            start = time.perf_counter()
            peer.search(query, K, setting)
            now = time.perf_counter()
            times.append(now - start)
            if now > end and len(times) >= LEAST_QUERIES:
                return times, cpu_seconds() - cpu
    return times, cpu_seconds() - cpu


def sweep(peer, queries, settings, limit_seconds):
    """Answers and times of every setting; the answers come first and warm what can be warmed."""
    points = []
    for setting in settings:
        found = answers(peer, queries, setting, limit_seconds)
        asked = queries[: len(found)]
        times, cpu = timed(peer, asked, setting, limit_seconds)
        figures = {**percentiles(times), "cpu_us": cpu / len(times) * 1e6}
        name = " ".join(f"{key}={value}" for key, value in setting.items())
        points.append({"setting": name, "found": found, **figures})
    return {"points": points}


def cold(peer, place, queries, setting):
    """What a fresh process waits for its first answer, and what it holds after some more."""
    before = private_bytes()
    start = time.perf_counter()
    peer.open(place)
    opened = time.perf_counter()
    hits = len(list(peer.search(queries[0], K, setting)))
    first = time.perf_counter()
    for query in queries[1:BEFORE_MEMORY]:
        peer.search(query, K, setting)
    return {
        "open_us": (opened - start) * 1e6,
        "first_us": (first - opened) * 1e6,
        "hits": hits,
        "start_private_bytes": before,
        "private_bytes": private_bytes(),
    }


def load(peer, queries, setting, limit_seconds):
    """Queries a second, from the moment that its input ends: several processes start together."""
    for query in queries[:LEAST_QUERIES]:
        peer.search(query, K, setting)
    print("ready", flush=True)
    sys.stdin.read()
    count = 0
    start = time.perf_counter()
    while True:
        for query in queries:
            peer.search(query, K, setting)
            count += 1
            seconds = time.perf_counter() - start
            if seconds > limit_seconds:
                return {"queries": count, "seconds": seconds}


def run(peers):
    """Runs the verb of the command line on the peer of that name: name -> (class, arguments)."""
    variant, verb, data, place, *rest = sys.argv[1:]
    kind, *arguments = peers[variant]
    peer = kind(*arguments)
    data, place = Path(data), Path(place)
    if verb == "build":
        result = build(peer, data, place)
    else:
        rows = len(np.load(data / "rows.npy", mmap_mode="r"))
        queries = list(np.load(data / "queries.npy"))
        settings = peer.settings(rows)
        if verb == "cold":
            result = cold(peer, place, queries, settings[int(rest[0])])
        elif verb == "sweep":
            peer.open(place)
            result = sweep(peer, queries, settings, float(rest[0]))
        elif verb == "load":
            peer.open(place)
            result = load(peer, queries, settings[int(rest[0])], float(rest[1]))
        else:
            sys.exit(f"unknown verb {verb}")
    print(json.dumps({"version": peer.version, **result}))
