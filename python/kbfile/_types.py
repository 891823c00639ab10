"""Types of arguments and results, for type checkers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Literal, TypeAlias, Union

if TYPE_CHECKING:
    from kbfile._kbfile import Progress

Mode: TypeAlias = Literal["hybrid", "semantic", "keyword", "title"]
"""Which index answers: both, the vectors, the words, or the titles of documents."""

Scope: TypeAlias = Literal["chunks", "documents"]
"""What one hit stands for."""

Sort: TypeAlias = Literal["score", "recency", "path"]
"""The order of hits."""

Class: TypeAlias = Literal["code", "doc", "data"]
"""What a document is: a program, prose, or data."""

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
]
"""What a symbol is."""

Since: TypeAlias = Union[datetime, date, timedelta, float, str]
"""A point of time: `since` of searches."""

OneOrMany: TypeAlias = Union[str, Iterable[str]]
"""One word, or several as alternatives."""

ProgressCallback: TypeAlias = Callable[["Progress"], object]
"""Called about 20 times a second while a long call runs; what it raises ends the call."""
