"""A retriever: passages of a `.kb` file as nodes."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from os import PathLike
from typing import Any

import kbfile
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.schema import (
    NodeRelationship,
    NodeWithScore,
    ObjectType,
    QueryBundle,
    RelatedNodeInfo,
    TextNode,
)
from llama_index.core.vector_stores import MetadataFilters

from llama_index.retrievers.kbfile.filters import translated

# Facts for programs, which a language model has no use for.
_NOT_FOR_MODELS = ["span", "handle", "type", "class", "score"]


class KbRetriever(BaseRetriever):
    """The best passages of a `.kb` file for a question, by words and meaning.

        retriever = KbRetriever("docs.kb", k=4, class_="doc")
        retriever.retrieve("how long are logs kept")

    `kb` is the path of a file or an open `kbfile.Kb`; a path is opened at once. `k` is the number of nodes. `options` are
    the other keyword arguments of `Kb.search`: mode ("hybrid", "semantic", "keyword", "title"), folder, path, type,
    language, class_, tag, since, symbol, kind, min_score, context and so on.

    Each node has the text of a passage, its score (0 to 1) and metadata: `source` (the path in the file), `lines`,
    `title`, `section`, `address`, `span` (bytes of the stored text), and where they exist `page`, `sheet`, `rows`, `slide`,
    `symbol`, `language`, `tags` and `modified`. It also has the fields of the document, typed; times are texts in ISO 8601. Its
    SOURCE is the document, by its path. `start_char_idx` and
    `end_char_idx` count characters of the document's text; `char_offsets=False` leaves them out and saves reading it.

    `filters` are MetadataFilters of LlamaIndex over the fields of documents, such as front matter; a condition `where` must
    hold beside them. Letter case is ignored, and a text matches no number. What has no such meaning is a ValueError.

    `embed_model` is the model of LlamaIndex whose vectors the file has: `kb.reembed(embed_model)` of an open `kbfile.Writer`
    writes them. It embeds questions, and searches use it beside the model of the engine. A QueryBundle is searched by its
    `query_str`; its embedding, if it has one, takes the place of that of `embed_model`. Without `embed_model` the embedding is
    not used, and `custom_embedding_strs` never are. Calls see the newest commit of the file. The retriever may be shared by threads.
    """

    def __init__(
        self,
        kb: str | PathLike[str] | kbfile.Kb,
        k: int = 4,
        *,
        char_offsets: bool = True,
        embed_model: BaseEmbedding | None = None,
        filters: MetadataFilters | None = None,
        callback_manager: CallbackManager | None = None,
        object_map: dict[str, Any] | None = None,
        verbose: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(callback_manager=callback_manager, object_map=object_map, verbose=verbose)
        self._embed_model = embed_model
        if isinstance(kb, kbfile.Kb):
            if embed_model is not None:
                raise ValueError("give embed_model to kbfile.open(..., embedder=...), or the path of the file here")
            self._kb = kb
        else:
            self._kb = kbfile.open(kb, embedder=embed_model)
        self._k = k
        self._char_offsets = char_offsets
        if filters is not None:
            conditions = [translated(filters), options.get("where")]
            options["where"] = " and ".join(f"({one})" for one in conditions if one) or None
        self._options = options

    @classmethod
    def class_name(cls) -> str:
        """The name that LlamaIndex shows."""
        return "KbRetriever"

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        options = self._asked(query_bundle)
        return self._nodes(self._kb.search(query_bundle.query_str, k=self._k, **options))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._nodes(
            await self._kb.asearch(query_bundle.query_str, k=self._k, **self._asked(query_bundle))
        )

    def _asked(self, query_bundle: QueryBundle) -> dict[str, Any]:
        """The options of a search, with the vector that the question brings."""
        if self._embed_model is None or query_bundle.embedding is None:
            return self._options
        columns = [column for column in self._kb.vector_columns() if column.model.startswith("python:")]
        if len(columns) != 1:
            return self._options
        return self._options | {"vector": query_bundle.embedding, "vector_column": columns[0].name}

    def _nodes(self, hits: Iterable[kbfile.Hit]) -> list[NodeWithScore]:
        texts: dict[str, bytes] = {}
        nodes = []
        for hit in hits:
            first, last = self._characters(hit, texts) if self._char_offsets else (None, None)
            node = TextNode(
                id_=f"{hit.document}#{hit.span[0]}-{hit.span[1]}",
                text=hit.before + hit.text + hit.after,
                start_char_idx=first,
                end_char_idx=last,
                metadata=_metadata(hit),
                excluded_embed_metadata_keys=_NOT_FOR_MODELS,
                excluded_llm_metadata_keys=_NOT_FOR_MODELS,
                relationships={
                    NodeRelationship.SOURCE: RelatedNodeInfo(
                        node_id=hit.document,
                        node_type=ObjectType.DOCUMENT,
                        metadata={"title": hit.title, "handle": hit.handle},
                    )
                },
            )
            nodes.append(NodeWithScore(node=node, score=hit.score))
        return nodes

    def _characters(
        self, hit: kbfile.Hit, texts: dict[str, bytes]
    ) -> tuple[int, int] | tuple[None, None]:
        """The characters of the document that a node is; none if the document changed since the search."""
        if hit.document not in texts:
            try:
                texts[hit.document] = self._kb[hit.document].text.encode()
            except kbfile.DocumentNotFoundError:
                return None, None
        text = texts[hit.document]
        # With the lines around it that `context` asked for.
        first = hit.span[0] - len(hit.before.encode())
        content = hit.before + hit.text + hit.after
        if first < 0 or text[first : first + len(content.encode())] != content.encode():
            return None, None
        start = len(text[:first].decode())
        return start, start + len(content)


def _plain(value: Any) -> Any:
    """A value of a field as JSON has it: a time is a text in ISO 8601."""
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value.isoformat() if isinstance(value, datetime) else value


def _metadata(hit: kbfile.Hit) -> dict[str, Any]:
    """The location of the passage, facts about its document and the fields of it. A location takes the place of a field of that
    name; what the document does not have is omitted.
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
    return fields | metadata | present
