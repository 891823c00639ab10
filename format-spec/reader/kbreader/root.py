"""Checks a whole file: checksums of all pages, hashes of texts, the content root (content-root.md)."""

import struct

from . import symbols
from .errors import Damaged
from .hashes import blake3
from .records import Cursor

DOMAIN = b"kb content root 2\n"


def uint(value):
    if value < 251:
        return bytes([value])
    size = next(size for size in (2, 4, 8) if value < 1 << 8 * size)
    return bytes([{2: 251, 4: 252, 8: 253}[size]]) + value.to_bytes(size, "little")


def blob(data):
    return uint(len(data)) + data


def text(value):
    return blob(value.encode())


def sequence(items, put):
    return uint(len(items)) + b"".join(put(item) for item in items)


def part(record):
    return struct.pack("<Q", len(record)) + record


def nibbles(row, codec, dim):
    """A row of vectors in codec 2, whatever the codec of the file."""
    if codec == 2:
        return row
    padded = (dim + 63) // 64 * 64
    values = [value - 256 if value > 127 else value for value in row]
    coded = [nibble(value) if at < dim else 0 for at, value in enumerate(values)]
    pairs = ((64 * (at // 32) + at % 32) for at in range(padded // 2))
    return bytes(coded[at] | coded[at + 32] << 4 for at in pairs)


def nibble(value):
    middle = min(7, (max(abs(value), 1) - 1) // 11)
    return 8 + middle if value > 0 else 7 - middle


def document_part(documents, number):
    record = documents.records[number]
    container = documents.container
    listed = symbols.of_document(container, number)
    outline = [] if listed else documents.outline(number)
    vectors = b""
    if record["rows"]:
        owner = documents.segments[record["segment"]]
        index = Cursor(owner.record["vector_index"])
        index.version("the vector index", 1, 2)
        codec, dim = index.u8(), index.uint()
        vectors = b"".join(nibbles(owner.columns[32].row(row), codec, dim) for row in documents.rows(record))
    chunks = [(end, first, last) for _, end, first, last in documents.chunks(record)]
    found = b"\x01" + b"".join(text(record[name]) for name in ("path", "title", "file_type", "language"))
    found += bytes([record["class"]]) + uint(record["size_bytes"]) + record["hash"] + record["text_hash"]
    found += uint(record["text_bytes"]) + uint(record["lines"]) + bytes([record["line_map"]])
    found += sequence(record["metadata"], lambda pair: text(pair[0]) + text(pair[1]))
    found += sequence(record["tags"], text)
    found += sequence(outline, lambda it: bytes([it[0]]) + text(it[1]) + uint(it[2]) + uint(it[3]))
    found += sequence(chunks, lambda chunk: b"".join(map(uint, chunk))) + blake3(vectors)
    parts = part(found)
    if row := container.get("parts", number):
        parts += part(row)
    return parts + (part(symbols.canonical(listed)) if listed else b"")


def content_root(documents):
    embedder = documents.meta["embedder"]
    head = b"\x01" + text(embedder["id"]) + embedder["hash"] + uint(embedder["dim"])
    head += uint(int.from_bytes(struct.pack("<f", embedder["range"]), "little"))
    head += text(documents.meta["analyser"]) + uint(documents.meta["documents"])
    parts = [document_part(documents, number) for _, number in documents.paths()]
    return blake3(DOMAIN + part(head) + b"".join(parts))


def verify(documents):
    """Reads everything. Returns the content root, and whether it is the one of a sealed file."""
    container = documents.container
    for table in container.tables:
        if not table.startswith("seg/"):
            for _ in container.rows(table):
                pass
    for record in documents.records.values():
        if blake3(documents.text(record)) != record["text_hash"]:
            raise Damaged(f"the text of {record['path']!r} has another hash")
    found, seal = content_root(documents), container.get("kb", "seal")
    if seal is not None:
        cursor = Cursor(seal)
        cursor.version("seal", 1)
        if cursor.take(32) != found:
            raise Damaged("the content root of the sealed file")
    return found, seal is not None
