"""SQLite: sqlite-vec for vectors, FTS5 for words (the ready terms, so that it sees the same ones)."""

import apsw
import sqlite_vec

import protocol

FILE = "all.sqlite"
SCHEMA = f"""
CREATE TABLE chunks(id INTEGER PRIMARY KEY, path, title, text, half, tenth, hundredth);
CREATE VIRTUAL TABLE words USING fts5(
    terms, content='', columnsize=1, detail=column, tokenize="unicode61 remove_diacritics 0 tokenchars '_'");
CREATE VIRTUAL TABLE vectors USING vec0(
    id INTEGER PRIMARY KEY, vector float[{{dim}}] distance_metric=cosine,
    half INTEGER, tenth INTEGER, hundredth INTEGER);
"""


def connect(folder):
    connection = apsw.Connection(str(folder / FILE))
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    return connection


def any_of(query):
    """The terms joined by OR; quoted, because a term may be a word of the query language."""
    return " OR ".join('"' + term.replace('"', '""') + '"' for term in query.terms)


class Sqlite:
    modes = ["keyword", "semantic", "hybrid"]
    filters = protocol.FILTERS
    version = f"SQLite {apsw.sqlite_lib_version()}, sqlite-vec {sqlite_vec.__version__}"

    def build(self, data, folder):
        table = protocol.vectors(data)
        connection = connect(folder)
        connection.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
        connection.execute(SCHEMA.format(dim=table.shape[1]))
        with connection:
            for row, chunk in enumerate(protocol.chunks(data)):
                marks = tuple(chunk[name] for name in protocol.FILTERS)
                document = (chunk["path"], chunk["title"], chunk["text"])
                connection.execute("INSERT INTO chunks VALUES (?,?,?,?,?,?,?)", (row, *document, *marks))
                connection.execute("INSERT INTO words(rowid, terms) VALUES (?,?)", (row, chunk["terms"]))
                vector = table[row].tobytes()
                connection.execute("INSERT INTO vectors VALUES (?,?,?,?,?)", (row, vector, *marks))
        connection.execute("INSERT INTO words(words) VALUES ('optimize')")
        for name in protocol.FILTERS:
            connection.execute(f"CREATE INDEX chunks_{name} ON chunks(id) WHERE {name} = 1")
        connection.execute("ANALYZE")
        connection.close()

    def open(self, _data, folder):
        self.connection = connect(folder)

    def by_keyword(self, query, k, name):
        if not query.terms:
            return []
        # The plus keeps SQLite from asking FTS5 anew for every allowed row.
        allowed = f"AND +rowid IN (SELECT id FROM chunks WHERE {name} = 1)" if name else ""
        found = self.connection.execute(
            f"SELECT rowid, -rank FROM words WHERE words MATCH ? {allowed} ORDER BY rank LIMIT ?",
            (any_of(query), k),
        )
        return list(found)

    def by_vector(self, query, k, name):
        allowed = f"AND {name} = 1" if name else ""
        found = self.connection.execute(
            f"SELECT id, 1 - distance FROM vectors WHERE vector MATCH ? AND k = ? {allowed}",
            (query.vector.tobytes(), k),
        )
        return list(found)

    def answer(self, mode, query, name):
        if mode == "keyword":
            rows = [row for row, _ in self.by_keyword(query, protocol.K, name)]
        elif mode == "semantic":
            rows = [row for row, _ in self.by_vector(query, protocol.K, name)]
        else:
            words = self.by_keyword(query, protocol.CANDIDATES, name)
            rows = protocol.fuse(words, self.by_vector(query, protocol.CANDIDATES, name))
        return texts(self.connection, rows)


def texts(connection, rows):
    """(row, text) of each."""
    text = "SELECT text FROM chunks WHERE id = ?"
    return [(row, connection.execute(text, (row,)).get) for row in rows]


BASELINES = {"vec+fts5": (Sqlite,)}

if __name__ == "__main__":
    protocol.run(BASELINES)
