"""The answers of `tests/golden/expected.json`, which every front gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import kbfile

GOLDEN = Path(__file__).parents[2] / "tests" / "golden"
EXPECTED: dict[str, Any] = json.loads((GOLDEN / "expected.json").read_text(encoding="utf-8"))


@pytest.fixture(params=sorted(EXPECTED["info"]), scope="module")
def golden(request: pytest.FixtureRequest) -> tuple[kbfile.Kb, dict[str, Any]]:
    # All files give the same answers, but for facts of the file.
    return kbfile.open(GOLDEN / request.param), {**EXPECTED, "info": EXPECTED["info"][request.param]}


# What `told` has of a hit.
TOLD = [
    "document", "section", "start_byte", "end_byte", "start_line", "end_line",
    "score", "keyword_score", "vector_score",
]  # fmt: skip


def milliseconds(time: Any) -> int:
    return 0 if time is None else round(time.timestamp() * 1000)


def test_facts_are_those_expected(golden: tuple[kbfile.Kb, dict[str, Any]]) -> None:
    kb, expected = golden
    info = kb.info
    info["roots"] = [{"source": root["source"], "prefix": root["prefix"]} for root in info["roots"]]
    assert {name: info[name] for name in expected["info"]} == expected["info"]


def test_documents_are_those_expected(golden: tuple[kbfile.Kb, dict[str, Any]]) -> None:
    kb, expected = golden
    paths = {document["document"] for document in expected["documents"]}
    assert {document.path for document in kb} == paths
    for wanted in expected["documents"]:
        document = kb[wanted["document"]]
        told = {
            "title": document.title,
            "handle": document.handle,
            "tags": document.tags,
            "added_ms": milliseconds(document.added),
            "file_type": document.type,
            "language": document.language,
            "class": document.class_,
            "size_bytes": document.size_bytes,
            "text_bytes": document.text_bytes,
            "lines": document.line_count,
            "chunks": len(document.chunks),
            "modified_ms": milliseconds(document.modified),
            "hash": document.hash,
            "metadata": [list(pair) for pair in document.metadata.items()],
            "lines_2_to_3": document.lines(2, 3),
        }
        assert told == {name: wanted[name] for name in told}, wanted["document"]
        if not document.sheets:
            # Of a sheet the text shows what a reader sees; what is stored has the values, too.
            assert len(document.text.encode()) == wanted["text_bytes"]
        headings = [(it.level, it.title, it.span[0]) for it in document.outline]
        outline = [(it["level"], it["title"], it["start_byte"]) for it in wanted["outline"]]
        assert headings == outline, wanted["document"]


def test_parts_of_documents_are_those_expected(golden: tuple[kbfile.Kb, dict[str, Any]]) -> None:
    kb, expected = golden
    for wanted in expected["documents"]:
        document = kb[wanted["document"]]
        for part in wanted.get("parts", []):
            number = part["number"]
            if part["kind"] == "page":
                page = document.pages[number - 1]
                assert (page.number, page.source, page.label) == (number, part["source"], part["label"])
                assert page.lines[0] == part["start_line"]
            elif part["kind"] == "slide":
                slide = document.slides[number - 1]
                assert (slide.number, slide.title, slide.is_hidden) == (number, part["title"], part["hidden"])
            else:
                sheet = document.sheets[number - 1]
                facts = (sheet.name, sheet.row_count, sheet.column_count, sheet.header_row, sheet.is_hidden)
                assert facts == (part["name"], part["rows"], part["columns"], part["header_row"], part["hidden"])
                # A formula whose value is not known shows itself.
                shown = [[it[1] or it[3] if it[2] == "formula" else it[1] for it in row[1]] for row in part["cells"]]
                rows = ([sheet.header] if sheet.header else []) + sheet.rows(shown=True)
                assert [[cell for cell in row if cell] for row in rows] == [[it for it in row if it] for row in shown]


def test_searches_are_answered_as_expected(golden: tuple[kbfile.Kb, dict[str, Any]]) -> None:
    kb, expected = golden
    for wanted in expected["searches"]:
        filters = {
            "path": wanted["paths"],
            "type": wanted["types"],
            "language": wanted["languages"],
            "class_": wanted["classes"],
            "tag": wanted["tags"],
        }
        ask = lambda: kb.search(wanted["query"], mode=wanted["mode"], k=wanted["k"], **filters)  # noqa: B023, E731
        if "error" in wanted:
            with pytest.raises(kbfile.Error) as refused:
                ask()
            assert refused.value.code == wanted["error"]
            continue
        hits = ask()
        assert (hits.searched_chunks, hits.warnings) == (wanted["searched_chunks"], wanted["warnings"])
        assert [told(hit) for hit in hits] == [{name: hit[name] for name in TOLD} for hit in wanted["hits"]]


def told(hit: kbfile.Hit) -> dict[str, Any]:
    return {
        "document": hit.document,
        "section": hit.section,
        "start_byte": hit.span[0],
        "end_byte": hit.span[1],
        "start_line": hit.lines[0],
        "end_line": hit.lines[1],
        "score": round(hit.score, 4),
        "keyword_score": None if hit.keyword_score is None else round(hit.keyword_score, 4),
        "vector_score": None if hit.vector_score is None else round(hit.vector_score, 4),
    }


def test_patterns_match_the_lines_expected(golden: tuple[kbfile.Kb, dict[str, Any]]) -> None:
    kb, expected = golden
    for wanted in expected["patterns"]:
        found = kb.search_regex(wanted["pattern"], k=20)
        assert [[it.document, it.lines[0], it.text] for it in found] == wanted["lines"]
        assert (found.cursor is not None) == wanted["has_more"]
