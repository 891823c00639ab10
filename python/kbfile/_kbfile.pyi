"""The extension module behind `kbfile`; import its names from `kbfile`."""

import sys
from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, NoReturn, Self, SupportsIndex, final, overload

from typing_extensions import disjoint_base

from kbfile._field import FieldValue
from kbfile._types import Class, Embedder, Kind, Mode, OneOrMany, ProgressCallback, Reranker, Scope, Since

__all__ = [
    "Progress",
    "run_command",
    "run_extraction_worker",
    "Chunk",
    "Document",
    "DocumentIterator",
    "Section",
    "restore_document",
    "add_model",
    "ImportReport",
    "ReembedReport",
    "VectorColumn",
    "FieldInfo",
    "Hit",
    "restore_hit",
    "Hits",
    "restore_hits",
    "Kb",
    "open_reader",
    "search_files",
    "Match",
    "Matches",
    "Page",
    "Slide",
    "IndexReport",
    "MergeReport",
    "SealReport",
    "VerifyReport",
    "Sheet",
    "Symbol",
    "Symbols",
    "restore_symbol",
    "Array",
    "VectorBlock",
    "Vectors",
    "embed",
    "Writer",
    "open_writer",
    "__version__",
    "format_version",
    "built_in_model",
]

__version__: str
format_version: str
built_in_model: str

@final
class Progress:
    """Progress of a long call: its stage, and the files and bytes done, of a total that is 0 while it is unknown."""

    @property
    def stage(self) -> str:
        """What the call is doing: walk, index, symbols, write, merge, seal, verify, commit, import, search."""
    @property
    def files_done(self) -> int:
        """Files or documents done in this stage."""
    @property
    def files_total(self) -> int:
        """Total number of files or documents; 0 while unknown."""
    @property
    def bytes_done(self) -> int:
        """Bytes done in this stage."""
    @property
    def bytes_total(self) -> int:
        """Total bytes; 0 while unknown."""

