"""Documents: chunk rows, text, outlines, parts and cells (chunks.md, documents.md)."""

import re
import unicodedata

from . import symbols
from .container import columns
from .errors import Damaged
from .frames import unzstd
from .records import Cursor, deleted, document, manifest, meta, segment, vector_column

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
PAGE_SOURCES = (None, "physical", "rendered", "explicit", "estimated")
CLASSES = (None, "code", "doc", "data")


class Segment:
    """A segment with its columns, its live rows, and its text."""

    def __init__(self, container, number, chunk_limit):
        self.number, self.chunk_limit = number, chunk_limit
        self.record = segment(container.get("segs", number))
        self.rows = self.record["rows"]
        self.columns = columns(container, number, self.record["columns"])
        row = container.get("deleted", number)
        self.deleted = deleted(row) if row else {"rows": set(), "total_length": 0}
        self.cache = (None, b"")

    def live(self):
        return [row for row in range(self.rows) if row not in self.deleted["rows"]]

    def chunk(self, row):
        """Document, start, end, first and last line of a row."""
        block, at = divmod(row, 64)
        if row >= self.rows:
            raise Damaged(f"there is no chunk {row}")
        head = Cursor(self.columns[5].row(block))
        position, firsts, least, end, last = (head.fixed(size) for size in (4, 8, 4, 4, 4))
        widths = head.take(4)
        rows = min(64, self.rows - 64 * block)
        bits = sum(widths[1:])
        documents = bin(firsts >> 1 & (1 << rows - 1) - 1).count("1") + 1
        size = (rows * bits + documents * widths[0] + 7) // 8
        packed = int.from_bytes(self.columns[6].bytes(position, size), "little") if size else 0
        field = lambda start, width: packed >> start & (1 << width) - 1
        numbers = lambda one: (
            field(one * bits, widths[1]),
            field(one * bits + widths[1], widths[2]),
            field(one * bits + widths[1] + widths[2], widths[3]),
        )
        if firsts >> at & 1:
            end, last = 0, 0
        elif at:
            end, last, _ = numbers(at - 1)
        own_end, own_last, gap = numbers(at)
        which = bin(firsts >> 1 & (1 << at) - 1).count("1")
        owner = least + field(rows * bits + which * widths[0], widths[0])
        return owner, end, own_end, last + gap & 0xFFFFFFFF, own_last

    def chunk_text(self, row):
        """The bytes of a chunk."""
        blocks = len(self.columns[2]) // 24
        heads = [Cursor(self.columns[2].row(at)) for at in range(blocks)]
        heads = [[head.fixed(size) for size in (8, 4, 4, 4)] for head in heads]
        at = max(number for number, head in enumerate(heads) if head[3] <= row)
        position, frame, size, first = heads[at]
        if size > (64 << 10) + self.chunk_limit:
            raise Damaged("a block of text is too long")
        if self.cache[0] != at:
            dictionary = self.columns[4].rest(0) if 4 in self.columns and len(self.columns[4]) else b""
            self.cache = (at, unzstd(self.columns[3].bytes(position, frame), size, dictionary))
        length = lambda one: (lambda it: it[2] - it[1])(self.chunk(one))
        start = sum(length(one) for one in range(first, row))
        if length(row) > self.chunk_limit or start + length(row) > size:
            raise Damaged("a chunk is too long")
        return self.cache[1][start : start + length(row)]


