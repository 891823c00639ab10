"""The vector store beyond the standard tests: paths, metadata, filters, vectors, commits."""

import threading
from pathlib import Path
from typing import Any

import kbfile
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document

from langchain_kbfile import KbEmbeddings, KbVectorStore
from langchain_kbfile.filters import compiled

TEXTS = [
    "The moon pulls the sea twice a day.",
    "Flour, water, salt and patience make bread.",
    "A parser turns text into a syntax tree.",
]
METADATAS = [{"topic": "sea"}, {"topic": "kitchen", "n": [1, None, {"a": "ü"}]}, {}]
IDS = ["tides", "bread", "parser"]


@pytest.fixture
def store(tmp_path: Path) -> KbVectorStore:
    store = KbVectorStore(tmp_path / "store.kb")
    store.add_texts(TEXTS, METADATAS, ids=IDS)
    return store


def test_the_best_document_is_first_with_a_score(store: KbVectorStore) -> None:
    ranked = store.similarity_search_with_score("why does the sea rise", k=3)
    assert ranked[0][0] == Document(id="tides", page_content=TEXTS[0], metadata=METADATAS[0])
    scores = [score for _, score in ranked]
    assert len(ranked) == 3 and scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


def test_relevance_scores_are_the_scores(store: KbVectorStore) -> None:
    query = "flour and water for bread"
    ranked = store.similarity_search_with_relevance_scores(query, k=3, score_threshold=0.5)
    assert ranked == [hit for hit in store.similarity_search_with_score(query, k=3) if hit[1] >= 0.5]
    assert ranked[0][0].id == "bread"


def test_metadata_comes_back_as_it_was(store: KbVectorStore) -> None:
    assert [document.metadata for document in store.get_by_ids(IDS)] == METADATAS


def test_get_by_ids_keeps_order_and_leaves_out_missing(store: KbVectorStore) -> None:
    found = store.get_by_ids(["parser", "none", "tides"])
    assert [document.id for document in found] == ["parser", "tides"]


@pytest.mark.parametrize("name", ["a/b", "../up", ".", "é ü", "50%", "a\nb", "C:\\x", "x" * 200])
def test_any_id_is_stored(store: KbVectorStore, name: str) -> None:
    assert store.add_texts(["text of " + name], [{"a": 1}], ids=[name]) == [name]
    (document,) = store.get_by_ids([name])
    assert document == Document(id=name, page_content="text of " + name, metadata={"a": 1})
    store.delete([name])
    assert store.get_by_ids([name]) == []


@pytest.mark.parametrize("text", ["", " \n", "a\r\nb\tc ", "---\na: 1\n---\nb", "x" * 9000])
def test_texts_come_back_as_they_were(store: KbVectorStore, text: str) -> None:
    store.add_texts([text], ids=["any"])
    assert store.get_by_ids(["any"])[0].page_content == text


def test_a_new_text_without_metadata_loses_the_old_one(store: KbVectorStore) -> None:
    store.add_texts(["new"], ids=["tides"])
    assert store.get_by_ids(["tides"]) == [Document(id="tides", page_content="new")]


def test_the_last_of_equal_ids_stays(store: KbVectorStore) -> None:
    store.add_texts(["one", "two"], [{"n": 1}, {}], ids=["same", "same"])
    assert store.get_by_ids(["same"]) == [Document(id="same", page_content="two")]


def test_filters_are_metadata_or_a_function(store: KbVectorStore) -> None:
    found = store.similarity_search("moon", k=3, filter={"topic": "kitchen"})
    assert [document.id for document in found] == ["bread"]
    found = store.similarity_search("moon", k=3, filter=lambda document: "topic" not in document.metadata)
    assert [document.id for document in found] == ["parser"]


BOOKS: dict[str, dict[str, Any]] = {
    "a": {"year": 2014, "author": "Kim", "draft": False},
    "b": {"year": 2016, "author": "Lee", "tags": ["x", "y"], "at": {"page": 1}},
    "c": {"year": 2016.5, "tags": [], "owner": None},
    "d": {"year": "2016", "draft": True},
}


