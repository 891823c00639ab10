"""Columns that no verb of the reader uses, read as tables.md says: fields, trigrams, sign codes, inverted lists, facets."""

from __future__ import annotations

import math
import struct
import sys
from pathlib import Path

import pytest

if sys.version_info < (3, 14):
    pytest.importorskip("backports.zstd", reason="a decoder of zstd is not installed")

from kbreader import records, text
from kbreader.container import Container
from kbreader.records import Cursor

GOLDEN = Path(__file__).parents[3] / "tests" / "golden"
KINDS = {1: "text", 2: "integer", 3: "float", 4: "time"}


def opened(name: str) -> text.Documents:
    return text.Documents(Container((GOLDEN / name / "golden.kb").read_bytes()))


def field_record(row: bytes) -> dict:
    cursor = Cursor(row)
    cursor.version("a field", 1)
    found = {"texts": cursor.uint(), "text_blocks": cursor.list(cursor.uint), "position": cursor.uint()}
    block = lambda: (cursor.u8(), cursor.uint(), cursor.u8(), cursor.uint(), cursor.uint())
    return found | {"blocks": cursor.list(block)}


def field_texts(record: dict, column) -> list[str]:
    found, at = [], record["position"]
    for size in record["text_blocks"]:
        cursor, before = Cursor(column.bytes(at, size)), b""
        while cursor.left():
            shared, further = cursor.leb(), cursor.leb()
            before = before[:shared] + cursor.take(further)
            found.append(before.decode())
        at += size
    assert len(found) == record["texts"] and found == sorted(found, key=str.encode)
    return found


