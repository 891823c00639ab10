"""What goes wrong, as exceptions: one tree below `Error`, and of the builtins that fit.

Each has `code`, the name that programs match on and that the command line and the MCP server use too, and `hint`, what
to do about it. The table is complete: a code that the engine has and this module does not is an `Error`.
"""

from __future__ import annotations


class Error(Exception):
    """Everything that kbfile raises by itself, beside TypeError and OverflowError for arguments of a wrong type."""

    code: str
    """A stable name, as `DOCUMENT_NOT_FOUND`."""
    hint: str | None
    """What to do about it, if there is something to say."""

    def __init__(self, message: str = "", code: str = "ERROR", hint: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint
        if hint:
            self.add_note(f"hint: {hint}")

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (str(self), self.code, self.hint))


class NotFoundError(Error, FileNotFoundError):
    """A path that was given does not exist."""


class ExistsError(Error, FileExistsError):
    """A file or document is already there."""


class DocumentNotFoundError(Error, KeyError):
    """No document, folder, section or sheet of that name, or several."""


class InvalidArgumentError(Error, ValueError):
    """An argument is empty, out of range or of no use for this document."""


class InvalidPatternError(InvalidArgumentError):
    """Text that is no regular expression, or none that is searched for."""


class CursorError(InvalidArgumentError):
    """A cursor of another request, or of a file that changed since."""


class FormatError(Error, ValueError):
    """The file is no .kb, or one that this version does not read."""


class DamagedError(Error, ValueError):
    """Bytes of the file contradict its format or their checksums."""


class LockedError(Error, OSError):
    """Another writer has the file; the message names it."""


class StorageError(Error, OSError):
    """The operating system refused to read or write."""


class ReplacedError(Error, OSError):
    """The file was moved, deleted or replaced while it was open for writing, or changed too fast to be read."""


class PermissionDeniedError(Error, PermissionError):
    """A path outside of what may be read."""


class ClosedError(Error, ValueError):
    """The handle is closed."""


class ForkError(Error, RuntimeError):
    """A writer was used in a process that was forked from its own."""


class ModelError(Error, RuntimeError):
    """The file names an embedding model that this version does not have."""


class ExtractionError(Error, ValueError):
    """A file could not be read as a document: encrypted, too large, or its reader failed."""


BY_CODE: dict[str, type[Error]] = {
    "PATH_NOT_FOUND": NotFoundError,
    "PATH_NOT_ALLOWED": PermissionDeniedError,
    "IO": StorageError,
    "STORAGE": StorageError,
    "NOT_A_KB": FormatError,
    "FORMAT_UNSUPPORTED": FormatError,
    "DAMAGED": DamagedError,
    "INDEX_LOCKED": LockedError,
    "FILE_REPLACED": ReplacedError,
    "NOT_REPLACEABLE": ExistsError,
    "OUTPUT_EXISTS": ExistsError,
    "FORKED_WRITER": ForkError,
    "SNAPSHOT_EXPIRED": ReplacedError,
    "WRITER_FAILED": StorageError,
    "INVALID_ARGUMENT": InvalidArgumentError,
    "INVALID_REGEX": InvalidPatternError,
    "DOCUMENT_NOT_FOUND": DocumentNotFoundError,
    "AMBIGUOUS_DOCUMENT": DocumentNotFoundError,
    "SECTION_NOT_FOUND": DocumentNotFoundError,
    "SHEET_NOT_FOUND": DocumentNotFoundError,
    "CSV_NO_SHEETS": InvalidArgumentError,
    "UNSUPPORTED_DOCUMENT_TYPE": InvalidArgumentError,
    "FOLDER_NOT_FOUND": DocumentNotFoundError,
    "DOCUMENT_EXISTS": ExistsError,
    "INVALID_RANGE": InvalidArgumentError,
    "INVALID_CONTINUATION_TOKEN": CursorError,
    "CONTINUATION_STALE": CursorError,
    "EMBEDDING_MODEL_UNAVAILABLE": ModelError,
    "ROOT_VANISHED": StorageError,
    "FILE_TOO_LARGE": InvalidArgumentError,
    "ENCRYPTED": ExtractionError,
    "EXTRACTION_LIMIT": ExtractionError,
    "EXTRACTION_FAILED": ExtractionError,
    "NO_EXTRACTION_WORKER": ExtractionError,
    "CANCELLED": Error,
    # Of this module alone.
    "CLOSED": ClosedError,
}


for _class in {Error, *BY_CODE.values()}:
    # As users import them, and as tracebacks name them.
    _class.__module__ = "kbfile"


def _make(code: str, message: str, hint: str | None, errno: int | None, filename: str | None) -> Error:
    """The exception of an error of the engine."""
    error = BY_CODE.get(code, Error)(message, code, hint)
    if isinstance(error, OSError):
        # As the builtin has them; OSError makes them from two arguments, this tree has one.
        error.errno = errno
        error.filename = filename
    return error