@disjoint_base
class Kb:
    """An open .kb for reading."""

    @property
    def path(self) -> Path | None:
        """Path of the file; None if it was opened from bytes."""
    @property
    def closed(self) -> bool:
        """Whether it was closed."""
    @property
    def mode(self) -> Literal["r", "w", "a", "x"]:
        """The mode that the file was opened with: "r", "w", "a" or "x"."""
    def close(self) -> None:
        """Closes the file. Arrays and hits that were returned stay valid; everything else raises ClosedError. Closing twice is
        allowed.
        """
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> DocumentIterator: ...
    def __bool__(self) -> bool:
        """Always True, also for a file without documents."""
    def __contains__(self, name: object, /) -> bool: ...
    def __getitem__(self, name: str, /) -> Document: ...
    def search(
        self,
        query: str | None = None,
        *,
        vector: Any = None,
        vector_column: str | None = None,
        k: int = 10,
        mode: Mode = "hybrid",
        scope: Scope = "chunks",
        sort: str = "score",
        group_by: str | None = None,
        facets: OneOrMany = (),
        folder: OneOrMany | None = None,
        path: OneOrMany | None = None,
        type: OneOrMany | None = None,
        language: OneOrMany | None = None,
        class_: OneOrMany | None = None,
        tag: OneOrMany | None = None,
        field: OneOrMany | None = None,
        where: str | None = None,
        links_to: OneOrMany | None = None,
        since: Since | None = None,
        symbol: OneOrMany | None = None,
        kind: OneOrMany | None = None,
        min_score: float = 0.0,
        context: int | tuple[int, int] = 0,
        smart_context: bool = False,
        max_lines: int | None = None,
        max_tokens: int | None = None,
        cursor: str | None = None,
        plain: bool = False,
        exact: bool = False,
        join: bool = True,
        explain: bool = False,
        rerank: Reranker | None = None,
        rerank_top: int = 20,
        threads: int = 1,
    ) -> Hits:
        """Returns the best passages for a query. `mode` "hybrid" ranks by words and by meaning, "keyword" by words only,
        "semantic" by meaning only. "title" finds documents by their titles.

        The query is plain text with these operators, unless plain=True: "exact words", +word, -word, title:word,
        path:word and tag:word. A word that no document has is replaced by the word that it is spelled like, unless
        exact=True; `corrections` has both. Filters are `folder`, `path` (globs; "!docs/**" excludes), `type`, `language`,
        `class_`, `tag`, `symbol` (globs of names) and `kind` (of symbols). Each takes one str or several alternatives.
        `where` is a condition on fields: 'year > 2015 and author in ("Kim", "Lee") and not draft'.
        `sort` is "score", "recency", "path", or a field ("year"; "-year": greatest value first). `group_by` returns
        one hit for each value of a field. `facets`, names of fields, fills `facets` of the result. With these, only relevant
        hits count.
        `since` takes a datetime, a date, a timedelta, seconds since 1970, or a text such as "7d". `context` is the
        number of lines before and after each hit, `max_lines` the maximum lines of a hit. `max_tokens` limits all hits
        together (4 bytes per token). `cursor` continues an earlier result. `scope="documents"` returns one hit per
        document. `smart_context=True` extends a hit inside a symbol to the whole symbol, up to 16 KB. `join=False`
        keeps neighbouring chunks separate. `explain=True` fills `explanation`, `bonuses` and `terms`.
        `rerank` is a cross-encoder that reads the first `rerank_top` hits (1 to 100) together with the query and orders them
        anew: its name ("onnx:FOLDER"), a function of a query and a list of passages that returns a number for each, or an
        object with `predict` (Sentence Transformers) or `rerank` (fastembed). Scores stay as they are.

        `vector` searches a column of imported vectors: an array or a list from the model of the column. `vector_column` names
        the column; without it, the default column is searched. `query` is optional then, and is used for the keyword part of
        mode "hybrid". With `threads` of 2 or more, vectors and keywords are searched in parallel.

        Raises InvalidArgumentError for a blank query or a value out of range, DocumentNotFoundError for a folder that does
        not exist, CursorError, ModelError, DamagedError, and ReplacedError if commits overtook the search repeatedly.
        """
    def search_many(
        self,
        queries: Iterable[str],
        *,
        k: int = 10,
        mode: Mode = "hybrid",
        scope: Scope = "chunks",
        sort: str = "score",
        group_by: str | None = None,
        facets: OneOrMany = (),
        folder: OneOrMany | None = None,
        path: OneOrMany | None = None,
        type: OneOrMany | None = None,
        language: OneOrMany | None = None,
        class_: OneOrMany | None = None,
        tag: OneOrMany | None = None,
        field: OneOrMany | None = None,
        where: str | None = None,
        links_to: OneOrMany | None = None,
        since: Since | None = None,
        symbol: OneOrMany | None = None,
        kind: OneOrMany | None = None,
        min_score: float = 0.0,
        context: int | tuple[int, int] = 0,
        smart_context: bool = False,
        max_lines: int | None = None,
        max_tokens: int | None = None,
        plain: bool = False,
        exact: bool = False,
        join: bool = True,
        explain: bool = False,
        rerank: Reranker | None = None,
        rerank_top: int = 20,
        threads: int = 1,
    ) -> list[Hits]:
        """Returns the hits of each query, all from one commit. Keyword arguments are those of `search`, without `cursor`.
        `threads` is the number of queries that run in parallel.
        """
    def asearch(
        self,
        query: str | None = None,
        *,
        vector: Any = None,
        vector_column: str | None = None,
        k: int = 10,
        mode: Mode = "hybrid",
        scope: Scope = "chunks",
        sort: str = "score",
        group_by: str | None = None,
        facets: OneOrMany = (),
        folder: OneOrMany | None = None,
        path: OneOrMany | None = None,
        type: OneOrMany | None = None,
        language: OneOrMany | None = None,
        class_: OneOrMany | None = None,
        tag: OneOrMany | None = None,
        field: OneOrMany | None = None,
        where: str | None = None,
        links_to: OneOrMany | None = None,
        since: Since | None = None,
        symbol: OneOrMany | None = None,
        kind: OneOrMany | None = None,
        min_score: float = 0.0,
        context: int | tuple[int, int] = 0,
        smart_context: bool = False,
        max_lines: int | None = None,
        max_tokens: int | None = None,
        cursor: str | None = None,
        plain: bool = False,
        exact: bool = False,
        join: bool = True,
        explain: bool = False,
        rerank: Reranker | None = None,
        rerank_top: int = 20,
        threads: int = 1,
    ) -> Coroutine[Any, Any, Hits]:
        """As `search`, as a coroutine: `await kb.asearch("...")`. The search runs on a thread of asyncio's executor."""
    def search_regex(
        self,
        pattern: str,
        *,
        k: int = 100,
        ignore_case: bool = False,
        whole_words: bool = False,
        literal: bool = False,
        multi_line: bool = False,
        document: OneOrMany | None = None,
        folder: OneOrMany | None = None,
        path: OneOrMany | None = None,
        type: OneOrMany | None = None,
        language: OneOrMany | None = None,
        class_: OneOrMany | None = None,
        tag: OneOrMany | None = None,
        field: OneOrMany | None = None,
        where: str | None = None,
        links_to: OneOrMany | None = None,
        since: Since | None = None,
        cursor: str | None = None,
    ) -> Matches:
        """Returns the lines of stored text that match a regular expression, sorted by path and line.

        The syntax is that of ripgrep: Perl-like and Unicode-aware, without look-around and backreferences. The time is
        linear in the length of the text. Raises InvalidPatternError with the position of the error.
        """
    def symbols(
        self,
        name: str | None = None,
        *,
        k: int = 100,
        kind: OneOrMany | None = None,
        uses: str | None = None,
        used_by: str | None = None,
        folder: OneOrMany | None = None,
        path: OneOrMany | None = None,
        type: OneOrMany | None = None,
        language: OneOrMany | None = None,
        tag: OneOrMany | None = None,
        cursor: str | None = None,
    ) -> Symbols:
        """Returns the symbols of source code, filtered by name (a glob; case is ignored), kind and use.

        `uses="parse"` finds symbols that use this name, with the lines. `used_by="main"` finds symbols that main uses. Both
        compare names, not types.
        """
    def documents(
        self, folder: str | None = None, *, recursive: bool = True, where: str | None = None
    ) -> DocumentIterator:
        """Returns the documents in a folder and its subfolders, in the order of their paths; without a folder, all documents.
        With recursive=False, only those in the folder itself. `where` is a condition on fields, as in `search`.
        """
    def fields(self) -> list[FieldInfo]:
        """Returns the fields that documents have, by name and type: what `where`, `sort`, `group_by` and `facets` take. The
        cost grows with the number of documents.
        """
    def embed(self, text: str, *, column: str | None = None) -> Any:
        """Embeds a query with the model of a column of vectors; without `column`, of the default column if that knows its
        model, else of the built-in one. Returns float32 `[1, dim]`. Raises ModelError if the model is missing.
        """
    @property
    def vectors(self) -> Vectors:
        """The stored vectors of the newest commit, without a copy."""
    def vectors_of(self, column: str) -> Vectors:
        """Returns the stored vectors of a column. For a chunk without a vector, the row is zero and its entry in `ids()`
        is None.
        """
    def vector_columns(self) -> list[VectorColumn]:
        """Returns the vector columns: "built-in" first, then the imported ones."""
    @property
    def info(self) -> dict[str, Any]:
        """Facts about the file as a dict: format, documents, chunks, model, roots, types, languages. The cost grows with the
        number of documents.
        """
    def sizes(self) -> dict[str, int]:
        """Returns the bytes of each section of the file. They add up to the size of the file."""
    def verify(
        self, *, deep: bool = False, progress: bool | ProgressCallback | None = None
    ) -> VerifyReport:
        """Checks the checksums of all pages and extents. With deep=True, also compares every index entry with the text.
        Damage does not raise: the report is false then, and lists the problems.
        """

