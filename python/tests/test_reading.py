"""What is read: searches, documents and their parts."""

from __future__ import annotations

import asyncio
import pickle
import signal
import time
from datetime import date, datetime, timedelta, timezone
from pathlib import Path

import pytest

import kbfile


def test_a_question_finds_its_passage(kb: kbfile.Kb) -> None:
    hits = kb.search("why does the sea rise", k=3)
    hit = hits[0]
    assert (hit.document, hits.relevance, hits.mode) == ("docs/tides.md", "relevant", "hybrid")
    assert hit.address == f"docs/tides.md:{hit.lines[0]}-{hit.lines[1]}"
    assert kb["docs/tides.md"].text.encode()[slice(*hit.span)].decode() == hit.text
    assert hits.searched_chunks == 5 or hits.searched_chunks == kb.info["chunks"]
    assert hits.elapsed > timedelta(0)


def test_corrected_words_and_missing_identifiers_are_told(kb: kbfile.Kb) -> None:
    query = "\U0001f30a tidse ADR-086"
    hits = kb.search(query, mode="keyword")
    assert hits.corrections == [{"from": "tidse", "to": "tides", "start": 2, "end": 7}]
    assert query[2:7] == "tidse"
    assert hits.missing == ["ADR-086"]
    assert pickle.loads(pickle.dumps(hits)).corrections == hits.corrections
    assert kb.search(query, mode="keyword", exact=True).corrections == []


def test_hits_are_a_sequence(kb: kbfile.Kb) -> None:
    hits = kb.search("moon", k=4)
    everything = list(hits)
    assert len(hits) == len(everything) >= 2
    assert hits[-1] == everything[-1]
    assert hits[0:2] == everything[:2]
    assert hits[::-1] == everything[::-1]
    with pytest.raises(IndexError):
        hits[len(hits)]
    with pytest.raises(IndexError):
        hits[10**30]


def test_highlights_are_ranges_of_characters(kb: kbfile.Kb) -> None:
    hit = kb.search("Mond", mode="keyword")[0]
    assert hit.document == "übung.md"
    assert [hit.text[a:b] for a, b in hit.highlights] == ["Mond"]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"folder": "docs"}, {"docs/tides.md"}),
        ({"path": ["*.py", "*.csv"]}, set()),
        ({"type": "markdown", "tag": "sea"}, {"docs/tides.md"}),
        ({"language": "python"}, set()),
        ({"class_": "doc"}, {"docs/tides.md"}),
        ({"since": timedelta(days=1)}, {"docs/tides.md"}),
        ({"since": date(2999, 1, 1)}, set()),
    ],
)
def test_filters_leave_out_documents(kb: kbfile.Kb, filters: dict[str, object], expected: set[str]) -> None:
    found = {hit.document for hit in kb.search("moon sea", mode="keyword", **filters)}  # type: ignore[arg-type]
    assert found == expected


def test_files_are_filtered_by_when_they_were_modified(tmp_path: Path) -> None:
    source = tmp_path / "moon.md"
    source.write_text("The moon.")
    with kbfile.open(tmp_path / "a.kb", "w") as writer:
        writer.add(source)
    with kbfile.open(tmp_path / "a.kb") as kb:
        modified = kb["moon.md"].modified
        assert modified is not None and modified.tzinfo == timezone.utc
        before, after = modified - timedelta(seconds=1), modified + timedelta(seconds=1)
        assert len(kb.search("moon", since=before)) == 1
        assert len(kb.search("moon", since=after)) == 0
        assert len(kb.search("moon", since=before.timestamp())) == 1
        assert len(kb.search("moon", since=before.isoformat())) == 1
        assert len(kb.search("moon", since="1h")) == 1
        assert len(kb.search("moon", since=datetime.now() + timedelta(hours=1))) == 0


def test_a_cursor_continues_a_result(kb: kbfile.Kb) -> None:
    first = kb.search("moon", k=1)
    assert first.cursor is not None
    second = kb.search("moon", k=1, cursor=first.cursor)
    assert second[0].document != first[0].document
    with pytest.raises(kbfile.CursorError):
        kb.search("sea", k=1, cursor=first.cursor)


def test_context_lines_and_explanations_come_when_asked_for(kb: kbfile.Kb) -> None:
    plain = kb.search("half moon", mode="keyword")
    assert (plain.explanation, plain[0].terms) == (None, {})
    explained = kb.search("half moon", explain=True, context=(1, 0))
    assert explained.explanation is not None and explained.explanation["chunks"] >= 5
    assert "moon" in explained[0].terms


def test_many_queries_are_answered_as_each_alone(kb: kbfile.Kb) -> None:
    queries = ["moon", "flour", "height of Skagen"]
    together = kb.search_many(queries, k=2)
    assert [list(hits) for hits in together] == [list(kb.search(query, k=2)) for query in queries]
    with pytest.raises(TypeError):
        kb.search_many("moon")


