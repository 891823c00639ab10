"""Files that a server has: `kb serve` answers, over HTTP."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from typing import TYPE_CHECKING, Any

from kbfile._errors import Error, PermissionDeniedError, StorageError, _make
from kbfile._kbfile import restore_hits, restore_symbol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kbfile._kbfile import Hits
    from kbfile._types import Mode, OneOrMany

# Longest answer that is read, in bytes. A server gives at most 100,000 tokens of text at once.
_ANSWER_BYTES = 16 << 20


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the token of a server is nobody else's."""

    def redirect_request(self, *_: Any) -> None:
        return None


class RemoteKb:
    """The files of a server that `kb serve` started, for reading. `connect` makes one."""

    def __init__(self, url: str, *, token: str | None = None, file: str | None = None, timeout: float = 30.0) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ValueError(f"{url!r} is not the address of a server: http://HOST:PORT/")
        self.url = urllib.parse.urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", ""))
        self._headers = {"Accept": "application/json"}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"
        self._timeout = timeout
        self._opener = urllib.request.build_opener(_NoRedirect)
        self.files: list[str] = [one["file"] for one in self._ask("status")["files"]]
        """The names of the files, in their order."""
        if file is not None and file not in self.files:
            raise ValueError(f"the server has no file {file!r}: it has {', '.join(self.files)}")
        self.file: str | None = file if file is not None or len(self.files) != 1 else self.files[0]
        """The file that is asked; None: all."""

    def __repr__(self) -> str:
        return f"RemoteKb({self.url!r}, file={self.file!r})"

    def search(
        self,
        query: str | None = None,
        *,
        k: int = 10,
        mode: Mode = "hybrid",
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
        symbol: OneOrMany | None = None,
        kind: OneOrMany | None = None,
        min_score: float = 0.0,
        max_tokens: int | None = None,
        cursor: str | None = None,
        exact: bool = False,
    ) -> Hits:
        """Returns the best passages for a query, as `Kb.search` does. The fields of a hit are texts."""
        lists = {
            "facet": facets,
            "folder": folder,
            "path": path,
            "type": type,
            "lang": language,
            "class": class_,
            "tag": tag,
            "field": field,
            "links_to": links_to,
            "symbol": symbol,
            "kind": kind,
            "file": self.file,
        }
        asked: dict[str, Any] = {name: _list(values) for name, values in lists.items() if values}
        one = {"where": where, "group_by": group_by, "max_tokens": max_tokens, "cursor": cursor}
        asked |= {name: value for name, value in one.items() if value is not None}
        asked |= {"q": query or "", "k": k, "mode": mode, "sort": sort}
        asked |= {"min_score": min_score} if min_score else {}
        asked |= {"exact": True} if exact else {}
        return _hits(query or "", mode, self._ask("search", asked), self.files)

    def text(self, document: str, lines: tuple[int, int] | None = None) -> str:
        """The text of a document, or lines `first` to `last` of it."""
        query: dict[str, str] = {} if lines is None else {"lines": f"{lines[0]}-{lines[1]}"}
        return "".join(answer["text"] for answer in self._all(self._of("text", document), query))

    def document(self, document: str) -> dict[str, Any]:
        """What the file records about a document: path, title, type, tags, metadata, sizes."""
        return self._ask(self._of("document", document))

    def documents(self, folder: str | None = None) -> list[dict[str, Any]]:
        """The documents in a folder and its subfolders, in the order of their paths; without a folder, all."""
        query = {"recursive": "1"} | ({} if folder is None else {"folder": folder})
        pages = self._all(f"documents/{_quoted(self._one())}", query)
        return [entry for page in pages for entry in page["entries"]]

    def outline(self, document: str) -> list[dict[str, Any]]:
        """Headings or symbols of a document, in order."""
        pages = self._all(self._of("outline", document), {})
        return [section for page in pages for section in page["sections"]]

    @property
    def info(self) -> dict[str, Any]:
        """Facts about the file: documents, chunks, model, types, sizes."""
        return self._ask(f"about/{_quoted(self._one())}")

    def _one(self) -> str:
        if self.file is None:
            raise ValueError(f"name one of the files with file=: {', '.join(self.files)}")
        return self.file

    def _of(self, what: str, document: str) -> str:
        return f"{what}/{_quoted(self._one())}/{_quoted(document)}"

    def _all(self, path: str, query: dict[str, str]) -> Iterator[dict[str, Any]]:
        """The answers, as often as one goes on."""
        while True:
            encoded = urllib.parse.urlencode(query)
            answer = self._ask(f"{path}?{encoded}" if encoded else path)
            yield answer
            cursor = answer["paging"]["continuation"]
            if cursor is None:
                return
            query = query | {"cursor": cursor}

    def _ask(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        headers = self._headers | ({} if body is None else {"Content-Type": "application/json"})
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/api/v1/{path}", data=data, headers=headers)  # noqa: S310
        try:
            with self._opener.open(request, timeout=self._timeout) as response:
                answer = _object(response.read(_ANSWER_BYTES + 1))
        except urllib.error.HTTPError as error:
            with error:
                raise _failed(error.code, error.read(_ANSWER_BYTES)) from None
        except OSError as error:
            reason = getattr(error, "reason", error)
            raise StorageError(f"{self.url} does not answer: {reason}", "NOT_CONNECTED", None) from error
        return answer


def connect(url: str, *, token: str | None = None, file: str | None = None, timeout: float = 30.0) -> RemoteKb:
    """Connects to the server that `kb serve` started, for searching and reading.

    `url` is the address that it printed: "http://127.0.0.1:8000/". `token` is an access token (`kb token create NAME`),
    where the server requires one. `file` is the name of the file to ask; without it, the only one, or searches in all.
    `timeout` is in seconds.

    Raises StorageError where nothing answers, PermissionDeniedError for a missing or wrong token, ValueError for an
    address that is none and for a file that the server does not have.
    """
    return RemoteKb(url, token=token, file=file, timeout=timeout)


def _quoted(name: str) -> str:
    return urllib.parse.quote(name, safe="/")


def _list(values: OneOrMany) -> list[str]:
    return [values] if isinstance(values, str) else list(values)


def _object(read: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(read) if len(read) <= _ANSWER_BYTES else None
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise StorageError("this is not a server of kb serve", "NOT_CONNECTED", None)
    return answer


def _failed(status: int, read: bytes) -> Error:
    try:
        problem = json.loads(read)
        code, detail, hint = problem["code"], problem["detail"], problem.get("hint")
    except (ValueError, KeyError, TypeError, AttributeError):
        return StorageError(f"the server answered with status {status}", "NOT_CONNECTED", None)
    if status in (401, 403):
        return PermissionDeniedError(detail, code, hint)
    return _make(code, detail, hint, None, None)


def _hits(query: str, mode: str, answer: dict[str, Any], files: list[str]) -> Hits:
    summary = answer["summary"]
    characters = query.encode()

    def place(byte: int) -> int:
        return len(characters[:byte].decode(errors="ignore"))

    facets = {
        facet["field"]: [(value["value"], value["documents"]) for value in facet["values"]]
        for facet in answer.get("facets", [])
    }
    corrections = [
        (one["from"], one["to"], place(one["start_byte"]), place(one["end_byte"])) for one in summary.get("corrections", [])
    ]
    return restore_hits(
        {
            "hits": [_hit(hit, files) for hit in answer["hits"]],
            "query": query,
            "relevance": summary.get("verdict", ""),
            "mode": mode,
            "searched_chunks": 0,
            "corrections": corrections,
            "facets": facets,
            "missing": summary.get("missing", []),
            "warnings": summary["warnings"],
            "cursor": answer["paging"]["continuation"],
            "explanation": None,
            "elapsed": 0.0,
        }
    )


def _hit(hit: dict[str, Any], files: list[str]) -> dict[str, Any]:
    """The state of a hit, as one that was pickled has it."""
    part, symbol = hit.get("part", {}), hit.get("symbol")
    rows = (part["first_row"], part["last_row"]) if "first_row" in part else None
    metadata = hit.get("metadata", {})
    if symbol is not None:
        lines = (symbol["start_line"], symbol["end_line"])
        names = (symbol["kind"], symbol["name"], symbol["hierarchy"], symbol["signature"], hit["language"])
        symbol = restore_symbol(((hit["document"], *names), lines, ([], [])))
    same = ("document", "handle", "title", "text", "score", "keyword_score", "vector_score", "section", "section_number")
    more = ("language", "tags", "size_bytes", "chunk_index", "chunks", "matches")
    return {name: hit[name] for name in (*same, *more)} | {
        "before": "",
        "after": "",
        "fused_score": hit.get("fused_score", 0.0),
        "lines": (hit["start_line"], hit["end_line"]),
        "span": (hit["start_byte"], hit["end_byte"]),
        "page": part.get("page"),
        "sheet": part.get("sheet"),
        "rows": rows,
        "slide": part.get("slide"),
        "symbol": symbol,
        "type": hit["file_type"],
        "class_": hit["class"],
        "modified": hit["modified_ms"],
        "metadata": list(metadata.items()),
        "fields": metadata,
        "highlights": [],
        # All of it, in bytes.
        "snippet": (0, len(hit["text"].encode())),
        "chunk": (0, 0),
        "more_in_document": hit.get("more_in_document", 0),
        "copies": hit.get("copies", 0),
        "copy_paths": hit.get("copy_paths", []),
        "bonuses": [],
        "terms": [],
        "file": files.index(hit["file"]) if hit["file"] in files else 0,
    }