@final
class Writer(Kb):
    """An open .kb for writing. It also searches and reads, as of its last commit."""

    @property
    def pending(self) -> int:
        """Number of documents that the next commit changes."""
    def __enter__(self) -> Self: ...
    def add(
        self,
        source: str | bytes | Path,
        *,
        path: str | None = None,
        title: str | None = None,
        tags: Iterable[str] = (),
        metadata: Mapping[str, FieldValue | Iterable[FieldValue] | None] | None = None,
        replace: bool = False,
        include_secrets: bool = False,
    ) -> str:
        """Adds one document with the next commit, and returns its path. A str is the text itself, bytes are the content of a
        file, and a pathlib.Path is a file to read: an office document, a PDF file, source code, a text.

        The extension of `path` decides how the content is read. Without a path, a file gets its own name, and a text a name
        from its title or its hash. The default title of a text is its first heading, else its name. The title is searched
        and embedded with the text; pass `title=""` if the name is meaningless.

        `metadata` is a dict of fields for `where`: str, int, float, bool, date, datetime (UTC without a time zone), or a list
        of them. A field takes the place of one that the content states under the same name; None removes that.

        Raises ExistsError if the path exists and replace is False. Raises InvalidArgumentError for content with keys or
        credentials, unless include_secrets=True. Raises ExtractionError for a file that cannot be read.
        """
    def add_many(
        self,
        rows: Any,
        *,
        text: str = "text",
        path: str = "path",
        title: str = "title",
        tags: str = "tags",
        metadata: str = "metadata",
        replace: bool = False,
        include_secrets: bool = False,
    ) -> list[str]:
        """Adds one document for each row with the next commit, and returns their paths. `rows` are dicts, or a table of pandas,
        polars or pyarrow.

        The columns `text`, `path`, `title`, `tags` and `metadata` (a dict) mean what they mean in `add`; the arguments of
        these names give other names of columns. Every other column is a field for `where`. None, NaN and the like are
        left out. Raises ValueError with the number of the row, and what `add` raises; earlier rows stay for the commit.
        """
    def index(
        self,
        *paths: str | PathLike[str],
        progress: bool | ProgressCallback | None = None,
        threads: int = 0,
        rebuild: bool = False,
        force_hash: bool = False,
        prune: bool = False,
        root: str | None = None,
        include_secrets: bool | None = None,
        trigrams: bool | None = None,
        max_file_bytes: int = 16777216,
        vectors: Literal["i8", "i4"] | None = None,
        min_recall: float | None = None,
        hidden: bool | None = None,
        follow: bool | None = None,
        include: OneOrMany | None = None,
        exclude: OneOrMany | None = None,
    ) -> IndexReport:
        """Indexes folders and files: reads what changed since the last run. The run commits by itself, together with
        pending changes. Readers see all of a run at once, and Ctrl-C leaves the file unchanged. Only the first run of a
        new file also commits after each 30 s or 64 MiB of text, and keeps these commits. If `kbfile.open` got an `embedder`, it
        embeds what was indexed after that; a service on another machine does so by `reembed` only.

        `progress` is True for a tqdm bar, or a function that is called with a `Progress`. `threads=0` uses all cores.
        Files larger than `max_file_bytes` are skipped. `rebuild` reads every file again and loses imported vectors
        (`lost_columns` of the report). `force_hash` compares contents even if size and time are unchanged. `prune`
        removes the documents of folders that have no files left. `root` names the root that the folder continues, for a
        folder that was moved. `vectors` sets how a new file or a rebuild stores vectors: "i8", or "i4" for half the
        size.

        The file stores each of the following choices. None keeps the stored choice; False, an empty list or 0 reverts it.
        `include` and `exclude` are patterns as in .gitignore, relative to each folder. Only files that match `include`, or are
        in a folder that matches, are read; files that match `exclude` are skipped. `hidden=True` also reads hidden files that
        git does not track. `follow=True` follows symbolic links. `include_secrets=True` also reads files that may hold keys or
        credentials. `trigrams=False` writes no trigram index, which makes `search_regex` fast; it applies to documents that are
        written from then on. `min_recall`, 0.5 to 1, is the required share of the 10 nearest chunks that a search by meaning
        finds.
        """
    def remove(self, name: str) -> str:
        """Removes a document with the next commit, and returns its path."""
    def tag(
        self, name: str, add: OneOrMany = (), remove: OneOrMany = ()
    ) -> list[str]:
        """Adds and removes tags of a document with the next commit. Returns its tags after that."""
    def set_metadata(
        self, name: str, metadata: Mapping[str, FieldValue | Iterable[FieldValue] | None]
    ) -> dict[str, str]:
        """Sets fields of a document with the next commit, and returns its metadata after that. The text is not indexed again.

        `metadata` is a dict as in `add`. A field takes the place of one that the content states under the same name, and
        stays when the content changes; None removes a field. Other fields stay as they are.
        """
    def import_vectors(
        self,
        name: str,
        vectors: Any,
        documents: OneOrMany | None = None,
        chunks: Iterable[int] | None = None,
        *,
        spans: Iterable[tuple[int, int]] | None = None,
        lines: Iterable[tuple[int, int]] | None = None,
        model: str = "",
        metric: Literal["cosine", "dot", "l2"] = "cosine",
        codec: Literal["i8", "i4"] = "i8",
        default: bool = False,
        replace: bool = False,
        progress: bool | ProgressCallback | None = None,
    ) -> ImportReport:
        """Imports vectors of any model into a new or existing column `name`. `vectors` is an array `[rows, dim]` of numpy or
        another library, or a list of lists; float32 is read without a copy. Pending changes are committed first. Then all
        vectors are committed at once, or none if a row is wrong.

        By default there is one row for each chunk of the file, ordered by document path and then by chunk. With `documents`,
        each row names its document, and its chunk by `chunks` (numbers), `spans` (bytes) or `lines`. A document of one chunk
        needs none of the three. Rows may then be fewer than chunks. A document that changes loses its imported vectors.

        The first import of a column sets its scale. `cut_numbers` of the report counts numbers beyond the scale. `recall` of
        the report shows the loss by quantisation; a low recall also gives a UserWarning.

        `metric` is "cosine", "dot" or "l2", `codec` "i8" or "i4". `default=True` makes this the default column of searches by
        vector. A chunk that already has a vector in the column is an error, unless replace=True.
        """
    def reembed(
        self,
        embedder: Embedder | None = None,
        *,
        name: str | None = None,
        model: str | None = None,
        folder: str | None = None,
        codec: Literal["i8", "i4"] = "i8",
        max_seconds: float | None = None,
        commit_seconds: float = 20.0,
        replace: bool = False,
        send: bool = False,
        progress: bool | ProgressCallback | None = None,
    ) -> list[ReembedReport]:
        """Embeds the chunks that have no vector of a model yet, newest documents first, into a column, which is made if it is
        new. Searches then use the column beside the built-in model, if `kbfile.open` gets the same `embedder`.

        `embedder` is the name of a model ("minilm", "onnx:FOLDER"; `python -m kbfile models` lists them), a function of a
        list of texts that returns an array `[texts, dim]` or a list of lists, or an object of LangChain, LlamaIndex or
        Sentence Transformers. Without it, the columns that the file has are filled, by the model that `kbfile.open` got or
        those of this machine. `model` names a function or an object in the file, `name` names the column. With `folder`, only
        the documents below it are embedded.
        A file without such columns gets one of the model of `kbfile.open`. A service on another machine gets texts only with
        `send=True`; the error without it says how many.

        Vectors are committed every `commit_seconds`, and a later call goes on where this one stopped. With `max_seconds` it
        stops after that time. `left` of the report counts the chunks that have no vector. A column of another model raises
        InvalidArgumentError, unless replace=True.
        """
    def remove_vectors(self, name: str) -> int:
        """Removes a column of imported vectors, and commits pending changes. Returns the number of its vectors."""
    def set_default_vectors(self, name: str) -> None:
        """Makes a column the default of searches by vector; "built-in" is a column too. Also commits pending changes."""
    def commit(self, *, progress: bool | ProgressCallback | None = None) -> None:
        """Makes all pending changes durable and visible to readers in one step."""
    def rollback(self) -> None:
        """Discards all changes since the last commit, and releases the file to other writers."""
    def merge_from(
        self,
        sources: str | PathLike[str] | Iterable[str | PathLike[str]],
        *,
        on_conflict: Literal["refuse", "keep-first", "keep-last", "keep-newest", "both"] = "refuse",
        only: str | Iterable[str] | None = None,
        tags: str | Iterable[str] | None = None,
        folders: bool = False,
        progress: bool | ProgressCallback | None = None,
    ) -> MergeReport:
        """Takes the documents of other .kb files (one path or several) with all that was made of them, in one commit;
        nothing is read, embedded or parsed again. Also commits pending changes. `only`: globs of the paths to take;
        `folders=True` puts the documents of each file below a folder of its name. For a path with other content
        `on_conflict` decides: "refuse" raises, "keep-first" leaves the document that is there, "keep-last" and
        "keep-newest" may replace it, "both" puts the new one below a folder named after its file.
        """
    def seal(
        self,
        output: str | PathLike[str] | None = None,
        *,
        replace: bool = False,
        vectors: Literal["i8", "i4"] | None = None,
        with_model: bool = False,
        progress: bool | ProgressCallback | None = None,
    ) -> SealReport:
        """Commits pending changes and writes the smallest form of the file, for shipping, to `output` or in place.
        `with_model=True` puts the models of its columns of vectors into it.
        """