@pytest.mark.parametrize(
    ("filter", "expected"),
    [
        ({"year": {"$gt": 2015}}, "bc"),
        ({"year": {"$gte": 2014, "$lt": 2016.5}}, "ab"),
        ({"year": {"$lte": 2016.0}}, "ab"),
        ({"year": 2016}, "b"),
        ({"year": {"$eq": "2016"}}, "d"),
        ({"year": {"$ne": 2016}}, "acd"),
        ({"author": {"$ne": "Kim"}}, "bcd"),
        ({"author": {"$in": ["Kim", "Lee"]}}, "ab"),
        ({"author": {"$nin": ["Kim"]}}, "bcd"),
        ({"author": {"$gt": "Kim"}}, "b"),
        ({"draft": True}, "d"),
        ({"draft": 1}, ""),
        ({"tags": "x"}, "b"),
        ({"tags": ["x", "y"]}, "b"),
        ({"tags": ["y", "x"]}, ""),
        ({"at": {"page": 1}}, "b"),
        ({"owner": None}, "abcd"),
        ({"owner": {"$exists": True}}, "c"),
        ({"author": {"$exists": False}}, "cd"),
        ({"year": {"$not": {"$gt": 2015}}}, "ad"),
        ({"$or": [{"author": "Kim"}, {"year": {"$gt": 2016}}]}, "ac"),
        ({"$and": [{"year": {"$gt": 2015}}, {"tags": "y"}]}, "b"),
        ({"$nor": [{"author": "Kim"}, {"author": "Lee"}]}, "cd"),
        ({"$not": {"author": "Kim"}}, "bcd"),
        ({"author": "Kim", "draft": False}, "a"),
        ({}, "abcd"),
    ],
)
def test_filters_have_the_operators_of_mongodb(tmp_path: Path, filter: dict[str, Any], expected: str) -> None:
    store = KbVectorStore(tmp_path / "books.kb")
    store.add_texts(["A book."] * 4, list(BOOKS.values()), ids=list(BOOKS))
    found = store.similarity_search("book", k=10, filter=filter)
    assert "".join(sorted(document.id or "" for document in found)) == expected


@pytest.mark.parametrize(
    ("filter", "said"),
    [
        ({"year": {"$regex": "2"}}, "unknown operator \\$regex"),
        ({"$where": "1"}, "unknown operator \\$where"),
        ({"year": {"$gt": 1, "lt": 2}}, "side by side"),
        ({"year": {"$gt": None}}, "takes a number or a str"),
        ({"year": {"$gt": float("nan")}}, "JSON"),
        ({"year": {"$in": 3}}, "takes a list"),
        ({"$or": []}, "takes a list of filters"),
        ({"year": {"$exists": 1}}, "True or False"),
        ({"year": {"$not": 3}}, "object of operators"),
        ({"year": object()}, "JSON"),
        ({1: 2}, "a field is a str"),
    ],
)
def test_what_is_no_filter_is_an_error(tmp_path: Path, filter: dict[Any, Any], said: str) -> None:
    # Of an empty store, too.
    store = KbVectorStore(tmp_path / "empty.kb")
    with pytest.raises(ValueError, match=said):
        store.similarity_search("book", filter=filter)


def test_a_deep_filter_is_an_error(store: KbVectorStore) -> None:
    deep: dict[str, Any] = {"a": 1}
    for _ in range(1000):
        deep = {"$not": deep}
    with pytest.raises(ValueError, match="levels"):
        store.similarity_search("moon", filter=deep)


def test_search_arguments_of_the_engine_are_taken(store: KbVectorStore) -> None:
    assert [d.id for d in store.similarity_search("moon", k=3, min_score=0.3)] == ["tides"]
    assert store.similarity_search("moon", k=3, since="2999-01-01") == []


def test_a_query_is_plain_text(store: KbVectorStore) -> None:
    assert store.similarity_search('the -moon and "sea', k=1)[0].id == "tides"


def test_search_by_vector_takes_vectors_of_the_model(store: KbVectorStore) -> None:
    vector = store.embeddings.embed_query("bread of flour and water")
    assert store.similarity_search_by_vector(vector, k=1)[0].id == "bread"
    with pytest.raises(ValueError, match="embed with the model"):
        store.similarity_search_by_vector([0.0] * 6)


