"""The extension module behind `kbfile`; import its names from `kbfile`."""

import sys
from collections.abc import Coroutine, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, NoReturn, Self, SupportsIndex, final, overload

from typing_extensions import disjoint_base

from kbfile._types import Class, Kind, Mode, OneOrMany, ProgressCallback, Scope, Since, Sort

__all__ = [
    "Progress",
    "run_command",
    "run_extraction_worker",
    "Chunk",
    "Document",
    "DocumentIterator",
    "Section",
    "restore_document",
    "ImportReport",
    "VectorColumn",
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
    """How far a long call is: its stage, and files and bytes done of all (0: not known yet)."""

    @property
    def stage(self) -> str:
        """What the call is doing: walk, index, write, merge, seal, verify, commit, import, search."""
    @property
    def files_done(self) -> int:
        """Files or documents done in this stage."""
    @property
    def files_total(self) -> int:
        """Files or documents in all; 0 while that is not known."""
    @property
    def bytes_done(self) -> int:
        """Bytes done in this stage."""
    @property
    def bytes_total(self) -> int:
        """Bytes in all; 0 while that is not known."""

@disjoint_base
class Kb:
    """An open .kb for reading."""

    @property
    def path(self) -> Path | None:
        """Where the file is; None when it was opened from bytes."""
    @property
    def closed(self) -> bool:
        """Whether it was closed."""
    @property
    def mode(self) -> Literal["r", "w", "a", "x"]:
        """"r", or of a writer "w", "a" or "x"."""
    def close(self) -> None:
        """Closes the file. Arrays and hits that were handed out stay; everything else raises ClosedError. Closing twice is
        no error.
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
        """A file without documents is one all the same."""
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
        sort: Sort = "score",
        folder: OneOrMany | None = None,
        path: OneOrMany | None = None,
        type: OneOrMany | None = None,
        language: OneOrMany | None = None,
        class_: OneOrMany | None = None,
        tag: OneOrMany | None = None,
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
        join: bool = True,
        explain: bool = False,
        threads: int = 1,
    ) -> Hits:
        """The best passages for a query, ranked by words and meaning (mode "hybrid"), by one of them ("keyword",
        "semantic"), or documents by their titles ("title").

        The query is plain text; operators are "exact words", +word, -word, title:word, path:word and tag:word, unless
        plain=True. Filters (`folder`, `path` globs, `type`, `language`, `class_`, `tag`, `symbol` name globs, `kind` of
        symbol) take a str or several, which are alternatives; `since` takes a datetime, date, timedelta, seconds since
        1970, or text as "7d". `context` is lines before and after, `max_lines` the most lines of each hit, `max_tokens` a
        budget for all (4 bytes each), `cursor` continues a result.

        `vector` is one of the model that made a column (`import_vectors`), an array or a list: the search is by it, and
        `query`, which may be left out, ranks the keyword part of mode "hybrid". `vector_column` names the column, else it is
        the default one. With `threads` of 2 or more, vectors are searched beside keywords.

        Raises InvalidArgumentError for a blank query or a value out of range, DocumentNotFoundError for a folder that is
        not there, CursorError, ModelError, DamagedError, and ReplacedError when commits overtook the search again and again.
        """
    def search_many(
        self,
        queries: Iterable[str],
        *,
        k: int = 10,
        mode: Mode = "hybrid",
        scope: Scope = "chunks",
        sort: Sort = "score",
        folder: OneOrMany | None = None,
        path: OneOrMany | None = None,
        type: OneOrMany | None = None,
        language: OneOrMany | None = None,
        class_: OneOrMany | None = None,
        tag: OneOrMany | None = None,
        since: Since | None = None,
        symbol: OneOrMany | None = None,
        kind: OneOrMany | None = None,
        min_score: float = 0.0,
        context: int | tuple[int, int] = 0,
        smart_context: bool = False,
        max_lines: int | None = None,
        max_tokens: int | None = None,
        plain: bool = False,
        join: bool = True,
        explain: bool = False,
        threads: int = 1,
    ) -> list[Hits]:
        """The hits of each query, all from one commit. Keyword arguments are those of `search`, without `cursor`;
        `threads` is how many queries are answered at the same time.
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
        sort: Sort = "score",
        folder: OneOrMany | None = None,
        path: OneOrMany | None = None,
        type: OneOrMany | None = None,
        language: OneOrMany | None = None,
        class_: OneOrMany | None = None,
        tag: OneOrMany | None = None,
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
        join: bool = True,
        explain: bool = False,
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
        since: Since | None = None,
        cursor: str | None = None,
    ) -> Matches:
        """The lines of stored text that match a regular expression, sorted by path and line.

        The syntax is that of ripgrep: Perl-like and Unicode-aware, without look-around and backreferences; the time is
        linear in the text. Raises InvalidPatternError with the position of the fault.
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
        """The definitions of programs by name (a glob, in any case), kind and use.

        `uses="parse"` finds what uses that name, with the lines; `used_by="main"` what that symbol uses. Both go by
        names, not by types.
        """
    def documents(
        self, folder: str | None = None, *, recursive: bool = True
    ) -> DocumentIterator:
        """The documents in a folder and below it, in the order of their paths; without one, all. With recursive=False only
        those in the folder itself.
        """
    def embed(self, text: str) -> Any:
        """The vector of a query in the model of the file: float32 `[1, dim]`. Raises ModelError without that model."""
    @property
    def vectors(self) -> Vectors:
        """The stored vectors of the newest commit, in place: nothing is copied."""
    def vectors_of(self, column: str) -> Vectors:
        """The stored vectors of a column, as `vectors`; rows of chunks without one are zeros and have no name in `ids()`."""
    def vector_columns(self) -> list[VectorColumn]:
        """The columns of vectors: "built-in" first, then those that were imported."""
    @property
    def info(self) -> dict[str, Any]:
        """Facts about the file as a dict: format, documents, chunks, model, roots, types, languages. Cost grows with the
        number of documents.
        """
    def sizes(self) -> dict[str, int]:
        """Bytes of the file by section; they add up to the whole file."""
    def verify(
        self, *, deep: bool = False, progress: bool | ProgressCallback | None = None
    ) -> VerifyReport:
        """Compares all pages and extents with their checksums; with deep=True every index entry with the text, too.
        Damage is no exception: the report is false and has its problems.
        """

@final
class Writer(Kb):
    """A .kb that is being written. It also reads: what was committed last."""

    @property
    def pending(self) -> int:
        """How many documents the next commit changes."""
    def __enter__(self) -> Self: ...
    def add(
        self,
        source: str | bytes | Path,
        *,
        path: str | None = None,
        title: str | None = None,
        tags: Iterable[str] = (),
        replace: bool = False,
        include_secrets: bool = False,
    ) -> str:
        """Adds one document with the next commit, and returns its path. A str is its text, bytes are those of a file, and
        a pathlib.Path is a file to read: an office document, a PDF, a program, a text.

        The title of a text is its first heading, else its name; it is searched and embedded with the text, so give
        `title=""` to a text whose name says nothing. The extension of `path` says how it is read. Without a path a file has its own name, and a text one of its title
        or its hash. A path that is taken is an error (ExistsError) without replace=True. Files and texts with keys or
        credentials are refused without include_secrets=True. Raises ExtractionError for a file that cannot be read.
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
        """Reads folders and files into the file: what changed since the last run, and nothing else. A commit of its own,
        which also has what waited; readers see it when it is whole. Ctrl-C leaves the file as it was.

        `progress` is True for a bar of tqdm, or called with a `Progress`. `threads=0` uses all cores. Files of more than
        `max_file_bytes` are skipped. `rebuild` reads every file anew and loses imported vectors (`lost_columns` of the report).
        `force_hash` compares contents where size and time are the same. `prune` removes the documents of folders that are gone.
        `root` says which root of the file the folder is. `vectors` is how a new file or a rebuild stores vectors: "i8", or "i4"
        for half the size.

        The file remembers each of the following. None keeps what it has; False, an empty list or 0 take it back. `include` and
        `exclude` are patterns as in .gitignore, relative to each folder: files are read that match `include`, or that lie in a
        folder that does, and that `exclude` does not match. `hidden=True` also reads hidden files that git does not track.
        `follow=True` follows symbolic links. `include_secrets=True` also reads files that may hold keys or credentials.
        `trigrams=False` stores nothing that makes `search_regex` fast, and takes effect on what is written from then on.
        `min_recall`, 0.5 to 1, is the share of the ten nearest chunks that searches by meaning find.
        """
    def remove(self, name: str) -> str:
        """Removes a document with the next commit, and returns its path."""
    def tag(
        self, name: str, add: OneOrMany = (), remove: OneOrMany = ()
    ) -> list[str]:
        """Gives tags to a document and takes others with the next commit; returns those that it has then."""
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
        """Imports vectors of any model into the column `name`, a new one or one that gets more: an array `[rows, dim]` of
        numpy or another library, read in place where it is float32, or a list of lists. Commits what waits, then all
        vectors at once; when a row is wrong, none.

        Rows are the chunks of the file in order, one for each: documents by path, then chunks. `documents` names the document of each
        row, with `chunks` (numbers), `spans` (bytes) or `lines`; a document of one chunk needs none of them, and not every
        chunk needs a vector then. A document that is changed loses its vectors. The first import of a column decides its
        scale; `cut_numbers` of the report counts numbers beyond it, and `recall` says what quantising leaves: a low one
        is a UserWarning.

        `metric` is "cosine", "dot" or "l2", `codec` "i8" or "i4". `default=True` makes it the column that searches with a
        vector ask when they name none. A chunk that has a vector in the column is an error without replace=True.
        """
    def remove_vectors(self, name: str) -> int:
        """Removes a column of imported vectors, with a commit that also has what waited; returns how many chunks had one."""
    def set_default_vectors(self, name: str) -> None:
        """Makes a column the one that searches with a vector ask when they name none; "built-in" is a column too. A commit
        that also has what waited.
        """
    def commit(self, *, progress: bool | ProgressCallback | None = None) -> None:
        """Makes what was changed durable and visible to readers, as one step."""
    def rollback(self) -> None:
        """Forgets what was changed since the last commit, and lets other writers have the file."""
    def seal(
        self,
        output: str | PathLike[str] | None = None,
        *,
        replace: bool = False,
        vectors: Literal["i8", "i4"] | None = None,
        progress: bool | ProgressCallback | None = None,
    ) -> SealReport:
        """Commits what waits, and writes the smallest form of the file to `output`, or in place: the form to ship."""

