"""The embedding model of the engine, as LangChain knows embedding models."""

from __future__ import annotations

import kbfile
from langchain_core.embeddings import Embeddings


class KbEmbeddings(Embeddings):
    """The model that is built into `kbfile`: offline, English and code, `dim` numbers for each text.

    A vector has unit length, or is all zero for a text of which the model knows no word.
    """

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector for each text."""
        vectors: list[list[float]] = kbfile.embed(texts).tolist() if texts else []
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """The vector of a question."""
        vector: list[float] = kbfile.embed([text], query=True)[0].tolist()
        return vector