def test_marginal_relevance_prefers_what_differs(store: KbVectorStore) -> None:
    store.add_texts([TEXTS[0]], ids=["tides again"])
    found = store.max_marginal_relevance_search("moon and sea", k=2, fetch_k=4, lambda_mult=0.1)
    assert len(found) == 2
    assert len({document.page_content for document in found}) == 2


def test_other_documents_of_the_file_are_left_alone(store: KbVectorStore) -> None:
    with kbfile.open(store.path, "a") as kb:
        kb.add("The moon and the sea.", path="notes/moon.md")
        kb.add("The moon and the sea.", path="langchain/deeper/moon.txt")
    found = store.similarity_search("the moon and the sea", k=10)
    assert {document.id for document in found} == set(IDS)
    store.delete()
    assert store.similarity_search("moon", k=10) == []
    with kbfile.open(store.path) as kb:
        assert [d.path for d in kb] == ["langchain/deeper/moon.txt", "notes/moon.md"]


def test_folders_are_stores_of_one_file(store: KbVectorStore) -> None:
    other = KbVectorStore(store.path, folder="other/deep")
    other.add_texts(["The moon is far."], ids=["far"])
    assert [document.id for document in other.similarity_search("moon", k=5)] == ["far"]
    assert store.get_by_ids(["far"]) == []


def test_a_failing_add_changes_nothing(store: KbVectorStore) -> None:
    with pytest.raises(ValueError, match="JSON"):
        store.add_texts(["a", "b"], [{}, {"x": object()}], ids=["a", "b"])
    secret = "aws_access_key_id = AKIA" + "IOSFODNN7EXAMPLX"
    with pytest.raises(kbfile.InvalidArgumentError, match="credentials"):
        store.add_texts(["a", secret], ids=["a", "b"])
    assert store.get_by_ids(["a", "b"]) == []
    KbVectorStore(store.path, include_secrets=True).add_texts([secret], ids=["b"])
    assert store.get_by_ids(["b"])[0].page_content == secret


def test_lengths_must_agree(store: KbVectorStore) -> None:
    with pytest.raises(ValueError, match="metadatas"):
        store.add_texts(["a"], [{}, {}])
    with pytest.raises(ValueError, match="ids"):
        store.add_texts(["a"], ids=["a", "b"])
    assert store.add_texts([]) == []


def test_another_writer_is_named(store: KbVectorStore) -> None:
    waits = KbVectorStore(store.path, lock_timeout=0.1)
    with kbfile.open(store.path, "a") as kb:
        kb.add("x", path="x.txt")
        kb.commit()
        kb.add("y", path="y.txt")
        with pytest.raises(kbfile.LockedError):
            waits.add_texts(["a"])


def test_an_empty_store_answers_nothing(tmp_path: Path) -> None:
    store = KbVectorStore(tmp_path / "empty.kb")
    vector = store.embeddings.embed_query("moon")
    assert store.similarity_search("moon") == []
    assert store.similarity_search_by_vector(vector) == []
    assert store.max_marginal_relevance_search("moon") == []
    assert store.get_by_ids(["a"]) == [] and store.delete()


def test_a_filter_finds_one_of_many(store: KbVectorStore) -> None:
    store.add_texts([f"The sea, day {n}." for n in range(1500)], [{"n": n} for n in range(1500)])
    (document,) = store.similarity_search("the sea", k=1, filter={"n": 1234})
    assert document.page_content == "The sea, day 1234."
    assert len(store.similarity_search("the sea", k=1300)) == 1300


