"""What a passage carries, which arguments the retriever takes, and what it refuses."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import kbfile
import pytest
from langchain_core.documents import Document
from pydantic import ValidationError

from langchain_kbfile import KbRetriever

TIDES = "# Tides\n\nIntro.\n\n## Cause\n\nThe moon pulls the sea twice a day.\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "notes.kb"
    with kbfile.open(path, "w") as kb:
        kb.add(TIDES, path="sea/tides.md", tags=["nature"])
        kb.add("# Bread\n\nFlour, water, salt and patience.\n", path="kitchen/bread.md")
        kb.add("def tide_table(day):\n    return moon(day)\n", path="code/tide.py")
    return path


def test_metadata_says_where_a_passage_is(path: Path) -> None:
    (document,) = KbRetriever(kb=path, k=1, class_="doc").invoke("why does the moon pull the sea")
    assert isinstance(document, Document)
    metadata = document.metadata
    assert metadata["source"] == "sea/tides.md"
    assert metadata["title"] == "Tides"
    assert metadata["section"].startswith("Tides")
    assert metadata["tags"] == ["nature"]
    assert 0 < metadata["score"] <= 1
    first, last = metadata["lines"]
    assert metadata["address"] == f"sea/tides.md:{first}-{last}"
    start, end = metadata["span"]
    assert TIDES.encode()[start:end].decode() == document.page_content
    assert "page" not in metadata and "sheet" not in metadata and "slide" not in metadata
    assert document.id == f"sea/tides.md#{start}-{end}"


def test_rows_of_a_sheet_are_named(tmp_path: Path) -> None:
    path = tmp_path / "sheet.kb"
    with kbfile.open(path, "w") as kb:
        kb.add(b"city,height\nDelft,2\nBern,540\n", path="cities.csv")
    (document,) = KbRetriever(kb=path, k=1).invoke("height of Bern")
    assert document.metadata["sheet"] == ""
    first, last = document.metadata["rows"]
    assert 1 <= first <= 3 <= last


def test_a_symbol_is_named(path: Path) -> None:
    if not len(kbfile.open(path).symbols("tide_table")):
        pytest.skip("this build of kbfile has no grammars")
    (document,) = KbRetriever(kb=path, k=1, language="python").invoke("tide_table")
    assert document.metadata["symbol"] == "tide_table"
    assert document.metadata["language"] == "python"


@pytest.mark.parametrize(
    ("options", "sources"),
    [
        ({"folder": "kitchen"}, {"kitchen/bread.md"}),
        ({"path": "**/*.py"}, {"code/tide.py"}),
        ({"class_": "code"}, {"code/tide.py"}),
        ({"tag": "nature"}, {"sea/tides.md"}),
        ({"type": ["markdown"], "tag": ["nature"]}, {"sea/tides.md"}),
        ({"min_score": 0.999999}, set()),
    ],
)
def test_filters_work_as_fields_and_for_one_call(
    path: Path, options: dict[str, object], sources: set[str]
) -> None:
    query = "sea and water on a day"
    for documents in (
        KbRetriever(kb=path, **options).invoke(query),
        KbRetriever(kb=path).invoke(query, **options),
    ):
        assert {document.metadata["source"] for document in documents} == sources


def test_context_is_added_to_the_content(path: Path) -> None:
    retriever = KbRetriever(kb=path, k=1, max_lines=1, context=2, folder="sea")
    (document,) = retriever.invoke("moon pulls the sea")
    assert "## Cause" in document.page_content and "twice a day" in document.page_content


async def test_the_asynchronous_search_finds_the_same(path: Path) -> None:
    retriever = KbRetriever(kb=path)
    assert await retriever.ainvoke("moon", k=2) == retriever.invoke("moon", k=2)


def test_an_open_file_is_used_and_stays_open(path: Path) -> None:
    with kbfile.open(path) as kb:
        assert KbRetriever(kb=kb).invoke("bread")
        assert not kb.closed
    with pytest.raises(kbfile.ClosedError):
        KbRetriever(kb=kb).invoke("bread")


def test_a_new_commit_is_seen(path: Path) -> None:
    retriever = KbRetriever(kb=path, k=1)
    assert all("zebra" not in document.page_content for document in retriever.invoke("zebra"))
    with kbfile.open(path, "a") as kb:
        kb.add("A zebra has stripes.", path="zebra.txt")
    assert retriever.invoke("zebra")[0].metadata["source"] == "zebra.txt"


def test_threads_share_a_retriever(path: Path) -> None:
    retriever = KbRetriever(kb=path, k=1)
    expected = retriever.invoke("moon")
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(retriever.invoke, ["moon"] * 40)) == [expected] * 40


def test_a_pickle_opens_the_file_again(path: Path) -> None:
    retriever = KbRetriever(kb=path, k=1)
    expected = retriever.invoke("moon")
    assert pickle.loads(pickle.dumps(retriever)).invoke("moon") == expected


def test_a_chain_takes_it(path: Path) -> None:
    chain = KbRetriever(kb=path, k=1) | (lambda documents: documents[0].page_content)
    assert "moon" in chain.invoke("moon and sea")


def test_mistakes_are_errors(path: Path, tmp_path: Path) -> None:
    with pytest.raises(ValidationError):
        KbRetriever(kb=path, foldr="kitchen")
    with pytest.raises(ValidationError):
        KbRetriever(kb=path, k=0)
    with pytest.raises(TypeError, match="foldr"):
        KbRetriever(kb=path).invoke("moon", foldr="kitchen")
    with pytest.raises(kbfile.NotFoundError):
        KbRetriever(kb=tmp_path / "none.kb").invoke("moon")


@pytest.fixture
def books(tmp_path: Path) -> Path:
    with kbfile.open(tmp_path / "books.kb", "w") as kb:
        for name, fields in {
            "a": {"year": 2014, "by": "Kim", "draft": False, "title": "not this"},
            "b": {"year": 2016, "by": ["Lee", "Ann"], "at": datetime(2024, 5, 6, tzinfo=timezone.utc)},
            "c": {"year": 2016.5, "by": "kim"},
            "d": {"year": "2016", "draft": True},
        }.items():
            kb.add(f"The sea, book {name}.", path=f"{name}.txt", metadata=fields)
    return tmp_path / "books.kb"


@pytest.mark.parametrize(
    ("filter", "expected"),
    [
        ({"year": {"$gt": 2015}}, "bc"),
        ({"year": {"$gte": 2014, "$lt": 2016.5}}, "ab"),
        ({"year": {"$lte": 2016.0}}, "ab"),
        ({"year": {"$eq": "2016"}}, "d"),
        ({"year": {"$ne": 2016}}, "acd"),
        ({"by": {"$in": ["KIM", "Lee"]}}, "abc"),
        ({"by": {"$in": ["Lee", None]}}, "bd"),
        ({"by": {"$in": []}}, ""),
        ({"by": {"$nin": ["Kim"]}}, "bd"),
        ({"by": {"$nin": ["Kim", None]}}, "b"),
        ({"by": {"$lt": "kim"}}, "b"),
        ({"draft": True}, "d"),
        ({"draft": {"$exists": True}}, "ad"),
        ({"draft": None}, "bc"),
        ({"draft": {"$ne": None}}, "ad"),
        ({"year": {"$not": {"$gt": 2015}}}, "ad"),
        ({"$or": [{"by": "Kim"}, {"draft": True}]}, "acd"),
        ({"$or": [{}, {"draft": True}]}, "abcd"),
        ({"$and": [{"year": {"$gt": 2015}}, {"by": "ann"}]}, "b"),
        ({"$nor": [{"by": "Kim"}, {"by": "Lee"}]}, "d"),
        ({"$nor": [{}]}, ""),
        ({"$not": {"by": "Kim"}}, "bd"),
        ({"$not": {}}, ""),
        ({}, "abcd"),
        ({"path": {"$in": ["a.txt", "d.txt"]}}, "ad"),
    ],
)
def test_filters_of_mongodb_are_conditions(books: Path, filter: dict[str, Any], expected: str) -> None:
    retriever = KbRetriever(kb=books, k=10, filter=filter)
    assert "".join(sorted(document.metadata["source"][0] for document in retriever.invoke("sea"))) == expected
    documents = KbRetriever(kb=books, k=10).invoke("sea", filter=filter, where="year >= 0")
    assert {document.metadata["source"][0] for document in documents} == set(expected) - {"d"}


@pytest.mark.parametrize(
    ("filter", "said"),
    [
        ({"year": {"$regex": "2"}}, "unknown operator \\$regex"),
        ({"by": ["Kim"]}, "not \\['Kim'\\]"),
        ({"by": {"$in": [["Kim"]]}}, "not \\['Kim'\\]"),
        ({"by": {"page": 1}}, "holds no object"),
        ({"by": {"$gt": True}}, "takes a number or a str"),
        ({"year": 2**70}, "64 bits"),
        ({" ": 1}, "needs a name"),
        ({"yaer": 1}, "did you mean"),
    ],
)
def test_what_no_condition_says_is_an_error(books: Path, filter: dict[str, Any], said: str) -> None:
    with pytest.raises((ValueError, kbfile.InvalidArgumentError), match=said):
        KbRetriever(kb=books, filter=filter).invoke("sea")


def test_fields_come_with_their_types(books: Path) -> None:
    retriever = KbRetriever(kb=books, k=10, sort="-year", group_by="year")
    found = {document.metadata["source"][0]: document.metadata for document in retriever.invoke("sea")}
    assert list(found) == ["d", "c", "b", "a"]
    assert found["b"]["by"] == ["Lee", "Ann"] and found["b"]["year"] == 2016
    assert found["b"]["at"] == "2024-05-06T00:00:00+00:00"
    assert found["a"]["draft"] is False and found["c"]["year"] == 2016.5 and found["d"]["year"] == "2016"
    assert found["a"]["title"] != "not this"