@final
class Hits(Sequence["Hit"]):
    """The hits of one search, in the order of `sort`."""

    @property
    def query(self) -> str:
        """The query that was asked."""
    @property
    def relevance(self) -> Literal["relevant", "nothing relevant"]:
        """"relevant", or "nothing relevant": then the hits are only the nearest passages."""
    @property
    def mode(self) -> Mode:
        """The mode that was used: "keyword" for a hybrid search if the model of the file is missing."""
    @property
    def searched_chunks(self) -> int:
        """Number of chunks that passed the filters."""
    @property
    def corrections(self) -> list[dict[str, Any]]:
        """Words of the query that no document has: "from", "to" (the word that was searched), and where "from" is in the
        query: "start" and "end" in characters. Empty with exact=True."""
    @property
    def facets(self) -> dict[str, list[tuple[str, int]]]:
        """Of each field of `facets`: its values with the number of documents that have each, most frequent first."""
    @property
    def missing(self) -> list[str]:
        """Identifiers of the query that no document has."""
    @property
    def warnings(self) -> list[str]:
        """Warnings about the result, one sentence each."""
    @property
    def cursor(self) -> str | None:
        """Pass it as `cursor` of the same search to get the next hits; None if there are none."""
    @property
    def explanation(self) -> dict[str, float] | None:
        """Weights, counts and the microseconds of each step; None without explain=True."""
    @property
    def elapsed(self) -> timedelta:
        """Time in the engine, without the overhead of Python."""
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: SupportsIndex, /) -> Hit: ...
    @overload
    def __getitem__(self, index: slice, /) -> list[Hit]: ...
    def __iter__(self) -> Iterator[Hit]: ...
    def to_dicts(self) -> list[dict[str, Any]]:
        """Each hit as a dict of its attributes."""
    def to_pandas(self) -> Any:
        """The hits as a pandas.DataFrame, a row each, with the fields of their documents. Needs pandas."""
    def to_polars(self) -> Any:
        """The hits as a polars.DataFrame, a row each, with the fields of their documents. Needs polars."""
    def to_arrow(self) -> Any:
        """The hits as a pyarrow.Table, a row each, with the fields of their documents. Needs pyarrow."""
    def columns(self) -> dict[str, list[Any]]:
        """The table of the hits: a list for each column, as `to_arrow()` has them. The fields of the documents come last, by
        their names in lower case; `meta.` stands before the name of another column.
        """
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The hits as an Arrow stream, for libraries that read one: the PyCapsule interface."""
    def _repr_html_(self) -> str:
        """The table that a notebook shows."""

@final
class Hit:
    """One result: a passage or a document, with its scores and where it is."""

    @property
    def document(self) -> str:
        """Path of the document in the .kb."""
    @property
    def handle(self) -> str:
        """Handle of the document, which stays the same if the document is renamed."""
    @property
    def title(self) -> str:
        """Title of the document."""
    @property
    def address(self) -> str:
        """Document and lines as one name, for `kb[...]`, the command line and the MCP server: "docs/guide.md:10-20"."""
    @property
    def text(self) -> str:
        """The text of the passage."""
    @property
    def before(self) -> str:
        """The lines before the passage, if `context` asks for them."""
    @property
    def after(self) -> str:
        """The lines after the passage, if `context` asks for them."""
    @property
    def snippet(self) -> str:
        """The whole lines of `text`, up to four, with the most and rarest terms of the query."""
    @property
    def highlights(self) -> list[tuple[int, int]]:
        """Ranges of characters of `text` that match terms of the query: `text[a:b]`."""
    @property
    def score(self) -> float:
        """0 to 1, comparable between requests and files: the probability that the hit answers."""
    @property
    def fused_score(self) -> float:
        """The score that ranks the hits."""
    @property
    def keyword_score(self) -> float | None:
        """Keyword score, 0 to 1; None if the mode has none."""
    @property
    def vector_score(self) -> float | None:
        """Vector score, 0 to 1; None if the mode has none."""
    @property
    def section(self) -> list[str]:
        """Titles of the sections around it, outermost first."""
    @property
    def section_number(self) -> str:
        """Number of the innermost section, such as "2.1"; empty before the first heading."""
    @property
    def lines(self) -> tuple[int, int]:
        """First and last line in the original file, from 1; (0, 0) for a document without text."""
    @property
    def span(self) -> tuple[int, int]:
        """Range of `text` in the stored text of the document: start and end in bytes, the end exclusive."""
    @property
    def page(self) -> int | None:
        """Number of the page, from 1; None in a document without pages."""
    @property
    def sheet(self) -> str | None:
        """Name of the sheet with the passage; empty for a table without a name, None if the document has no sheets."""
    @property
    def rows(self) -> tuple[int, int] | None:
        """First and last row of the passage in its sheet, from 1."""
    @property
    def slide(self) -> int | None:
        """Number of the slide, from 1; None in a document without slides."""
    @property
    def symbol(self) -> Symbol | None:
        """The function, class or other symbol that contains the hit; None if there is none."""
    @property
    def type(self) -> str:
        """File type of the document: "markdown", "rust"."""
    @property
    def language(self) -> str:
        """Language of the document; empty for prose."""
    @property
    def class_(self) -> Class:
        """"code", "doc" or "data"."""
    @property
    def tags(self) -> list[str]:
        """Tags of the document."""
    @property
    def modified(self) -> datetime | None:
        """When the original was modified, in UTC; None when unknown."""
    @property
    def size_bytes(self) -> int:
        """Size of the original file in bytes."""
    @property
    def metadata(self) -> dict[str, str]:
        """Metadata that the document states, such as author and date."""
    @property
    def fields(self) -> dict[str, Any]:
        """The metadata with typed values: str, int, float, bool, datetime in UTC, or a list of them. A text that the
        document states is one str, also if it lists several names.
        """
    @property
    def chunk(self) -> tuple[int, int]:
        """Segment and row of the best chunk, valid for this commit of the file."""
    @property
    def chunk_index(self) -> int:
        """Number of that chunk in its document, from 0."""
    @property
    def chunks(self) -> int:
        """Number of chunks in the passage."""
    @property
    def matches(self) -> int:
        """Number of candidate chunks that this hit represents."""
    @property
    def more_in_document(self) -> int:
        """Passages of its document that were moved behind the first ten hits, said once for each document."""
    @property
    def copies(self) -> int:
        """Number of other documents with the same text, or nearly the same, which are no hits."""
    @property
    def copy_paths(self) -> list[str]:
        """Paths of these documents."""
    @property
    def file(self) -> int:
        """Position of its file among the searched files."""
    @property
    def bonuses(self) -> dict[str, float]:
        """Bonuses added to the fused score, by name; empty without explain=True."""
    @property
    def terms(self) -> dict[str, float]:
        """The keyword score by term; empty without explain=True."""
    def to_dict(self) -> dict[str, Any]:
        """All attributes by name."""
    def __eq__(self, other: object, /) -> bool: ...

@final
class Document:
    """One document of a file. Its facts are read at once, its texts on demand."""

    @property
    def path(self) -> str:
        """Path in the .kb, such as `docs/guide.md`."""
    @property
    def handle(self) -> str:
        """A short name that stays the same if the document is renamed."""
    @property
    def title(self) -> str:
        """Title: the first heading, a stated one, or the file name."""
    @property
    def type(self) -> str:
        """File type: "markdown", "rust"."""
    @property
    def language(self) -> str:
        """Language; empty for prose."""
    @property
    def class_(self) -> Class:
        """"code", "doc" or "data"."""
    @property
    def tags(self) -> list[str]:
        """Tags, sorted."""
    @property
    def metadata(self) -> dict[str, str]:
        """Metadata that the document states, such as author and date."""
    @property
    def fields(self) -> dict[str, Any]:
        """The metadata with typed values: str, int, float, bool, datetime in UTC, or a list of them. A text that the
        document states is one str, also if it lists several names.
        """
    @property
    def modified(self) -> datetime | None:
        """When the original was modified, in UTC; None when unknown."""
    @property
    def added(self) -> datetime:
        """When the document was added, in UTC."""
    @property
    def size_bytes(self) -> int:
        """Size of the original in bytes."""
    @property
    def text_bytes(self) -> int:
        """Size of the stored text in bytes of UTF-8."""
    @property
    def line_count(self) -> int:
        """Number of lines."""
    @property
    def hash(self) -> str:
        """BLAKE3 hash of the original, 64 hexadecimal digits."""
    @property
    def revision(self) -> str:
        """Changes whenever the content changes."""
    @property
    def text(self) -> str:
        """The whole text, at most 256 MiB."""
    def lines(self, first: int, last: int | None = None) -> str:
        """Returns lines `first` to `last` of the text, both included, from 1; without `last`, to the end."""
    @property
    def outline(self) -> list[Section]:
        """Headings, bookmarks or symbols in order, with their lines."""
    def section(self, name: str) -> str:
        """The text of a section, by number ("2.1"), title, or path of titles ("Guide > Install")."""
    @property
    def pages(self) -> list[Page]:
        """Pages with their text; a document without pages is cut into pages of about 800 tokens."""
    @property
    def sheets(self) -> list[Sheet]:
        """Sheets, whose rows are read on demand; empty for a document without sheets."""
    @property
    def slides(self) -> list[Slide]:
        """Slides with title, text and notes; empty for a document without slides."""
    @property
    def symbols(self) -> list[Symbol]:
        """Symbols of source code, in order; empty for other documents."""
    @property
    def chunks(self) -> list[Chunk]:
        """The chunks, which are the unit of search, in order. Together they are the text."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def to_pandas(self) -> Any:
        """The chunks of the document as a pandas.DataFrame, a row each. Needs pandas."""
    def to_polars(self) -> Any:
        """The chunks of the document as a polars.DataFrame, a row each. Needs polars."""
    def to_arrow(self) -> Any:
        """The chunks of the document as a pyarrow.Table, a row each. Needs pyarrow."""
    def _repr_html_(self) -> str:
        """What a notebook shows: facts and outline."""

