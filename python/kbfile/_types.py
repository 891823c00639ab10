"""Types of arguments and results, for type checkers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Union

if TYPE_CHECKING:
    from kbfile._kbfile import Progress

Mode: TypeAlias = Literal["hybrid", "semantic", "keyword", "title"]
"""How to search: by both indexes, by vectors, by keywords, or by titles of documents."""

Scope: TypeAlias = Literal["chunks", "documents"]
"""What one hit is: a passage or a document."""

Class: TypeAlias = Literal["code", "doc", "data"]
"""The class of a document: source code, prose, or data."""

Kind: TypeAlias = Literal[
    "function",
    "class",
    "method",
    "interface",
    "struct",
    "enum",
    "trait",
    "module",
    "constant",
    "type",
    "impl",
    "field",
]
"""The kind of a symbol."""

Since: TypeAlias = Union[datetime, date, timedelta, float, str]
"""A point of time: `since` of searches."""

OneOrMany: TypeAlias = Union[str, Iterable[str]]
"""One word, or several as alternatives."""

ProgressCallback: TypeAlias = Callable[["Progress"], object]
"""Called about 20 times per second during a long call. If it raises, the call ends."""

Embedder: TypeAlias = Union[Callable[[list[str]], Any], Any]
"""What embeds texts: the name of a model ("minilm", "onnx:FOLDER"), a function of a list of texts, or an object of
LangChain, LlamaIndex or Sentence Transformers."""

Reranker: TypeAlias = Union[Callable[[str, list[str]], Any], Any]
"""What orders hits anew: the name of a cross-encoder ("onnx:FOLDER"), a function of a query and a list of passages, or an
object of Sentence Transformers or fastembed."""
