"""What Python adds to the engine, and other libraries on the same chunks: `cargo xtask bench python` runs it.

Prints a table in Markdown. Times are medians of many calls, in one process on one machine; those of other libraries are
of the chunks and vectors of the same .kb.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kbfile

Row = tuple[str, str, str]
_TEXT = (Path(__file__).parents[2] / "tools/bench/queries.txt").read_text()
_QUERIES = [line for line in _TEXT.splitlines() if line and not line.startswith("#")]


def _median(call: Callable[[int], Any], times: int) -> float:
    """Seconds of one call, at the median."""
    found = []
    for number in range(times):
        started = time.perf_counter()
        call(number)
        found.append(time.perf_counter() - started)
    return statistics.median(found)


def _process(code: str, times: int = 15) -> float:
    def start(_: int) -> None:
        subprocess.run([sys.executable, "-c", code], check=True)

    return _median(start, times)


def _anonymous_kib() -> int:
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"RssAnon:\s+(\d+)", status)[1])  # type: ignore[index]


def _is_mapped(address: int, path: Path) -> bool:
    """Whether an address lies in the map of a file."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        start, end = (int(part, 16) for part in line.split()[0].split("-"))
        if start <= address < end:
            return line.endswith(str(path))
    return False


def _import() -> list[Row]:
    extra = _process("import kbfile") - _process("pass")
    return [("`import kbfile`, more than an empty program", "<= 60 ms", f"{extra * 1e3:.1f} ms")]


def _search(kb: kbfile.Kb) -> list[Row]:
    rows = []
    for mode in ("hybrid", "keyword", "semantic"):
        added, whole = [], []
        for query in _QUERIES * 3:
            started = time.perf_counter()
            hits = kb.search(query, k=10, mode=mode)
            took = time.perf_counter() - started
            whole.append(took)
            added.append(took - hits.elapsed.total_seconds())
            for hit in hits:
                hit.text, hit.document, hit.score
        p50, p95 = statistics.median(added), sorted(added)[int(len(added) * 0.95)]
        name = f"{mode} search of ten hits, added to the engine's {statistics.median(whole) * 1e3:.2f} ms (p50, p95)"
        rows.append((name, "<= 50 us", f"{p50 * 1e6:.0f}, {p95 * 1e6:.0f} us"))
    return rows


def _vectors(kb: kbfile.Kb) -> list[Row]:
    import numpy

    path = kb.path
    assert path is not None
    vectors = kb.vectors
    # The first look compares every extent with its checksum.
    [numpy.asarray(block) for block in vectors]
    gc.collect()
    before = _anonymous_kib()

    def view(_: int) -> list[Any]:
        return [numpy.asarray(block) for block in kb.vectors]

    seconds = _median(view, 50)
    arrays = view(0)
    grown = _anonymous_kib() - before
    mapped = all(_is_mapped(array.ctypes.data, path) for array in arrays)
    name = f"numpy views of {vectors.row_count:,} vectors ({len(arrays)} blocks)"
    copies = f"{grown} KiB more of RssAnon, every array {'in' if mapped else 'NOT in'} the map of the file"
    return [(name, "<= 1 ms, no copy", f"{seconds * 1e3:.2f} ms, {copies}")]


def _add(folder: Path) -> list[Row]:
    texts = [f"Gauge {number}: high water {number % 9}.{number % 7} m at pier {number % 83}." for number in range(10_000)]
    started = time.perf_counter()
    with kbfile.open(folder / "short.kb", "w") as kb:
        for number, text in enumerate(texts):
            kb.add(text, path=f"gauges/{number}.txt")
    return [("`add` of 10 000 short texts and one commit", "<= 2 s", f"{time.perf_counter() - started:.2f} s")]


def _tables(kb: kbfile.Kb) -> list[Row]:
    hits = kb.search("error while reading a file", k=1000)
    hits.to_pandas(), hits.to_polars(), hits.to_arrow()
    rows = []
    for name, bar in (("to_pandas", "<= 5 ms"), ("to_polars", ""), ("to_arrow", "")):
        seconds = _median(lambda _: getattr(hits, name)(), 30)
        rows.append((f"`{name}` of {len(hits)} hits", bar, f"{seconds * 1e3:.1f} ms"))
    return rows


