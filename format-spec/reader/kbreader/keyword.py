"""Term dictionary, postings and BM25 (keyword.md)."""

import math
import struct
from bisect import bisect_right

from . import analysis
from .constants import CONSTANTS
from .container import number
from .errors import Damaged
from .records import Cursor

MOST_UNITS = 1 << 22
MOST_TERMS = int(CONSTANTS["searched terms"])
FORM_SHARE, STEM_SHARE, LEAST_WEIGHT = (CONSTANTS[name] for name in ("form share", "stem share", "least weight"))


def f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


K1, B = f32(CONSTANTS["k1"]), f32(CONSTANTS["b"])


class Index:
    """The keyword index of a segment."""

    def __init__(self, segment):
        cursor = Cursor(segment.record["text_index"])
        cursor.version("the text index", 1)
        if cursor.uint() != 1:
            raise Damaged("another version of the text index")
        self.rows, self.total_length, self.terms = cursor.uint(), cursor.uint(), cursor.uint()
        column = lambda: (cursor.uint(), cursor.uint(), cursor.list(cursor.uint))
        column()
        self.parts = cursor.list(lambda: (cursor.blob(), cursor.uint(), cursor.uint()))
        column()
        self.width = column()[1]
        self.dictionary, self.postings, self.lengths = (segment.columns.get(column) for column in (16, 17, 18))
        self.deleted = segment.deleted["rows"]

    def length(self, row):
        return int.from_bytes(self.lengths.row(row), "little")

    def block_terms(self, part, block):
        """Terms of a block, each with its postings or where they are."""
        blocks = number(part, 0, 4)
        starts = [number(part, 4 + 4 * at, 4) for at in range(blocks)] + [len(part)]
        cursor, term = Cursor(part[: starts[block + 1]], starts[block]), b""
        position = cursor.leb()
        while cursor.left():
            head = cursor.u8()
            shared = head >> 4 if head >> 4 < 15 else 15 + cursor.leb()
            further = (head & 15 if head & 15 < 15 else 15 + cursor.leb()) + 1
            term = term[:shared] + cursor.take(further)
            value = cursor.leb()
            if value & 1:
                yield term, [(value >> 2, 1 if value & 2 else cursor.leb())]
            else:
                yield term, (position, value >> 1)
                position += value >> 1

    def terms_from(self, first=b""):
        """All terms from one on, ascending."""
        at = max(bisect_right([part[0] for part in self.parts], first) - 1, 0)
        for _, position, size in self.parts[at:]:
            part = self.dictionary.bytes(position, size)
            for block in range(number(part, 0, 4)):
                yield from ((term, where) for term, where in self.block_terms(part, block) if term >= first)

    def find(self, term):
        """Rows and frequencies of a term, deleted rows included."""
        wanted = term.encode()
        at = bisect_right([part[0] for part in self.parts], wanted) - 1
        if at < 0:
            return []
        part = self.dictionary.bytes(*self.parts[at][1:])
        for block in range(number(part, 0, 4)):
            for found, where in self.block_terms(part, block):
                if found == wanted:
                    return self.read(where)
        return []

    def read(self, where):
        return where if isinstance(where, list) else self.list_at(*where)

    def list_at(self, position, size):
        cursor = Cursor(self.postings.rest(position))
        count = cursor.leb()
        blocks = (count + 127) // 128
        parts = (blocks + 511) // 512
        if count < 128:
            return tail(cursor, count, -1)
        sizes = [(cursor.take(4), cursor.fixed(4))[1] for _ in range(parts)] if parts > 1 else [size - cursor.at]
        found, last, at = [], -1, position + cursor.at
        for part_size in sizes:
            found += packed_part(self.postings.bytes(at, part_size), min(count - len(found), 512 * 128), last)
            last, at = found[-1][0], at + part_size
        return found

    def with_character(self, character):
        """Rows that have a character of a script without spaces, with how often its bigrams begin or end with it."""
        counts = {}
        for term, where in self.terms_from("\u0e00".encode()):
            term = term.decode()
            if len(term) > 2 or character not in term:
                continue
            for row, frequency in self.read(where):
                begins, ends = counts.get(row, (0, 0))
                is_end = len(term) == 2 and term[1] == character
                counts[row] = (begins + frequency * (term[0] == character), ends + frequency * is_end)
        return [(row, max(pair)) for row, pair in sorted(counts.items())]


