"""Models of Python: functions and objects that embed."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

import kbfile


def words(texts: list[str], seed: str = "") -> list[list[float]]:
    """Sums a pseudo-random vector for each word; a zorb is a quibble."""
    rows = []
    for text in texts:
        row = [0.0] * 64
        for word in text.lower().replace("zorb", "quibble").split():
            digest = hashlib.blake2b((seed + word).encode(), digest_size=64).digest()
            row = [number + byte - 127.5 for number, byte in zip(row, digest, strict=True)]
        rows.append(row)
    return rows


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.kb"
    with kbfile.open(path, "w") as kb:
        for number in range(20):
            text = "A quibble" if number == 7 else f"Gauge {number} notes high water"
            kb.add(text, path=f"{number:02}.txt", title="")
    return path


def test_a_function_fills_a_column_and_embeds_queries(path: Path) -> None:
    with kbfile.open(path, "a") as kb:
        [report] = kb.reembed(words)
        assert (report.column, report.model) == ("words", "python:words")
        assert (report.embedded, report.left) == (20, 0)
        [again] = kb.reembed(words)
        assert again.embedded == 0
    with kbfile.open(path, embedder=words) as kb:
        hits = kb.search("zorb", explain=True)
        assert hits[0].document == "07.txt"
        assert hits[0].bonuses["contextual"] > 0
        assert not hits.warnings
        assert kb.search("zorb", vector_column="words")[0].document == "07.txt"
    with kbfile.open(path) as kb:
        assert any("python:words" in warning for warning in kb.search("gauge").warnings)


def test_the_function_of_open_fills_its_columns(path: Path) -> None:
    with kbfile.open(path, "a", embedder=words) as kb:
        kb.reembed(words)
        kb.add("A new gauge", path="new.txt")
        kb.commit()
        [report] = kb.reembed()
        assert (report.embedded, report.left) == (1, 0)


def test_objects_of_langchain_and_llamaindex_embed(path: Path) -> None:
    class LangChain:
        model = "of-langchain"

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return words(texts)

        def embed_query(self, text: str) -> list[float]:
            return words([text])[0]

    class LlamaIndex:
        model_name = "of-llamaindex"

        def get_text_embedding_batch(self, texts: list[str]) -> list[list[float]]:
            return words(texts)

        def get_query_embedding(self, text: str) -> list[float]:
            return words([text])[0]

    for model in (LangChain(), LlamaIndex()):
        with kbfile.open(path, "a") as kb:
            [report] = kb.reembed(model)
            assert report.column.startswith("of-l")
        with kbfile.open(path, embedder=model) as kb:
            assert kb.search("zorb", vector_column=report.column)[0].document == "07.txt"


def test_another_function_of_the_same_name_is_refused(path: Path) -> None:
    def other(texts: list[str]) -> list[list[float]]:
        return words(texts, seed="other")

    with kbfile.open(path, "a") as kb:
        kb.reembed(words)
        with pytest.raises(kbfile.InvalidArgumentError, match="changed since"):
            kb.reembed(other, model="words")
    with kbfile.open(path, embedder=other) as kb:
        assert any("changed since" in warning for warning in kb.search("gauge").warnings)


def test_what_cannot_embed_says_so(path: Path) -> None:
    def broken(texts: list[str]) -> list[list[float]]:
        if texts != ["tide"]:
            raise OSError("no model")
        return words(texts)

    with kbfile.open(path, "a") as kb:
        with pytest.raises(TypeError, match="embed_documents"):
            kb.reembed("minilm")
        with pytest.raises(kbfile.ModelError, match="no model"):
            kb.reembed(broken)
        with pytest.raises(kbfile.InvalidArgumentError, match="pass a function"):
            kb.reembed()
