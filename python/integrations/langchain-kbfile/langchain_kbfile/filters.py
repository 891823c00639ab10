"""Filters of a vector store: metadata by name, with the operators of MongoDB."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

_Test = Callable[[Any], bool]

# In the place of the value of a document that lacks the field.
_MISSING = object()

MAX_DEPTH = 64


def compiled(filter: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], bool]:
    """A function that says whether metadata passes. ValueError for an operator or a value that has no meaning."""
    return _all_of(filter, 0)


def _all_of(filter: Any, depth: int) -> Callable[[Mapping[str, Any]], bool]:
    if not isinstance(filter, Mapping):
        raise ValueError(f"a filter is a dict of fields and operators, not {type(filter).__name__}")
    if depth > MAX_DEPTH:
        raise ValueError(f"a filter of more than {MAX_DEPTH} levels")
    tests = [_one(name, value, depth) for name, value in filter.items()]
    return lambda metadata: all(test(metadata) for test in tests)


def _one(name: Any, value: Any, depth: int) -> Callable[[Mapping[str, Any]], bool]:
    if not isinstance(name, str):
        raise ValueError(f"a field is a str, not {name!r}")
    if not name.startswith("$"):
        test = _field(name, value, depth)
        return lambda metadata: test(metadata.get(name, _MISSING))
    if name == "$not":
        inner = _all_of(value, depth + 1)
        return lambda metadata: not inner(metadata)
    if name not in ("$and", "$or", "$nor"):
        raise ValueError(f"unknown operator {name}; beside fields stand $and, $or, $nor, $not")
    if not isinstance(value, (list, tuple)) or not value:
        raise ValueError(f"{name} takes a list of filters")
    several = [_all_of(one, depth + 1) for one in value]
    if name == "$and":
        return lambda metadata: all(one(metadata) for one in several)
    return lambda metadata: any(one(metadata) for one in several) == (name == "$or")


def _field(name: str, value: Any, depth: int) -> _Test:
    """What the value of a field must be: a value itself, or an object of operators."""
    if depth > MAX_DEPTH:
        raise ValueError(f"a filter of more than {MAX_DEPTH} levels")
    operators = [key for key in value if str(key).startswith("$")] if isinstance(value, Mapping) else []
    if not operators:
        return _equal(_operand(name, value))
    if len(operators) < len(value):
        raise ValueError(f"{name}: operators and other names stand side by side: {value!r}")
    tests = [_operator(name, operator, operand, depth) for operator, operand in value.items()]
    return lambda stored: all(test(stored) for test in tests)


def _operator(name: str, operator: str, operand: Any, depth: int) -> _Test:
    if operator in _ORDERS:
        if _kind(operand) not in ("number", "text"):
            raise ValueError(f"{name}: {operator} takes a number or a str, not {operand!r}")
        return _ordered(_operand(name, operand), _ORDERS[operator])
    if operator in ("$in", "$nin"):
        if not isinstance(operand, (list, tuple, set, frozenset)):
            raise ValueError(f"{name}: {operator} takes a list, not {operand!r}")
        several = [_equal(_operand(name, one)) for one in operand]
        return lambda stored: any(one(stored) for one in several) == (operator == "$in")
    if operator in ("$eq", "$ne"):
        equal = _equal(_operand(name, operand))
        return lambda stored: equal(stored) == (operator == "$eq")
    if operator == "$exists":
        if not isinstance(operand, bool):
            raise ValueError(f"{name}: $exists takes True or False, not {operand!r}")
        return lambda stored: (stored is not _MISSING) == operand
    if operator == "$not":
        if not isinstance(operand, Mapping) or not operand or not all(str(key).startswith("$") for key in operand):
            raise ValueError(f"{name}: $not takes an object of operators, not {operand!r}")
        inner = _field(name, operand, depth + 1)
        return lambda stored: not inner(stored)
    known = ", ".join(["$eq", "$ne", *_ORDERS, "$in", "$nin", "$exists", "$not"])
    raise ValueError(f"{name}: unknown operator {operator}; a field takes {known}")


_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "$gt": lambda stored, operand: stored > operand,
    "$gte": lambda stored, operand: stored >= operand,
    "$lt": lambda stored, operand: stored < operand,
    "$lte": lambda stored, operand: stored <= operand,
}


def _operand(name: str, value: Any) -> Any:
    """The value as metadata would be read back; what JSON does not have can equal nothing."""
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{name}: metadata is JSON, {value!r} is not: {error}") from error


def _values(stored: Any) -> list[Any]:
    """A stored value and, if it is a list, its items: one that passes is enough."""
    return [stored, *stored] if isinstance(stored, list) else [stored]


def _equal(operand: Any) -> _Test:
    def test(stored: Any) -> bool:
        if stored is _MISSING:
            return operand is None
        return any(_same(one, operand) for one in _values(stored))

    return test


def _ordered(operand: Any, holds: Callable[[Any, Any], bool]) -> _Test:
    kind = _kind(operand)
    return lambda stored: any(_kind(one) == kind and holds(one, operand) for one in _values(stored))


def _kind(value: Any) -> str:
    # bool first: Python takes True for 1.
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    return "text" if isinstance(value, str) else "other"


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(value, other[name]) for name, value in one.items())
    return _kind(one) == _kind(other) and bool(one == other)
