"""LanceDB as its documentation sets it up: flat, or with the indexes it offers by default."""

import lancedb
import pyarrow as pa
from lancedb.rerankers import RRFReranker

import protocol

TABLE = "chunks"
COLUMNS = ["row", "text"]


class LanceDb:
    modes = ["keyword", "semantic", "hybrid"]
    filters = protocol.FILTERS
    version = f"lancedb {lancedb.__version__}"

    def __init__(self, indexed):
        self.indexed = indexed

    def build(self, data, folder):
        vectors = protocol.vectors(data)
        rows = list(protocol.chunks(data))
        columns = {name: [row[name] for row in rows] for name in ["path", "title", "text"]}
        for name in protocol.FILTERS:
            columns[name] = pa.array([row[name] for row in rows], pa.uint8())
        columns["row"] = pa.array(range(len(rows)), pa.uint32())
        columns["vector"] = pa.FixedSizeListArray.from_arrays(
            pa.array(vectors.reshape(-1)), vectors.shape[1]
        )
        table = lancedb.connect(folder).create_table(TABLE, pa.table(columns))
        table.create_fts_index("text")
        if self.indexed:
            table.create_index(metric="cosine")
            for name in protocol.FILTERS:
                table.create_scalar_index(name, index_type="BITMAP")
        table.optimize()

    def open(self, _data, folder):
        self.table = lancedb.connect(folder).open_table(TABLE)
        self.reranker = RRFReranker()

    def answer(self, mode, query, name):
        if mode == "keyword":
            search = self.table.search(query.text, query_type="fts").limit(protocol.K)
            columns = [*COLUMNS, "_score"]
        elif mode == "semantic":
            search = self.table.search(query.vector).distance_type("cosine").limit(protocol.K)
            columns = [*COLUMNS, "_distance"]
        else:
            search = self.table.search(query_type="hybrid").vector(query.vector).text(query.text)
            search = search.distance_type("cosine").limit(protocol.CANDIDATES)
            search = search.rerank(self.reranker)
            columns = COLUMNS
        if name:
            search = search.where(f"{name} = 1", prefilter=True)
        found = search.select(columns).to_arrow()
        rows = found["row"][: protocol.K].to_pylist()
        return list(zip(rows, found["text"][: protocol.K].to_pylist()))


BASELINES = {"flat": (LanceDb, False), "indexed": (LanceDb, True)}

if __name__ == "__main__":
    protocol.run(BASELINES)