def test_threads_give_the_same_answers(kb: kbfile.Kb) -> None:
    queries = ["moon", "flour", "height of Skagen"] * 4
    alone = [list(kb.search(query)) for query in queries]
    for threads in (2, 64):
        assert [list(hits) for hits in kb.search_many(queries, threads=threads)] == alone
        assert [list(kb.search(query, threads=threads)) for query in queries] == alone
    for threads in (0, 65):
        with pytest.raises(kbfile.InvalidArgumentError, match="threads"):
            kb.search("moon", threads=threads)
        with pytest.raises(kbfile.InvalidArgumentError, match="threads"):
            kb.search_many(queries, threads=threads)


def test_a_search_can_be_awaited(kb: kbfile.Kb) -> None:
    async def both() -> list[kbfile.Hits]:
        return list(await asyncio.gather(kb.asearch("moon", k=1), kb.asearch("flour", k=1)))

    assert [hits[0].document for hits in asyncio.run(both())] == ["docs/tides.md", "docs/bread.md"]


def test_several_files_are_searched_as_one(kb: kbfile.Kb, tmp_path: Path) -> None:
    with kbfile.open(tmp_path / "b.kb", "w") as writer:
        writer.add("The moon is made of cheese.", path="cheese.txt")
    other = kbfile.open(tmp_path / "b.kb")
    hits = kbfile.search_files([kb, other], "moon cheese", k=3)
    assert (hits[0].document, hits[0].file) == ("cheese.txt", 1)


def test_documents_are_found_by_several_names(kb: kbfile.Kb) -> None:
    document = kb["docs/tides.md"]
    assert kb["tides.md"] == document == kb[document.handle]
    assert "docs/tides.md" in kb and "nothing.md" not in kb and 3 not in kb
    assert len(kb) == 5 == len(list(kb))
    assert [it.path for it in kb.documents("docs")] == ["docs/bread.md", "docs/tides.md"]
    assert [it.path for it in kb.documents("", recursive=False)] == ["stations.csv", "übung.md"]


def test_a_document_has_its_facts_and_texts(kb: kbfile.Kb) -> None:
    document = kb["docs/tides.md"]
    assert (document.title, document.type, document.class_, document.tags) == ("Tides", "markdown", "doc", ["sea"])
    assert document.lines(1, 1) == "# Tides\n"
    assert document.lines(5) == "## Neap\n\nHalf moon.\n"
    assert [(it.number, it.title, it.level) for it in document.outline] == [("1", "Tides", 1), ("1.1", "Neap", 2)]
    assert "Half moon." in document.section("Neap")
    assert "".join(chunk.text for chunk in document.chunks) == document.text
    assert [page.text for page in document.pages] == [document.text]
    assert (document.slides, document.sheets) == ([], [])
    assert len(document.hash) == 64


def test_a_table_has_rows_of_values(kb: kbfile.Kb) -> None:
    (sheet,) = kb["stations.csv"].sheets
    assert (sheet.row_count, sheet.column_count, sheet.header) == (3, 2, ["station", "height"])
    assert sheet.rows() == [["Skagen", 2.0], ["Rattray", 4.5]]
    assert sheet.rows("B2:B3") == [[2.0], [4.5]]
    assert sheet.rows(shown=True) == [["Skagen", "2"], ["Rattray", "4.5"]]


def test_pages_of_a_document_are_read_by_a_worker(tmp_path: Path) -> None:
    text = "{\\rtf1 First page.\\page Second page.}"
    with kbfile.open(tmp_path / "a.kb", "w") as writer:
        writer.add(text.encode(), path="two.rtf")
    with kbfile.open(tmp_path / "a.kb") as kb:
        assert [page.text.strip() for page in kb["two.rtf"].pages] == ["First page.", "Second page."]
        assert kb.search("second page", mode="keyword")[0].page == 2


def test_programs_have_symbols(kb: kbfile.Kb) -> None:
    if not kb["src/tides.py"].symbols:
        pytest.skip("this module was built without grammars")
    assert [(it.kind, it.name, it.lines) for it in kb["src/tides.py"].symbols] == [
        ("function", "ebb", (1, 2)),
        ("function", "flow", (5, 6)),
    ]
    (caller,) = kb.symbols(uses="ebb")
    assert (caller.name, caller.calls) == ("flow", [6])
    assert [it.name for it in kb.symbols("E*", kind="function", language="python")] == ["ebb"]
    assert kb.search("ebb", kind="function")[0].symbol == kb.symbols("ebb")[0] or kb.search("ebb")[0].symbol is not None