def tail(cursor, count, last):
    found = []
    for _ in range(count):
        value = cursor.leb()
        last += (value >> 1) + 1
        found.append((last, 1 if value & 1 else cursor.leb()))
    return found


def packed_part(data, count, last):
    """The postings of a part: heads of all blocks, then the blocks."""
    blocks = (count + 127) // 128
    heads, cursor, found = Cursor(data), Cursor(data, 9 * blocks), []
    for block in range(blocks):
        block_last = heads.fixed(4)
        heads.take(2)
        if count - 128 * block < 128:
            heads.take(3)
            found += tail(cursor, count - 128 * block, last)
        else:
            widths, exceptions = (heads.u8(), heads.u8()), heads.u8()
            rows, frequencies = (unpack(cursor.take(16 * width), width) for width in widths)
            extra = Cursor(cursor.take(exceptions))
            while extra.left():
                place, high = extra.u8(), extra.leb()
                target, width = (frequencies, widths[1]) if place & 128 else (rows, widths[0])
                target[place & 127] |= high << width
            for gap, frequency in zip(rows, frequencies, strict=True):
                last += gap + 1
                found.append((last, frequency + 1))
        if found[-1][0] != block_last:
            raise Damaged("the last row of a block of postings")
    return found


def unpack(data, width):
    """128 numbers of `width` bits in four lanes, whose words of 32 bits alternate."""
    words = struct.unpack(f"<{len(data) // 4}I", data)
    lanes = [sum(word << 32 * at for at, word in enumerate(words[lane::4])) for lane in range(4)]
    return [lanes[at % 4] >> at // 4 * width & (1 << width) - 1 for at in range(128)]


class Query:
    """The terms of a query with their weights, and the rows that have them."""

    def __init__(self, text, indexes, chunks, total_length, word_weight, language=None):
        self.indexes = indexes
        mean = total_length / max(chunks, 1)
        self.mean = f32(mean) if mean > 0 else 1.0
        self.terms = query_terms(text, word_weight)
        self.terms += stems(self.terms, indexes, language)
        for term in self.terms:
            term["lists"] = [self.postings(index, term["term"]) for index in indexes]
            term["chunks"] = sum(len(found) for found in term["lists"])
        share_among_forms(self.terms)
        for term in self.terms:
            is_unused = term["form_of"] is not None and not term["chunks"]
            without = chunks - term["chunks"] + 0.5
            term["idf"] = 0.0 if is_unused else f32(math.log(1 + without / (term["chunks"] + 0.5)))
            term["bound"] = f32(f32(term["weight"] * term["idf"]) * term["times"])
        self.terms = most_telling(self.terms, MOST_TERMS, lambda term: term["bound"] if term["chunks"] else None)
        self.idf_sum = sum(term["bound"] for term in self.terms)
        self.units = 1.0
        while self.units < MOST_UNITS and self.idf_sum * self.units * 2 <= MOST_UNITS:
            self.units *= 2
        while self.idf_sum * self.units > MOST_UNITS:
            self.units /= 2

    @staticmethod
    def postings(index, term):
        is_character = len(term) == 1 and analysis.char_class(term) == analysis.BIGRAM
        found = index.with_character(term) if is_character else index.find(term)
        return {row: frequency for row, frequency in found if row not in index.deleted}

    def scores(self, at):
        """The score of each row of a segment that has a term, as a share of what the query can reach."""
        units, idf_sum = {}, f32(self.idf_sum)
        constant, slope = f32(K1 * (1 - B)), f32(f32(K1 * B) / self.mean)
        for term in self.terms:
            for row, frequency in term["lists"][at].items():
                norm = f32(constant + f32(slope * self.indexes[at].length(row)))
                score = f32(term["bound"] * self.units * f32(frequency / f32(frequency + norm)))
                units[row] = units.get(row, 0) + max(round(score), 1)
        return {row: min(f32(value / self.units / idf_sum), 1.0) for row, value in units.items()}

    def matched_idf(self, at, row):
        return sum(f32(term["weight"] * term["idf"]) for term in self.terms if row in term["lists"][at])


def query_terms(text, word_weight):
    """Distinct terms in the order in which they come first."""
    terms, written = {}, None
    for _, word, kind in analysis.words(text):
        weight = None
        for term, is_form in analysis.terms_of(word, kind):
            is_new = term not in terms
            found = terms.setdefault(term, {"term": term, "times": 0, "weight": 0.0, "form_of": None, "word": None})
            if not is_form:
                written, found["form_of"] = term, None
                lower = word.lower()
                if found["word"] is None and analysis.is_stemmed(lower):
                    found["word"] = lower
            elif is_new:
                found["form_of"] = written
            if weight is None:
                weight = 1.0 if analysis.is_joined(word) else word_weight(word)
            found["times"] += 1
            found["weight"] = f32(found["weight"] + weight)
    for found in terms.values():
        found["weight"] = f32(found["weight"] / found["times"])
        found["word_weight"] = found["weight"]
    return most_telling(list(terms.values()), 3 * MOST_TERMS, lambda term: term["weight"] * term["times"])


def most_telling(terms, most, bound):
    """Terms of the words with the largest bounds, if more than `most` terms have one."""
    bounds = [bound(term) for term in terms]
    if sum(one is not None for one in bounds) <= most:
        return terms
    words = {}
    for term, one in zip(terms, bounds, strict=True):
        if one is not None:
            largest, count = words.get(term["form_of"] or term["term"], (0.0, 0))
            words[term["form_of"] or term["term"]] = (max(largest, one), count + 1)
    left, dropped = most, set()
    for word, (_, count) in sorted(words.items(), key=lambda it: -it[1][0]):
        left -= count if left >= 0 else 0
        if left < 0:
            dropped.add(word)
    return [term for term in terms if (term["form_of"] or term["term"]) not in dropped]


def stems(terms, indexes, known):
    """Stems of words that no segment has, in any language, and of all words in the language of the query, if known."""
    has = lambda term: any(index.find(term) for index in indexes)
    if not has("\x02"):
        return []
    languages = {term[1:3].decode() for index in indexes for term, _ in stored_stems(index)}
    found = {}
    for language in (code for code in analysis.LANGUAGES if code in languages):
        for term in terms:
            if term["word"] is None or language != known and has(term["term"]):
                continue
            stem = analysis.stem_term(language, term["word"])
            if stem not in found and has(stem):
                found[stem] = term | {"term": stem, "form_of": term["term"], "word": None}
    return list(found.values())


def stored_stems(index):
    for term, where in index.terms_from(b"\x02\x00"):
        if term[0] != 2:
            return
        yield term, where


def share_among_forms(terms):
    """A word written in several forms has the weight of one."""
    by_name = {term["term"]: term for term in terms}
    for written in [term for term in terms if term["form_of"] is None]:
        others = [term for term in terms if term["form_of"] == written["term"]]
        if not others:
            continue
        folded = [term for term in others if term["chunks"] and term["term"][0] != "\x02"]
        stemmed = [term for term in others if term["chunks"] and term["term"][0] == "\x02"]
        of_folded, of_stems = f32(FORM_SHARE * bool(folded)), f32(STEM_SHARE * bool(stemmed))
        others_share = f32(of_folded + of_stems)
        left, scale = f32(1 - others_share), 1.0
        if not by_name[written["term"]]["chunks"] and others_share:
            left, scale = 0.0, f32(1 / others_share)
        for term in others:
            share = f32(f32(scale * of_folded) / len(folded)) if term in folded else 0.0
            share = f32(f32(scale * of_stems) / len(stemmed)) if term in stemmed else share
            term["weight"] = max(f32(term["weight"] * share), f32(LEAST_WEIGHT))
        written["weight"] = max(f32(written["weight"] * left), f32(LEAST_WEIGHT))