def _threads(kb: kbfile.Kb) -> list[Row]:
    def seconds(threads: int) -> float:
        each = 400 // threads

        def work(first: int) -> None:
            for number in range(each):
                kb.search(_QUERIES[(first + number) % len(_QUERIES)], k=10)

        workers = [threading.Thread(target=work, args=(7 * number,)) for number in range(threads)]
        started = time.perf_counter()
        [worker.start() for worker in workers]
        [worker.join() for worker in workers]
        return (time.perf_counter() - started) / (each * threads)

    seconds(1)
    one = statistics.median(seconds(1) for _ in range(5))
    eight = statistics.median(seconds(8) for _ in range(5))
    name = f"8 threads beside one, on {os.cpu_count()} cores"
    return [(name, ">= 1.7 times", f"{one / eight:.2f} times: {1 / one:,.0f} -> {1 / eight:,.0f} searches a second")]


def _chunks(kb: kbfile.Kb, most: int) -> tuple[list[str], Any]:
    """Texts of chunks with their vectors."""
    vectors, ids = kb.vectors.to_float32(), kb.vectors.ids()
    texts, rows, at = [], [], 0
    document: tuple[str, list[Any]] = ("", [])
    for at, identity in enumerate(ids):
        if identity is None:
            continue
        path, index = identity
        if document[0] != path:
            document = (path, kb[path].chunks)
        texts.append(document[1][index].text)
        rows.append(at)
        if len(texts) == most:
            break
    return texts, vectors[rows]


def _others(kb: kbfile.Kb, folder: Path, most: int) -> list[tuple[str, str, str, str, str]]:
    """Import, build and search of other libraries."""
    texts, vectors = _chunks(kb, most)
    queries = _QUERIES[:40]
    asked = kbfile.embed(queries, query=True)
    table = []
    with kbfile.open(folder / "same.kb", "w") as writer:
        started = time.perf_counter()
        for number, text in enumerate(texts):
            writer.add(text, path=f"{number}.txt", include_secrets=True)
    built = time.perf_counter() - started
    same = kbfile.open(folder / "same.kb")
    [same.search(query) for query in queries]
    hybrid = _median(lambda n: same.search(queries[n % 40]), 80)
    semantic = _median(lambda n: same.search(queries[n % 40], mode="semantic"), 80)
    table.append(("kbfile", f"{_process('import kbfile') * 1e3:.0f}", f"{built:.1f} (embeds too)", f"{semantic * 1e3:.2f}", f"{hybrid * 1e3:.2f}"))
    if importlib.util.find_spec("sqlite_vec"):
        table.append(_sqlite_vec(texts, vectors, asked, queries))
    if importlib.util.find_spec("lancedb"):
        table.append(_lancedb(texts, vectors, asked, queries, folder))
    if importlib.util.find_spec("chromadb"):
        table.append(_chromadb(texts, vectors, asked, folder))
    return table


def _sqlite_vec(texts: list[str], vectors: Any, asked: Any, queries: list[str]) -> tuple[str, str, str, str, str]:
    try:
        # Not every Python is built to load extensions of SQLite.
        import pysqlite3 as sqlite3
    except ImportError:
        import sqlite3

    import sqlite_vec

    base = sqlite3.connect(":memory:")
    base.enable_load_extension(True)
    sqlite_vec.load(base)
    started = time.perf_counter()
    base.execute(f"create virtual table v using vec0(e float[{vectors.shape[1]}] distance_metric=cosine)")
    base.execute("create virtual table t using fts5(text)")
    base.executemany("insert into v(rowid, e) values (?, ?)", ((n, row.tobytes()) for n, row in enumerate(vectors)))
    base.executemany("insert into t(rowid, text) values (?, ?)", enumerate(texts))
    base.commit()
    built = time.perf_counter() - started

    def semantic(number: int) -> list[Any]:
        rows = base.execute("select rowid, distance from v where e match ? and k = 10", (asked[number % 40].tobytes(),)).fetchall()
        return [base.execute("select text from t where rowid = ?", (row[0],)).fetchone() for row in rows]

    def hybrid(number: int) -> None:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", queries[number % 40]))
        base.execute("select rowid, rank from t where t match ? order by rank limit 100", (words,)).fetchall()
        semantic(number)

    seconds, both = _median(semantic, 40), _median(hybrid, 40)
    return ("sqlite-vec + FTS5", f"{_process('import sqlite3, sqlite_vec') * 1e3:.0f}", f"{built:.1f}", f"{seconds * 1e3:.1f}", f"{both * 1e3:.1f}")


