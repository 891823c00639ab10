"""Converts results to objects of other libraries, which are imported on demand."""

from __future__ import annotations

import html
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kbfile._kbfile import Document, DocumentIterator, Hits, Matches, Symbols

# Characters of a text in a table of a notebook, and rows of one.
_SHOWN = 300
_SHOWN_ROWS = 100

# The columns that hold numbers or times, by name. All others hold text.
_LINES = ("first_line", "last_line", "line_count", "chunk_index")
_PARTS = ("page", "slide")
_BYTES = ("size_bytes", "text_bytes", "start_byte", "end_byte")
_TIMES = ("modified", "added")


def as_array(array: Any) -> Any:
    """A numpy.ndarray of a buffer where numpy is installed, else a memoryview; no copy."""
    try:
        import numpy  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return memoryview(array)
    return numpy.asarray(array)


def as_float32(numbers: Any) -> Any:
    """Numbers as a numpy.ndarray of float32 in one piece; None without numpy."""
    try:
        import numpy  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return None
    return numpy.ascontiguousarray(numbers, dtype=numpy.float32)


def to_pandas(columns: dict[str, list[Any]], fields: dict[str, str]) -> Any:
    """A pandas.DataFrame of columns of hits; `fields` names the types of those that are fields of documents."""
    import pandas  # type: ignore[import-untyped,import-not-found,unused-ignore]

    frame = pandas.DataFrame(_with_fields(columns, fields), copy=False)
    for name in ("page", "slide"):
        frame[name] = frame[name].astype("UInt32")
    frame["modified"] = pandas.to_datetime(frame["modified"], utc=True)
    return frame


def _with_fields(columns: dict[str, list[Any]], fields: dict[str, str]) -> dict[str, Any]:
    """Columns, those of fields as pandas.Series of their types."""
    import pandas  # type: ignore[import-untyped,import-not-found,unused-ignore]

    def typed(values: list[Any], dtype: str) -> Any:
        if dtype == "time":
            # Not by the nanosecond, in which the years of 64 bits end in 2262.
            return pandas.Series(values, dtype="datetime64[ms, UTC]")
        return pandas.Series([pandas.NA if value is None else value for value in values], dtype=dtype)

    return columns | {name: typed(columns[name], dtype) for name, dtype in fields.items()}


def to_polars(rows: Hits | DocumentIterator) -> Any:
    """A polars.DataFrame of an Arrow stream."""
    import polars  # type: ignore[import-not-found,unused-ignore]

    return polars.DataFrame(rows)


def to_arrow(rows: Hits | DocumentIterator) -> Any:
    """A pyarrow.Table of an Arrow stream."""
    import pyarrow  # type: ignore[import-untyped,import-not-found,unused-ignore]

    return pyarrow.table(rows)


def symbol_columns(symbols: Symbols) -> dict[str, list[Any]]:
    """A list for each column of a table of symbols."""
    names = ("document", "kind", "name", "hierarchy", "signature", "language")
    columns = {name: [getattr(symbol, name) for symbol in symbols] for name in names}
    return columns | _line_columns(symbols)


def match_columns(matches: Matches) -> dict[str, list[Any]]:
    """A list for each column of a table of matches."""
    names = ("document", "text", "page", "sheet", "slide")
    columns = {name: [getattr(match, name) for match in matches] for name in names}
    return columns | _line_columns(matches)


def chunk_columns(document: Document) -> dict[str, list[Any]]:
    """A list for each column of a table of the chunks of a document."""
    chunks = document.chunks
    return {
        "document": [document.path for _ in chunks],
        "chunk_index": [chunk.index for chunk in chunks],
        "section": [" > ".join(chunk.section) for chunk in chunks],
        "text": [chunk.text for chunk in chunks],
        **_line_columns(chunks),
        "start_byte": [chunk.span[0] for chunk in chunks],
        "end_byte": [chunk.span[1] for chunk in chunks],
    }


def _line_columns(items: Iterable[Any]) -> dict[str, list[Any]]:
    lines = [item.lines for item in items]
    return {"first_line": [first for first, _ in lines], "last_line": [last for _, last in lines]}


def columns_to_pandas(columns: dict[str, list[Any]], fields: dict[str, str] | None = None) -> Any:
    """A pandas.DataFrame of columns; `fields` names the types of those that are fields of documents."""
    import pandas  # type: ignore[import-untyped,import-not-found,unused-ignore]

    fields = fields or {}
    frame = pandas.DataFrame(_with_fields(columns, fields), copy=False)
    for name in columns.keys() - fields.keys():
        if name in _LINES or name in _PARTS:
            frame[name] = frame[name].astype("UInt32" if name in _PARTS else "uint32")
        elif name in _BYTES:
            frame[name] = frame[name].astype("uint64")
        elif name in _TIMES:
            frame[name] = pandas.to_datetime(frame[name], utc=True)
    return frame


