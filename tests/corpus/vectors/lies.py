"""Writes Parquet files that unfold to more than they say, or that are not read: `python lies.py`.

`long-row.parquet`: 2000 rows of which the first has eight million numbers, all in runs, in some hundred bytes.
`dictionary.parquet`: a dictionary of one number that claims 2^31 - 1. `hadoop.parquet`: LZ4 in the old frames.
In `foreign.parquet` a chunk is one of another document, in `both.parquet` rows are named in two ways. The others are
what PyArrow writes when asked.
"""

import struct
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

HERE = Path(__file__).parent


def varint(number):
    out = b""
    while number > 0x7F:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def zigzag(number):
    return varint((number << 1) ^ (number >> 63))


class Struct:
    """A struct of Thrift in the compact protocol."""

    def __init__(self):
        self.bytes, self.last = b"", 0

    def head(self, field, kind):
        self.bytes += bytes([(field - self.last) << 4 | kind])
        self.last = field
        return self

    def number(self, field, value, kind=5):
        self.head(field, kind).bytes += zigzag(value)
        return self

    def long(self, field, value):
        return self.number(field, value, 6)

    def text(self, field, value):
        self.head(field, 8).bytes += varint(len(value)) + value.encode()
        return self

    def struct(self, field, value):
        self.head(field, 12).bytes += value.end()
        return self

    def list(self, field, kind, values):
        self.head(field, 9).bytes += bytes([len(values) << 4 | kind]) + b"".join(values)
        return self

    def end(self):
        return self.bytes + b"\0"


def runs(*pairs, length=True):
    out = b"".join(varint(count << 1) + bytes([value]) for count, value in pairs)
    return (struct.pack("<I", len(out)) if length else b"") + out


def data_page(data, values, encoding, size=None):
    head = Struct().number(1, values).number(2, encoding).number(3, 3).number(4, 3)
    page = Struct().number(1, 0).number(2, size or len(data)).number(3, len(data)).struct(5, head)
    return page.end() + data


def dictionary(data, values):
    head = Struct().number(1, values).number(2, 0)
    return Struct().number(1, 2).number(2, len(data)).number(3, len(data)).struct(7, head).end() + data


def write(name, rows, columns):
    """`columns`: name, type, compression, values, dictionary page, data page."""
    out, chunks = b"PAR1", []
    for column, kind, codec, values, first, second in columns:
        start, total = len(out), len(first) + len(second)
        out += first + second
        encodings = [zigzag(0), zigzag(8), zigzag(3)]
        names = [varint(len(column)) + column.encode()]
        data = Struct().number(1, kind).list(2, 5, encodings).list(3, 8, names).number(4, codec)
        data.long(5, values).long(6, total).long(7, total).long(9, start + len(first))
        if first:
            data.long(11, start)
        chunks.append(Struct().long(2, start).struct(3, data).end())
    schema = [
        Struct().text(4, "schema").number(5, 2).end(),
        Struct().number(1, 6).number(3, 0).text(4, "document").number(6, 0).end(),
        Struct().number(1, 4).number(3, 2).text(4, "vector").end(),
    ]
    group = Struct().list(1, 12, chunks).long(2, len(out)).long(3, rows).end()
    foot = Struct().number(1, 1).list(2, 12, schema).long(3, rows).list(4, 12, [group]).end()
    (HERE / name).write_bytes(out + foot + struct.pack("<I", len(foot)) + b"PAR1")


def indices(count):
    """Values of a dictionary, all the first: a bit each."""
    return b"\x01" + runs((count, 0), length=False)


name = struct.pack("<I", 4) + b"a.md"
one = struct.pack("<f", 1.0)
rows, numbers = 2000, 8_000_000
documents = ("document", 6, 0, rows, dictionary(name, 1), data_page(indices(rows), rows, 8))
levels = runs((1, 0), (numbers - rows, 1), (rows - 1, 0)) + runs((numbers, 1))
vectors = data_page(levels + indices(numbers), numbers, 8)
write("long-row.parquet", rows, [documents, ("vector", 4, 0, numbers, dictionary(one, 1), vectors)])

documents = ("document", 6, 0, 1, b"", data_page(name, 1, 0))
two = data_page(runs((1, 0), (1, 1)) + runs((2, 1)) + indices(2), 2, 8)
write("dictionary.parquet", 1, [documents, ("vector", 4, 0, 2, dictionary(one, 2**31 - 1), two)])

packed = bytes([8 << 4]) + name
packed = struct.pack(">II", len(name), len(packed)) + packed
packed = ("document", 6, 5, 1, b"", data_page(packed, 1, 0, len(name)))
write("hadoop.parquet", 1, [packed, ("vector", 4, 0, 2, dictionary(one, 1), two)])

table = pa.table({"document": ["a.md"] * 2, "chunk": [0, 1], "vector": [[1.0, 2.0], [3.0, 4.0]]})
pq.write_table(table, HERE / "gzip.parquet", compression="gzip")
pq.write_table(table, HERE / "brotli.parquet", compression={"document": "none", "chunk": "none", "vector.list.element": "brotli"})
pq.write_table(table, HERE / "delta.parquet", use_dictionary=False, column_encoding={"document": "DELTA_BYTE_ARRAY"})
pq.write_table(table.set_column(1, "chunk", pa.array(["a.md#0", "b.md#1"])), HERE / "foreign.parquet")
pq.write_table(table.append_column("start", pa.array([0, 9])), HERE / "both.parquet")
