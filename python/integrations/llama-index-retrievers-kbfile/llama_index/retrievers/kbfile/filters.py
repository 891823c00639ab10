"""MetadataFilters of LlamaIndex as a condition on fields."""

from __future__ import annotations

from functools import reduce
from typing import Any

from kbfile import Condition, field
from llama_index.core.vector_stores import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)

_MAX_DEPTH = 32


def translated(filters: MetadataFilters, depth: int = 0) -> Condition | None:
    """The condition of filters; None if there are none. ValueError for what has no meaning."""
    if depth > _MAX_DEPTH:
        raise ValueError(f"filters of more than {_MAX_DEPTH} levels")
    of = [
        translated(one, depth + 1) if isinstance(one, MetadataFilters) else _one(one)
        for one in filters.filters
    ]
    conditions = [one for one in of if one is not None]
    if not conditions:
        return None
    if filters.condition in (FilterCondition.AND, None):
        return reduce(lambda all, one: all & one, conditions)
    any_of = reduce(lambda any, one: any | one, conditions)
    if filters.condition == FilterCondition.OR:
        return any_of
    if filters.condition == FilterCondition.NOT:
        return ~any_of
    raise ValueError(f"unknown condition {filters.condition!r}")


def _one(filter: MetadataFilter) -> Condition:
    of, value, operator = field(filter.key), filter.value, filter.operator
    if operator == FilterOperator.IS_EMPTY:
        return of.is_missing()
    if operator in (FilterOperator.IN, FilterOperator.ANY):
        return of.is_in(_several(filter))
    if operator == FilterOperator.NIN:
        return ~of.is_in(_several(filter))
    if operator == FilterOperator.ALL:
        several = [of.has(one) for one in _several(filter)]
        # Of none, all documents have each.
        return reduce(lambda all, one: all & one, several, ~field("path").is_missing())
    if value is None or isinstance(value, list):
        raise ValueError(f"{filter.key}: {operator.value} takes a str or a number, not {value!r}")
    if operator in (FilterOperator.TEXT_MATCH, FilterOperator.TEXT_MATCH_INSENSITIVE):
        return of.matches(f"*{_literal_pattern(filter.key, value)}*")
    if operator in (FilterOperator.EQ, FilterOperator.CONTAINS):
        return of == value
    if operator == FilterOperator.NE:
        return of != value
    if operator == FilterOperator.LT:
        return of < value
    if operator == FilterOperator.LTE:
        return of <= value
    if operator == FilterOperator.GT:
        return of > value
    if operator == FilterOperator.GTE:
        return of >= value
    raise ValueError(f"{filter.key}: unknown operator {operator!r}")


def _several(filter: MetadataFilter) -> list[Any]:
    if not isinstance(filter.value, list):
        raise ValueError(f"{filter.key}: {filter.operator.value} takes a list, not {filter.value!r}")
    return list(filter.value)


def _literal_pattern(key: str, value: Any) -> str:
    """The text to be contained, which has no wildcards."""
    if not isinstance(value, str) or not value.strip() or "*" in value or "?" in value:
        raise ValueError(f"{key}: a text without * and ? is needed, not {value!r}")
    if len(value.encode()) > 198 or value != value.strip():
        raise ValueError(f"{key}: a text of at most 198 bytes without spaces around it is needed")
    return value
