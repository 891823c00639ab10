"""FAISS: vectors alone, held in memory. It has no texts, so an answer is row numbers."""

import faiss
import numpy as np

import protocol

INDEX = "index.faiss"


class Faiss:
    modes = ["semantic"]
    filters = protocol.FILTERS
    version = f"faiss-cpu {faiss.__version__}"

    def __init__(self, factory):
        self.factory = factory

    def build(self, data, folder):
        table = protocol.vectors(data)
        index = faiss.index_factory(table.shape[1], self.factory, faiss.METRIC_INNER_PRODUCT)
        index.train(table)
        index.add(table)
        faiss.write_index(index, str(folder / INDEX))
        np.savez(folder / "filters.npz", **protocol.flags(data))

    def open(self, _data, folder):
        self.index = faiss.read_index(str(folder / INDEX))
        self.selectors = {}
        with np.load(folder / "filters.npz") as columns:
            for name in self.filters:
                # A bitmap is the fastest of its selectors; made once, as a good caller would.
                bits = np.packbits(columns[name], bitorder="little")
                self.selectors[name] = faiss.IDSelectorBitmap(bits)

    def parameters(self, name):
        selector = self.selectors[name] if name else None
        if isinstance(self.index, faiss.IndexHNSW):
            return faiss.SearchParametersHNSW(sel=selector, efSearch=128)
        return faiss.SearchParameters(sel=selector) if selector else None

    def nearest(self, vector, k, name):
        """The k nearest as (row, score)."""
        scores, rows = self.index.search(vector[None], k, params=self.parameters(name))
        return [hit for hit in zip(rows[0].tolist(), scores[0].tolist()) if hit[0] >= 0]

    def answer(self, _mode, query, name):
        return self.nearest(query.vector, protocol.K, name)

    def batch(self, group):
        table = np.stack([query.vector for query in group])
        self.index.search(table, protocol.K, params=self.parameters(None))


BASELINES = {
    "flat": (Faiss, "Flat"),
    "sq8": (Faiss, "SQ8"),
    "hnsw": (Faiss, "HNSW32_SQ8"),
}

if __name__ == "__main__":
    protocol.run(BASELINES)
