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
        return kbfile.embed(texts).tolist() if texts else []

    def embed_query(self, text: str) -> list[float]:
        """The vector of a question."""
        return kbfile.embed([text], query=True)[0].tolist()