@final
class Hits(Sequence["Hit"]):
    """The hits of one search, best first."""

    @property
    def query(self) -> str:
        """The query that was asked."""
    @property
    def relevance(self) -> Literal["relevant", "nothing relevant"]:
        """"relevant", or "nothing relevant": the hits are only the least bad."""
    @property
    def mode(self) -> Mode:
        """The mode that answered: "keyword" for a hybrid search without the model of the file."""
    @property
    def searched_chunks(self) -> int:
        """How many chunks passed the filters."""
    @property
    def warnings(self) -> list[str]:
        """What the caller should know, one sentence each."""
    @property
    def cursor(self) -> str | None:
        """Continues this result: `kb.search(query, cursor=hits.cursor)`; None when it is complete."""
    @property
    def explanation(self) -> dict[str, float] | None:
        """Weights, counts and the microseconds of each step; None without explain=True."""
    @property
    def elapsed(self) -> timedelta:
        """How long the engine took, without what Python adds."""
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: SupportsIndex, /) -> Hit: ...
    @overload
    def __getitem__(self, index: slice, /) -> list[Hit]: ...
    def __iter__(self) -> Iterator[Hit]: ...
    def to_dicts(self) -> list[dict[str, Any]]:
        """Each hit as a dict of its attributes."""
    def to_pandas(self) -> Any:
        """The hits as a pandas.DataFrame, a row each. Needs pandas."""
    def to_polars(self) -> Any:
        """The hits as a polars.DataFrame, a row each. Needs polars."""
    def to_arrow(self) -> Any:
        """The hits as a pyarrow.Table, a row each. Needs pyarrow."""
    def columns(self) -> dict[str, list[Any]]:
        """The table of the hits: a list for each column, as `to_arrow()` has them."""
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
        """Handle of the document: it stays when the document is renamed."""
    @property
    def title(self) -> str:
        """Title of the document."""
    @property
    def address(self) -> str:
        """A name of document and lines that `kb[...]`, the command line and the MCP server take: "docs/guide.md:10-20"."""
    @property
    def text(self) -> str:
        """The text of the passage."""
    @property
    def before(self) -> str:
        """The lines before it that `context` asked for."""
    @property
    def after(self) -> str:
        """The lines after it that `context` asked for."""
    @property
    def snippet(self) -> str:
        """The whole lines of `text`, up to four, with the most and rarest terms of the query."""
    @property
    def highlights(self) -> list[tuple[int, int]]:
        """Ranges of characters of `text` that match terms of the query: `text[a:b]`."""
    @property
    def score(self) -> float:
        """0 to 1, comparable between requests and files: at .5 a right answer and a chance match are equally likely."""
    @property
    def fused_score(self) -> float:
        """What hits are ranked by."""
    @property
    def keyword_score(self) -> float | None:
        """Score of the words, 0 to 1; None where the mode has none."""
    @property
    def vector_score(self) -> float | None:
        """Score of the meaning, 0 to 1; None where the mode has none."""
    @property
    def section(self) -> list[str]:
        """Titles of the sections around it, outermost first."""
    @property
    def section_number(self) -> str:
        """Number of the innermost section, as "2.1"; empty before the first heading."""
    @property
    def lines(self) -> tuple[int, int]:
        """First and last line in the original file, from 1; (0, 0) for a document without text."""
    @property
    def span(self) -> tuple[int, int]:
        """Bytes of `text` in the stored text of the document: start and end."""
    @property
    def page(self) -> int | None:
        """Page that it lies in, from 1; None in a document without pages."""
    @property
    def sheet(self) -> str | None:
        """Name of the sheet that it lies in; empty for a table without name, None for no table."""
    @property
    def rows(self) -> tuple[int, int] | None:
        """First and last row of that sheet, from 1."""
    @property
    def slide(self) -> int | None:
        """Slide that it lies in, from 1; None in a document without slides."""
    @property
    def symbol(self) -> Symbol | None:
        """The function, class or other symbol of a program that it belongs to."""
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
        """What the document states about itself: author, date."""
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
        """Number of candidate chunks that it stands for."""
    @property
    def file(self) -> int:
        """Position of its file among those that were searched."""
    @property
    def bonuses(self) -> dict[str, float]:
        """What is added to the fused score, by name; empty without explain=True."""
    @property
    def terms(self) -> dict[str, float]:
        """The keyword score by term; empty without explain=True."""
    def to_dict(self) -> dict[str, Any]:
        """All attributes by name."""
    def __eq__(self, other: object, /) -> bool: ...

