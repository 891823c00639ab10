"""Keyword, semantic and hybrid queries: candidates, fused scores, passages, calibration (vectors.md, scores.md)."""

import math
import struct

from . import keyword
from .constants import CALIBRATION, CONSTANTS
from .records import Cursor, bitmap

FACETS = {"type": 1, "language": 2, "class": 3, "tag": 4, "kind": 5, "role": 6, "field": 7}
QUESTION_WORDS = frozenset(
    "how where what which why when who does do did is are was were can could should will would may must find".split()
)


class Vectors:
    """The rows of one column of vectors of a segment; all of them are compared."""

    def __init__(self, segment, column=0):
        record, self.present = segment.record["vector_index"], None
        if column:
            more = next((it for it in segment.record["more_vectors"] if it["number"] == column), None)
            record, self.present = (more["vector_index"], more["present"]) if more else (None, set())
        if record is None:
            return
        cursor = Cursor(record)
        cursor.version("the vector index", 1, 2)
        self.codec, self.dim, self.stride = cursor.u8(), cursor.uint(), cursor.uint()
        self.rows, self.range = cursor.uint(), cursor.f32()
        self.column, self.lengths = (segment.columns.get(256 * column + one) for one in (32, 44))

    def numbers(self, row):
        """The numbers of a row whose product with the query is an integer: bytes, or 2 n - 15 of nibbles."""
        data = self.column.row(row)
        if self.codec == 1:
            return struct.unpack(f"{len(data)}b", data)[: self.dim]
        halves = (data[at // 64 * 32 + at % 32] >> 4 * (at % 64 // 32) & 15 for at in range(self.dim))
        return [2 * half - 15 for half in halves]

    def scores(self, vector, rows, metric=1):
        """The scores of rows; by cosine only of those above 0."""
        largest = max(map(abs, vector), default=0.0)
        if largest == 0 and metric == 1:
            return {}
        largest = largest or 1.0
        query = [max(-127, min(127, round(one / largest * 127))) for one in vector]
        step = largest / 127 * (self.range / 127) * (1.0 if self.codec == 1 else 5.5)
        found = {}
        for row in rows:
            if self.present is not None and row not in self.present:
                continue
            key = sum(a * b for a, b in zip(query, self.numbers(row)))
            if metric == 3:
                key -= math.floor(struct.unpack("<f", self.lengths.row(row))[0] / (2 * step) + 0.5)
            if metric != 1 or key > 0:
                found[row] = score_of(key * step, sum(one * one for one in vector), metric)
        return found


def score_of(product, query_length, metric):
    if metric == 1:
        return min(product, 1.0)
    if metric == 2:
        return 0.5 / (1 - product) if product < 0 else 1 - 0.5 / (1 + product)
    return 1 / (1 + max(query_length - 2 * product, 0.0))


class Searcher:
    """Answers queries to one commit. `model` is the built-in model, or None."""

    def __init__(self, documents, model):
        self.documents, self.model = documents, model
        self.segments = list(documents.segments.values())
        self.indexes = [keyword.Index(segment) for segment in self.segments]
        self.live = [segment.live() for segment in self.segments]
        self.chunks = sum(map(len, self.live))
        gone = sum(segment.deleted["total_length"] for segment in self.segments)
        self.total_length = sum(index.total_length for index in self.indexes) - gone

    def facet(self, segment, facet, value):
        key = segment.number.to_bytes(4, "big") + bytes([facet]) + value.encode()
        row = self.documents.container.get("facets", key)
        return bitmap(row) if row else set()

    def passing(self, filters, folder=""):
        """Live rows of each segment that have one of the values of each facet, and lie below a folder."""
        found = []
        for segment, live in zip(self.segments, self.live, strict=True):
            rows = set(live)
            for name, values in filters.items():
                rows &= set().union(*(self.facet(segment, FACETS[name], value) for value in values))
            if folder:
                rows = {row for row in rows if self.path(segment, row).startswith(folder.rstrip("/") + "/")}
            found.append(rows)
        return found

    def path(self, segment, row):
        return self.documents.records[segment.chunk(row)[0]]["path"]

    def code_share(self):
        counts = {}
        for value in ("code", "doc"):
            of_class = (self.facet(segment, FACETS["class"], value) for segment in self.segments)
            counts[value] = sum(len(rows & set(live)) for rows, live in zip(of_class, self.live, strict=True))
        return counts["code"] / max(sum(counts.values()), 1)

    def vector_weight(self, text):
        words = text.lower().split()
        is_question = text.rstrip().endswith(("?", "\uff1f", "\u061f")) or words[:1] and words[0] in QUESTION_WORDS
        prose = CONSTANTS["prose"]
        code = CONSTANTS["code, question" if is_question else "code"]
        return (prose + (code - prose) * self.code_share()) * self.model.coverage(text)

    def search(self, text, mode="hybrid", filters=None, folder="", language=None):
        """Candidates with keyword, vector and fused scores, and the facts that scores of hits rest on."""
        passing = self.passing(filters or {}, folder)
        vector = self.model.vector(text) if self.model and mode != "keyword" else []
        has_vector, lists = any(vector), {"keyword": {}, "vector": {}}
        query, weight = None, float(mode == "semantic")
        if mode != "semantic":
            of_word = self.model.word_weight if self.model else lambda _: 1.0
            query = keyword.Query(text, self.indexes, self.chunks, self.total_length, of_word, language)
            lists["keyword"] = self.both(lambda at: query.scores(at))
            weight = self.vector_weight(text) if has_vector else 0.0
        if has_vector:
            lists["vector"] = self.both(lambda at: Vectors(self.segments[at]).scores(vector, self.live[at]))
        best = {name: self.best({it: one for it, one in scores.items() if it[1] in passing[it[0]]})
                for name, scores in lists.items()}  # fmt: skip
        found = []
        for address in sorted({address for one in best.values() for address, _ in one}):
            scores = {name: lists[name].get(address, 0.0) for name in lists}
            fused = (1 - weight) * scores["keyword"] + weight * scores["vector"]
            found.append(scores | {"address": address, "fused": fused})
        found.sort(key=lambda it: (-it["fused"], self.order(it["address"])))
        facts = self.facts(found, query, text, has_vector)
        return [it for it in found if it["fused"] > 0], facts

    def nearest(self, vector, name):
        """The rows of a column of vectors by their scores for a vector of its model: address and score."""
        columns = {column["name"]: column for column in self.documents.vector_columns()}
        own = columns[name]
        unit = 1.0 if own["metric"] != 1 else math.sqrt(sum(one * one for one in vector)) or 1.0
        asked = [one / unit for one in vector]
        readers = [Vectors(segment, own["number"]) for segment in self.segments]
        scores = self.both(lambda at: readers[at].scores(asked, self.live[at], own["metric"]))
        return self.best(scores)

    def both(self, scores):
        return {(at, row): score for at in range(len(self.segments)) for row, score in scores(at).items()}

    def best(self, scores):
        return sorted(scores.items(), key=lambda it: (-it[1], self.order(it[0])))[: int(CONSTANTS["candidates"])]

    def order(self, address):
        segment = self.segments[address[0]]
        return self.path(segment, address[1]), segment.chunk(address[1])[1]

    def facts(self, found, query, text, has_vector):
        nearest = sorted((it["vector"] for it in found), reverse=True)
        largest = max(nearest, default=0.0)
        rank = int(CONSTANTS["near rank"])
        tenth = nearest[rank - 1] if len(nearest) >= rank else 0.0
        best = max((it["keyword"] for it in found), default=0.0)
        tied = [it["address"] for it in found if it["keyword"] == best > 0][:10]
        has_terms = bool(query and query.terms)
        return {
            "near": max(tenth, CONSTANTS["near share"] * largest) if has_vector else 0.0,
            "matched_idf": max((query.matched_idf(*address) for address in tied), default=0.0) if query else 0.0,
            "query_idf": sum(term["weight"] * term["idf"] for term in query.terms) if query else 0.0,
            "coverage": self.model.coverage(text) if has_vector else 0.0,
            "chunks": self.chunks,
            "scale": "keyword" if not has_vector else "hybrid" if has_terms else "semantic",
        }

    def passages(self, found):
        """Joins chunks with neighbours that are nearly as good: best chunk first, with its rows."""
        scores, taken, passages = {it["address"]: it["fused"] for it in found}, set(), []
        for best in found:
            if best["address"] in taken:
                continue
            at, row = best["address"]
            rows = [row, row + 1]
            while (more := self.neighbour(at, rows, best["fused"], scores, taken)) is not None:
                rows = [min(rows[0], more), max(rows[1], more + 1)]
            taken.update((at, one) for one in range(*rows))
            passages.append(best | {"rows": rows, "path": self.path(self.segments[at], row)})
        return spread(passages)

    def neighbour(self, at, rows, least, scores, taken):
        """The next row that joins a passage: the better one first, of equal ones the later."""
        near = [(scores.get((at, row), -1.0), row) for row in (rows[1], rows[0] - 1)]
        near = [it for it in near if it[0] >= least * CONSTANTS["join share"] and (at, it[1]) not in taken]
        return next((row for _, row in sorted(near, key=lambda it: -it[0]) if self.fits(at, rows, row)), None)

    def fits(self, at, rows, row):
        segment = self.segments[at]
        first, last = segment.chunk(min(rows[0], row)), segment.chunk(max(rows[1] - 1, row))
        if first[0] != last[0] or last[2] - first[1] > CONSTANTS["join bytes"]:
            return False
        second = segment.chunk(rows[0] if row < rows[0] else row)
        return second[1] not in [part["start"] for part in self.documents.parts(first[0])]


def spread(passages):
    """Moves passages of a document behind the first ten if three of it are among them."""
    hits, most = int(CONSTANTS["first"]), CONSTANTS["passages of a document"]
    first, moved, counts, rest = [], [], {}, list(passages)
    if all(sum(it["path"] == one["path"] for it in passages[:hits]) <= most for one in passages[:hits]):
        return passages
    while len(first) < hits and rest:
        passage = rest[0]
        if counts.get(passage["path"], 0) >= most:
            moved.append(rest.pop(0))
        elif moved and moved[0]["fused"] > passage["fused"] * CONSTANTS["much better"]:
            least = first[-1]["fused"] if first else math.inf
            first.append(moved[0] | {"fused": min(least, moved.pop(0)["fused"])})
        else:
            counts[passage["path"]] = counts.get(passage["path"], 0) + 1
            first.append(rest.pop(0))
    least = first[-1]["fused"] if first else 0.0
    return first + [it | {"fused": min(it["fused"], least)} for it in moved] + rest


def calibration(facts):
    """Slope and constant of the odds of a hit."""
    fused, near, matched, coverage, chunks, constant = CALIBRATION[facts["scale"]]
    trust = 1.0 if facts["scale"] == "semantic" else facts["coverage"]
    odds = near * trust * facts["near"] + matched * math.sqrt(facts["matched_idf"]) + coverage * facts["coverage"]
    odds += chunks * math.log10(max(facts["chunks"], CONSTANTS["least chunks"])) + constant
    if facts["query_idf"] > 0 and facts["matched_idf"] >= facts["query_idf"] * 0.9999:
        odds = max(odds, -fused * CONSTANTS["every term"])
    return fused, odds


def score(facts, fused):
    slope, constant = calibration(facts)
    return 1 / (1 + math.exp(-slope * fused - constant))
