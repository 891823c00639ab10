"""LanceDB with the two indexes that its documentation recommends; candidates are compared again."""

import lancedb
import pyarrow as pa
from lancedb.index import HnswSq, IvfPq

import protocol

TABLE = "rows"


class LanceDb:
    version = f"lancedb {lancedb.__version__}"

    def build(self, rows, place):
        dim = rows.shape[1]
        schema = pa.schema([("row", pa.uint32()), ("vector", pa.list_(pa.float32(), dim))])

        def batches():
            for first, block in protocol.blocks(rows):
                numbers = pa.array(range(first, first + len(block)), pa.uint32())
                vectors = pa.FixedSizeListArray.from_arrays(pa.array(block.reshape(-1)), dim)
                yield pa.record_batch([numbers, vectors], schema=schema)

        table = lancedb.connect(place).create_table(TABLE, batches(), schema=schema)
        # No `optimize` after it: there is nothing to add, and it joins lists of few rows into one that every
        # search then reads whole.
        table.create_index("vector", config=self.config(len(rows), dim))

    def open(self, place):
        self.table = lancedb.connect(place).open_table(TABLE)

    def search(self, query, k, setting):
        search = self.table.search(query).distance_type("cosine").limit(k)
        search = self.limited(search, setting).refine_factor(setting["refined"])
        return search.select(["row", "_distance"]).to_arrow()["row"].to_pylist()


class Quantised(LanceDb):
    def config(self, rows, dim):
        lists = protocol.lists(rows)
        return IvfPq(distance_type="cosine", num_partitions=lists, num_sub_vectors=dim // 4)

    def settings(self, rows):
        counts = protocol.powers(4, min(512, protocol.lists(rows)))[::2]
        return [{"nprobe": nprobe, "refined": factor} for nprobe in counts for factor in (2, 10, 50)]

    def limited(self, search, setting):
        return search.nprobes(setting["nprobe"])


class Graph(LanceDb):
    def config(self, rows, _dim):
        return HnswSq(
            distance_type="cosine",
            # A graph for every million rows, as it advises.
            num_partitions=max(1, rows // 1_000_000),
            m=protocol.LINKS,
            ef_construction=protocol.CANDIDATES,
        )

    def settings(self, _rows):
        return [{"ef": ef, "refined": factor} for ef in protocol.powers(32, 512) for factor in (1, 3)]

    def limited(self, search, setting):
        # All of its few lists: one graph alone would miss what lies beyond it.
        return search.nprobes(16).ef(setting["ef"])


PEERS = {"ivf-pq": (Quantised,), "ivf-hnsw-sq": (Graph,)}

if __name__ == "__main__":
    protocol.run(PEERS)