def test_what_a_filter_reads_is_narrowed(store: KbVectorStore) -> None:
    metadatas = [{"n": n, "group": f"g{n % 3}", "note": "x" * 100} for n in range(900)]
    # The note is too long for a condition, so only the others are marked.
    metadatas = [m if m["n"] < 50 else {k: m[k] for k in ("n", "group")} for m in metadatas]
    store.add_texts([f"The sea, day {n}." for n in range(900)], metadatas)
    condition = store._condition({"n": {"$gt": 895}, "group": {"$ne": "g2"}})
    assert condition is not None
    assert len(store._paths(store.folder, condition)) == 4 + 50 + 1
    # The field of no document, alone and beside another one.
    assert store.similarity_search("the sea", k=3, filter={"nobody": 1}) == []
    either = {"$or": [{"nobody": 1}, {"n": 777}]}
    assert [it.metadata["n"] for it in store.similarity_search("the sea", k=3, filter=either)] == [777]
    assert store._allowed(either) is None
    for filter, expected in [({"n": {"$gt": 895}, "group": {"$ne": "g2"}}, {897, 898}), ({"n": {"$in": [3, 800]}}, {3, 800})]:
        vector = store.embeddings.embed_query("the sea")
        for found in [
            store.similarity_search("the sea", k=9, filter=filter),
            store.similarity_search_by_vector(vector, k=9, filter=filter),
            store.max_marginal_relevance_search("the sea", k=9, filter=filter),
        ]:
            assert {document.metadata["n"] for document in found} == expected


def test_letter_case_and_order_of_texts_are_those_of_the_filter(tmp_path: Path) -> None:
    store = KbVectorStore(tmp_path / "case.kb")
    metadatas = [{"by": "Kim"}, {"by": "kim"}, {"By": "kim"}, {"by": "Zoe"}]
    store.add_texts(["A book."] * 4, metadatas, ids=list("abcd"))
    for filter, expected in [
        ({"by": "Kim"}, "a"),
        ({"by": {"$ne": "Kim"}}, "bcd"),
        ({"by": {"$lt": "a"}}, "ad"),
        ({"by": {"$gt": "a"}}, "b"),
        ({"By": "kim"}, "c"),
        ({"by": {"$exists": False}}, "c"),
        ({"$nor": [{"by": "KIM"}]}, "abcd"),
    ]:
        found = store.similarity_search("book", k=9, filter=filter)
        assert "".join(sorted(document.id or "" for document in found)) == expected, filter


# Half of the names are few, so that filters meet documents.
_names = st.sampled_from(["a"] * 8 + ["b"] * 4 + ["a", "A", "b b", "and", "x`y", "tags", "description", "a=b", "ü", " a", "path", "n" * 70])
_scalars = st.one_of(
    st.sampled_from([0, 1, "a", "A", True, None]),
    st.none(),
    st.booleans(),
    st.sampled_from([0, 1, 2, 2**53 + 1, 2**63, -(2**63), 10**30, 0.0, -0.0, 1.0, 1.5, 2.0**53, 1e300]),
    st.sampled_from(["", " ", "a", "A", "b", "1", "true", "2024-05-06", "a, b", 'q"\\', "a\nb", "x" * 63, "x" * 90, "ü", "ü"]),
)
_values = st.one_of(
    _scalars,
    st.lists(_scalars, max_size=3),
    st.lists(_scalars, min_size=150, max_size=150),
    st.dictionaries(st.sampled_from("ab"), _scalars, max_size=2),
)
_ordered = st.one_of(st.sampled_from([0, 1, 1.5, 2**53, 2**63, -(10**30)]), st.sampled_from(["a", "A", "b", ""]))
_tests = st.one_of(
    _values,
    st.builds(lambda operator, value: {operator: value}, st.sampled_from(["$eq", "$ne"]), _values),
    st.builds(lambda operator, value: {operator: value}, st.sampled_from(["$gt", "$gte", "$lt", "$lte"]), _ordered),
    st.builds(lambda operator, value: {operator: value}, st.sampled_from(["$in", "$nin"]), st.lists(_values, max_size=3)),
    st.builds(lambda value: {"$exists": value}, st.booleans()),
    st.builds(lambda value: {"$not": {"$gt": value}}, _ordered),
)
_filters = st.recursive(
    st.dictionaries(_names, _tests, max_size=2),
    lambda inner: st.one_of(
        st.builds(
            lambda operator, several: {operator: several},
            st.sampled_from(["$and", "$or", "$nor"]),
            st.lists(inner, min_size=1, max_size=3),
        ),
        st.builds(lambda one: {"$not": one}, inner),
    ),
    max_leaves=4,
)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    metadatas=st.lists(st.dictionaries(_names, _values, max_size=3), min_size=1, max_size=8),
    filters=st.lists(_filters, min_size=15, max_size=15),
)
def test_a_narrowed_filter_finds_what_the_filter_finds(
    tmp_path_factory: pytest.TempPathFactory, metadatas: list[dict[str, Any]], filters: list[dict[str, Any]]
) -> None:
    store = KbVectorStore(tmp_path_factory.mktemp("any") / "any.kb", include_secrets=True)
    ids = [str(number) for number in range(len(metadatas))]
    store.add_texts(["A book."] * len(metadatas), metadatas, ids=ids)
    # No field is unknown, so that each filter is narrowed.
    store.add_texts(["A book."], [{"a": [1, "b"], "b b": 1, "and": 1, "b": 2, "x`y": 1, "ü": 1, "path": "p"}], ids=["all"])
    ids.append("all")
    metadatas = [*metadatas, {"a": [1, "b"], "b b": 1, "and": 1, "b": 2, "x`y": 1, "ü": 1, "path": "p"}]
    for filter in filters:
        try:
            passes = compiled(filter)
        except ValueError:
            continue
        expected = {name for name, metadata in zip(ids, metadatas) if passes(metadata)}
        found = {document.id for document in store.similarity_search("book", k=20, filter=filter)}
        assert found == expected, filter