@final
class DocumentIterator:
    """Documents of a file in the order of their paths, read some at a time."""

    def __iter__(self) -> Self: ...
    def __next__(self) -> Document: ...
    def columns(self) -> dict[str, list[Any]]:
        """The table of the documents that are left: a list for each column, as `to_arrow()` has them. Their fields come last,
        by their names in lower case; `meta.` stands before the name of another column. The iteration stays where it is.
        """
    def to_pandas(self) -> Any:
        """The documents that are left, without their text, as a pandas.DataFrame, a row each, with their fields. Needs pandas.
        The iteration stays where it is.
        """
    def to_polars(self) -> Any:
        """The documents that are left, without their text, as a polars.DataFrame, a row each, with their fields. Needs polars.
        The iteration stays where it is.
        """
    def to_arrow(self) -> Any:
        """The documents that are left, without their text, as a pyarrow.Table, a row each, with their fields. Needs pyarrow.
        The iteration stays where it is.
        """
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The documents that are left as an Arrow stream, for libraries that read one: the PyCapsule interface. The iteration
        stays where it is.
        """
    def _repr_html_(self) -> str:
        """The table that a notebook shows. The iteration stays where it is."""

@final
class Section:
    """A heading, bookmark or symbol of a document, with the text below it."""

    @property
    def number(self) -> str:
        """Number, such as "2.1"."""
    @property
    def level(self) -> int:
        """Depth, from 1."""
    @property
    def title(self) -> str:
        """Title; for a symbol, its label, such as "fn main"."""
    @property
    def lines(self) -> tuple[int, int]:
        """First and last line, from 1."""
    @property
    def span(self) -> tuple[int, int]:
        """Range in the stored text: start and end in bytes, the end exclusive."""
    @property
    def part(self) -> int | None:
        """Number of the page, sheet or slide where it begins."""
    @property
    def kind(self) -> Kind | None:
        """Kind of the symbol; None for a heading."""
    @property
    def name(self) -> str | None:
        """Name of the symbol; None for a heading."""

@final
class Chunk:
    """The unit of search: a contiguous span of a document."""

    @property
    def index(self) -> int:
        """Number in the document, from 0."""
    @property
    def text(self) -> str:
        """Its text."""
    @property
    def section(self) -> list[str]:
        """Titles of the sections around its beginning, outermost first."""
    @property
    def lines(self) -> tuple[int, int]:
        """First and last line, from 1."""
    @property
    def span(self) -> tuple[int, int]:
        """Range in the stored text: start and end in bytes, the end exclusive."""

@final
class Page:
    """A page of a document."""

    @property
    def number(self) -> int:
        """Its number, from 1."""
    @property
    def label(self) -> str:
        """The page number printed on the page, if it differs; else empty."""
    @property
    def text(self) -> str:
        """Its text."""
    @property
    def lines(self) -> tuple[int, int]:
        """First and last line, from 1."""
    @property
    def source(self) -> str | None:
        """Where the page break comes from: "physical", "rendered", "explicit" or "estimated". None if the document has no pages
        and was divided by this library.
        """

@final
class Slide:
    """A slide of a presentation."""

    @property
    def number(self) -> int:
        """Its number, from 1."""
    @property
    def title(self) -> str:
        """Its title; empty when it has none."""
    @property
    def text(self) -> str:
        """Its text."""
    @property
    def notes(self) -> str:
        """The notes of the speaker."""
    @property
    def is_hidden(self) -> bool:
        """Whether it is hidden in a show."""
    @property
    def lines(self) -> tuple[int, int]:
        """First and last line, from 1."""

@final
class Sheet:
    """A sheet of a workbook, or a table of a text file."""

    @property
    def number(self) -> int:
        """Its number, from 1."""
    @property
    def name(self) -> str:
        """Its name; empty for a document that is one table."""
    @property
    def row_count(self) -> int:
        """Number of rows, the header row included."""
    @property
    def column_count(self) -> int:
        """Number of columns."""
    @property
    def header_row(self) -> int | None:
        """Number of the header row, from 1; None without one."""
    @property
    def is_hidden(self) -> bool:
        """Whether the sheet is hidden."""
    @property
    def header(self) -> list[str] | None:
        """The names of the columns, as they are shown; None without a header row."""
    def rows(self, cells: str | None = None, *, shown: bool = False) -> list[list[Any]]:
        """Rows without the header row, each a list of the values of its cells: int for a whole number, else
        float, str, bool, or None for an empty one.
        `cells` selects a range, "A1:D10", with all its rows. With `shown=True` every cell is the text that a reader sees.
        """

@final
class Symbol:
    """A symbol: a definition in source code."""

    @property
    def document(self) -> str:
        """Path of the document."""
    @property
    def kind(self) -> Kind:
        """What it is: "function", "class", "method"."""
    @property
    def name(self) -> str:
        """Its name."""
    @property
    def hierarchy(self) -> str:
        """Labels of the enclosing symbols and of this one: "impl Foo > fn bar"."""
    @property
    def signature(self) -> str:
        """The text before its body, on one line."""
    @property
    def language(self) -> str:
        """Programming language."""
    @property
    def lines(self) -> tuple[int, int]:
        """First and last line of the definition, from 1."""
    @property
    def uses(self) -> list[int]:
        """Lines inside the symbol that use the name given as `uses`."""
    @property
    def calls(self) -> list[int]:
        """The lines of `uses` that call the name."""
    def __eq__(self, other: object, /) -> bool: ...

@final
class Symbols(Sequence["Symbol"]):
    """The symbols that match a request."""

    @property
    def total(self) -> int:
        """Total number of symbols, including those of later pages."""
    @property
    def warnings(self) -> list[str]:
        """Warnings about the result, one sentence each."""
    @property
    def cursor(self) -> str | None:
        """Pass it as `cursor` of the same request to get the next results; None if there are none."""
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: SupportsIndex, /) -> Symbol: ...
    @overload
    def __getitem__(self, index: slice, /) -> list[Symbol]: ...
    def __iter__(self) -> Iterator[Symbol]: ...
    def to_pandas(self) -> Any:
        """The symbols as a pandas.DataFrame, a row each. Needs pandas."""
    def to_polars(self) -> Any:
        """The symbols as a polars.DataFrame, a row each. Needs polars."""
    def to_arrow(self) -> Any:
        """The symbols as a pyarrow.Table, a row each. Needs pyarrow."""
    def _repr_html_(self) -> str:
        """The table that a notebook shows."""

@final
class Match:
    """A line that matches a regular expression, or the lines of a match over several."""

    @property
    def document(self) -> str:
        """Path of the document."""
    @property
    def text(self) -> str:
        """The text of the lines, without the last line end."""
    @property
    def lines(self) -> tuple[int, int]:
        """First and last line, from 1."""
    @property
    def ranges(self) -> list[tuple[int, int]]:
        """Ranges of characters of `text` that match: `text[a:b]`."""
    @property
    def page(self) -> int | None:
        """Number of the page, from 1; None in a document without pages."""
    @property
    def sheet(self) -> str | None:
        """Name of the sheet; None in a document without sheets."""
    @property
    def slide(self) -> int | None:
        """Number of the slide, from 1; None in a document without slides."""
    def __eq__(self, other: object, /) -> bool: ...

@final
class Matches(Sequence["Match"]):
    """The matches of a regular expression, by path and line."""

    @property
    def is_complete(self) -> bool:
        """Whether all text was searched; False if a limit ended the search."""
    @property
    def warnings(self) -> list[str]:
        """Warnings about the result, one sentence each."""
    @property
    def cursor(self) -> str | None:
        """Pass it as `cursor` of the same request to get the next results; None if there are none."""
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: SupportsIndex, /) -> Match: ...
    @overload
    def __getitem__(self, index: slice, /) -> list[Match]: ...
    def __iter__(self) -> Iterator[Match]: ...
    def to_pandas(self) -> Any:
        """The matches as a pandas.DataFrame, a row each. Needs pandas."""
    def to_polars(self) -> Any:
        """The matches as a polars.DataFrame, a row each. Needs polars."""
    def to_arrow(self) -> Any:
        """The matches as a pyarrow.Table, a row each. Needs pyarrow."""
    def _repr_html_(self) -> str:
        """The table that a notebook shows."""

@final
class Array:
    """Numbers as an array of float32 `[n, dim]` through the buffer protocol."""

    def __len__(self) -> int: ...
    if sys.version_info >= (3, 12):
        def __buffer__(self, flags: int, /) -> memoryview: ...
        def __release_buffer__(self, buffer: memoryview, /) -> None: ...

@final
class Vectors(Sequence["VectorBlock"]):
    """The stored vectors of one commit: blocks of rows, in place."""

    @property
    def dim(self) -> int:
        """Dimensions."""
    @property
    def model(self) -> str:
        """Name of the model that made them."""
    @property
    def codec(self) -> Literal["i8", "i4"]:
        """How rows are stored: "i8" or "i4"."""
    @property
    def row_count(self) -> int:
        """Rows of all blocks, including those of deleted chunks."""
    @property
    def nbytes(self) -> int:
        """Bytes of all blocks."""
    def is_current(self) -> bool:
        """Whether the bytes are still those of the commit. False once a writer may have reused their place; then read
        `kb.vectors` again. Without a writer it stays True.
        """
    def ids(self) -> list[tuple[str, int] | None]:
        """Returns the chunk of each row, in the order of the blocks: path of the document, and number of the chunk in it. None
        for a row whose chunk is deleted, or has no vector in an imported column. Raises CursorError if the file has a newer
        commit.
        """
    def to_float32(self) -> Any:
        """Returns a copy of all vectors as float32 `[rows, dim]`, each of about unit length."""
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: SupportsIndex, /) -> VectorBlock: ...
    @overload
    def __getitem__(self, index: slice, /) -> list[VectorBlock]: ...
    def __iter__(self) -> Iterator[VectorBlock]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows as an Arrow stream, a batch for each block: document, chunk_index, is_deleted, scale, and vector: a list of
        int8 that is not copied, or of float32 with the codec i4 or padded rows.
        """

