"""Tables that Python makes for `cargo xtask bench vectors`.

    python tables.py synthetic FOLDER ROWS DIM QUERIES SEED
    python tables.py nearest FOLDER

`synthetic` writes `rows.npy` and `queries.npy`; `nearest` writes `nearest.npy`, the numbers of the hundred
nearest rows of each query, exact over f32. Both read and write in pieces.
"""

import sys
from pathlib import Path

import faiss
import numpy as np

PIECE = 50_000
NEAREST = 100
# Rows of one cluster, on average.
CLUSTER_ROWS = 500
# Variance of the n-th direction falls as n to this power, as it does in tables of real models.
DECAY = 0.8
# How far a row is from the centre of its cluster, beside the distance of centres from each other.
SPREAD = 0.7
# How unlike clusters are in size and in spread: the deviation of a logarithm.
SIZES = 1.0
SPREADS = 0.3


class Clusters:
    """Draws rows around centres. All directions are turned, so that no axis is special."""

    def __init__(self, rows, dim, random):
        count = max(16, rows // CLUSTER_ROWS)
        spectrum = np.arange(1, dim + 1) ** (-DECAY / 2)
        self.spectrum = (spectrum / np.linalg.norm(spectrum)).astype(np.float32)
        self.centres = random.standard_normal((count, dim), dtype=np.float32) * self.spectrum
        self.spreads = (SPREAD * np.exp(SPREADS * random.standard_normal(count))).astype(np.float32)
        sizes = np.exp(SIZES * random.standard_normal(count))
        self.ends = np.cumsum(sizes / sizes.sum())
        turned, _ = np.linalg.qr(random.standard_normal((dim, dim)))
        self.turned = turned.astype(np.float32)

    def draw(self, count, random):
        chosen = np.searchsorted(self.ends, random.random(count)).clip(max=len(self.centres) - 1)
        rows = random.standard_normal((count, len(self.spectrum)), dtype=np.float32)
        rows *= self.spectrum * self.spreads[chosen, None]
        rows += self.centres[chosen]
        rows = rows @ self.turned
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows


def synthetic(folder, rows, dim, queries, seed):
    random = np.random.default_rng(seed)
    clusters = Clusters(rows, dim, random)
    np.save(folder / "queries.npy", clusters.draw(queries, random))
    with open(folder / "rows.npy", "wb") as output:
        header = {"descr": "<f4", "fortran_order": False, "shape": (rows, dim)}
        np.lib.format.write_array_header_1_0(output, header)
        for first in range(0, rows, PIECE):
            output.write(clusters.draw(min(PIECE, rows - first), random).tobytes())


def nearest(folder):
    rows = np.load(folder / "rows.npy", mmap_mode="r")
    queries = np.load(folder / "queries.npy")
    scores = np.full((len(queries), 0), 0, np.float32)
    numbers = np.full((len(queries), 0), 0, np.int64)
    for first in range(0, len(rows), PIECE):
        flat = faiss.IndexFlatIP(rows.shape[1])
        flat.add(np.ascontiguousarray(rows[first : first + PIECE]))
        more, found = flat.search(queries, min(NEAREST, flat.ntotal))
        scores = np.hstack([scores, more])
        numbers = np.hstack([numbers, found + first])
        best = np.argsort(-scores, axis=1, kind="stable")[:, :NEAREST]
        scores = np.take_along_axis(scores, best, axis=1)
        numbers = np.take_along_axis(numbers, best, axis=1)
    np.save(folder / "nearest.npy", numbers.astype(np.int32))


if __name__ == "__main__":
    verb, folder, *numbers = sys.argv[1:]
    if verb == "synthetic":
        synthetic(Path(folder), *map(int, numbers))
    else:
        nearest(Path(folder))