class Documents:
    """The documents of a commit."""

    def __init__(self, container):
        self.container = container
        self.meta = meta(container.get("kb", "meta"))
        self.manifest = manifest(container.get("kb", "manifest"))
        limit = min(self.meta["chunker"][1], 16 << 20)
        self.segments = {one: Segment(container, one, limit) for one in self.manifest["segments"]}
        self.records = {number: document(row) for number, row in container.rows("docs")}
        self.by_path = dict(container.rows("doc_by_path"))

    def paths(self):
        """Path and number, in the order of the bytes of the paths."""
        return [(path, int.from_bytes(row, "little")) for path, row in self.by_path.items()]

    def vector_columns(self):
        return [vector_column(number, row) for number, row in self.container.rows("vectors") if number]

    def find(self, name):
        """The number of a document, by path, handle or the suffix of a handle."""
        row = self.by_path.get(name) or self.container.get("doc_by_suffix", name.rsplit("-", 1)[-1])
        if row is None:
            raise KeyError(f"no document {name!r}")
        return int.from_bytes(row, "little")

    def handle(self, record):
        stem = record["path"].rsplit("/", 1)[-1]
        stem = stem.rsplit(".", 1)[0] if "." in stem else stem
        slug = next(filter(None, map(slug_of, (record["title"], stem))), "document")
        return f"{slug}-{record['suffix']}"

    def rows(self, record):
        return range(record["first_row"], record["first_row"] + record["rows"])

    def chunks(self, record):
        owner = self.segments.get(record["segment"])
        return [owner.chunk(row)[1:] for row in self.rows(record)] if record["rows"] else []

    def text(self, record):
        if not record["rows"]:
            return b""
        owner = self.segments[record["segment"]]
        found = b"".join(owner.chunk_text(row) for row in self.rows(record))
        if len(found) != record["text_bytes"]:
            raise Damaged(f"the text of {record['path']!r}")
        return found

    def lines(self, record, first, last):
        """The text of lines of the original: with a line map that of the chunks that touch them."""
        text, chunks = self.text(record), self.chunks(record)
        touching = [chunk for chunk in chunks if chunk[3] >= first and chunk[2] <= last]
        if not touching:
            return b""
        if record["line_map"]:
            return text[touching[0][0] : touching[-1][1]]
        return b"".join(re.findall(rb"[^\n]*\n|[^\n]+$", text)[first - 1 : last])

    def outline(self, number):
        """Level, title, first byte and line of each heading."""
        row = self.container.get("outline", number)
        if row is None:
            return symbols.outline(symbols.of_document(self.container, number))
        cursor = Cursor(row)
        if cursor.version("an outline", 1, 2) == 2:
            size = cursor.fixed(4)
            cursor = Cursor(unzstd(cursor.take(cursor.left()), size))
            cursor.version("an outline", 1)
        return cursor.list(lambda: (cursor.u8(), cursor.text(), cursor.uint(), cursor.uint()))

    def parts(self, number):
        row = self.container.get("parts", number)
        if row is None:
            return []
        cursor, found = Cursor(row), []
        cursor.version("parts", 1)
        for kind, item in (("page", page), ("sheet", sheet), ("slide", slide)):
            found += [{"kind": kind} | one for one in cursor.list(lambda item=item: item(cursor))]
        return placed(found, self.records[number])

    def sheet_rows(self, record, sheet):
        """Number and cells of each row of a sheet that has cells."""
        text = self.text(record)[sheet["start"] : sheet["end"]].decode()
        runs, number = dict(sheet["runs"]), 0
        for at, line in enumerate(re.findall(r"[^\n]*\n|[^\n]+$", text)):
            number = runs.get(at, number + 1)
            yield number, cells(line.removesuffix("\n"))


def page(cursor):
    return {"start": cursor.uint(), "line": cursor.uint(), "source": cursor.u8(), "label": cursor.text()}


def sheet(cursor):
    found = {"start": cursor.uint(), "line": cursor.uint(), "name": cursor.text(), "rows": cursor.uint()}
    found |= {"columns": cursor.uint(), "header_row": cursor.option(cursor.uint), "hidden": bool(cursor.u8())}
    return found | {"uncalculated": cursor.uint(), "runs": cursor.list(lambda: (cursor.uint(), cursor.uint()))}


def slide(cursor):
    found = {"start": cursor.uint(), "line": cursor.uint(), "title": cursor.text()}
    return found | {"notes": cursor.option(cursor.uint), "hidden": bool(cursor.u8())}


def placed(parts, record):
    """Adds where each part ends; lines of a part without text are 0."""
    for at, part in enumerate(parts):
        is_last = at + 1 == len(parts)
        part["end"] = record["text_bytes"] if is_last else parts[at + 1]["start"]
        last = record["lines"] if is_last else parts[at + 1]["line"] - 1
        part["lines"] = (part["line"], last) if part["end"] > part["start"] else (0, 0)
    return parts


