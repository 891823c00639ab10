"""The retriever under the base class, query engines and tools of llama-index-core."""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any

import kbfile
import pytest
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.callbacks import CallbackManager, CBEventType, LlamaDebugHandler
from llama_index.core.llms import MockLLM
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import MetadataMode, NodeRelationship, QueryBundle, TextNode
from llama_index.core.tools import QueryEngineTool, RetrieverTool
from llama_index.core.vector_stores import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)

from llama_index.retrievers.kbfile import KbRetriever

TIDES = "# Gezeiten über See\n\nIntro.\n\n## Cause\n\nThe moon pulls the sea twice a day.\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "notes.kb"
    with kbfile.open(path, "w") as kb:
        kb.add(TIDES, path="sea/tides.md", tags=["nature"])
        kb.add("# Bread\n\nFlour, water, salt and patience.\n", path="kitchen/bread.md")
        kb.add("def tide_table(day):\n    return moon(day)\n", path="code/tide.py")
    return path


def test_a_node_says_where_it_is(path: Path) -> None:
    retriever = KbRetriever(path, k=1, folder="sea")
    assert isinstance(retriever, BaseRetriever)
    (found,) = retriever.retrieve("why does the moon pull the sea")
    node = found.node
    assert isinstance(node, TextNode)
    assert found.score is not None and 0 < found.score <= 1
    assert node.metadata["source"] == "sea/tides.md"
    assert node.metadata["tags"] == ["nature"]
    first, last = node.metadata["lines"]
    assert node.metadata["address"] == f"sea/tides.md:{first}-{last}"
    assert TIDES[node.start_char_idx : node.end_char_idx] == node.text
    assert node.source_node is not None and node.source_node.node_id == "sea/tides.md"
    assert node.ref_doc_id == "sea/tides.md"
    assert set(node.relationships) == {NodeRelationship.SOURCE}


@pytest.mark.parametrize("context", [0, 1, (2, 0), 50])
def test_characters_count_text_and_context(path: Path, context: int | tuple[int, int]) -> None:
    retriever = KbRetriever(path, k=1, folder="sea", max_lines=1, context=context)
    (found,) = retriever.retrieve("moon pulls the sea")
    node = found.node
    assert isinstance(node, TextNode) and node.start_char_idx is not None
    assert TIDES[node.start_char_idx : node.end_char_idx] == node.text


def test_characters_can_be_left_out(path: Path) -> None:
    (found,) = KbRetriever(path, k=1, char_offsets=False).retrieve("bread")
    assert isinstance(found.node, TextNode) and found.node.start_char_idx is None


def test_language_models_see_the_address_not_the_numbers(path: Path) -> None:
    (found,) = KbRetriever(path, k=1).retrieve("bread")
    shown = found.node.get_content(MetadataMode.LLM)
    assert "address: kitchen/bread.md:1-3" in shown and "Flour" in shown
    assert "span" not in shown and "handle" not in shown


@pytest.mark.parametrize(
    ("options", "sources"),
    [
        ({"folder": "kitchen"}, {"kitchen/bread.md"}),
        ({"class_": "code"}, {"code/tide.py"}),
        ({"tag": ["nature"]}, {"sea/tides.md"}),
        ({"min_score": 0.999999}, set()),
    ],
)
def test_options_are_those_of_search(path: Path, options: dict[str, object], sources: set[str]) -> None:
    found = KbRetriever(path, k=10, **options).retrieve("sea and water on a day")
    assert {hit.node.metadata["source"] for hit in found} == sources


BOOKS = {
    "a.md": "year: 2014\nauthor: Kim\ntopics: [sea, moon]",
    "b.md": "year: 2016\nauthor: Lee",
    "c.md": "author: Kim Lee",
}


@pytest.fixture
def books(tmp_path: Path) -> Path:
    path = tmp_path / "books.kb"
    with kbfile.open(path, "w") as kb:
        for name, front in BOOKS.items():
            kb.add(f"---\n{front}\n---\nA book.\n", path=name)
    return path


EQ, GT = FilterOperator.EQ, FilterOperator.GT


