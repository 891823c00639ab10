"""A retriever: passages of a `.kb` file for a question."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from os import PathLike
from typing import Any, Literal

import kbfile
from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, Field, PrivateAttr

from langchain_kbfile.conditions import translated

_OPTIONS = (
    "k",
    "mode",
    "scope",
    "sort",
    "group_by",
    "folder",
    "path",
    "type",
    "language",
    "class_",
    "tag",
    "field",
    "where",
    "since",
    "symbol",
    "kind",
    "min_score",
    "context",
    "smart_context",
    "max_lines",
    "max_tokens",
    "plain",
    "join",
)


def _plain(value: Any) -> Any:
    """A value of a field as JSON has it: a time is a text in ISO 8601."""
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value.isoformat() if isinstance(value, datetime) else value


def document_of(hit: kbfile.Hit) -> Document:
    """The passage with its location and the fields of its document. A location takes the place of a field of that name. The
    metadata omits what a document does not have, such as a page.
    """
    metadata: dict[str, Any] = {
        "source": hit.document,
        "address": hit.address,
        "title": hit.title,
        "score": hit.score,
        "section": " > ".join(hit.section),
        "lines": list(hit.lines),
        "span": list(hit.span),
        "type": hit.type,
        "class": hit.class_,
        "handle": hit.handle,
    }
    optional: dict[str, Any] = {
        "page": hit.page,
        "sheet": hit.sheet,
        "rows": list(hit.rows) if hit.rows else None,
        "slide": hit.slide,
        "symbol": hit.symbol.name if hit.symbol else None,
        "language": hit.language or None,
        "tags": hit.tags or None,
        "modified": hit.modified.isoformat() if hit.modified else None,
    }
    fields = {name: _plain(value) for name, value in hit.fields.items()}
    present = {name: value for name, value in optional.items() if value is not None}
    metadata = fields | metadata | present
    first, last = hit.span
    return Document(
        id=f"{hit.document}#{first}-{last}",
        page_content=hit.before + hit.text + hit.after,
        metadata=metadata,
    )


class KbRetriever(BaseRetriever):
    """The best passages of a `.kb` file for a question, by words and meaning.

        retriever = KbRetriever(kb="docs.kb", k=4, class_="doc")
        retriever.invoke("how long are logs kept")
        retriever.invoke("how long are logs kept", k=10, folder="guides")

    `kb` is the path of a file or an open `kbfile.Kb`. Every other field is an argument of `Kb.search`, and `invoke` and
    `ainvoke` take each of them for one call. The metadata of a document has `source` (its path in the file), `lines`,
    `title`, `score` (0 to 1), `section`, `address`, `span` (bytes of the stored text), and where they exist `page`,
    `sheet`, `rows`, `slide`, `symbol`, `language`, `tags` and `modified`. It also has the fields of the document, typed; times
    are texts in ISO 8601.

    `filter` means what a condition means: letter case is ignored, and a document without the field passes `$ne` and `$nin`.

    Calls see the newest commit of the file. The retriever may be shared by threads, and pickled.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    kb: str | PathLike[str] | kbfile.Kb
    """Path of the file, or the open file. A path is opened once, at the first search."""
    k: int = Field(default=4, gt=0)
    """Number of passages."""
    mode: Literal["hybrid", "semantic", "keyword", "title"] = "hybrid"
    scope: Literal["chunks", "documents"] = "chunks"
    sort: str = "score"
    """"score", "recency", "path", or a field: "year", "-year" with the greatest value first."""
    group_by: str | None = None
    """A field, of each value of which there is one passage."""
    folder: str | list[str] | None = None
    path: str | list[str] | None = None
    """Globs of document paths."""
    type: str | list[str] | None = None
    language: str | list[str] | None = None
    class_: str | list[str] | None = None
    """"code", "doc" or "data"."""
    tag: str | list[str] | None = None
    field: str | list[str] | None = None
    """Conditions such as "status=draft"; several are alternatives."""
    where: str | None = None
    """A condition on fields: 'year > 2015 and not draft', or `kbfile.field("year") > 2015`."""
    filter: dict[str, Any] | None = None
    """A filter of MongoDB on fields, which must hold beside `where`: `{"year": {"$gt": 2015}}`."""
    since: datetime | date | timedelta | float | str | None = None
    symbol: str | list[str] | None = None
    kind: str | list[str] | None = None
    min_score: float = 0.0
    """Omit passages with a lower score; 0.3 keeps the relevant ones."""
    context: int | tuple[int, int] = 0
    """Lines before and after each passage, added to the content."""
    smart_context: bool = False
    max_lines: int | None = None
    max_tokens: int | None = None
    plain: bool = False
    """Treat quotes, +, - and fields in the query as plain text."""
    join: bool = True

    _opened: kbfile.Kb | None = PrivateAttr(default=None)

    def _reader(self) -> kbfile.Kb:
        if isinstance(self.kb, kbfile.Kb):
            return self.kb
        if self._opened is None:
            self._opened = kbfile.open(self.kb)
        return self._opened

    def _options(self, overrides: dict[str, Any]) -> dict[str, Any]:
        options = {name: getattr(self, name) for name in (*_OPTIONS, "filter")} | overrides
        filter = options.pop("filter")
        conditions = [options.get("where"), translated(filter) if filter is not None else None]
        options["where"] = " and ".join(f"({one})" for one in conditions if one) or None
        return options

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **kwargs: Any
    ) -> list[Document]:
        return _documents(self._reader().search(query, **self._options(kwargs)))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **kwargs: Any
    ) -> list[Document]:
        return _documents(await self._reader().asearch(query, **self._options(kwargs)))


def _documents(hits: Iterable[kbfile.Hit]) -> list[Document]:
    return [document_of(hit) for hit in hits]