def columns_to_polars(columns: dict[str, list[Any]]) -> Any:
    """A polars.DataFrame of columns."""
    import polars  # type: ignore[import-not-found,unused-ignore]

    def kind(name: str) -> Any:
        if name in _LINES or name in _PARTS:
            return polars.UInt32
        return polars.UInt64 if name in _BYTES else polars.String

    return polars.DataFrame(columns, schema={name: kind(name) for name in columns})


def columns_to_arrow(columns: dict[str, list[Any]]) -> Any:
    """A pyarrow.Table of columns."""
    import pyarrow  # type: ignore[import-untyped,import-not-found,unused-ignore]

    def kind(name: str) -> Any:
        if name in _LINES or name in _PARTS:
            return pyarrow.uint32()
        return pyarrow.uint64() if name in _BYTES else pyarrow.string()

    return pyarrow.table(columns, schema=pyarrow.schema([(name, kind(name)) for name in columns]))


def symbols_to_html(symbols: Symbols) -> str:
    """A table for a notebook: where each symbol is, its kind and signature, all escaped."""
    rows = [
        [_address(symbol.document, symbol.lines), symbol.kind, symbol.hierarchy, _pre(symbol.signature)]
        for symbol in symbols[:_SHOWN_ROWS]
    ]
    return _table(("document", "kind", "name", "signature"), rows, symbols.total, "No symbols.")


def matches_to_html(matches: Matches) -> str:
    """A table for a notebook: where each match is, and its text, all escaped."""
    rows = [[_address(match.document, match.lines), _pre(match.text)] for match in matches[:_SHOWN_ROWS]]
    return _table(("document", "text"), rows, len(matches), "No matches.")


def documents_to_html(documents: DocumentIterator) -> str:
    """A table for a notebook: path, title, type and length of the first documents, all escaped."""
    first = list(islice(documents, _SHOWN_ROWS + 1))
    rows = [[it.path, it.title, it.type, str(it.line_count)] for it in first[:_SHOWN_ROWS]]
    table = _table(("path", "title", "type", "lines"), rows, 0, "No documents.")
    return table if len(first) == len(rows) else f"{table}<p>The first {len(rows)}.</p>"


def document_to_html(document: Document) -> str:
    """What a notebook shows of a document: its facts and its outline, all escaped."""
    facts = [
        ["path", document.path],
        ["title", document.title],
        ["type", document.type],
        ["tags", ", ".join(document.tags)],
        ["lines", str(document.line_count)],
    ]
    facts += [[name, str(value)] for name, value in document.metadata.items()]
    shown = _table(("", ""), [fact for fact in facts if fact[1]], 0, "")
    outline = [
        [section.number, section.title, _lines(section.lines)] for section in document.outline[:_SHOWN_ROWS]
    ]
    return shown + (_table(("section", "title", "lines"), outline, 0, "") if outline else "")


def _lines(lines: tuple[int, int]) -> str:
    return str(lines[0]) if lines[0] == lines[1] else f"{lines[0]}-{lines[1]}"


def _address(document: str, lines: tuple[int, int]) -> str:
    return f"{document}:{_lines(lines)}"


class _Html(str):
    """HTML, which a table takes as it is."""


def _pre(text: str) -> _Html:
    shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
    return _Html(f'<pre style="margin:0;white-space:pre-wrap;text-align:left">{html.escape(shown)}</pre>')


def _table(names: tuple[str, ...], rows: list[list[str]], total: int, nothing: str) -> str:
    """An HTML table of rows, with a note where `total` is more than the rows. `nothing` is shown where there are no rows."""
    if not rows:
        return f"<p>{nothing}</p>" if nothing else ""
    cells = [
        "".join(
            f'<td style="text-align:left">{cell if isinstance(cell, _Html) else html.escape(cell)}</td>' for cell in row
        )
        for row in rows
    ]
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    titles = "".join(f'<th style="text-align:left">{name}</th>' for name in names)
    head = f"<thead><tr>{titles}</tr></thead>" if any(names) else ""
    note = f"<p>The first {len(rows)} of {total}.</p>" if total > len(rows) else ""
    return f"<table>{head}<tbody>{body}</tbody></table>{note}"


def to_html(hits: Hits) -> str:
    """A table for a notebook: address, score, section and the best lines, all escaped."""
    if len(hits) == 0:
        return f"<p>No hits for {html.escape(hits.query)}</p>"
    rows = [
        [hit.address, f"{hit.score:.2f}", " > ".join(hit.section), _pre(hit.snippet or hit.text)] for hit in hits
    ]
    note = "" if hits.relevance == "relevant" else "<p>Nothing relevant: these are only the least bad.</p>"
    return note + _table(("document", "score", "section", "text"), rows, 0, "")