@final
class Document:
    """One document of a file. Facts are read when it is made, texts when they are asked for."""

    @property
    def path(self) -> str:
        """Path in the .kb, as `docs/guide.md`."""
    @property
    def handle(self) -> str:
        """A name that stays when the document is renamed."""
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
        """What the document states about itself: author, date."""
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
        """Changes when the content does."""
    @property
    def text(self) -> str:
        """The whole text, at most 256 MiB."""
    def lines(self, first: int, last: int | None = None) -> str:
        """Lines `first` to `last` of the text, both included, from 1; without `last` to the end."""
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
        """Sheets, whose rows are read when they are asked for; empty for a document without sheets."""
    @property
    def slides(self) -> list[Slide]:
        """Slides with title, text and notes; empty for a document without slides."""
    @property
    def symbols(self) -> list[Symbol]:
        """What a program defines, in order; empty for other documents."""
    @property
    def chunks(self) -> list[Chunk]:
        """The chunks that searches find, in order: together they are the text."""
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
    def to_pandas(self) -> Any:
        """The documents that are left, without their text, as a pandas.DataFrame, a row each. Needs pandas. The iteration
        stays where it is.
        """
    def to_polars(self) -> Any:
        """The documents that are left, without their text, as a polars.DataFrame, a row each. Needs polars. The iteration
        stays where it is.
        """
    def to_arrow(self) -> Any:
        """The documents that are left, without their text, as a pyarrow.Table, a row each. Needs pyarrow. The iteration
        stays where it is.
        """
    def _repr_html_(self) -> str:
        """The table that a notebook shows. The iteration stays where it is."""