@final
class VectorBlock:
    """Rows of one segment that lie next to each other in the file."""

    @property
    def segment(self) -> int:
        """Number of the segment."""
    @property
    def first_row(self) -> int:
        """First row in the segment, from 0."""
    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
    @property
    def scale(self) -> float:
        """Factor: an int8 of the block times `scale` is a component of its vector."""
    def __len__(self) -> int: ...
    if sys.version_info >= (3, 12):
        def __buffer__(self, flags: int, /) -> memoryview: ...
        def __release_buffer__(self, buffer: memoryview, /) -> None: ...

@final
class FieldInfo:
    """The values of one type that documents have under one name."""

    @property
    def name(self) -> str:
        """Name of the field, in lower case."""
    @property
    def type(self) -> Literal["text", "integer", "float", "boolean", "time"]:
        """Type of the values: "text", "integer", "float", "boolean" or "time"."""
    @property
    def documents(self) -> int:
        """Documents with such a value."""
    @property
    def distinct(self) -> int:
        """Number of different values; at most 100,000 are counted."""
    @property
    def has_more_values(self) -> bool:
        """Whether there are more than 100,000 different values."""
    @property
    def min(self) -> Any:
        """The least value of numbers and times; None for other types."""
    @property
    def max(self) -> Any:
        """The greatest value of numbers and times; None for other types."""
    def values(self, limit: int | None = None) -> list[tuple[Any, int]]:
        """Returns the values with the number of documents that have each, most frequent first; at most `limit`. Texts are in
        lower case.
        """