def block_rows(cursor: Cursor, form: int, number: int, slots: int, rows: int) -> list[tuple[int, int]]:
    """Slot and row of each row of a block that has a key."""
    first = 16384 * number
    count = min(16384, rows - first)
    if form == 0:
        return [(at, first + at) for at in range(count)]
    if form == 1:
        bits = int.from_bytes(cursor.take((count + 7) // 8), "little")
        return [(at, first + at) for at in range(count) if bits >> at & 1]
    return [(at, first + cursor.fixed(2)) for at in range(slots)]


def strip_keys(cursor: Cursor, slots: int) -> list[int]:
    base, width = cursor.fixed(8), cursor.u8()
    numbers = [0] * slots
    for _ in range(width):
        bits = int.from_bytes(cursor.take((slots + 7) // 8), "little")
        numbers = [number << 1 | bits >> at & 1 for at, number in enumerate(numbers)]
    return [base + number for number in numbers]


def field_keys(record: dict, column, rows: int) -> list[tuple[int, int]]:
    at, found = record["position"] + sum(record["text_blocks"]), []
    for _, number, form, slots, size in record["blocks"]:
        cursor = Cursor(column.bytes(at, size))
        with_key = block_rows(cursor, form, number, slots, rows)
        keys = []
        for start in range(0, slots, 512):
            keys += strip_keys(cursor, min(512, slots - start))
        assert not cursor.left()
        found += [(row, keys[slot]) for slot, row in with_key]
        at += size
    return found


def value_of(kind: str, key: int, texts: list[str]):
    if kind == "text":
        return texts[key]
    if kind == "float":
        bits = key ^ (1 << 63 if key >> 63 else (1 << 64) - 1)
        return struct.unpack("<d", struct.pack("<Q", bits))[0]
    return key - (1 << 63)


def stated(kind: str, value: str):
    if kind == "time":
        days, time = value.split("T")
        year, month, day = map(int, days.split("-"))
        hours, minutes, seconds = map(int, time.rstrip("Z").split(":"))
        # Days since 1970 by the rule of the Gregorian calendar.
        year, month = (year - 1, month + 12) if month < 3 else (year, month)
        since = 365 * year + year // 4 - year // 100 + year // 400 + (153 * month - 457) // 5 + day - 719469
        return 1000 * (86400 * since + 3600 * hours + 60 * minutes + seconds)
    return {"integer": int, "float": float, "text": str.lower}[kind](value)


def test_columns_of_fields_have_what_documents_state() -> None:
    documents, compared, kinds = opened("v0.13-fields"), 0, set()
    for key, row in documents.container.rows("fields"):
        segment = documents.segments[int.from_bytes(key[:4], "big")]
        name, kind = key[4:-2].decode(), KINDS[key[-1]]
        assert key[-2:-1] == b"="
        record = field_record(row)
        texts = field_texts(record, segment.columns[7])
        # What columns say of rows whose fields changed afterwards does not count.
        edited = documents.container.get("facets", key[:4] + b"\x09fields")
        edited = records.bitmap(edited) if edited else set()
        for at, stored in field_keys(record, segment.columns[7], segment.rows):
            if at in edited:
                continue
            given = documents.records[segment.chunk(at)[0]]["metadata"]
            values = [value for one, value in given if one.strip().lower() == name]
            value = value_of(kind, stored, texts)
            wanted = [stated(kind, one) for one in values if kind == "text" or re_kind(one) == kind]
            assert value in wanted, (name, kind, value, values)
            compared += 1
        kinds.add(kind)
    assert compared > 500 and kinds == set(KINDS.values())


def re_kind(value: str) -> str:
    if "T" in value and value.endswith("Z"):
        return "time"
    if value.lstrip("-").isdigit():
        return "integer"
    return "float" if value.lstrip("-").replace(".", "", 1).isdigit() else "text"


def rice(cursor: Cursor, units: int, count: int, size: int | None) -> list[int]:
    """The numbers of a code of gaps."""
    g = units * 45426 // (max(count, 1) * 65536)
    k = 0 if g < 2 else g.bit_length() - 1
    data = cursor.take(size) if size is not None else cursor.data[cursor.at :]
    bits, at, found, before = int.from_bytes(data, "little"), 0, [], -1
    for _ in range(count):
        ones = 0
        while bits >> at & 1:
            ones, at = ones + 1, at + 1
        gap = ones << k | bits >> at + 1 & (1 << k) - 1
        at += 1 + k
        before += gap + 1
        found.append(before)
    if size is None:
        cursor.take((at + 7) // 8)
    return found


def trigram_lists(segment) -> dict[int, set[int]]:
    units, found = len(segment.columns[48]) // 4, {}
    for number in range(len(segment.columns[49]) // 16):
        head = Cursor(segment.columns[49].row(number))
        trigram, size, position = head.fixed(4), head.fixed(4), head.fixed(8)
        cursor = Cursor(segment.columns[50].bytes(position, size))
        while cursor.left():
            trigram += cursor.leb()
            head_value = cursor.leb()
            count, is_inverse = head_value >> 1, head_value & 1
            numbers = set(rice(cursor, units, count, cursor.leb() if count > 8 else None))
            found[trigram] = set(range(units)) - numbers if is_inverse else numbers
    return found


def test_trigrams_of_a_unit_are_those_of_its_text() -> None:
    documents = opened("v0.13")
    segment = documents.segments[2]
    starts = [int.from_bytes(segment.columns[48].row(at), "little") for at in range(len(segment.columns[48]) // 4)]
    expected: dict[int, set[int]] = {}
    for unit, first in enumerate(starts):
        end = starts[unit + 1] if unit + 1 < len(starts) else segment.rows
        texts: dict[int, bytes] = {}
        for row in range(first, end):
            owner = segment.chunk(row)[0]
            texts[owner] = texts.get(owner, b"") + segment.chunk_text(row)
        for owner, found in texts.items():
            if owner not in documents.records:
                continue
            parts = documents.parts(owner)
            if parts and parts[0]["kind"] == "sheet":
                found = text.shown(found.decode()).encode()
            found = bytes(byte + 32 if 65 <= byte <= 90 else byte for byte in found)
            for three in {found[at : at + 3] for at in range(len(found) - 2)}:
                if b"\n" not in three and b"\r" not in three:
                    expected.setdefault(int.from_bytes(three, "big"), set()).add(unit)
    lists = trigram_lists(segment)
    assert len(expected) > 500
    for trigram, units in expected.items():
        assert units <= lists[trigram], trigram
    # A deleted chunk may still be in the lists.
    deleted = b"".join(segment.chunk_text(row).lower() for row in segment.deleted["rows"])
    for trigram in set(lists) - set(expected):
        assert trigram.to_bytes(3, "big") in deleted


def test_sign_codes_are_the_signs_of_the_rows() -> None:
    for segment in opened("v0.13").segments.values():
        rows, codes = segment.columns[32], segment.columns[34]
        for row in range(segment.rows):
            block = codes.row(row // 64)
            values = struct.unpack("192b", rows.row(row))
            for dim, value in enumerate(values):
                byte = block[32 * (dim // 4) + row % 32]
                assert byte >> (dim % 4 + (4 if row % 64 >= 32 else 0)) & 1 == (value > 0)


def test_inverted_lists_hold_each_row_once_near_its_centroid() -> None:
    for segment in opened("v0.13-lists").segments.values():
        vectors = segment.columns[32]
        centroids = [struct.unpack("192b", segment.columns[35].row(at)) for at in range(len(segment.columns[35]) // 192)]
        seen = []
        for number, centroid in enumerate(centroids):
            head = Cursor(segment.columns[36].row(number))
            first, count, radius = head.fixed(4), head.fixed(4), head.fixed(4)
            squares = []
            for place in range(count):
                block = segment.columns[37].row(first + place // 64)
                row = int.from_bytes(block[1536 + 64 + 4 * (place % 64) :][:4], "little")
                values = struct.unpack("192b", vectors.row(row))
                residual = [a - b for a, b in zip(values, centroid)]
                distances = [sum((a - b) ** 2 for a, b in zip(values, one)) for one in centroids]
                assert distances.index(min(distances)) == number
                total, square = sum(map(abs, residual)), sum(one * one for one in residual)
                factor = min(255, (8 * square + total) // (2 * total)) if total else 0
                assert block[1536 + place % 64] == factor
                squares.append(square)
                seen.append(row)
            assert radius == (math.isqrt(sum(squares) // count) if count else 0)
        assert sorted(seen) == [row for row in range(segment.rows) if any(vectors.row(row))]


def test_facets_say_what_records_say() -> None:
    documents, compared = opened("v0.13"), 0
    for key, row in documents.container.rows("facets"):
        segment, facet, value = int.from_bytes(key[:4], "big"), key[4], key[5:].decode()
        if facet not in (1, 2, 3, 4) or segment not in documents.segments:
            continue
        found = documents.segments[segment]
        for at in records.bitmap(row) & set(found.live()):
            record = documents.records[found.chunk(at)[0]]
            told = [record["file_type"]], [record["language"]], [text.CLASSES[record["class"]]], record["tags"]
            assert value in told[facet - 1]
            compared += 1
    assert compared > 100
