"""Results as objects of other libraries, which are imported when they are asked for."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kbfile._kbfile import Hits

# Characters of a text in a table of a notebook.
_SHOWN = 300


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


def to_pandas(columns: dict[str, list[Any]]) -> Any:
    """A pandas.DataFrame of columns."""
    import pandas  # type: ignore[import-untyped,import-not-found,unused-ignore]

    frame = pandas.DataFrame(columns, copy=False)
    for name in ("page", "slide"):
        frame[name] = frame[name].astype("UInt32")
    frame["modified"] = pandas.to_datetime(frame["modified"], utc=True)
    return frame


def to_polars(hits: Hits) -> Any:
    """A polars.DataFrame of an Arrow stream."""
    import polars  # type: ignore[import-not-found,unused-ignore]

    return polars.DataFrame(hits)


def to_arrow(hits: Hits) -> Any:
    """A pyarrow.Table of an Arrow stream."""
    import pyarrow  # type: ignore[import-untyped,import-not-found,unused-ignore]

    return pyarrow.table(hits)


def to_html(hits: Hits) -> str:
    """A table for a notebook: address, score, section and the best lines, all escaped."""
    if len(hits) == 0:
        return f"<p>No hits for {html.escape(hits.query)}</p>"
    rows = []
    for hit in hits:
        text = hit.snippet or hit.text
        shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
        cells = [
            html.escape(hit.address),
            f"{hit.score:.2f}",
            html.escape(" > ".join(hit.section)),
            f'<pre style="margin:0;white-space:pre-wrap;text-align:left">{html.escape(shown)}</pre>',
        ]
        rows.append("<tr>" + "".join(f'<td style="text-align:left">{cell}</td>' for cell in cells) + "</tr>")
    head = "".join(f'<th style="text-align:left">{name}</th>' for name in ("document", "score", "section", "text"))
    note = "" if hits.relevance == "relevant" else "<p>Nothing relevant: these are only the least bad.</p>"
    return f"{note}<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