@final
class VectorColumn:
    """A vector column: at most one vector for each chunk, all by one model."""

    @property
    def name(self) -> str:
        """Name of the column; "built-in" for the vectors of the built-in model."""
    @property
    def model(self) -> str:
        """Name of the model, as given at import; may be empty."""
    @property
    def dim(self) -> int:
        """Dimensions."""
    @property
    def metric(self) -> Literal["cosine", "dot", "l2"]:
        """How vectors are compared: "cosine", "dot" or "l2"."""
    @property
    def codec(self) -> Literal["i8", "i4"]:
        """How vectors are stored: "i8" or "i4"."""
    @property
    def rows(self) -> int:
        """Chunks with a vector."""
    @property
    def is_default(self) -> bool:
        """Whether a search by vector uses this column by default."""
    @property
    def recall(self) -> float | None:
        """Measured share of the 10 nearest vectors that searches find; None if not measured."""

@final
class ReembedReport:
    """What a model embedded into a column of vectors."""

    @property
    def column(self) -> str:
        """Name of the column."""
    @property
    def model(self) -> str:
        """The model."""
    @property
    def embedded(self) -> int:
        """Chunks that were embedded."""
    @property
    def cached(self) -> int:
        """Chunks whose text the model had embedded before, and did not again."""
    @property
    def empty(self) -> int:
        """Chunks of which the model knows no token."""
    @property
    def left(self) -> int:
        """Chunks that still have no vector."""
    @property
    def chunks(self) -> int:
        """Chunks of the file."""
    @property
    def model_seconds(self) -> float:
        """Seconds spent in the model."""

