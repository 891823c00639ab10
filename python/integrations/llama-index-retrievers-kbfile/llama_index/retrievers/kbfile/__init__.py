"""LlamaIndex over one `.kb` file: `KbRetriever` searches it in this process, offline."""

from llama_index.retrievers.kbfile.base import KbRetriever

__all__ = ["KbRetriever"]
