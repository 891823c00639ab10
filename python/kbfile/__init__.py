"""One `.kb` file holds documents and code, their structure, a keyword index and a vector index.

>>> import kbfile, tempfile, pathlib
>>> path = pathlib.Path(tempfile.mkdtemp()) / "notes.kb"
>>> with kbfile.open(path, "w") as kb:
...     _ = kb.add("# Tides\\n\\nThe moon pulls the sea twice a day.", path="tides.md")
...     _ = kb.add("# Bread\\n\\nFlour, water, salt and patience.", path="bread.md")
>>> with kbfile.open(path) as kb:
...     hits = kb.search("why does the sea rise")
...     print(hits[0].document, hits[0].lines)
tides.md (1, 3)

`open` returns a `Kb`, which reads and searches, or a `Writer`, which also changes the file. Everything works offline: the
engine, its embedding model and its readers of office documents are in this package, which has no required dependencies.
Lines, pages and rows count from 1, and their ranges include the last. Spans of bytes are half-open.
"""

from __future__ import annotations

from os import PathLike
from typing import Literal, overload

from kbfile._errors import (
    ClosedError,
    CursorError,
    DamagedError,
    DocumentNotFoundError,
    Error,
    ExistsError,
    ExtractionError,
    ForkError,
    FormatError,
    InvalidArgumentError,
    InvalidPatternError,
    LockedError,
    ModelError,
    NotFoundError,
    PermissionDeniedError,
    ReplacedError,
    StorageError,
)
from kbfile._field import Condition, Field, field
from kbfile._kbfile import (
    Chunk,
    Document,
    FieldInfo,
    Hit,
    Hits,
    ImportReport,
    IndexReport,
    Kb,
    Match,
    Matches,
    MergeReport,
    Page,
    Progress,
    ReembedReport,
    SealReport,
    Section,
    Sheet,
    Slide,
    Symbol,
    Symbols,
    VectorBlock,
    VectorColumn,
    Vectors,
    VerifyReport,
    Writer,
    __version__,
    built_in_model,
    embed,
    format_version,
    open_reader as _open_reader,
    open_writer as _open_writer,
    search_files,
)
from kbfile._remote import RemoteKb, connect
from kbfile._types import Embedder

__all__ = [
    "Chunk",
    "ClosedError",
    "Condition",
    "CursorError",
    "DamagedError",
    "Document",
    "DocumentNotFoundError",
    "Error",
    "ExistsError",
    "ExtractionError",
    "Field",
    "FieldInfo",
    "ForkError",
    "FormatError",
    "Hit",
    "Hits",
    "ImportReport",
    "IndexReport",
    "InvalidArgumentError",
    "InvalidPatternError",
    "Kb",
    "LockedError",
    "Match",
    "Matches",
    "MergeReport",
    "ModelError",
    "NotFoundError",
    "Page",
    "PermissionDeniedError",
    "Progress",
    "ReembedReport",
    "RemoteKb",
    "ReplacedError",
    "SealReport",
    "Section",
    "Sheet",
    "Slide",
    "StorageError",
    "Symbol",
    "Symbols",
    "VectorBlock",
    "VectorColumn",
    "Vectors",
    "VerifyReport",
    "Writer",
    "__version__",
    "built_in_model",
    "connect",
    "embed",
    "field",
    "format_version",
    "open",
    "search_files",
]


@overload
def open(
    source: str | PathLike[str] | bytes | bytearray | memoryview,
    mode: Literal["r"] = "r",
    *,
    embedder: Embedder | None = None,
) -> Kb: ...
@overload
def open(
    source: str | PathLike[str],
    mode: Literal["w", "a", "x"],
    *,
    lock_timeout: float = 10.0,
    extraction: Literal["worker", "in-process"] = "worker",
    embedder: Embedder | None = None,
) -> Writer: ...
def open(
    source: str | PathLike[str] | bytes | bytearray | memoryview,
    mode: Literal["r", "w", "a", "x"] = "r",
    *,
    lock_timeout: float = 10.0,
    extraction: Literal["worker", "in-process"] = "worker",
    embedder: Embedder | None = None,
) -> Kb:
    """Open a .kb file. "r" reads it, "w" creates a new file, "a" changes or creates it, "x" creates it only if it is new.

    `source` is a path. For reading it may also be the bytes of a file, which stay in memory. Reading takes no lock and
    needs no write access. With "w", the first commit replaces an existing file. Until then, and if the block of a `with`
    raises, the old file stays.

    `lock_timeout` is the number of seconds that a change waits for another writer before it raises LockedError.
    `extraction` says where office documents, PDF files and other risky formats are read. "worker" reads them in sandboxed
    processes. "in-process" reads them in this process, which a hostile file can then slow down or abort.

    `embedder` embeds queries for columns of vectors that it made (`Writer.reembed`), so that searches use them beside the
    built-in model. It is the name of a model ("minilm", "onnx:FOLDER"), a function of a list of texts, or an object of
    LangChain, LlamaIndex or Sentence Transformers. Models with a name that this machine has (`python -m kbfile models`)
    are found without it. A service ("openai:MODEL@URL") gets the texts and queries.

    Raises NotFoundError, FormatError (not a .kb file, or an unsupported version), DamagedError, ExistsError ("x"), and
    StorageError.
    """
    if mode == "r":
        return _open_reader(source, embedder)
    if isinstance(source, (bytes, bytearray, memoryview)):
        raise TypeError(f"mode {mode!r} needs a path: bytes cannot be written")
    return _open_writer(source, mode, lock_timeout, extraction, embedder)