def slug_of(text):
    slug = ""
    for character in unicodedata.normalize("NFKD", text):
        if unicodedata.category(character).startswith("M"):
            continue
        if len(slug) >= 60:
            break
        if character.isascii() and character.isalnum():
            slug += character.lower()
        elif slug and not slug.endswith("-"):
            slug += "-"
    return slug.rstrip("-")


def cells(line):
    """The cells of a row of a sheet: column, what is shown, kind and value."""
    column, found = 1, []
    for field in line.split("\t"):
        if field.startswith("\\>") and ";" in field:
            number, rest = field[2:].split(";", 1)
            if number.isascii() and number.isdigit() and int(number) >= column:
                column, field = int(number), rest
        if column > 16384:
            break
        shown, kind, value = cell(field)
        if shown or kind != "m":
            found.append((column, shown, kind, value))
        column += 1
    return found


def shown(text):
    """Rows of a sheet as they are seen: what cells show, or the formula where that is all there is."""
    return "".join(
        "\t".join(map(shown_cell, line.removesuffix("\n").split("\t"))) + "\n" * line.endswith("\n")
        for line in text.splitlines(keepends=True)
    )


def shown_cell(field):
    if field.startswith("\\>") and ";" in field:
        field = field.split(";", 1)[1]
    before, value, after = re.match(r"((?:[^\\]|\\[^=])*)(\\=)?(.*)", field, re.DOTALL).groups()
    kept = before + (after[1:] if value and after.startswith("f") else "")
    return re.sub(r"\\(.?)", lambda it: {"": "", "\\": "\\"}.get(it[1], " " if it[1] in "tnr" else it[1]), kept)


def cell(field):
    """What a cell shows, and the kind and text of its value."""
    out, shown, kind, at = [], None, None, 0
    while at < len(field):
        character, at = field[at], at + 1
        if character == "\\" and at < len(field):
            character, at = field[at], at + 1
            if character == "=" and shown is None:
                shown, out = "".join(out), []
                kind, at = (field[at], at + 1) if at < len(field) else ("t", at)
                continue
            character = {"t": "\t", "n": "\n", "r": "\r"}.get(character, character)
        out.append(character)
    if shown is None:
        shown = "".join(out)
        return shown, *implied(shown)
    text = "".join(out) or ("" if kind == "f" else shown)
    return shown, *typed(kind, text)


def typed(kind, text):
    if kind == "n":
        return ("n", float(text)) if is_number(text) else ("t", text)
    if kind == "b":
        return "b", text == "TRUE"
    if kind == "z":
        return "t", ""
    return (kind, None if kind == "m" else text) if kind in "tmdef" else ("t", text)


def is_number(text):
    try:
        return text == text.strip() and "_" not in text and abs(float(text)) < float("inf")
    except ValueError:
        return False


def implied(shown):
    """What a shown text says by itself: a number only where it is the shortest text of it."""
    if shown in ("", "TRUE", "FALSE"):
        return ("m", None) if not shown else ("b", shown == "TRUE")
    if is_number(shown) and number_text(float(shown)) == shown:
        return "n", float(shown)
    return "t", shown


def number_text(number):
    """The fewest digits that read back as the number; an exponent from 1e16 on and below 1e-5."""
    text = repr(number)
    mantissa, _, exponent = text.partition("e")
    sign, digits = ("-", mantissa[1:]) if mantissa.startswith("-") else ("", mantissa)
    whole, _, part = digits.partition(".")
    part = "" if part == "0" else part
    point, digits = len(whole) + int(exponent or 0), whole + part
    if number != 0 and not 1e-5 <= abs(number) < 1e16:
        kept = digits.lstrip("0")
        shift = point - (len(digits) - len(kept)) - 1
        kept = kept.rstrip("0") or "0"
        return f"{sign}{kept[0]}{'.' + kept[1:] if kept[1:] else ''}e{shift}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    digits = digits.ljust(point, "0")
    return f"{sign}{digits[:point]}{'.' + digits[point:] if digits[point:] else ''}"
