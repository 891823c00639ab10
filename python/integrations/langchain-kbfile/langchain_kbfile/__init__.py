"""LangChain over one `.kb` file: `KbRetriever` searches it, `KbVectorStore` also writes it.

Search runs in this process, offline, with the embedding model that is part of the engine; `KbEmbeddings` lends that
model to other parts of LangChain.
"""

from langchain_kbfile.embeddings import KbEmbeddings
from langchain_kbfile.retrievers import KbRetriever
from langchain_kbfile.vectorstores import KbVectorStore

__all__ = ["KbEmbeddings", "KbRetriever", "KbVectorStore"]
