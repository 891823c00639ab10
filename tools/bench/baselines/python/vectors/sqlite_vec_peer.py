"""sqlite-vec: exact over f32, over signed bytes, and by sign bits with the best ones compared again."""

import apsw
import numpy as np
import sqlite_vec

import protocol

FILE = "rows.sqlite"


class Floats:
    version = f"SQLite {apsw.sqlite_lib_version()}, sqlite-vec {sqlite_vec.__version__}"
    columns = "vector float[{dim}] distance_metric=cosine"
    insert = "INSERT INTO vectors VALUES (?1, ?2)"
    query = "SELECT id FROM vectors WHERE vector MATCH ?1 AND k = ?2"

    def connect(self, place):
        self.connection = apsw.Connection(str(place / FILE))
        self.connection.enable_load_extension(True)
        self.connection.load_extension(sqlite_vec.loadable_path())

    def build(self, rows, place):
        self.prepare(rows, place)
        self.connect(place)
        self.connection.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
        columns = self.columns.format(dim=rows.shape[1])
        self.connection.execute(f"CREATE VIRTUAL TABLE vectors USING vec0(id INTEGER PRIMARY KEY, {columns})")
        with self.connection:
            for first, block in protocol.blocks(rows):
                vectors = self.stored(block)
                values = ((first + at, vector.tobytes()) for at, vector in enumerate(vectors))
                self.connection.executemany(self.insert, values)
        self.connection.close()

    def prepare(self, rows, place):
        pass

    def stored(self, vectors):
        return vectors

    def open(self, place):
        self.connect(place)

    def settings(self, _rows):
        return [{"scan": "all"}]

    def search(self, query, k, _setting):
        found = self.connection.execute(self.query, (self.stored(query).tobytes(), k))
        return [row for (row,) in found]


class Bytes(Floats):
    columns = "vector int8[{dim}] distance_metric=cosine"
    insert = "INSERT INTO vectors VALUES (?1, vec_int8(?2))"
    query = "SELECT id FROM vectors WHERE vector MATCH vec_int8(?1) AND k = ?2"

    def prepare(self, rows, place):
        # Its own quantiser spans -1..1, of which rows of unit length use little.
        self.range = float(np.quantile(np.abs(protocol.sample(rows, 65_536)), 0.9999))
        (place / "range").write_text(repr(self.range))

    def stored(self, vectors):
        return np.clip(np.rint(vectors * (127 / self.range)), -127, 127).astype(np.int8)

    def open(self, place):
        super().open(place)
        self.range = float((place / "range").read_text())


class Bits(Floats):
    columns = "signs bit[{dim}], vector float[{dim}]"
    insert = "INSERT INTO vectors VALUES (?1, vec_quantize_binary(?2), ?2)"
    query = """
        WITH near AS (
            SELECT id, vector FROM vectors WHERE signs MATCH vec_quantize_binary(?1) AND k = ?3)
        SELECT id FROM near ORDER BY vec_distance_cosine(vector, ?1) LIMIT ?2"""

    def settings(self, _rows):
        # It takes no k above 4096.
        return [{"candidates": count} for count in protocol.powers(32, 4096)]

    def search(self, query, k, setting):
        found = self.connection.execute(self.query, (query.tobytes(), k, setting["candidates"]))
        return [row for (row,) in found]


PEERS = {"float": (Floats,), "int8": (Bytes,), "bit": (Bits,)}

if __name__ == "__main__":
    protocol.run(PEERS)
