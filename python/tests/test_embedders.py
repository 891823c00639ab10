"""Models of Python: functions and objects that embed."""

from __future__ import annotations

import hashlib
import json
import struct
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
        vector = kb.embed("zorb", column="words")
        assert kb.search("", vector=vector, vector_column="words")[0].document == "07.txt"
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
            kb.reembed(7)  # type: ignore[arg-type]
        with pytest.raises(kbfile.ModelError, match="no model"):
            kb.reembed(broken)
        with pytest.raises(kbfile.InvalidArgumentError, match="no column"):
            kb.reembed()


def table_model(folder: Path, words: dict[str, list[float]]) -> Path:
    """A model of the format Model2Vec that knows these words."""
    folder.mkdir()
    numbers = [number for row in [[0.0, 0.0], *words.values()] for number in row]
    data = struct.pack(f"<{len(numbers)}f", *numbers)
    shape = [len(words) + 1, 2]
    header = json.dumps({"embeddings": {"dtype": "F32", "shape": shape, "data_offsets": [0, len(data)]}}).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + data)
    vocabulary = {word: number for number, word in enumerate(["[UNK]", *words])}
    model = {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "vocab": vocabulary}
    normalizer = {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    }
    tokenizer = {"normalizer": normalizer, "pre_tokenizer": {"type": "BertPreTokenizer"}, "model": model}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    return folder


def test_a_model_has_a_name(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_MODELS", str(tmp_path / "none"))
    folder = table_model(tmp_path / "model", {"quibble": [1.0, 0.0], "zorb": [1.0, 0.0], "gauge": [0.0, 1.0]})
    named = f"model2vec:{folder}"
    with kbfile.open(path, "a", embedder=named) as kb:
        [report] = kb.reembed(named)
        assert (report.embedded, report.left) == (20, 0)
        with pytest.raises(kbfile.InvalidArgumentError, match="function or an object"):
            kb.reembed(named, model="mine")
        kb.add("Another quibble", path="new.txt")
        [more] = kb.reembed()
        assert (more.embedded, more.left) == (1, 0)
    for embedder in (named, words, None):
        # The folder is where the file says, so that no argument is needed.
        with kbfile.open(path, embedder=embedder) as kb:
            hits = kb.search("zorb", explain=True)
            assert hits[0].bonuses["contextual"] > 0
            assert not hits.warnings


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("builtin", kbfile.InvalidArgumentError),
        ("nonsense:x", kbfile.InvalidArgumentError),
        ("onnx:/nowhere", kbfile.ModelError),
        ("", kbfile.InvalidArgumentError),
    ],
)
def test_a_wrong_name_is_refused(path: Path, name: str, error: type[Exception]) -> None:
    with pytest.raises(error, match="embedder"):
        kbfile.open(path, embedder=name)
    with kbfile.open(path, "a") as kb, pytest.raises(error, match="embedder"):
        kb.reembed(name)


def test_a_file_without_columns_needs_a_model(path: Path) -> None:
    with kbfile.open(path, "a") as kb, pytest.raises(kbfile.InvalidArgumentError, match="no column"):
        kb.reembed()
