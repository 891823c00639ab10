"""Rows of tables as documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kbfile._kbfile import Writer


def add_many(
    writer: Writer,
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
    """What `Writer.add_many` does."""
    paths = []
    for number, row in enumerate(_dicts(rows)):
        fields = dict(row)
        content = fields.pop(text, None)
        if not isinstance(content, str):
            raise ValueError(f"row {number}: {text!r} is a str, not {type(content).__name__}")
        given = fields.pop(metadata, None)
        if _is_nothing(given):
            given = {}
        if not isinstance(given, Mapping):
            raise ValueError(f"row {number}: {metadata!r} is a dict, not {type(given).__name__}")
        named = {name: _text(number, name, fields.pop(name, None)) for name in (path, title)}
        labels = fields.pop(tags, None)
        fields = {**fields, **given}
        try:
            paths.append(
                writer.add(
                    content,
                    path=named[path],
                    title=named[title],
                    tags=() if _is_nothing(labels) else [labels] if isinstance(labels, str) else labels,
                    metadata={name: _plain(value) for name, value in fields.items() if not _is_nothing(value)},
                    replace=replace,
                    include_secrets=include_secrets,
                )
            )
        except Exception as error:
            error.add_note(f"of row {number}")
            raise
    return paths


def _dicts(rows: Any) -> Iterable[Mapping[str, Any]]:
    """The rows of a table of pandas, polars or Arrow, or what was given."""
    if hasattr(rows, "iter_rows"):
        return rows.iter_rows(named=True)  # type: ignore[no-any-return]
    if hasattr(rows, "to_batches"):
        return _of_batches(rows)
    if hasattr(rows, "itertuples") and hasattr(rows, "columns"):
        columns = list(rows.columns)
        return (dict(zip(columns, row)) for row in rows.itertuples(index=False, name=None))
    if isinstance(rows, (str, bytes, Mapping)) or not isinstance(rows, Iterable):
        raise TypeError(f"rows are dicts or a table, not {type(rows).__name__}")
    return rows


def _of_batches(table: Any) -> Iterator[Mapping[str, Any]]:
    # Batch by batch: as objects of Python, a whole table may be larger than memory.
    for batch in table.to_batches(max_chunksize=1000):
        yield from batch.to_pylist()


def _text(number: int, name: str, value: Any) -> str | None:
    if _is_nothing(value):
        return None
    if not isinstance(value, str):
        raise ValueError(f"row {number}: {name!r} is a str, not {type(value).__name__}")
    return value


def _is_nothing(value: Any) -> bool:
    """None, or one of what tables have in its place: NaN, NaT, NA. They differ from themselves, or are not comparable."""
    if value is None:
        return True
    if type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value


def _plain(value: Any) -> Any:
    """A number of numpy as one of Python, an array as a list."""
    return value.tolist() if type(value).__module__ == "numpy" else value