@final
class Section:
    """A heading, bookmark or symbol of a document, with the text below it."""

    @property
    def number(self) -> str:
        """Number, as "2.1"."""
    @property
    def level(self) -> int:
        """Depth, from 1."""
    @property
    def title(self) -> str:
        """Title; of a symbol its label, as "fn main"."""
    @property
    def lines(self) -> tuple[int, int]:
        """First and last line, from 1."""
    @property
    def span(self) -> tuple[int, int]:
        """Bytes of the stored text: start and end."""
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
        """Bytes of the stored text: start and end."""

@final
class Page:
    """A page of a document."""

    @property
    def number(self) -> int:
        """Its number, from 1."""
    @property
    def label(self) -> str:
        """The number that is printed on it, where that is another one; else empty."""
    @property
    def text(self) -> str:
        """Its text."""
    @property
    def lines(self) -> tuple[int, int]:
        """First and last line, from 1."""
    @property
    def source(self) -> str | None:
        """How it is known where it begins: "physical", "rendered", "explicit", "estimated"; None for pages that this
        library makes of a document without any.
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
        """Number of the row that names the columns, from 1; None without one."""
    @property
    def is_hidden(self) -> bool:
        """Whether the program that wrote it hides it."""
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
    """A definition in a program."""

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
        """Labels of the symbols that hold it and its own: "impl Foo > fn bar"."""
    @property
    def signature(self) -> str:
        """What stands before its body, on one line."""
    @property
    def language(self) -> str:
        """Programming language."""
    @property
    def lines(self) -> tuple[int, int]:
        """First and last line of the definition, from 1."""
    @property
    def uses(self) -> list[int]:
        """Lines within it that name what `uses` asked for."""
    @property
    def calls(self) -> list[int]:
        """Those among them that call it."""
    def __eq__(self, other: object, /) -> bool: ...

@final
class Symbols(Sequence["Symbol"]):
    """The symbols that a request found."""

    @property
    def total(self) -> int:
        """How many there are, those of later pages included."""
    @property
    def warnings(self) -> list[str]:
        """What the caller should know, one sentence each."""
    @property
    def cursor(self) -> str | None:
        """Continues this result; None when it is complete."""
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
        """Ranges of characters of `text` that match."""
    @property
    def page(self) -> int | None:
        """Page that it lies in, from 1; None in a document without pages."""
    @property
    def sheet(self) -> str | None:
        """Name of the sheet that it lies in; None in a document without sheets."""
    @property
    def slide(self) -> int | None:
        """Slide that it lies in, from 1; None in a document without slides."""
    def __eq__(self, other: object, /) -> bool: ...

@final
class Matches(Sequence["Match"]):
    """The matches of a regular expression, by path and line."""

    @property
    def is_complete(self) -> bool:
        """Whether all text that could match was searched: no limit ended it."""
    @property
    def warnings(self) -> list[str]:
        """What the caller should know, one sentence each."""
    @property
    def cursor(self) -> str | None:
        """Continues this result; None when it is complete."""
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
        """Rows of all blocks, those of deleted chunks included."""
    @property
    def nbytes(self) -> int:
        """Bytes of all blocks."""
    def is_current(self) -> bool:
        """Whether the bytes are still those of the commit. False once a writer may have used their place for something
        else: take `kb.vectors` again. A file that nobody writes stays as it is.
        """
    def ids(self) -> list[tuple[str, int] | None]:
        """The chunk of each row, in the order of the blocks: path of the document and number of the chunk in it. None for
        a row whose chunk is deleted, or has no vector in an imported column. Raises CursorError when the file has another commit now.
        """
    def to_float32(self) -> Any:
        """All vectors as numbers, float32 `[rows, dim]`, each about of unit length: a copy."""
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
        """An int8 times this is a component of the vector."""
    def __len__(self) -> int: ...
    if sys.version_info >= (3, 12):
        def __buffer__(self, flags: int, /) -> memoryview: ...
        def __release_buffer__(self, buffer: memoryview, /) -> None: ...

@final
class VectorColumn:
    """A column of vectors: at most one for each chunk, all by one model."""

    @property
    def name(self) -> str:
        """Its name; "built-in" for the vectors that kb makes itself."""
    @property
    def model(self) -> str:
        """The model that made them, as the importer said; may be empty."""
    @property
    def dim(self) -> int:
        """Dimensions."""
    @property
    def metric(self) -> Literal["cosine", "dot", "l2"]:
        """How they are compared: "cosine", "dot" or "l2"."""
    @property
    def codec(self) -> Literal["i8", "i4"]:
        """How they are stored: "i8" or "i4"."""
    @property
    def rows(self) -> int:
        """Chunks with a vector."""
    @property
    def is_default(self) -> bool:
        """Whether a search with a vector that names no column searches this one."""
    @property
    def recall(self) -> float | None:
        """Share of the ten nearest vectors that searches find, where it was measured."""

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
        """How many of the vectors took the place of another one."""
    @property
    def cut_numbers(self) -> int:
        """Numbers beyond the scale of the column, which are stored as its ends."""
    @property
    def recall(self) -> float | None:
        """Share of the ten nearest vectors, by the imported numbers, that the stored ones find; None for fewer than 200."""

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
        """Paths of documents whose content is another."""
    @property
    def removed(self) -> list[str]:
        """Paths of documents that are gone."""
    @property
    def unchanged(self) -> int:
        """Documents that are as they were."""
    @property
    def skipped(self) -> list[tuple[str, str]]:
        """Files that were left out, with the reason."""
    @property
    def unparsed(self) -> list[tuple[str, str]]:
        """Programs that were cut by lines instead of parsed, with the reason."""
    @property
    def lost_columns(self) -> list[str]:
        """Columns of vectors of other models that a rebuild left behind."""
    @property
    def missed_recall(self) -> float | None:
        """The recall that searches have where `min_recall` cannot be had; None where it can, or nobody asked."""
    @property
    def elapsed(self) -> timedelta:
        """How long it took."""

@final
class SealReport:
    """What sealing wrote."""

    @property
    def path(self) -> Path:
        """Path of the sealed file."""
    @property
    def content_root(self) -> str:
        """64 hexadecimal digits, the same for the same documents."""
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
        """The recall that searches have where the one that the file remembers cannot be had, else None."""

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

def open_reader(source: str | PathLike[str] | bytes | bytearray | memoryview) -> Kb:
    """Opens a file for reading; `kbfile.open` calls it."""
def open_writer(
    path: str | PathLike[str],
    mode: Literal["w", "a", "x"],
    lock_timeout: float,
    extraction: Literal["worker", "in-process"],
) -> Writer:
    """Opens a file for writing; `kbfile.open` calls it."""
def embed(texts: str | Iterable[str], *, query: bool = False) -> Any:
    """Vectors of texts in the built-in model, without any file: float32 `[n, dim]`, each of unit length, or all zero for a
    text of which the model knows nothing. A single str is one text.

    With `query=True` texts are questions, which some models embed in another way than what is searched; the built-in
    one does not. A numpy.ndarray where numpy is installed, else a memoryview. Cost: about a microsecond a word.
    """
def search_files(
    files: Sequence[Kb],
    query: str | None = None,
    **options: Any,
) -> Hits:
    """Searches several files as if they were one: `Hit.file` says which one a hit is from. A term weighs by how many
    chunks of all files have it, so scores compare. Keyword arguments are those of `Kb.search`. At most 64 files.
    """
def restore_hit(state: dict[str, Any]) -> Hit:
    """The hit of a pickle."""
def restore_hits(state: dict[str, Any]) -> Hits:
    """The hits of a pickle."""
def restore_document(source: Any, name: str) -> Document:
    """The document of a pickle: of that name in the file that `kbfile.open` takes `source` for."""
def restore_symbol(state: Any) -> Symbol:
    """The symbol of a pickle."""
def run_command(arguments: Sequence[str], launcher: Sequence[str] | None = None) -> int:
    """Runs one command line, without the program, and returns the status to end the process with: 0 found or done, 1 nothing
    found, out of date or different, 2 error. `launcher` is how this command line is started again: its first words.
    """
def run_extraction_worker() -> NoReturn:
    """Makes this process an extraction worker, and ends it. Not for users: writers start such processes."""
