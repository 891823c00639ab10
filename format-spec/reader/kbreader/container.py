"""First page, commit slots, pages, trees, extents and columns (container.md, trees.md, extents.md)."""

import struct

from .errors import Damaged, NotAKb, Unsupported
from .hashes import xxh3_64, xxh3_128
from .records import Cursor

PAGE = 4096
REDB_MAGIC = b"redb\x1a\x0a\xa9\x0d\x0a"
KB_MAGIC = b"\x89KBF\r\n\x1a\n"
KNOWN_VERSIONS = {(0, 13)}
KNOWN_INCOMPAT = 0b11
TYPES = {b"\x01u64": ("<Q", 8), b"\x01&str": (None, None), b"\x01&[u8]": (None, None)}


def number(data, at, size):
    if at < 0 or at + size > len(data):
        raise Damaged(f"{size} bytes expected at {at} of {len(data)}")
    return int.from_bytes(data[at : at + size], "little")


def load(path):
    """The bytes of a file that a writer may be changing: read again until the slot is the same afterwards."""
    for _ in range(100):
        with open(path, "rb") as file:
            data = file.read()
            file.seek(0)
            after = file.read(320)
        if slot_place(data) == slot_place(after) and data[:320][slot_place(data)] == after[slot_place(after)]:
            return data
    raise Damaged("the commit slot changes all the time")


def slot_place(header):
    """Where the slot that is served lies in redb's header."""
    flags = header[9] if len(header) > 9 else 0
    at = 64 + 128 * ((flags & 1) ^ (flags >> 3 & 1))
    return slice(at, at + 128)


class Table:
    def __init__(self, root, key_width, value_width, key_type):
        self.root, self.key_width, self.value_width, self.key_type = root, key_width, value_width, key_type


class Container:
    """One commit of a file that is whole in memory."""

    def __init__(self, data):
        self.data = data
        if data[:9] != REDB_MAGIC:
            is_kb = data[512:520] == KB_MAGIC
            raise Damaged("the first bytes of redb's header") if is_kb else NotAKb("not a .kb file")
        self.signature = self._signature()
        self.slot = self._slot()
        self.header_pages, self.region_pages = number(data, 16, 4), number(data, 20, 4)
        if number(data, 12, 4) != PAGE or self.header_pages > 1 << 20 or not 1 <= self.region_pages <= 1 << 20:
            raise Damaged("the page geometry")
        self.commit = number(self.slot, 104, 8)
        names = Table(self._root(self.slot, 8) if self.slot[1] else None, None, None, b"\x01&str")
        self.tables = {key.decode(): self._table(value) for key, value in self.pairs_of(names)}
        self.check_header()

    def _signature(self):
        block = self.data[512:1024]
        if block == bytes(512):
            return None
        if block[:8] != KB_MAGIC or number(block, 12, 4) != 512 or xxh3_64(block[:504]) != number(block, 504, 8):
            raise Damaged("the signature block")
        head = struct.unpack_from("<HHIQQQ16sIIQHH", block, 8)
        names = "major minor length compat ro_compat incompat uuid underlying page created records text".split()
        return dict(zip(names, head, strict=True))

    def _slot(self):
        slot, flags = self.data[slot_place(self.data)], self.data[9]
        if len(slot) < 128 or xxh3_128(slot[:112]) != number(slot, 112, 16):
            raise Damaged("the commit slot")
        if not flags & 4:
            raise Unsupported("a commit in one phase")
        if slot[0] != 3:
            raise Unsupported(f"redb file format {slot[0]}")
        return slot

    def check_header(self):
        """Checks the signature block and its copy in table `kb`. A reader need not read the copy of a file with a block."""
        row = self.get("kb", "header")
        if row is None:
            raise NotAKb("a redb file without the header of a .kb")
        cursor = Cursor(row)
        cursor.version("header", 1)
        copy = {"major": cursor.uint(), "minor": cursor.uint()}
        copy |= {name: cursor.uint() for name in ("compat", "ro_compat", "incompat")}
        copy |= {"uuid": cursor.take(16), "created": cursor.uint()}
        copy |= {name: cursor.uint() for name in ("underlying", "page", "records", "text")}
        for source in filter(None, (self.signature, copy)):
            if (source["major"], source["minor"]) not in KNOWN_VERSIONS:
                raise Unsupported(f"format {source['major']}.{source['minor']}")
            if source["incompat"] & ~KNOWN_INCOMPAT:
                raise Unsupported(f"incompat features {source['incompat']:#x}")
            if (source["underlying"], source["page"], source["records"], source["text"]) != (3, PAGE, 1, 1):
                raise Unsupported("an unknown underlying format, page size or codec")
        self.signature = copy

    @staticmethod
    def _root(data, at):
        return number(data, at, 8), number(data, at + 8, 16), number(data, at + 24, 8)

    def _table(self, row):
        if number(row, 0, 1) != 3:
            raise Damaged("a table of another kind")
        width = lambda at: number(row, at + 1, 4) if number(row, at, 1) else None
        key_type = row[64 : 64 + number(row, 60, 4)]
        return Table(self._root(row, 10) if row[9] else None, width(42), width(47), key_type)

    def page(self, pointer):
        """The bytes of a page, unchecked."""
        order, region, index = pointer >> 59, pointer >> 20 & 0xFFFFF, pointer & 0xFFFFF >> (pointer >> 59)
        if (index + 1) << order > self.region_pages:
            raise Damaged(f"page number {pointer:#x}")
        start = PAGE * (1 + region * (self.header_pages + self.region_pages) + self.header_pages)
        start += index * (PAGE << order)
        data = self.data[start : start + (PAGE << order)]
        if len(data) < PAGE << order:
            raise Damaged(f"page {pointer:#x} lies beyond the end of the file")
        return data

    def node(self, pointer, checksum, table):
        """The pairs of a leaf as (keys, values), or the children of a branch as (None, pointers)."""
        if pointer >> 59 > 13:
            raise Damaged("a page of a tree is too large")
        page = self.page(pointer)
        count = number(page, 2, 2)
        if page[0] not in (1, 2) or count == 0:
            raise Damaged(f"page {pointer:#x}")
        if page[0] == 1:
            starts = 4 + 4 * count * ((table.key_width is None) + (table.value_width is None))
            keys = ends(page, 4, count, table.key_width, starts)
            at = 4 + 4 * count * (table.key_width is None)
            values = ends(page, at, count, table.value_width, keys[-1])
            used = values[-1]
            found = (pieces(page, keys), pieces(page, values))
        else:
            children = 8 + 24 * (count + 1)
            starts = children + (4 * count if table.key_width is None else 0)
            used = ends(page, children, count, table.key_width, starts)[-1]
            sums = [number(page, 8 + 16 * at, 16) for at in range(count + 1)]
            pages = [number(page, 8 + 16 * (count + 1) + 8 * at, 8) for at in range(count + 1)]
            found = (None, list(zip(pages, sums, strict=True)))
        if used > len(page) or xxh3_128(page[:used]) != checksum:
            raise Damaged(f"the checksum of page {pointer:#x}")
        return found

    def pairs_of(self, table):
        """All pairs of a table in the order of their keys."""
        stack = [(table.root[0], table.root[1], 1)] if table.root else []
        budget = len(self.data) // PAGE
        while stack:
            pointer, checksum, depth = stack.pop()
            budget -= 1 << (pointer >> 59)
            if depth > 48 or budget < 0:
                raise Damaged("a tree that is too deep or refers to itself")
            keys, found = self.node(pointer, checksum, table)
            if keys is None:
                stack += [(*child, depth + 1) for child in reversed(found)]
            else:
                yield from zip(keys, found, strict=True)

    def rows(self, name):
        """All rows of a table: keys as int, str or bytes."""
        table = self.tables.get(name)
        if table is None:
            return
        for key, value in self.pairs_of(table):
            yield self.key_of(table, key), value

    @staticmethod
    def key_of(table, key):
        if table.key_type == b"\x01u64":
            return int.from_bytes(key, "little")
        return key.decode() if table.key_type == b"\x01&str" else bytes(key)

    def get(self, name, wanted):
        # A search of the whole table: a reader in earnest walks down the branches.
        return next((value for key, value in self.rows(name) if key == wanted), None)