def test_regular_expressions_find_lines(kb: kbfile.Kb) -> None:
    found = kb.search_regex(r"m[o]{2}n\b", ignore_case=True)
    assert [(it.document, it.lines[0]) for it in found] == [("docs/tides.md", 3), ("docs/tides.md", 7)]
    assert found[0].text[slice(*found[0].ranges[0])] == "moon"
    assert found.is_complete
    with pytest.raises(kbfile.InvalidPatternError, match="character 1"):
        kb.search_regex("(moon")


def test_facts_add_up(kb: kbfile.Kb) -> None:
    assert kb.path is not None
    info = kb.info
    assert info["documents"] == 5 and info["types"]["markdown"] == 3
    assert sum(kb.sizes().values()) == kb.path.stat().st_size == info["file_bytes"]
    report = kb.verify(deep=True)
    assert report and report.problems == [] and report.documents == 5


def test_bytes_are_opened_as_a_file_is(kb: kbfile.Kb) -> None:
    assert kb.path is not None
    of_bytes = kbfile.open(kb.path.read_bytes())
    assert of_bytes.path is None
    assert list(of_bytes.search("moon")) == list(kb.search("moon"))


def test_an_exception_of_a_signal_handler_ends_a_search_for_a_pattern(tmp_path: Path) -> None:
    class Rang(Exception):
        pass

    def ring(*_: object) -> None:
        raise Rang

    path = tmp_path / "a.kb"
    with kbfile.open(path, "w") as writer:
        writer.add(" ".join(f"word{chr(97 + n % 26)} e" for n in range(120_000)), path="long.txt")
    kb = kbfile.open(path)
    before = signal.signal(signal.SIGALRM, ring)
    try:
        for pattern, multi_line in (("[a-z ]*e[a-z0-9 ]{60000}[A-Z]", False), ("(?s)[a-z ]*e[a-z0-9 ]{30000}Z|.", True)):
            began = time.process_time()
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            with pytest.raises(Rang):
                # Many times as long as is allowed below, where nothing ends it.
                kb.search_regex(pattern, multi_line=multi_line)
            assert time.process_time() - began < 2
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_results_are_tables_and_shown_in_notebooks(tmp_path: Path) -> None:
    path = tmp_path / "a.kb"
    with kbfile.open(path, "w") as writer:
        writer.add("# Tides\n\nThe <b>moon</b> & sea.\n\n## Spring\n\nmoon again\n", path="docs/tides.md", tags=["sea"])
        writer.add("def high_water(day):\n    return moon\n", path="tide.py")
    kb = kbfile.open(path)
    matches = kb.search_regex("moon")
    shown = matches._repr_html_()
    assert "docs/tides.md:3" in shown and "&lt;b&gt;moon&lt;/b&gt; &amp; sea" in shown and "<b>" not in shown
    assert kb.search_regex("nothing here")._repr_html_() == "<p>No matches.</p>"
    document = kb["docs/tides.md"]._repr_html_()
    assert "Spring" in document and "sea" in document and "docs/tides.md" in document
    symbols = kb.symbols()
    if len(symbols):
        assert "high_water(day)" in symbols._repr_html_()
    pandas = pytest.importorskip("pandas")
    frame = matches.to_pandas()
    assert list(frame["document"]) == ["docs/tides.md", "docs/tides.md", "tide.py"]
    assert list(frame["first_line"]) == [3, 7, 2] and frame["page"].isna().all()
    assert list(kb.documents().to_pandas()["path"]) == ["docs/tides.md", "tide.py"]
    assert list(kb.documents("docs").to_pandas()["tags"]) == ["sea"]
    documents = kb.documents()
    assert next(documents).path == "docs/tides.md"
    assert "tide.py" in documents._repr_html_() and "docs/tides.md" not in documents._repr_html_()
    assert len(documents.to_pandas()) == 1 and [document.path for document in documents] == ["tide.py"]
    assert documents._repr_html_() == "<p>No documents.</p>" and len(documents.to_pandas()) == 0
    chunks = kb["docs/tides.md"].to_pandas()
    assert "".join(chunks["text"]) == kb["docs/tides.md"].text
    for empty in (kb.search_regex("nothing here"), kb.symbols("nothing")):
        assert isinstance(empty.to_pandas(), pandas.DataFrame) and len(empty.to_pandas()) == 0
    for name in ("polars", "pyarrow"):
        pytest.importorskip(name)
    for table in (matches, symbols, kb["docs/tides.md"]):
        assert table.to_polars().height == len(table.to_pandas()) == table.to_arrow().num_rows
    assert kb.documents().to_arrow().column("line_count").to_pylist() == [7, 2]
    assert kb.documents().to_polars()["modified"].dtype.time_zone == "UTC"  # type: ignore[attr-defined]
