"""Graphs alone: hnswlib, held in memory, and usearch, mapped."""

from importlib.metadata import version

import hnswlib
import numpy as np
from usearch.index import Index

import protocol


class Hnswlib:
    version = f"hnswlib {version('hnswlib')}"

    def build(self, rows, place):
        index = hnswlib.Index(space="ip", dim=rows.shape[1])
        index.init_index(len(rows), ef_construction=protocol.CANDIDATES, M=protocol.LINKS)
        for first, block in protocol.blocks(rows):
            index.add_items(block, np.arange(first, first + len(block)))
        index.save_index(str(place / "index.hnswlib"))
        # Its file does not say how wide the rows are.
        (place / "dim").write_text(str(rows.shape[1]))

    def open(self, place):
        self.index = hnswlib.Index(space="ip", dim=int((place / "dim").read_text()))
        self.index.load_index(str(place / "index.hnswlib"))
        self.index.set_num_threads(1)

    def settings(self, _rows):
        return [{"ef": ef} for ef in protocol.powers(16, 1024)]

    def search(self, query, k, setting):
        self.index.set_ef(setting["ef"])
        found, _ = self.index.knn_query(query, k)
        return found[0].tolist()


class Usearch:
    version = f"usearch {version('usearch')}"

    def __init__(self, numbers):
        self.numbers = numbers

    def build(self, rows, place):
        index = Index(
            ndim=rows.shape[1],
            metric="cos",
            dtype=self.numbers,
            connectivity=protocol.LINKS,
            expansion_add=protocol.CANDIDATES,
        )
        for first, block in protocol.blocks(rows):
            index.add(np.arange(first, first + len(block)), block)
        index.save(str(place / "index.usearch"))

    def open(self, place):
        self.index = Index.restore(str(place / "index.usearch"), view=True)

    def settings(self, _rows):
        return [{"ef": ef} for ef in protocol.powers(16, 1024)]

    def search(self, query, k, setting):
        if self.index.expansion_search != setting["ef"]:
            self.index.expansion_search = setting["ef"]
        return self.index.search(query, k, threads=1).keys.tolist()


PEERS = {"hnswlib": (Hnswlib,), "usearch-f32": (Usearch, "f32"), "usearch-i8": (Usearch, "i8")}

if __name__ == "__main__":
    protocol.run(PEERS)
