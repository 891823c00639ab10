"""Points of time, as filters take them."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta, timezone

_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def since_ms(value: datetime | date | timedelta | float | str) -> int:
    """Milliseconds since 1970 of a point of time.

    A `datetime` without time zone is local time, a `date` begins in UTC, a `timedelta` lies before now, and a number is
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
        message = f"since: {text!r} is no time; give 2026-11-30, 2026-11-30T12:00, or 12h, 7d, 3w before now"
        raise ValueError(message) from None