@pytest.mark.parametrize(
    ("key", "operator", "value", "expected"),
    [
        ("year", EQ, 2016, "b"),
        ("author", EQ, "kim", "a"),
        ("year", EQ, "2016", ""),
        ("year", GT, 2014, "b"),
        ("year", FilterOperator.GTE, 2014.0, "ab"),
        ("year", FilterOperator.LT, 2016, "a"),
        ("year", FilterOperator.LTE, 2016, "ab"),
        ("author", FilterOperator.NE, "Kim", "bc"),
        ("author", FilterOperator.IN, ["Kim", "Lee"], "ab"),
        ("author", FilterOperator.NIN, ["Kim", "Lee"], "c"),
        ("topics", FilterOperator.ANY, ["sea", "sun"], "a"),
        ("topics", FilterOperator.ALL, ["sea", "moon"], "a"),
        ("topics", FilterOperator.ALL, ["sea", "sun"], ""),
        ("topics", FilterOperator.CONTAINS, "moon", "a"),
        ("author", FilterOperator.TEXT_MATCH, "Lee", "bc"),
        ("author", FilterOperator.TEXT_MATCH_INSENSITIVE, "kim", "ac"),
        ("year", FilterOperator.IS_EMPTY, None, "c"),
    ],
)
def test_every_operator_of_metadata_filters_is_translated(
    books: Path, key: str, operator: FilterOperator, value: Any, expected: str
) -> None:
    filters = MetadataFilters(filters=[MetadataFilter(key=key, operator=operator, value=value)])
    assert sources(KbRetriever(books, k=10, filters=filters)) == expected


def sources(retriever: KbRetriever) -> str:
    return "".join(sorted(hit.node.metadata["source"][0] for hit in retriever.retrieve("book")))


def test_conditions_nest(books: Path) -> None:
    year, author = MetadataFilter(key="year", operator=GT, value=2015), MetadataFilter(key="author", value="Kim")
    either = MetadataFilters(filters=[year, author], condition=FilterCondition.OR)
    assert sources(KbRetriever(books, k=10, filters=either)) == "ab"
    neither = MetadataFilters(filters=[either], condition=FilterCondition.NOT)
    assert sources(KbRetriever(books, k=10, filters=neither)) == "c"
    both = MetadataFilters(filters=[either, year])
    assert sources(KbRetriever(books, k=10, filters=both)) == "b"
    assert sources(KbRetriever(books, k=10, filters=either, where="year < 2015")) == "a"
    assert sources(KbRetriever(books, k=10, filters=MetadataFilters(filters=[]))) == "abc"


@pytest.mark.parametrize(
    ("operator", "value"),
    [
        (FilterOperator.IN, "Kim"),
        (EQ, ["Kim"]),
        (EQ, None),
        (FilterOperator.TEXT_MATCH, "K*m"),
        (FilterOperator.TEXT_MATCH, 3),
    ],
)
def test_what_has_no_meaning_is_an_error(books: Path, operator: FilterOperator, value: Any) -> None:
    filters = MetadataFilters(filters=[MetadataFilter(key="author", operator=operator, value=value)])
    with pytest.raises(ValueError, match="author"):
        KbRetriever(books, filters=filters)


async def test_aretrieve_finds_the_same(path: Path) -> None:
    retriever = KbRetriever(path)
    assert await retriever.aretrieve("moon") == retriever.retrieve("moon")


def test_a_query_bundle_is_searched_by_its_text(path: Path) -> None:
    retriever = KbRetriever(path, k=1)
    bundle = QueryBundle("bread", custom_embedding_strs=["moon"], embedding=[0.0])
    assert retriever.retrieve(bundle) == retriever.retrieve("bread")


def test_ids_differ_so_that_no_node_is_dropped(path: Path) -> None:
    with kbfile.open(path, "a") as kb:
        kb.add("\n\n".join(f"# Part {n}\n\n" + f"The moon, part {n}. " * 60 for n in range(6)), path="long.md")
    found = KbRetriever(path, k=5, path="long.md", join=False).retrieve("moon")
    assert len(found) == 5 and len({hit.node.node_id for hit in found}) == 5


def test_events_are_sent(path: Path) -> None:
    debug = LlamaDebugHandler(print_trace_on_end=False)
    KbRetriever(path, callback_manager=CallbackManager([debug])).retrieve("moon")
    assert len(debug.get_event_pairs(CBEventType.RETRIEVE)) == 1


def test_a_query_engine_puts_passages_before_the_model(path: Path) -> None:
    engine = RetrieverQueryEngine.from_args(KbRetriever(path, k=2), llm=MockLLM())
    response = engine.query("why does the moon pull the sea")
    assert "The moon pulls the sea twice a day." in str(response)
    assert response.source_nodes[0].node.metadata["source"] == "sea/tides.md"


async def test_a_query_engine_is_asynchronous(path: Path) -> None:
    engine = RetrieverQueryEngine.from_args(KbRetriever(path, k=1), llm=MockLLM())
    assert "Flour" in str(await engine.aquery("bread of flour"))


