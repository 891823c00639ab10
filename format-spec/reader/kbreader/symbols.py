"""Symbols of programs (symbols.md): rows, groups, the outline that follows from them, the canonical body."""

from .errors import Damaged
from .frames import unzstd
from .records import Cursor

KINDS = "function class method interface struct enum trait module constant type impl field".split()
FIELD = 12
MOD = 0xFFFFFFFF
COLUMNS = "label closed gap comment comment_len head name head_len tail line further".split()


def plus(base, distance):
    """The number at a zigzag distance, modulo 2^32."""
    return base + (distance >> 1 ^ -(distance & 1)) & MOD


def zigzag(base, target):
    distance = target - base & MOD
    return (distance << 1 ^ -(distance >> 31)) & MOD


def unpack(cursor, dictionary):
    """The body behind the version of a row."""
    form, size = cursor.u8(), cursor.leb(32)
    stored = cursor.take(cursor.left())
    if form > 2 or size > (16 << 20) - 16:
        raise Damaged("a row of symbols")
    body = stored if form == 0 else unzstd(stored, size, dictionary() if form == 2 else b"")
    if len(body) != size:
        raise Damaged("the length of a body of symbols")
    return body


def of_document(container, document):
    """The symbols of a document; none of a text that is no program."""
    row = container.get("symbols", document)
    if row is None:
        return []
    dictionary = lambda: container.get("symbols", 0)[1:]
    cursor = Cursor(row)
    if cursor.version("symbols", 2, 3) == 2:
        return decode(unpack(cursor, dictionary))
    found = []
    for number in range(cursor.leb(32)):
        count = cursor.leb(32)
        cursor.leb(32), cursor.leb(32)  # start and end so far: they only tell which groups to read
        group = Cursor(container.get("symbol_groups", document << 32 | number))
        group.version("a group of symbols", 1)
        join(found, Cursor(unpack(group, dictionary)), count)
    return found


def join(found, body, count):
    """Adds the symbols of a group to those before it, whose last ones may hold them."""
    holders = body.leb(32)
    for _ in range(holders + 1):
        body.leb(32)
    body.take((holders + count + 7) // 8)
    listed = decode(body.take(body.left()))
    if len(listed) != holders + count:
        raise Damaged("the length of a group of symbols")
    places = []
    for at, symbol in enumerate(listed):
        if at < holders:
            key = lambda it: (it["start"], it["name_start"], it["end"])
            places.append(next(n for n, it in enumerate(found) if key(it) == key(symbol)))
            continue
        places.append(len(found))
        found.append(symbol | {"parent": None if symbol["parent"] is None else places[symbol["parent"]]})


def decode(body):
    cursor = Cursor(body)
    count, labels = cursor.leb(32), []
    for _ in range(cursor.leb(32)):
        labels.append((cursor.u8(), cursor.take(cursor.leb(32)).decode()))
    columns = {}
    for name in COLUMNS:
        wanted = sum(it != 0 for it in columns["comment"]) if name == "comment_len" else count
        columns[name] = [cursor.leb(35) for _ in range(wanted)]
    names = cursor.take(cursor.left()).split(b"\xff") if count else []
    if len(names) != count:
        raise Damaged("the names of symbols")
    return place(columns, labels, [name.decode() for name in names])


def place(columns, labels, names):
    """Makes positions of the distances of a body."""
    comment_lengths = iter(columns["comment_len"])
    symbols, opened = [], []
    edge_byte, edge_line = 0, 1

    def close():
        nonlocal edge_byte, edge_line
        if not opened:
            raise Damaged("more symbols end than begin")
        at, byte, line = opened.pop()
        edge_byte, edge_line = plus(byte, columns["tail"][at]), plus(line, columns["further"][at])
        symbols[at] |= {"end": edge_byte, "last_line": edge_line}
        if opened:
            outer = opened[-1]
            outer[1], outer[2] = max(outer[1], edge_byte), max(outer[2], edge_line)

    for at, name in enumerate(names):
        for _ in range(columns["closed"][at]):
            close()
        begin, comment = plus(edge_byte, columns["gap"][at]), columns["comment"][at]
        length = next(comment_lengths) if comment else 0
        start = begin
        if comment % 2:
            start = plus(begin, length) + (comment - 1) // 2 & MOD
        head = plus(start, columns["head"][at])
        name_start = plus(head, columns["name"][at])
        head_end = plus(name_start + len(name.encode()) & MOD, columns["head_len"][at])
        doc_start = begin if comment % 2 else plus(head_end, (comment - 1) // 2) if comment else 0
        kind, keyword = labels[columns["label"][at]]
        line = plus(edge_line, columns["line"][at])
        symbols.append(
            {"kind": kind, "keyword": keyword, "name": name, "start": start, "head": (head, head_end)}
            | {"name_start": name_start, "line": line, "parent": opened[-1][0] if opened else None}
            | {"doc": (doc_start, plus(doc_start, length)) if comment else None}
        )
        opened.append([at, head_end, line])
        edge_byte, edge_line = head_end, line
    while opened:
        close()
    return symbols


def title(symbol):
    return f"{symbol['keyword']} {symbol['name']}" if symbol["keyword"] else symbol["name"]


def outline(symbols):
    """The headings of a program."""
    levels, found = [], []
    for symbol in symbols:
        level = min((levels[symbol["parent"]] if symbol["parent"] is not None else 0) + 1, 255)
        levels.append(level)
        if symbol["kind"] != FIELD:
            begin = min(symbol["start"], symbol["doc"][0]) if symbol["doc"] else symbol["start"]
            found.append((level, title(symbol), begin, symbol["line"]))
    return found


def leb(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def canonical(symbols):
    """The canonical body, of which the content root is made."""
    labels, columns, opened = [], [bytearray() for _ in range(12)], []
    start, line = 0, 1
    for at, symbol in enumerate(symbols):
        label = (symbol["kind"], symbol["keyword"])
        if label not in labels:
            labels.append(label)
        closed = len(opened)
        while opened and opened[-1] != symbol["parent"]:
            opened.pop()
        closed -= len(opened)
        opened.append(at)
        own, doc = symbol["start"], symbol["doc"]
        numbers = [labels.index(label), closed, own - start, symbol["end"] - own, symbol["line"] - line]
        numbers += [symbol["last_line"] - symbol["line"], symbol["name_start"] - own, symbol["head"][0] - own]
        numbers += [symbol["head"][1] - symbol["head"][0], zigzag(own, doc[0]) + 1 if doc else 0]
        numbers += [doc[1] - doc[0] if doc else None, len(symbol["name"].encode())]
        for column, value in zip(columns, numbers, strict=True):
            column += leb(value) if value is not None else b""
        start, line = own, symbol["line"]
    body = leb(len(symbols)) + leb(len(labels))
    for kind, keyword in labels:
        body += bytes([kind]) + leb(len(keyword.encode())) + keyword.encode()
    return body + b"".join(columns) + "".join(it["name"] for it in symbols).encode()
