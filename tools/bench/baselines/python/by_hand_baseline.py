"""The strongest parts put together by hand: tantivy for words, FAISS for vectors, SQLite for texts."""

from importlib.metadata import version

import apsw
import tantivy

import protocol
from faiss_baseline import Faiss
from sqlite_baseline import texts

FILE = "texts.sqlite"


class ByHand:
    modes = ["keyword", "semantic", "hybrid"]
    filters = protocol.FILTERS
    version = f"tantivy {version('tantivy')}, {Faiss.version}, SQLite {apsw.sqlite_lib_version()}"

    def __init__(self, factory):
        self.vectors = Faiss(factory)

    def build(self, data, folder):
        self.vectors.build(data, folder)
        words = folder / "words"
        words.mkdir()
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("terms", tokenizer_name="ready", index_option="freq")
        builder.add_integer_field("row", fast=True)
        for name in protocol.FILTERS:
            builder.add_integer_field(name, indexed=True)
        index = tantivy.Index(builder.build(), path=str(words))
        analyser = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
        index.register_tokenizer("ready", analyser)
        # One thread and one segment: rows stay in order, a search has one dictionary to ask.
        writer = index.writer(heap_size=1 << 30, num_threads=1)
        connection = apsw.Connection(str(folder / FILE))
        connection.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
        connection.execute("CREATE TABLE chunks(id INTEGER PRIMARY KEY, path, title, text)")
        with connection:
            for row, chunk in enumerate(protocol.chunks(data)):
                marks = {name: chunk[name] for name in protocol.FILTERS}
                writer.add_document(tantivy.Document(terms=chunk["terms"], row=row, **marks))
                document = (row, chunk["path"], chunk["title"], chunk["text"])
                connection.execute("INSERT INTO chunks VALUES (?,?,?,?)", document)
        connection.close()
        writer.commit()
        writer.wait_merging_threads()

    def open(self, data, folder):
        self.vectors.open(data, folder)
        index = tantivy.Index.open(str(folder / "words"))
        self.schema = index.schema
        self.searcher = index.searcher()
        self.connection = apsw.Connection(str(folder / FILE), flags=apsw.SQLITE_OPEN_READONLY)

    def by_keyword(self, query, k, name):
        should, must = tantivy.Occur.Should, tantivy.Occur.Must
        terms = [
            (should, tantivy.Query.term_query(self.schema, "terms", term, index_option="freq"))
            for term in query.terms
        ]
        asked = tantivy.Query.boolean_query(terms)
        if name:
            allowed = tantivy.Query.term_query(self.schema, name, 1)
            allowed = tantivy.Query.const_score_query(allowed, 0.0)
            asked = tantivy.Query.boolean_query([(must, asked), (must, allowed)])
        hits = self.searcher.search(asked, k, count=False).hits
        rows = self.searcher.fast_field_values("row", [address for _, address in hits])
        return [(row, score) for row, (score, _) in zip(rows, hits)]

    def answer(self, mode, query, name):
        if mode == "keyword":
            rows = [row for row, _ in self.by_keyword(query, protocol.K, name)]
        elif mode == "semantic":
            rows = [row for row, _ in self.vectors.nearest(query.vector, protocol.K, name)]
        else:
            words = self.by_keyword(query, protocol.CANDIDATES, name)
            near = self.vectors.nearest(query.vector, protocol.CANDIDATES, name)
            rows = protocol.fuse(words, near)
        return texts(self.connection, rows)


BASELINES = {
    "sq8": (ByHand, "SQ8"),
    "hnsw": (ByHand, "HNSW32_SQ8"),
}

if __name__ == "__main__":
    protocol.run(BASELINES)