@final
class ImportReport:
    """What an import of vectors did."""

    @property
    def rows(self) -> int:
        """Vectors that were imported."""
    @property
    def chunks(self) -> int:
        """Chunks of the file."""
    @property
    def dim(self) -> int:
        """Dimensions of the column."""
    @property
    def replaced(self) -> int:
        """Number of vectors that replaced another one."""
    @property
    def cut_numbers(self) -> int:
        """Number of values that were beyond the scale of the column and were clamped."""
    @property
    def recall(self) -> float | None:
        """Share of the 10 nearest vectors that searches by the quantised vectors find; None for fewer than 200 vectors."""

@final
class IndexReport:
    """What an index run did."""

    @property
    def documents(self) -> int:
        """Documents in the file now."""
    @property
    def chunks(self) -> int:
        """Chunks in the file now."""
    @property
    def added(self) -> list[str]:
        """Paths of new documents."""
    @property
    def updated(self) -> list[str]:
        """Paths of documents whose content changed."""
    @property
    def removed(self) -> list[str]:
        """Paths of removed documents."""
    @property
    def unchanged(self) -> int:
        """Number of unchanged documents."""
    @property
    def skipped(self) -> list[tuple[str, str]]:
        """Files that were skipped, with the reason."""
    @property
    def unparsed(self) -> list[tuple[str, str]]:
        """Source files that were split by lines instead of syntax, with the reason."""
    @property
    def parsed(self) -> int:
        """Source files that an earlier pass indexed as text and this run parsed."""
    @property
    def symbols_pending(self) -> int:
        """Source files that are indexed as text and that the next run parses."""
    @property
    def lost_columns(self) -> list[str]:
        """Columns of imported vectors that a rebuild removed."""
    @property
    def missed_recall(self) -> float | None:
        """The recall of searches if it is below `min_recall`; None if it is not, or if `min_recall` is not set."""
    @property
    def elapsed(self) -> timedelta:
        """How long it took."""

@final
class MergeReport:
    """What a merge took of other files."""

    @property
    def added(self) -> int:
        """Documents that came."""
    @property
    def replaced(self) -> int:
        """Documents that took the place of others."""
    @property
    def identical(self) -> int:
        """Documents that were there already, alike in all."""
    @property
    def left_out(self) -> int:
        """Documents that were left out, because the one of their path stays."""
    @property
    def renamed_below(self) -> list[str]:
        """Folders that documents were put below whose path was taken."""
    @property
    def left_columns(self) -> list[str]:
        """Columns of vectors that were left out: the file has others of these names, or no room."""
    @property
    def left_roots(self) -> list[str]:
        """Indexed folders of the other files that index runs of this one do not follow."""

@final
class SealReport:
    """What sealing wrote."""

    @property
    def path(self) -> Path:
        """Path of the sealed file."""
    @property
    def content_root(self) -> str:
        """Hash of the content, 64 hexadecimal digits; equal for equal documents."""
    @property
    def documents(self) -> int:
        """Documents in it."""
    @property
    def bytes_before(self) -> int:
        """Bytes of the file before."""
    @property
    def bytes_after(self) -> int:
        """Bytes of the sealed file."""
    @property
    def missed_recall(self) -> float | None:
        """The recall of searches if the file stores a `min_recall` that cannot be reached, else None."""

@final
class VerifyReport:
    """What a check of a file found. True when nothing is wrong."""

    @property
    def problems(self) -> list[str]:
        """What is wrong, one sentence each."""
    @property
    def documents(self) -> int:
        """Documents in the file."""
    @property
    def chunks(self) -> int:
        """Chunks in the file."""
    @property
    def bytes(self) -> int:
        """Bytes that were compared with their checksums."""
    @property
    def deep(self) -> bool:
        """Whether index entries were compared with the text too."""
    @property
    def content_root(self) -> str | None:
        """The hash of the content of a sealed file."""
    @property
    def elapsed(self) -> timedelta:
        """How long it took."""
    def __bool__(self) -> bool: ...

def open_reader(
    source: str | PathLike[str] | bytes | bytearray | memoryview,
    embedder: Embedder | None,
) -> Kb:
    """Opens a file for reading; `kbfile.open` calls it."""
def open_writer(
    path: str | PathLike[str],
    mode: Literal["w", "a", "x"],
    lock_timeout: float,
    extraction: Literal["worker", "in-process"],
    embedder: Embedder | None,
) -> Writer:
    """Opens a file for writing; `kbfile.open` calls it."""
def embed(texts: str | Iterable[str], *, query: bool = False) -> Any:
    """Embeds texts with the built-in model, without a file. Returns float32 `[n, dim]`, each row of unit length, or
    all zero if the model knows no word of its text. A single str is one text.

    `query=True` marks the texts as queries; some models embed queries differently, the built-in one does not.
    Returns a numpy.ndarray, or a memoryview if numpy is not installed. Takes about a microsecond per word.
    """
def search_files(
    files: Sequence[Kb],
    query: str | None = None,
    **options: Any,
) -> Hits:
    """Searches up to 64 files as if they were one; `Hit.file` is the position of the file of a hit. Term weights count
    the chunks of all files, so scores are comparable. Keyword arguments are those of `Kb.search`.
    """
def restore_hit(state: dict[str, Any]) -> Hit:
    """The hit of a pickle."""
def restore_hits(state: dict[str, Any]) -> Hits:
    """The hits of a pickle."""
def restore_document(source: Any, name: str) -> Document:
    """Restores a pickled document: opens `source` with `kbfile.open` and finds `name` in it."""
def restore_symbol(state: Any) -> Symbol:
    """The symbol of a pickle."""
def add_model(name: str, paths: Sequence[str]) -> None:
    """Copies a model out of folders and wheels, and gives it a name, as `kb models add`."""
def run_command(arguments: Sequence[str], launcher: Sequence[str] | None = None) -> int:
    """Runs one command line, without the program, and returns the status to end the process with: 0 found or done, 1
    nothing found, out of date or different, 2 error. `launcher` is the command that starts this program again, as a
    list of words.
    """
def run_extraction_worker() -> NoReturn:
    """Makes this process an extraction worker, and ends it. Not for users: writers start such processes."""
