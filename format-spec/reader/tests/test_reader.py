"""The second reader against `tests/golden/expected.json` and damaged files."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

if sys.version_info < (3, 14):
    pytest.importorskip("backports.zstd", reason="a decoder of zstd is not installed")

from kbreader import hashes, root, symbols, text
from kbreader.container import Container, Damaged, NotAKb, Unsupported

GOLDEN = Path(__file__).parents[3] / "tests" / "golden"
EXPECTED = json.loads((GOLDEN / "expected.json").read_text(encoding="utf-8"))
KINDS = {"n": "number", "t": "text", "b": "boolean", "d": "date", "e": "error", "f": "formula", "m": "nothing"}
# As `kb seal` prints them.
ROOTS = {
    "v0.13": "283950f99a152a28dae75b572abc74a96be4b3194047feda44cafa285a3c9521",
    "v0.13-lists": "283950f99a152a28dae75b572abc74a96be4b3194047feda44cafa285a3c9521",
    "v0.13-groups": "25308a7df1e3e7e02462b590ac2b9df52e031e09ab77df349b83ba795c4faf2a",
    "v0.13-fields": "fe03219cbc22cb8a961fc8b467247fb820f66781f4356c8557a7d304552a7eea",
}


def golden_bytes(name: str = "v0.13") -> bytes:
    return (GOLDEN / name / "golden.kb").read_bytes()


def opened(name: str = "v0.13") -> text.Documents:
    return text.Documents(Container(golden_bytes(name)))


@pytest.fixture(params=sorted(EXPECTED["info"]), scope="module")
def documents(request):
    return opened(request.param.split("/")[0])


def test_hashes_are_those_of_other_programs() -> None:
    # Sums by xxhash 4.1.0 and blake3 1.0.11 from PyPI: every length has a path of its own up to 240 bytes.
    data, narrow, wide = bytes(at * 37 % 251 for at in range(5000)), 0, 0
    for size in [*range(300), 1023, 1024, 1025, 2048, 3000, 5000]:
        narrow = (narrow * 31 + hashes.xxh3_64(data[:size])) % 2**64
        wide = (wide * 31 + hashes.xxh3_128(data[:size])) % 2**128
    assert narrow == 0x90af96c93d4a47d
    assert wide == 0x9e23205da51f70044dfdbf6729c0c8f4
    assert hashes.blake3(data).hex() == "836ab56c0e65c1c5c0027ddbeac2d44858a13394dafb518b07bc02fcbcc66040"
    assert hashes.blake3(b"").hex() == "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"


def test_facts_of_documents_are_those_expected(documents) -> None:
    assert {path for path, _ in documents.paths()} == {wanted["document"] for wanted in EXPECTED["documents"]}
    for wanted in EXPECTED["documents"]:
        number = documents.find(wanted["handle"])
        assert number == documents.find(wanted["document"])
        record = documents.records[number]
        names = "title tags added_ms file_type language size_bytes text_bytes lines modified_ms metadata".split()
        told = {name: record[name] for name in names}
        told |= {"document": record["path"], "handle": documents.handle(record), "hash": record["hash"].hex()}
        told |= {"class": text.CLASSES[record["class"]], "chunks": len(documents.chunks(record))}
        assert told == {name: wanted[name] for name in told}


def test_texts_lines_and_outlines_are_those_expected(documents) -> None:
    for wanted in EXPECTED["documents"]:
        number = documents.find(wanted["document"])
        record = documents.records[number]
        found, lines = documents.text(record).decode(), documents.lines(record, 2, 3).decode()
        if any(part["kind"] == "sheet" for part in documents.parts(number)):
            found, lines = text.shown(found), text.shown(lines)
        assert f"{hashes.xxh3_64(found.encode()):016x}" == wanted["text_xxh3_64"]
        assert lines == wanted["lines_2_to_3"]
        names = ("level", "title", "start_byte", "line")
        assert [dict(zip(names, it)) for it in documents.outline(number)] == wanted["outline"]


def part_told(documents, record, part, number) -> dict:
    told = {"number": number, "kind": part["kind"], "start_byte": part["start"], "end_byte": part["end"]}
    told |= {"start_line": part["lines"][0], "end_line": part["lines"][1]}
    if part["kind"] == "page":
        return told | {"source": text.PAGE_SOURCES[part["source"]], "label": part["label"]}
    if part["kind"] == "slide":
        return told | {"title": part["title"], "notes_byte": part["notes"], "hidden": part["hidden"]}
    cells = lambda row: [[column, shown, KINDS[kind], value] for column, shown, kind, value in row]
    told |= {name: part[name] for name in ("name", "rows", "columns", "header_row", "hidden", "uncalculated")}
    return told | {"cells": [[row, cells(found)] for row, found in documents.sheet_rows(record, part)]}


def test_parts_and_cells_are_those_expected(documents) -> None:
    for wanted in EXPECTED["documents"]:
        number = documents.find(wanted["document"])
        record = documents.records[number]
        parts = enumerate(documents.parts(number), 1)
        assert [part_told(documents, record, part, at) for at, part in parts] == wanted.get("parts", [])


@pytest.mark.parametrize("name", sorted(ROOTS))
def test_content_roots_are_those_of_sealed_files(name: str) -> None:
    assert root.verify(opened(name))[0].hex() == ROOTS[name]


def test_symbols_in_groups_stand_within_each_other() -> None:
    documents = opened("v0.13-groups")
    divided = [number for number, row in documents.container.rows("symbols") if number and row[0] == 3]
    assert divided
    for number in divided:
        listed = symbols.of_document(documents.container, number)
        assert len(listed) > 100
        stored = documents.text(documents.records[number])
        for at, symbol in enumerate(listed):
            start = symbol["name_start"]
            assert stored[start : start + len(symbol["name"].encode())] == symbol["name"].encode()
            if symbol["parent"] is not None:
                holder = listed[symbol["parent"]]
                assert symbol["parent"] < at and holder["start"] <= symbol["start"] and symbol["end"] <= holder["end"]


def test_a_changed_byte_of_a_page_is_noticed() -> None:
    good = golden_bytes()
    # The slot, the signature block, and a title that no hash of a document has.
    page = 4096 * (1 + Container(good).tables["docs"].root[0])
    for at in (64 + 128 + 20, 600, good.index(b"Lighthouse handbook", page)):
        bad = bytearray(good)
        bad[at] ^= 1
        with pytest.raises(Damaged):
            root.verify(text.Documents(Container(bytes(bad))))
    with pytest.raises(NotAKb):
        Container(b"PK\x03\x04" + good[4:512] + bytes(len(good) - 512))


def test_an_unknown_version_is_unsupported_and_not_damaged() -> None:
    bad = bytearray(golden_bytes())
    bad[522:524] = b"\xff\x00"
    bad[1016:1024] = hashes.xxh3_64(bytes(bad[512:1016])).to_bytes(8, "little")
    with pytest.raises(Unsupported, match="0.255"):
        Container(bytes(bad))


def test_the_command_prints_lines_of_a_document() -> None:
    command = [sys.executable, "-m", "kbreader", str(GOLDEN / "v0.13" / "golden.kb")]
    run = lambda *arguments: subprocess.run(
        [*command, *arguments], capture_output=True, encoding="utf-8", cwd=Path(__file__).parents[1]
    )
    assert run("text", "docs/handbook.md", "--lines", "2-3").stdout == "author: The keepers\ndate: 2024-03-01\n"
    assert len(run("ls").stdout.splitlines()) == len(EXPECTED["documents"])
    assert run("text", "nothing.md").stderr.startswith("not found")


def smallest() -> bytes:
    page = (Path(__file__).parents[2] / "smallest.md").read_text(encoding="utf-8")
    data = bytearray(12288)
    for offset, listed in re.findall(r"^([0-9a-f]{4})  ((?:[0-9a-f]{2} ?)+)", page, re.MULTILINE):
        listed = bytes.fromhex(listed)
        data[int(offset, 16) : int(offset, 16) + len(listed)] = listed
    return bytes(data)


def test_the_smallest_file_of_the_page_is_a_file(tmp_path: Path) -> None:
    data = smallest()
    documents = text.Documents(Container(data))
    assert documents.records == {} and documents.meta["writer"] == "by hand" and documents.container.commit == 2
    kbfile = pytest.importorskip("kbfile", reason="the module of the engine is not installed")
    path = tmp_path / "smallest.kb"
    path.write_bytes(data)
    with kbfile.open(path) as kb:
        assert len(kb) == 0 and kb.verify(deep=True).problems == []
    with kbfile.open(path, "a") as writer:
        writer.add("# Tides\n\nHigh water at noon.\n", path="notes.md")
    found = text.Documents(Container(path.read_bytes()))
    assert found.text(found.records[found.find("notes.md")]) == b"# Tides\n\nHigh water at noon.\n"
