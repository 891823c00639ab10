"""Filters of MongoDB as conditions on the fields of documents.

`translated` is for documents of any origin: a filter means what the condition means. `narrowed` is for the vector store,
whose filters are exact: its condition holds for every document that passes, and spares reading most of the others.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import reduce
from typing import Any

from kbfile import Condition, field

from langchain_kbfile.filters import MAX_DEPTH, compiled

MARK = "langchain-fields"
"""The field of documents whose metadata are all fields that conditions find."""

# Names that documents have beside fields, and texts that no condition finds.
_NOT_FOUND = {"tags", "description", "subject", "invalid_bytes"}

# Limits of the engine, less a reserve for the mark.
_MAX_NAME, _MAX_TEXT, _MAX_VALUES = 64, 64, 180


def translated(filter: Mapping[str, Any], depth: int = 0) -> Condition | None:
    """The condition that a filter is; None if all documents pass. ValueError for what has no such meaning."""
    if depth == 0:
        # Refuses whatever is no filter.
        compiled(filter)
    parts = [_translated(name, value, depth) for name, value in filter.items()]
    return _joined([part for part in parts if part is not None])


def _translated(name: str, value: Any, depth: int) -> Condition | None:
    if not name.startswith("$"):
        return _of_field(name, value)
    if name == "$not":
        return _negated(translated(value, depth + 1))
    parts = [translated(one, depth + 1) for one in value]
    found = [part for part in parts if part is not None]
    if name == "$and":
        return _joined(found)
    any_of = reduce(lambda any, one: any | one, found) if len(found) == len(parts) else None
    return any_of if name == "$or" else _negated(any_of)


def _joined(parts: list[Condition]) -> Condition | None:
    return reduce(lambda all, one: all & one, parts) if parts else None


def _negated(condition: Condition | None) -> Condition:
    # No document lacks a path.
    return field("path").is_missing() if condition is None else ~condition


def _of_field(name: str, value: Any) -> Condition | None:
    if not name.strip():
        raise ValueError("a field needs a name")
    if not isinstance(value, Mapping):
        return _equal(name, value)
    if not any(str(key).startswith("$") for key in value):
        raise ValueError(f"{name}: a field of a document holds no object: {value!r}")
    return _joined([_operator(name, operator, operand) for operator, operand in value.items()])


def _operator(name: str, operator: str, operand: Any) -> Condition:
    of = field(name)
    if operator == "$eq":
        return _equal(name, operand)
    if operator == "$ne":
        return ~_equal(name, operand)
    if operator in ("$in", "$nin"):
        texts = [one for one in operand if one is not None]
        for one in texts:
            _equal(name, one)
        any_of = of.is_in(texts)
        any_of = any_of if len(texts) == len(operand) else any_of | of.is_missing()
        return any_of if operator == "$in" else ~any_of
    if operator == "$exists":
        return ~of.is_missing() if operand else of.is_missing()
    if operator == "$not":
        return _negated(_of_field(name, operand))
    comparisons = {"$gt": of.__gt__, "$gte": of.__ge__, "$lt": of.__lt__, "$lte": of.__le__}
    return comparisons[operator](operand)


def _equal(name: str, value: Any) -> Condition:
    if value is None:
        return field(name).is_missing()
    if not isinstance(value, (str, int, float)):
        raise ValueError(f"{name}: a document is compared with a str, a number or a bool, not {value!r}")
    return field(name) == value


def narrowed(filter: Mapping[str, Any], depth: int = 0) -> Condition | None:
    """A condition that each marked document passes if it passes the filter; None: all may pass."""
    if depth > MAX_DEPTH:
        return None
    parts = [_narrowed(name, value, depth) for name, value in filter.items()]
    return _joined([part for part in parts if part is not None])


def _narrowed(name: str, value: Any, depth: int) -> Condition | None:
    if not name.startswith("$"):
        return _narrowed_field(name, value) if _is_found(name) else None
    if name == "$and":
        parts = [narrowed(one, depth + 1) for one in value]
        return _joined([part for part in parts if part is not None])
    if name == "$or":
        parts = [narrowed(one, depth + 1) for one in value]
        found = [part for part in parts if part is not None]
        return reduce(lambda any, one: any | one, found) if len(found) == len(parts) else None
    # What is denied need not hold: texts are compared in any letter case here, and exactly in the filter.
    return None


def _narrowed_field(name: str, value: Any) -> Condition | None:
    if not isinstance(value, Mapping):
        return _has_any(name, [value])
    parts = [_narrowed_operator(name, operator, operand) for operator, operand in value.items()]
    return _joined([part for part in parts if part is not None])


def _narrowed_operator(name: str, operator: str, operand: Any) -> Condition | None:
    of = field(name)
    if operator == "$eq":
        return _has_any(name, [operand])
    if operator == "$in":
        return _has_any(name, list(operand))
    if operator == "$exists":
        return ~of.is_missing() if operand else None
    # The order of texts is another one in the engine.
    if isinstance(operand, str) or not _is_value(operand):
        return None
    comparisons = {"$gt": of.__gt__, "$gte": of.__ge__, "$lt": of.__lt__, "$lte": of.__le__}
    return comparisons[operator](operand) if operator in comparisons else None


def _has_any(name: str, operands: list[Any]) -> Condition | None:
    """Whether a field has one of the values. A value that no marked document has is none of them."""
    if any(operand is None or isinstance(operand, (list, tuple, Mapping)) for operand in operands):
        return None
    return field(name).is_in(operand for operand in operands if _is_value(operand))


def fields_of(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a document with this metadata, with the mark if conditions find all that filters find."""
    fields: dict[str, Any] = {}
    lower: set[str] = set()
    is_whole, count = True, 0
    for name, value in metadata.items():
        if not _is_found(name):
            # A filter of such a name is narrowed to nothing.
            continue
        values = value if isinstance(value, list) else [value]
        folded = name.lower()
        is_field = (
            bool(values)
            and all(map(_is_value, values))
            and folded not in lower
            and count + len(values) <= _MAX_VALUES
        )
        if is_field:
            lower.add(folded)
            count += len(values)
            fields[name] = value
        is_whole = is_whole and is_field
    return fields | {MARK: True} if is_whole else fields


def _is_found(name: str) -> bool:
    """Whether conditions find a field of this name."""
    return (
        0 < len(name.lower()) <= _MAX_NAME
        and name.strip() == name
        and name.lower() not in _NOT_FOUND | {MARK}
        and unicodedata.is_normalized("NFC", name.lower())
        and name.isprintable()
        and not any(sign in name for sign in "=<>")
    )


def _is_value(value: Any) -> bool:
    """Whether a field can have the value, and conditions find it."""
    if isinstance(value, (bool, float)):
        return True
    if isinstance(value, int):
        return bool(-(2**63) <= value < 2**63)
    if not isinstance(value, str):
        return False
    # As stored: in quotes, with a backslash before some signs.
    length = len(value.lower()) + 2 + value.count('"') + value.count("\\")
    return bool(value.strip()) and length <= _MAX_TEXT and value.isprintable()