def _lancedb(texts: list[str], vectors: Any, asked: Any, queries: list[str], folder: Path) -> tuple[str, str, str, str, str]:
    import lancedb
    import pyarrow

    started = time.perf_counter()
    data = pyarrow.table({"text": texts, "vector": pyarrow.FixedSizeListArray.from_arrays(vectors.ravel(), vectors.shape[1])})
    table = lancedb.connect(folder / "lance").create_table("t", data)
    table.create_fts_index("text")
    built = time.perf_counter() - started
    semantic = _median(lambda n: table.search(asked[n % 40]).limit(10).to_list(), 40)
    hybrid_query = lambda n: table.search(query_type="hybrid").vector(asked[n % 40]).text(queries[n % 40]).limit(10).to_list()  # noqa: E731
    try:
        hybrid = f"{_median(hybrid_query, 40) * 1e3:.1f}"
    except Exception as error:  # noqa: BLE001
        hybrid = f"failed: {type(error).__name__}"
    return ("LanceDB, exact", f"{_process('import lancedb') * 1e3:.0f}", f"{built:.1f}", f"{semantic * 1e3:.1f}", hybrid)


def _chromadb(texts: list[str], vectors: Any, asked: Any, folder: Path) -> tuple[str, str, str, str, str]:
    import chromadb

    settings = chromadb.Settings(anonymized_telemetry=False)
    client = chromadb.PersistentClient(str(folder / "chroma"), settings=settings)
    collection = client.create_collection("chunks", metadata={"hnsw:space": "cosine"}, embedding_function=None)
    started = time.perf_counter()
    for first in range(0, len(texts), 5000):
        some = range(first, min(first + 5000, len(texts)))
        collection.add(ids=[str(n) for n in some], documents=[texts[n] for n in some], embeddings=vectors[first : first + 5000])
    built = time.perf_counter() - started
    semantic = _median(lambda n: collection.query(query_embeddings=[asked[n % 40]], n_results=10), 40)
    return ("Chroma, HNSW", f"{_process('import chromadb') * 1e3:.0f}", f"{built:.1f}", f"{semantic * 1e3:.1f}", "none")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="+", help="folders to index: text for about 100 000 chunks")
    parser.add_argument("--chunks", type=int, default=20_000, help="chunks that other libraries get (default 20000)")
    parser.add_argument("--alone", action="store_true", help="without other libraries")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        with kbfile.open(folder / "all.kb", "w") as writer:
            report = writer.index(*arguments.folder)
        kb = kbfile.open(folder / "all.kb")
        print(f"{report.documents:,} documents, {report.chunks:,} chunks, Python {sys.version.split()[0]}, kbfile {kbfile.__version__}\n")
        print("| what | bar | measured |\n|---|---|---|")
        for step in (lambda: _import(), lambda: _search(kb), lambda: _vectors(kb), lambda: _add(folder), lambda: _tables(kb), lambda: _threads(kb)):
            for row in step():
                print(f"| {' | '.join(row)} |", flush=True)
        if not arguments.alone:
            print(f"\nThe first {arguments.chunks:,} chunks in other libraries, with vectors of the built-in model; p50 of ten hits with text:\n")
            print("| library | import, ms | build, s | semantic, ms | hybrid, ms |\n|---|---|---|---|---|")
            for others in _others(kb, folder, arguments.chunks):
                print(f"| {' | '.join(others)} |", flush=True)


if __name__ == "__main__":
    main()
