"""The vector store with a model of LangChain."""

import hashlib
from pathlib import Path

import kbfile
import numpy as np
import pytest
from langchain_core.embeddings import Embeddings

from langchain_kbfile import KbEmbeddings, KbVectorStore


class WordHashes(Embeddings):
    """Sums a pseudo-random vector for each word; a zorb is a quibble."""

    def __init__(self, model_name: str = "hashes") -> None:
        self.model_name = model_name
        self.embedded: list[str] = []
        self.fails = False

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        if self.fails:
            raise RuntimeError("no quota left")
        self.embedded += texts
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        row = np.zeros(64)
        for word in text.lower().replace("zorb", "quibble").split():
            digest = hashlib.blake2b((self.model_name + word).encode(), digest_size=64).digest()
            row += np.frombuffer(digest, np.uint8) - 127.5
        return row.tolist()


TEXTS = [f"Gauge {number} notes high water" for number in range(20)] + ["A quibble"]
IDS = [*map(str, range(20)), "quibble"]


@pytest.fixture
def store(tmp_path: Path) -> KbVectorStore:
    store = KbVectorStore(tmp_path / "store.kb", embedding=WordHashes())
    store.add_texts(TEXTS, [{"n": number} for number in range(21)], ids=IDS)
    return store


def test_the_model_embeds_texts_and_questions(store: KbVectorStore) -> None:
    assert store.similarity_search("zorb", k=1)[0].id == "quibble"
    assert store.similarity_search("zorb", k=1, mode="semantic")[0].id == "quibble"
    # The model of the engine knows no zorb.
    assert KbVectorStore(store.path).similarity_search("zorb", k=1)[0].id != "quibble"
    vector = store.embeddings.embed_query("zorb")
    assert store.similarity_search_by_vector(vector, k=1)[0].id == "quibble"
    assert store.max_marginal_relevance_search("zorb", k=2, fetch_k=3)[0].id == "quibble"
    with pytest.raises(ValueError, match="64 numbers"):
        store.similarity_search_by_vector([1.0] * 3)
    # All of them are found, with the rest by the vectors of the model.
    assert len(store.similarity_search("zorb", k=21)) == 21


def test_only_texts_of_the_store_are_embedded(store: KbVectorStore) -> None:
    with kbfile.open(store.path, "a") as kb:
        kb.add("Another document", path="elsewhere.txt")
    model = store.embeddings
    assert isinstance(model, WordHashes)
    model.embedded.clear()
    store.add_texts(["One more zorb"], [{"n": 1}], ids=["more"])
    told = [text for text in model.embedded if "more zorb" in text or "Another" in text or '"n"' in text]
    assert len(told) == 1 and "One more zorb" in told[0]
    columns = {column.name: column.rows for column in kbfile.open(store.path).vector_columns()}
    assert columns["langchain"] == 22


def test_a_store_that_is_opened_again_asks_by_the_same_model(store: KbVectorStore) -> None:
    again = KbVectorStore(store.path, embedding=WordHashes())
    assert again.similarity_search("zorb", k=1)[0].id == "quibble"
    again.delete(["quibble"])
    assert "quibble" not in {document.id for document in again.similarity_search("zorb", k=21)}
    other = KbVectorStore(store.path, embedding=WordHashes("others"))
    with pytest.raises(kbfile.InvalidArgumentError, match="by python:hashes"):
        other.add_texts(["text"])
    beside = KbVectorStore(store.path, embedding=WordHashes("others"), column="others")
    beside.add_texts(["A quibble again"], ids=["again"])
    assert beside.similarity_search_by_vector(beside.embeddings.embed_query("zorb again"), k=1)[0].id == "again"


def test_texts_are_kept_if_the_model_fails(store: KbVectorStore) -> None:
    model = store.embeddings
    assert isinstance(model, WordHashes)
    model.fails = True
    with pytest.raises((RuntimeError, kbfile.ModelError), match="no quota left"):
        store.add_texts(["A second quibble"], ids=["second"])
    assert store.get_by_ids(["second"])
    model.fails = False
    store.add_texts(["Something else"], ids=["else"])
    vector = model.embed_query("A second zorb")
    assert store.similarity_search_by_vector(vector, k=1)[0].id == "second"


def test_an_empty_store_finds_nothing(tmp_path: Path) -> None:
    store = KbVectorStore(tmp_path / "empty.kb", embedding=WordHashes())
    assert store.similarity_search("zorb") == []
    assert store.similarity_search_by_vector([0.5] * 64) == []


def test_from_texts_takes_any_model(tmp_path: Path) -> None:
    store = KbVectorStore.from_texts(TEXTS, WordHashes(), ids=IDS, path=tmp_path / "a.kb", folder="mine")
    assert store.similarity_search("zorb", k=1)[0].id == "quibble"
    assert store.column == "mine"
    engine = KbVectorStore.from_texts(["text"], KbEmbeddings(), path=tmp_path / "b.kb")
    assert isinstance(engine.embeddings, KbEmbeddings)
    assert len(kbfile.open(engine.path).vector_columns()) == 1
