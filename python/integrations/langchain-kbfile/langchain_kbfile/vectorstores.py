"""A vector store: texts with ids in a folder of a `.kb` file."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeVar
from urllib.parse import quote, unquote

import kbfile
import numpy as np
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore
from langchain_core.vectorstores.utils import maximal_marginal_relevance

from langchain_kbfile.conditions import MARK, fields_of, narrowed
from langchain_kbfile.embeddings import KbEmbeddings
from langchain_kbfile.filters import compiled

Filter = dict[str, Any] | Callable[[Document], bool]
"""A filter of MongoDB over metadata, or a function that says whether a document passes.

Example: `{"topic": "sea", "year": {"$gt": 2015}}`. There are `$eq`, `$ne`, `$gt`, `$gte`, `$lt`, `$lte`, `$in`, `$nin`,
`$exists`, `$not`, `$and`, `$or` and `$nor`. Any other operator is a ValueError.
"""

_T = TypeVar("_T")

_SUFFIX = ".txt"
_METADATA_SUFFIX = ".json"

# How often a read is begun again because a writer committed in between, and how much longer it waits each time.
_MAX_ATTEMPTS = 20

# Hits that are read at once if a filter sees all of them.
_FILTERED_PAGE = 500
_BACKOFF_SECONDS = 0.005


class KbVectorStore(VectorStore):
    """Texts with ids and metadata in one folder of a `.kb` file, searched by words and meaning.

        store = KbVectorStore("notes.kb")
        store.add_texts(["The moon pulls the sea twice a day."], [{"topic": "tides"}], ids=["tides"])
        store.similarity_search("why does the sea rise", k=1)

    The id "tides" is the document `langchain/tides.txt`, its metadata, if it has any, the document
    `langchain-metadata/tides.json`; characters of an id that a path cannot have are percent-encoded. Other documents of
    the file are left alone and not found: search those with KbRetriever.

    Without `embedding`, the vectors come from the model of the engine. With it, that model of LangChain embeds the texts of
    the store into a column of its own, and questions too; searches use it beside the model of the engine. `mode` is that of
    `Kb.search`: "hybrid" (default), "semantic" or "keyword". Each add and each delete is one commit: all of it or nothing,
    durable when the call returns. Vectors of `embedding` are a second commit: if the model fails, the texts are stored, and
    the next add embeds them. Scores are 0 to 1, higher is better; what no index finds fills the answer up to `k` with a
    score of 0, nearest vector first. The asynchronous methods run the synchronous ones in an executor.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        folder: str = "langchain",
        mode: Literal["hybrid", "semantic", "keyword"] = "hybrid",
        lock_timeout: float = 10.0,
        include_secrets: bool = False,
        embedding: Embeddings | None = None,
        column: str | None = None,
    ) -> None:
        """Open the file at `path`, or create it. `include_secrets` also stores texts with keys and credentials.

        `column` names the column of vectors of `embedding`; without it, it has the name of the folder. A column of another
        model raises InvalidArgumentError when texts are added.
        """
        self.path = Path(path)
        self.folder = folder.strip("/")
        self.mode = mode
        self.lock_timeout = lock_timeout
        self.include_secrets = include_secrets
        if not self.path.exists():
            self._write().close()
        self.column = column or self.folder
        self._embedding = None if isinstance(embedding, KbEmbeddings) else embedding
        self._kb = kbfile.open(self.path, embedder=self._embedding)

    @property
    def embeddings(self) -> Embeddings:
        """The model that was given, else that of the engine."""
        return self._embedding or KbEmbeddings()

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings | None = None,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        path: str | PathLike[str] | None = None,
        **kwargs: Any,
    ) -> KbVectorStore:
        """A store with these texts in the file at `path`; other arguments are those of the constructor."""
        if path is None:
            raise ValueError("give the path of the file: from_texts(texts, None, path='notes.kb')")
        store = cls(path, embedding=embedding, **kwargs)
        store.add_texts(texts, metadatas, ids=ids)
        return store

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
        **kwargs: Any,
    ) -> list[str]:
        """Store texts as one commit and return their ids; an id that exists gets the new text and metadata.

        Without an id a text gets a random one. Metadata must be JSON; its "title" becomes the title of the document.
        """
        if kwargs:
            raise TypeError(f"add_texts() got unexpected arguments: {', '.join(sorted(kwargs))}")
        texts = list(texts)
        if metadatas and len(metadatas) != len(texts):
            raise ValueError(f"{len(metadatas)} metadatas for {len(texts)} texts")
        if ids is not None and len(ids) != len(texts):
            raise ValueError(f"{len(ids)} ids for {len(texts)} texts")
        names = [name or str(uuid.uuid4()) for name in ids or [None] * len(texts)]
        encoded = [_encode(metadata) for metadata in metadatas or [{}] * len(texts)]
        if not texts:
            return []
        with self._write() as kb:
            added: set[str] = set()
            for name, text, metadata in zip(names, texts, encoded):
                facts = json.loads(metadata) if metadata else {}
                title = facts.get("title", "")
                kb.add(
                    text,
                    path=self._path(name),
                    # Of an id, the words of a title would count as words of the text.
                    title=title if isinstance(title, str) else "",
                    metadata=fields_of(facts),
                    replace=True,
                    include_secrets=self.include_secrets,
                )
                if metadata:
                    kb.add(
                        metadata,
                        path=self._metadata_path(name),
                        replace=True,
                        include_secrets=self.include_secrets,
                    )
                    added.add(name)
                elif name in added or self._metadata_path(name) in kb:
                    kb.remove(self._metadata_path(name))
                    added.discard(name)
            if self._embedding is not None:
                # The texts stay if the model fails.
                kb.commit()
                kb.reembed(self._embedding, name=self.column, folder=self.folder)
        return names

    def delete(self, ids: list[str] | None = None, **kwargs: Any) -> bool:
        """Remove texts by id as one commit; without ids, all texts of this store. Unknown ids are ignored."""
        if ids is None:
            paths = [path for folder in self._folders() for path in self._paths(folder)]
        else:
            paths = [path for name in ids for path in (self._path(name), self._metadata_path(name))]
        present = [path for path in dict.fromkeys(paths) if path in self._kb]
        if present:
            with self._write() as kb:
                for path in present:
                    try:
                        kb.remove(path)
                    except kbfile.DocumentNotFoundError:
                        # Another writer removed it.
                        continue
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """The documents of these ids, in this order; unknown ids are omitted."""
        documents = (self._document(self._path(name)) for name in ids)
        return [document for document in documents if document is not None]

    def similarity_search(
        self, query: str, k: int = 4, filter: Filter | None = None, **kwargs: Any
    ) -> list[Document]:
        """The `k` best documents for a query. Other arguments are those of `Kb.search`, such as `since` and `mode`."""
        return [document for document, _ in self.similarity_search_with_score(query, k, filter, **kwargs)]

    def similarity_search_with_score(
        self, query: str, k: int = 4, filter: Filter | None = None, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """As `similarity_search`, with scores from 0 to 1; higher is better."""
        return list(self._take(self._ranking(query, k, filter, kwargs), k, filter))

    def similarity_search_by_vector(
        self, embedding: list[float], k: int = 4, filter: Filter | None = None, **kwargs: Any
    ) -> list[Document]:
        """The `k` documents with the nearest vectors. The vector must come from the model `embeddings`."""
        nearest = self._nearest(np.asarray(embedding, np.float32), filter)
        ranking = ((path, score) for path, score, _ in nearest)
        return [document for document, _ in self._take(ranking, k, filter)]

    def max_marginal_relevance_search(
        self,
        query: str,
        k: int = 4,
        fetch_k: int = 20,
        lambda_mult: float = 0.5,
        filter: Filter | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """Of the `fetch_k` documents with the nearest vectors, the `k` that are near but differ from each other."""
        return self.max_marginal_relevance_search_by_vector(
            self.embeddings.embed_query(query), k, fetch_k, lambda_mult, filter, **kwargs
        )

    def max_marginal_relevance_search_by_vector(
        self,
        embedding: list[float],
        k: int = 4,
        fetch_k: int = 20,
        lambda_mult: float = 0.5,
        filter: Filter | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """As `max_marginal_relevance_search`, for a vector of the model `embeddings`."""
        query = np.asarray(embedding, np.float32)
        nearest = self._nearest(query, filter)
        vectors = {path: vector for path, _, vector in nearest}
        ranking = ((path, score) for path, score, _ in nearest)
        candidates = [document for document, _ in self._take(ranking, fetch_k, filter)]
        if not candidates:
            return []
        rows = [vectors[self._path(document.id or "")].tolist() for document in candidates]
        chosen = maximal_marginal_relevance(query, rows, lambda_mult=lambda_mult, k=k)
        return [candidates[index] for index in chosen]

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        return lambda score: score

    def _write(self) -> kbfile.Writer:
        return kbfile.open(self.path, "a", lock_timeout=self.lock_timeout)

    def _folders(self) -> tuple[str, str]:
        return self.folder, f"{self.folder}-metadata"

    def _path(self, name: str) -> str:
        return f"{self.folder}/{quote(name, safe='')}{_SUFFIX}"

    def _metadata_path(self, name: str) -> str:
        return f"{self._folders()[1]}/{quote(name, safe='')}{_METADATA_SUFFIX}"

    def _id(self, path: str) -> str | None:
        """The id of a document; None of one that this store did not write."""
        folder, _, file = path.rpartition("/")
        return unquote(file.removesuffix(_SUFFIX)) if folder == self.folder and file.endswith(_SUFFIX) else None

    def _paths(self, folder: str, where: str | None = None) -> list[str]:
        try:
            return _attempt(
                lambda: [
                    document.path for document in self._kb.documents(folder, recursive=False, where=where)
                ]
            )
        except kbfile.DocumentNotFoundError:
            return []

    def _document(self, path: str) -> Document | None:
        name = self._id(path)
        if name is None:
            return None
        try:
            text = _attempt(lambda: self._kb[path].text)
        except kbfile.DocumentNotFoundError:
            return None
        try:
            metadata = json.loads(_attempt(lambda: self._kb[self._metadata_path(name)].text))
        except kbfile.DocumentNotFoundError:
            metadata = {}
        return Document(id=name, page_content=text, metadata=metadata)

    def _ranking(
        self, query: str, k: int, filter: Filter | None, options: dict[str, Any]
    ) -> Iterator[tuple[str, float]]:
        """Paths with scores, best first: what the engine finds, then the rest by vector."""
        options = {"mode": self.mode, "plain": True} | options
        is_restricted = not options.keys() <= {"mode", "plain"}
        if not is_restricted:
            options["where"] = self._condition(filter)
        # Most of what a filter sees may not pass, and a page of many hits costs little more than one of few.
        is_narrow = filter is None or options.get("where") is not None
        page = max(k, 20 if is_narrow else _FILTERED_PAGE)
        cursor: str | None = None
        given: set[str] = set()

        def next_page() -> kbfile.Hits:
            nonlocal cursor, page
            try:
                return self._kb.search(
                    query, k=page, scope="documents", folder=self.folder, cursor=cursor, **options
                )
            except kbfile.CursorError:
                # Of the new commit, the first page again, without what was given.
                cursor = None
                raise
            except kbfile.InvalidArgumentError:
                if is_restricted or options.pop("where", None) is None:
                    raise
                # A field that no document has, or more tests than a condition may have: the filter alone decides.
                cursor, page = None, max(k, _FILTERED_PAGE)
                return next_page()

        while True:
            try:
                hits = _attempt(next_page)
            except kbfile.DocumentNotFoundError:
                # Nothing was added yet: the folder does not exist.
                return
            for hit in hits:
                if hit.document not in given:
                    given.add(hit.document)
                    yield hit.document, hit.score
            cursor = hits.cursor
            if cursor is None or not len(hits):
                break
        # A restricted request has no rest: what does not pass must not fill it up.
        if not is_restricted:
            for path, _, _ in self._nearest(self._vector(query), filter):
                if path not in given:
                    yield path, 0.0

    def _vector(self, query: str) -> np.ndarray:
        if self._embedding is None:
            return _attempt(lambda: self._kb.embed(query)[0])
        return np.asarray(self._embedding.embed_query(query), np.float32)

    def _condition(self, filter: Filter | None) -> kbfile.Condition | None:
        """A condition for all documents that may pass; None: no condition narrows the filter."""
        if filter is None or callable(filter):
            return None
        _passes(filter)
        condition = narrowed(filter)
        return None if condition is None else kbfile.field(MARK).is_missing() | condition

    def _allowed(self, filter: Filter | None) -> set[str] | None:
        """The paths of all documents that may pass; None: all may."""
        condition = self._condition(filter)
        if condition is None:
            return None
        try:
            return set(self._paths(self.folder, condition))
        except kbfile.InvalidArgumentError:
            return None

    def _nearest(
        self, query: np.ndarray, filter: Filter | None = None
    ) -> list[tuple[str, float, np.ndarray]]:
        """All documents with a vector that may pass, by the cosine of their best chunk, each with the vector of this chunk."""
        vectors, ids = self._rows()
        if not ids:
            return []
        if query.shape != (vectors.shape[1],):
            raise ValueError(
                f"a vector of {vectors.shape[1]} numbers is needed, of shape {query.shape} given: "
                "embed with the model `embeddings` of the store"
            )
        scores = vectors @ (query / (float(np.linalg.norm(query)) or 1.0))
        allowed = self._allowed(filter)
        best: dict[str, int] = {}
        for row, chunk in enumerate(ids):
            if chunk is not None and self._id(chunk[0]) is not None:
                path = chunk[0]
                if allowed is not None and path not in allowed:
                    continue
                if path not in best or scores[row] > scores[best[path]]:
                    best[path] = row
        ranking = sorted(best.items(), key=lambda item: (-scores[item[1]], item[0]))
        return [(path, float(scores[row]), vectors[row]) for path, row in ranking]

    def _rows(self) -> tuple[np.ndarray, list[tuple[str, int] | None]]:
        """All vectors and their chunks, of one commit."""

        def read() -> tuple[np.ndarray, list[tuple[str, int] | None]]:
            vectors = self._column_vectors()
            if vectors is None:
                return np.empty((0, 0), np.float32), []
            rows = vectors.to_float32()
            # An error when there is another commit by now: without one the rows are whole and of this commit.
            return rows, vectors.ids()

        return _attempt(read)

    def _column_vectors(self) -> kbfile.Vectors | None:
        """The vectors of the model of the store; None before it embedded anything."""
        if self._embedding is None:
            return self._kb.vectors
        if all(column.name != self.column for column in self._kb.vector_columns()):
            return None
        return self._kb.vectors_of(self.column)

    def _take(
        self, ranking: Iterable[tuple[str, float]], k: int, filter: Filter | None
    ) -> Iterator[tuple[Document, float]]:
        """The first `k` documents that pass."""
        passes = _passes(filter)
        if k < 1:
            return
        for path, score in ranking:
            document = self._document(path)
            if document is None or not passes(document):
                continue
            yield document, score
            k -= 1
            if k == 0:
                return


def _attempt(read: Callable[[], _T]) -> _T:
    """Reads, again while commits of a writer overtake it."""
    for attempt in range(1, _MAX_ATTEMPTS):
        try:
            return read()
        except (kbfile.CursorError, kbfile.ReplacedError):
            time.sleep(attempt * _BACKOFF_SECONDS)
    return read()


def _encode(metadata: dict[str, Any]) -> str:
    """Metadata as JSON that reads back as the same; empty for none."""
    if not metadata:
        return ""
    try:
        encoded = json.dumps(metadata, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"metadata must be JSON: {error}") from error
    if json.loads(encoded) != metadata:
        raise ValueError("metadata must be JSON: keys are str, sequences are lists")
    return encoded


def _passes(filter: Filter | None) -> Callable[[Document], bool]:
    """Whether a document passes. Before any is read, so that a wrong filter is an error even if nothing is found."""
    if filter is None:
        return lambda document: True
    if callable(filter):
        return lambda document: bool(filter(document))
    passes = compiled(filter)
    return lambda document: passes(document.metadata)
