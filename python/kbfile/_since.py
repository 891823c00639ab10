"""Points of time for filters."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta, timezone

_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def since_ms(value: datetime | date | timedelta | float | str) -> int:
    """Returns a point of time in milliseconds since 1970.

    A `datetime` without a time zone is local time. A `date` begins in UTC. A `timedelta` counts back from now. A number is
    in seconds since 1970. A text is an ISO 8601 date or time, or `12h`, `7d`, `3w` before now.
    """
    if isinstance(value, str):
        value = _parsed(value)
    if isinstance(value, timedelta):
        value = datetime.now(timezone.utc) - value
    if isinstance(value, datetime):
        return round(value.timestamp() * 1000)
    if isinstance(value, date):
        return round(datetime.combine(value, time(), timezone.utc).timestamp() * 1000)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return round(value * 1000)
    raise TypeError(f"since takes a datetime, date, timedelta, number or str, not {type(value).__name__}")


def _parsed(text: str) -> datetime | date | timedelta:
    span = re.fullmatch(r"(\d{1,6})([hdw])", text)
    if span:
        return int(span[1]) * _UNITS[span[2]]
    try:
        return date.fromisoformat(text)
    except ValueError:
        pass
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        message = f"since: {text!r} is not a time; examples: 2026-11-30, 2026-11-30T12:00, or 12h, 7d, 3w (ago)"
        raise ValueError(message) from None