def ends(page, at, count, width, start):
    """Where each of `count` keys or values begins, and where the last ends."""
    if width is not None:
        return [start + width * one for one in range(count + 1)]
    found = [start] + [number(page, at + 4 * one, 4) for one in range(count)]
    if any(a > b for a, b in zip(found, found[1:])) or found[-1] > len(page):
        raise Damaged("the ends of a page")
    return found


def pieces(page, at):
    return [page[a:b] for a, b in zip(at, at[1:])]


class Column:
    """A column of a segment: its bytes by logical position."""

    def __init__(self, payloads, width):
        self.payloads, self.width = payloads, width
        self.starts = [0]
        for payload in payloads:
            self.starts.append(self.starts[-1] + len(payload))

    def __len__(self):
        return self.starts[-1]

    def rest(self, position):
        """All bytes from a position to the end of its extent."""
        for start, payload in zip(self.starts, self.payloads):
            if start <= position < start + len(payload):
                return payload[position - start :]
        raise Damaged(f"no byte {position} in a column")

    def bytes(self, position, size):
        found = self.rest(position)[:size] if size else b""
        if len(found) < size:
            raise Damaged(f"{size} bytes at {position} cross an extent")
        return found

    def row(self, at):
        return self.bytes(at * self.width, self.width)


def columns(container, segment, records):
    """The columns of a segment by number. `records` has (number, width, payload lengths)."""
    table = container.tables.get(f"seg/{segment:016x}")
    stored = dict(leaves(container, table)) if table else {}
    found = {}
    for column, width, lengths in records:
        first, payloads = 0, []
        for extent, length in enumerate(lengths):
            if column << 48 | extent not in stored:
                raise Damaged(f"extent {extent} of column {column} of segment {segment} is missing")
            page, checksum = stored[column << 48 | extent]
            payloads.append(payload(page, checksum, (segment, column, extent, first, length)))
            first += length
        found[column] = Column(payloads, width)
    return found


def leaves(container, table):
    """Key, page and checksum of each extent."""
    stack = [table.root[:2]] if table.root else []
    while stack:
        pointer, checksum = stack.pop()
        page = container.page(pointer)
        if page[0] == 1:
            yield number(page, 8, 8), (page, checksum)
        else:
            stack += container.node(pointer, checksum, table)[1]


def payload(page, checksum, expected):
    """The payload of an extent, after all its checks."""
    segment, column, extent, first, length = expected
    head = struct.unpack_from("<BBHIQ4sHHQIHHQIIQ", page, 0)
    wanted = (1, head[1], 1, len(page), column << 48 | extent, b"KBVX", 1, 48)
    wanted += (segment, extent, column, head[11], first, length, 0)
    if xxh3_128(page) != checksum or head[:15] != wanted or 64 + length > len(page):
        raise Damaged(f"extent {extent} of column {column} of segment {segment}")
    found = page[64 : 64 + length]
    if xxh3_64(found) != head[15]:
        raise Damaged(f"the payload of extent {extent} of column {column} of segment {segment}")
    return found
