"""Exceptions: one tree below `Error`, each also derived from the builtin exception that fits.

Each exception has a `code`, which programs match on, and a `hint` that says what to do. The command line and the MCP
server use the same codes. An engine code without a class of its own is an `Error`.
"""

from __future__ import annotations


class Error(Exception):
    """Base class of all exceptions of kbfile, except TypeError and OverflowError for arguments of a wrong type."""

    code: str
    """A stable name, such as `DOCUMENT_NOT_FOUND`."""
    hint: str | None
    """What to do, if known."""

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
    """A file or document already exists."""


class DocumentNotFoundError(Error, KeyError):
    """No document, folder, section or sheet has that name, or several have it."""


class InvalidArgumentError(Error, ValueError):
    """An argument is empty, out of range or not applicable to this document."""


class InvalidPatternError(InvalidArgumentError):
    """A pattern is not a valid or not a supported regular expression."""


class CursorError(InvalidArgumentError):
    """A cursor belongs to another request, or the file changed after it was returned."""


class FormatError(Error, ValueError):
    """The file is not a .kb file, or has an unsupported version."""


class DamagedError(Error, ValueError):
    """Bytes of the file contradict its format or their checksums."""


class LockedError(Error, OSError):
    """Another writer has locked the file; the message names it."""


class StorageError(Error, OSError):
    """The operating system refused to read or write."""


class ReplacedError(Error, OSError):
    """The file was moved, deleted or replaced while it was open for writing, or changed too fast to be read."""


class PermissionDeniedError(Error, PermissionError):
    """A path is outside the allowed folders."""


class ClosedError(Error, ValueError):
    """The handle is closed."""


class ForkError(Error, RuntimeError):
    """A writer was used after a fork, in the child process."""


class ModelError(Error, RuntimeError):
    """The file needs an embedding model that this version does not have."""


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
    """Returns the exception for an error of the engine."""
    error = BY_CODE.get(code, Error)(message, code, hint)
    if isinstance(error, OSError):
        # As the builtin has them; OSError makes them from two arguments, this tree has one.
        error.errno = errno
        error.filename = filename
    return error
