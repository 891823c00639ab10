"""Files are joined: `Writer.merge_from`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kbfile


@pytest.fixture
def others(tmp_path: Path) -> list[Path]:
    """Two files with a document each and one of the same path."""
    files = []
    for name, text in (("a", "The moon pulls the sea."), ("b", "Bread rises overnight.")):
        file = tmp_path / f"{name}.kb"
        with kbfile.open(file, "w") as kb:
            kb.add(f"# Own\n\n{text}", path=f"{name}.md", metadata={"year": 2024})
            kb.add(f"# Index\n\nOf {name}.", path="index.md")
        files.append(file)
    return files


def texts(path: Path) -> dict[str, str]:
    with kbfile.open(path) as kb:
        return {document.path: document.text for document in kb}


def test_a_merge_has_the_documents_and_answers_of_all(others: list[Path], tmp_path: Path) -> None:
    with kbfile.open(tmp_path / "all.kb", "w") as kb:
        kb.add("Waiting.", path="waiting.md")
        report = kb.merge_from(others, on_conflict="keep-first", tags=["joined"])
        assert (report.added, report.replaced, report.identical, report.left_out) == (3, 0, 0, 1)
        assert (report.renamed_below, report.left_columns, report.left_roots) == ([], [], [])
        assert repr(report) == "MergeReport(added=3, replaced=0, identical=0, left_out=1)"
    assert sorted(texts(tmp_path / "all.kb")) == ["a.md", "b.md", "index.md", "waiting.md"]
    with kbfile.open(tmp_path / "all.kb") as kb:
        assert kb.search("why does the sea rise", k=1)[0].document == "a.md"
        assert kb.search("bread", where="year = 2024")[0].document == "b.md"
        assert kb["a.md"].tags == ["joined"]
        assert kb.verify(deep=True)


def test_folders_globs_and_conflicts_decide_what_comes(others: list[Path], tmp_path: Path) -> None:
    with kbfile.open(tmp_path / "all.kb", "w") as kb:
        with pytest.raises(kbfile.InvalidArgumentError, match="index.md"):
            kb.merge_from(others)
        assert kb.merge_from((str(file) for file in others), folders=True).added == 4
    assert sorted(texts(tmp_path / "all.kb")) == ["a/a.md", "a/index.md", "b/b.md", "b/index.md"]
    with kbfile.open(tmp_path / "part.kb", "w") as kb:
        assert kb.merge_from(tmp_path / "all.kb", only=["a/**", "!**/index.md"]).added == 1
    assert sorted(texts(tmp_path / "part.kb")) == ["a/a.md"]
    with kbfile.open(tmp_path / "last.kb", "w") as kb:
        kb.merge_from(others, on_conflict="keep-last")
    assert texts(tmp_path / "last.kb")["index.md"] == "# Index\n\nOf b."


@pytest.mark.parametrize(
    ("sources", "options", "error"),
    [
        (3, {}, TypeError),
        ([3], {}, TypeError),
        ([], {}, kbfile.InvalidArgumentError),
        ("/nowhere/at all.kb", {}, FileNotFoundError),
        ("a.md", {"on_conflict": "perhaps"}, kbfile.InvalidArgumentError),
        ("a.md", {"only": 3}, TypeError),
        ("a.md", {"tags": [3]}, TypeError),
        ("/", {"folders": True}, kbfile.InvalidArgumentError),
    ],
)
def test_what_cannot_be_merged_is_refused(
    sources: Any, options: dict[str, Any], error: type[Exception], path: Path
) -> None:
    before = texts(path)
    with kbfile.open(path, "a") as kb, pytest.raises(error):
        kb.merge_from(sources, **options)
    assert texts(path) == before


def test_a_file_is_not_merged_into_itself(path: Path) -> None:
    with kbfile.open(path, "a") as kb, pytest.raises(kbfile.InvalidArgumentError):
        kb.merge_from(path)
