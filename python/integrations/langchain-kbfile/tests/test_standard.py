"""The standard tests of LangChain, as they are: none is skipped or expected to fail."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kbfile
import pytest
from langchain_core.vectorstores import VectorStore
from langchain_tests.integration_tests import (
    EmbeddingsIntegrationTests,
    RetrieversIntegrationTests,
    VectorStoreIntegrationTests,
)
from langchain_tests.unit_tests import EmbeddingsUnitTests

from langchain_kbfile import KbEmbeddings, KbRetriever, KbVectorStore


class TestRetriever(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def file(self, tmp_path: Path) -> None:
        self.path = tmp_path / "tides.kb"
        with kbfile.open(self.path, "w") as kb:
            for n in range(5):
                kb.add(f"# Tide {n}\n\nThe moon pulls the sea, part {n}.", path=f"tides/{n}.md")

    @property
    def retriever_constructor(self) -> type[KbRetriever]:
        return KbRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"kb": self.path}

    @property
    def retriever_query_example(self) -> str:
        return "why does the sea rise with the moon"


class TestVectorStore(VectorStoreIntegrationTests):
    # `get_embeddings` is not used: the vectors are those of the engine.
    @pytest.fixture
    def vectorstore(self, tmp_path: Path) -> Iterator[VectorStore]:  # type: ignore[override]
        yield KbVectorStore(tmp_path / "store.kb")


class TestVectorStoreSemantic(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self, tmp_path: Path) -> Iterator[VectorStore]:  # type: ignore[override]
        yield KbVectorStore(tmp_path / "store.kb", mode="semantic")


class TestEmbeddingsUnit(EmbeddingsUnitTests):
    @property
    def embeddings_class(self) -> type[KbEmbeddings]:
        return KbEmbeddings


class TestEmbeddingsIntegration(EmbeddingsIntegrationTests):
    @property
    def embeddings_class(self) -> type[KbEmbeddings]:
        return KbEmbeddings
