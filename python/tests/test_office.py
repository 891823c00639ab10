"""Parts of office files, which a worker process reads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kbfile

DOCUMENTS = Path(__file__).parents[2] / "tests" / "corpus" / "documents"


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> kbfile.Kb:
    path = tmp_path_factory.mktemp("office") / "a.kb"
    with kbfile.open(path, "w") as kb:
        for name in ("page-breaks.docx", "numbered-headings.docx", "tables.xlsx", "notes.pptx"):
            kb.add(DOCUMENTS / name, path=name)
    return kbfile.open(path)


def test_a_letter_has_pages(office: kbfile.Kb) -> None:
    pages = office["page-breaks.docx"].pages
    assert [page.number for page in pages] == [1, 2, 3, 4, 5, 6]
    assert pages[1].text.startswith("<<Text on second page.")
    assert office.search("text on second page", mode="keyword", path="*.docx")[0].page == 2


def test_headings_are_an_outline_with_numbers(office: kbfile.Kb) -> None:
    outline = office["numbered-headings.docx"].outline
    assert [(it.number, it.level, it.title) for it in outline[:3]] == [
        ("1", 1, "Test Document"),
        ("2", 1, "Section 1"),
        ("2.1", 2, "Section 1.1"),
    ]


def test_a_workbook_has_sheets_of_values(office: kbfile.Kb) -> None:
    sheets = office["tables.xlsx"].sheets
    assert [(it.name, it.row_count, it.column_count) for it in sheets] == [("Sheet1", 5, 3), ("Sheet2", 5, 2), ("Sheet3", 11, 2)]
    assert sheets[0].header == ["Item", "Type", "Quantity"]
    assert sheets[0].rows("B2:C3") == [["Apple", 50], ["Banana", 200]]
    assert office.search("banana", mode="keyword")[0].sheet == "Sheet1"


def test_a_presentation_has_slides_with_notes(office: kbfile.Kb) -> None:
    first, second = office["notes.pptx"].slides
    assert (first.number, first.notes.strip(), first.is_hidden) == (1, "Notes", False)
    assert (second.number, second.notes) == (2, "")


def test_the_command_reads_a_letter_by_a_worker(tmp_path: Path, python: Callable[..., Any]) -> None:
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "letter.docx").write_bytes((DOCUMENTS / "page-breaks.docx").read_bytes())
    file = tmp_path / "a.kb"
    made = python("-m", "kbfile", "index", str(sources), "-o", str(file))
    assert made.returncode == 0, made
    assert "letter.docx" in python("-m", "kbfile", "search", "-f", str(file), "second page").stdout