def test_a_postprocessor_cuts_by_score(path: Path) -> None:
    engine = RetrieverQueryEngine.from_args(
        KbRetriever(path, k=3),
        llm=MockLLM(),
        node_postprocessors=[SimilarityPostprocessor(similarity_cutoff=0.999999)],
    )
    assert engine.query("sea and water on a day").source_nodes == []


def test_other_retrievers_combine_it(path: Path) -> None:
    fusion = QueryFusionRetriever(
        [KbRetriever(path, mode="keyword"), KbRetriever(path, mode="semantic")],
        llm=MockLLM(),
        num_queries=1,
        use_async=False,
        similarity_top_k=2,
    )
    assert fusion.retrieve("bread of flour")[0].node.metadata["source"] == "kitchen/bread.md"


def test_tools_use_it(path: Path) -> None:
    tool = RetrieverTool.from_defaults(KbRetriever(path, k=1), name="notes", description="notes")
    assert "Flour" in tool.call("bread").content
    engine = RetrieverQueryEngine.from_args(KbRetriever(path, k=1), llm=MockLLM())
    assert "Flour" in QueryEngineTool.from_defaults(engine, name="n", description="d").call("bread").content


def test_an_open_file_is_used_and_stays_open(path: Path) -> None:
    with kbfile.open(path) as kb:
        assert KbRetriever(kb).retrieve("bread")
        assert not kb.closed
    with pytest.raises(kbfile.ClosedError):
        KbRetriever(kb).retrieve("bread")


def test_threads_share_a_retriever(path: Path) -> None:
    retriever = KbRetriever(path, k=1)
    expected = retriever.retrieve("moon")
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(retriever.retrieve, ["moon"] * 40)) == [expected] * 40


def test_mistakes_are_errors(path: Path, tmp_path: Path) -> None:
    with pytest.raises(kbfile.NotFoundError):
        KbRetriever(tmp_path / "none.kb")
    with pytest.raises(TypeError, match="foldr"):
        KbRetriever(path, foldr="kitchen").retrieve("moon")
    with pytest.raises(kbfile.InvalidArgumentError):
        KbRetriever(path).retrieve(" ")


def test_fields_come_with_their_types(tmp_path: Path) -> None:
    with kbfile.open(tmp_path / "a.kb", "w") as kb:
        fields = {"year": 2016, "by": ["Lee", "Ann"], "draft": True, "source": "x", "at": datetime(2024, 5, 6)}
        kb.add("The moon pulls the sea.", path="a.md", metadata=fields)
    (found,) = KbRetriever(tmp_path / "a.kb").retrieve("moon")
    metadata = found.node.metadata
    assert (metadata["year"], metadata["by"], metadata["draft"]) == (2016, ["Lee", "Ann"], True)
    assert (metadata["source"], metadata["at"]) == ("a.md", "2024-05-06T00:00:00+00:00")


class WordHashes(BaseEmbedding):
    """Sums a pseudo-random vector for each word; a zorb is a quibble."""

    model_name: str = "hashes"

    def _get_text_embedding(self, text: str) -> list[float]:
        row = [0.0] * 64
        for word in text.lower().replace("zorb", "quibble").split():
            digest = hashlib.blake2b(word.encode(), digest_size=64).digest()
            row = [number + byte - 127.5 for number, byte in zip(row, digest, strict=True)]
        return row

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


def test_a_model_of_llamaindex_embeds_questions(tmp_path: Path) -> None:
    path = tmp_path / "gauges.kb"
    model = WordHashes()
    with kbfile.open(path, "w") as kb:
        for number in range(20):
            text = "A quibble" if number == 7 else f"Gauge {number} notes high water"
            kb.add(text, path=f"{number:02}.txt", title="")
        kb.reembed(model)

    def best(retriever: KbRetriever, query: str | QueryBundle) -> str:
        found = retriever.retrieve(query)
        return str(found[0].node.metadata["source"]) if found else ""

    retriever = KbRetriever(path, k=1, embed_model=model)
    assert best(retriever, "zorb") == "07.txt"
    assert best(KbRetriever(path, k=1), "zorb") != "07.txt"
    # The vector that a question brings is asked with.
    bundle = QueryBundle("gauge", embedding=model.get_query_embedding("zorb"))
    assert best(KbRetriever(path, k=1, embed_model=model, mode="semantic"), bundle) == "07.txt"
    assert best(KbRetriever(path, k=1), bundle) != "07.txt"
    with kbfile.open(path, embedder=model) as kb:
        assert best(KbRetriever(kb, k=1), "zorb") == "07.txt"
        with pytest.raises(ValueError, match="embedder"):
            KbRetriever(kb, embed_model=model)
