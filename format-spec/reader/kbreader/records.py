"""Records, bitmaps and the tables that hold them (records.md, tables.md)."""

import struct

from .errors import Damaged, Unsupported


class Cursor:
    """Takes values from bytes, one after the other."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def take(self, size):
        found = self.data[self.at : self.at + size]
        if size < 0 or len(found) < size:
            raise Damaged("a record ends early")
        self.at += size
        return bytes(found)

    def left(self):
        return len(self.data) - self.at

    def fixed(self, size):
        return int.from_bytes(self.take(size), "little")

    def u8(self):
        return self.fixed(1)

    def uint(self):
        """An integer of a record: one byte below 251, else 2, 4 or 8 bytes behind 251, 252, 253."""
        first = self.u8()
        if first < 251:
            return first
        if first > 253:
            raise Damaged("a number of a record")
        return self.fixed(2 << first - 251)

    def sint(self):
        value = self.uint()
        return value >> 1 ^ -(value & 1)

    def f32(self):
        return struct.unpack("<f", self.take(4))[0]

    def blob(self):
        size = self.uint()
        if size > 16 << 20:
            raise Damaged("a sequence of a record is too long")
        return self.take(size)

    def text(self):
        try:
            return self.blob().decode()
        except UnicodeDecodeError as error:
            raise Damaged("a text of a record is not UTF-8") from error

    def list(self, item):
        return [item() for _ in range(self.uint())]

    def option(self, item):
        return item() if self.u8() else None

    def version(self, what, *known):
        found = self.u8()
        if found not in known:
            raise Unsupported(f"version {found} of the record of {what}")
        return found

    def leb(self, bits=64):
        """A varint of columns: seven bits a byte, low bits first, high bit set on all but the last."""
        value = shift = 0
        while True:
            byte = self.u8()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                if value >> bits:
                    raise Damaged("a varint is too large")
                return value
            if shift >= 70:
                raise Damaged("a varint is too long")


def meta(row):
    cursor = Cursor(row)
    cursor.version("meta", 1)
    found = {"created_ms": cursor.sint(), "updated_ms": cursor.sint(), "writer": cursor.text()}
    found["roots"] = cursor.list(lambda: root(cursor))
    found["embedder"] = {
        "id": cursor.text(),
        "hash": cursor.take(32),
        "dim": cursor.uint(),
        "range": cursor.f32(),
        "probes": cursor.list(lambda: (cursor.text(), cursor.list(cursor.f32))),
        "codec": cursor.u8(),
    }
    found["analyser"] = cursor.text()
    found["chunker"] = (cursor.uint(), cursor.uint())
    found |= {"documents": cursor.uint(), "chunks": cursor.uint(), "text_bytes": cursor.uint()}
    return found


def root(cursor):
    found = {"id": cursor.uint(), "source": cursor.text(), "prefix": cursor.text()}
    found["files"] = cursor.list(cursor.text)
    found |= {"git_commit": cursor.option(cursor.text), "git_branch": cursor.option(cursor.text)}
    return found | {"indexed_ms": cursor.sint()}


def manifest(row):
    cursor = Cursor(row)
    cursor.version("manifest", 1)
    return {"generation": cursor.uint(), "segments": cursor.list(cursor.uint)}


def document(row):
    cursor = Cursor(row)
    cursor.version("documents", 2)
    found = {"path": cursor.text(), "root": cursor.option(cursor.uint), "title": cursor.option(cursor.text)}
    found |= {"suffix": cursor.text(), "file_type": cursor.text(), "language": cursor.option(cursor.text)}
    found |= {"class": cursor.u8(), "size_bytes": cursor.uint()}
    found |= {"modified_ms": cursor.sint(), "added_ms": cursor.sint(), "hash": cursor.take(32)}
    found["text_hash"] = cursor.option(lambda: cursor.take(32))
    found["metadata"] = cursor.list(lambda: [cursor.text(), cursor.text()])
    found |= {"tags": cursor.list(cursor.text), "text_bytes": cursor.option(cursor.uint)}
    found |= {"lines": cursor.uint(), "line_map": bool(cursor.u8())}
    found |= {"segment": cursor.uint(), "first_row": cursor.uint(), "rows": cursor.uint()}
    defaults = {"title": found["path"].rsplit("/", 1)[-1], "language": found["file_type"]}
    defaults |= {"text_hash": found["hash"], "text_bytes": found["size_bytes"]}
    return found | {name: value for name, value in defaults.items() if found[name] is None}


def vector_column(number, row):
    cursor = Cursor(row)
    cursor.version("columns of vectors", 1, 2, 3, 4)
    found = {"number": number, "name": cursor.text(), "model": cursor.text(), "dim": cursor.uint()}
    return found | {"metric": cursor.u8(), "codec": cursor.u8(), "range": cursor.f32()}


def segment(row):
    cursor = Cursor(row)
    version = cursor.version("segments", 2, 3)
    found = {"rows": cursor.uint(), "documents": cursor.uint(), "text_bytes": cursor.uint()}
    found["columns"] = cursor.list(lambda: (cursor.uint(), cursor.uint(), cursor.list(cursor.uint)))
    found |= {"text_index": cursor.blob(), "vector_index": cursor.blob(), "more_vectors": []}
    if version == 3:
        more = lambda: {"number": cursor.uint(), "vector_index": cursor.blob(), "present": bitmap(cursor.blob())}
        found["more_vectors"] = cursor.list(more)
    return found


def deleted(row):
    cursor = Cursor(row)
    cursor.version("deleted rows", 1)
    found = {"documents": cursor.uint(), "text_bytes": cursor.uint(), "total_length": cursor.uint()}
    return found | {"rows": bitmap(cursor.blob())}


def bitmap(data):
    """The numbers of a roaring bitmap in the portable format."""
    cursor = Cursor(data)
    cookie = cursor.fixed(4)
    if cookie & 0xFFFF == 12347:
        count = (cookie >> 16) + 1
        runs = cursor.take((count + 7) // 8)
    elif cookie == 12346:
        count, runs = cursor.fixed(4), b""
    else:
        raise Damaged("a bitmap begins with another number")
    heads = [(cursor.fixed(2), cursor.fixed(2) + 1) for _ in range(count)]
    if not runs or count >= 4:
        cursor.take(4 * count)
    found = set()
    for at, (key, size) in enumerate(heads):
        if runs and runs[at // 8] >> at % 8 & 1:
            for _ in range(cursor.fixed(2)):
                start, more = cursor.fixed(2), cursor.fixed(2)
                found.update(key << 16 | value for value in range(start, start + more + 1))
        elif size <= 4096:
            found.update(key << 16 | cursor.fixed(2) for _ in range(size))
        else:
            bits = cursor.fixed(8192)
            found.update(key << 16 | bit for bit in range(65536) if bits >> bit & 1)
    return found