def test_threads_write_and_search(store: KbVectorStore) -> None:
    store.add_texts([f"The sea, day {n}." for n in range(300)], [{"n": n} for n in range(300)])
    errors: list[BaseException] = []

    def run(work: object) -> None:
        try:
            work()  # type: ignore[operator]
        except BaseException as error:
            errors.append(error)

    def write(writer: int) -> None:
        for n in range(8):
            store.add_texts([f"thread {writer}"], [{"writer": writer}], ids=[f"{writer}-{n}"])

    def search() -> None:
        vector = store.embeddings.embed_query("thread")
        for _ in range(10):
            store.similarity_search("thread", k=200, filter={"writer": 1})
            store.similarity_search_by_vector(vector)

    works = [lambda writer=writer: write(writer) for writer in range(3)] + [search, search]
    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(store.get_by_ids([f"{writer}-{n}" for writer in range(3) for n in range(8)])) == 24


def test_a_store_needs_a_path() -> None:
    with pytest.raises(ValueError, match="path"):
        KbVectorStore.from_texts(TEXTS)


@pytest.mark.parametrize("embedding", [None, KbEmbeddings()])
def test_from_texts_and_from_documents(tmp_path: Path, embedding: KbEmbeddings | None) -> None:
    store = KbVectorStore.from_texts(TEXTS, embedding, METADATAS, ids=IDS, path=tmp_path / "a.kb")
    assert store.similarity_search("bread", k=1)[0].id == "bread"
    documents = [Document(page_content=text, id=name) for text, name in zip(TEXTS, IDS)]
    store = KbVectorStore.from_documents(documents, embedding, path=tmp_path / "b.kb")
    assert store.as_retriever(search_kwargs={"k": 1}).invoke("bread")[0].id == "bread"


async def test_asynchronous_methods(store: KbVectorStore) -> None:
    await store.aadd_texts(["A zebra has stripes."], ids=["zebra"])
    assert (await store.asimilarity_search("zebra", k=1))[0].id == "zebra"
    ((document, score),) = await store.asimilarity_search_with_score("zebra", k=1)
    assert document.id == "zebra" and score > 0.5
    assert (await store.amax_marginal_relevance_search("zebra", k=1))[0].id == "zebra"
    made = await KbVectorStore.afrom_texts(["x"], None, ids=["x"], path=store.path, folder="made")
    assert [document.id for document in await made.aget_by_ids(["x"])] == ["x"]


def test_a_store_opens_again(store: KbVectorStore) -> None:
    assert KbVectorStore(store.path).get_by_ids(["bread"])[0].page_content == TEXTS[1]
