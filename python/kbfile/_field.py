"""Conditions for `where`, as expressions of Python."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from datetime import date, datetime, timezone
from typing import Union

FieldValue = Union[str, int, float, bool, date, datetime]

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORDS = {"and", "or", "not", "in", "has", "missing", "true", "false"}


class Condition(str):
    """A condition as text, for `where`. `a & b`, `a | b` and `~a` join and negate conditions."""

    _join: str = "or"
    """What joins its parts at the top: "and", "or" or nothing. Of a text from elsewhere, "or", which binds least."""

    @classmethod
    def _of(cls, text: str, join: str) -> Condition:
        condition = cls(text)
        condition._join = join
        return condition

    def _within(self, joins: str) -> str:
        """The text, in parentheses if it binds less than what is around it."""
        return str(self) if self._join in ("", joins) else f"({self})"

    def __and__(self, other: Condition) -> Condition:
        return self._of(f"{self._within('and')} and {other._within('and')}", "and")

    def __or__(self, other: Condition) -> Condition:
        return self._of(f"{self._within('or')} or {other._within('or')}", "or")

    def __invert__(self) -> Condition:
        return self._of(f"not {self._within('')}", "")


class Field:
    """A field of documents. `==`, `!=`, `<`, `<=`, `>` and `>=` with a value make a `Condition`."""

    __slots__ = ("_name",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, name: str) -> None:
        if not name.strip():
            raise ValueError("a field needs a name")
        is_plain = _PLAIN.fullmatch(name) is not None and name.lower() not in _WORDS
        self._name = name if is_plain else _between("`", name)

    def __repr__(self) -> str:
        return f"field({self._name})"

    def __eq__(self, value: FieldValue) -> Condition:  # type: ignore[override]
        return self._compared("=", value)

    def __ne__(self, value: FieldValue) -> Condition:  # type: ignore[override]
        return self._compared("!=", value)

    def __lt__(self, value: FieldValue) -> Condition:
        return self._compared("<", value)

    def __le__(self, value: FieldValue) -> Condition:
        return self._compared("<=", value)

    def __gt__(self, value: FieldValue) -> Condition:
        return self._compared(">", value)

    def __ge__(self, value: FieldValue) -> Condition:
        return self._compared(">=", value)

    def is_in(self, values: Iterable[FieldValue]) -> Condition:
        """Whether the field has one of the values; of none, no document has one."""
        several = ", ".join(map(_literal, values))
        # No document lacks a path.
        return Condition._of(f"{self._name} in ({several})" if several else "missing(path)", "")

    def has(self, value: FieldValue) -> Condition:
        """Whether a list has the value."""
        return self._compared("has", value)

    def matches(self, pattern: str) -> Condition:
        """Whether a text matches as a whole: `*` stands for any characters, `?` for one."""
        return self._compared("~", pattern)

    def is_missing(self) -> Condition:
        """Whether a document has no such field."""
        return Condition._of(f"missing({self._name})", "")

    def _compared(self, operator: str, value: FieldValue) -> Condition:
        return Condition._of(f"{self._name} {operator} {_literal(value)}", "")


def field(name: str) -> Field:
    """Returns a field for conditions: `kb.search("tides", where=(field("year") > 2015) & ~(field("draft") == True))`."""
    return Field(name)


def _literal(value: FieldValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _between('"', str(value))
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise ValueError(f"{value} does not fit into 64 bits")
        return str(int(value))
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} is no number that a field can have")
        return repr(float(value))
    if isinstance(value, datetime):
        # Without a time zone it is in UTC, as in a condition that is written as text.
        utc = value.astimezone(timezone.utc).replace(tzinfo=None) if value.tzinfo else value
        return utc.isoformat(timespec="milliseconds") + "Z"
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"a field has str, int, float, bool, date or datetime, not {type(value).__name__}")


def _between(quote: str, text: str) -> str:
    return quote + text.replace("\\", "\\\\").replace(quote, "\\" + quote) + quote
