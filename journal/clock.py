"""Time here is whole microseconds since 1970 in UTC; files show it to the second."""

import time
from datetime import UTC, datetime, timedelta
from typing import Annotated, TypeAlias

from journal.errors import Invalid

#: A time, in microseconds since 1970.
Moment: TypeAlias = Annotated[int, "microseconds"]

_EPOCH = datetime(1970, 1, 1)
_FIRST = (datetime.min - _EPOCH) // timedelta(seconds=1)
_LAST = (datetime.max - _EPOCH) // timedelta(seconds=1)


def now() -> int:
    """The present."""
    return time.time_ns() // 1000


def iso(at: int) -> str:
    """As ISO 8601: 2026-03-02T10:15:00Z."""
    return f"{_moment(at).isoformat(timespec='seconds')}Z"


def day(at: int) -> str:
    """As a date: 2026-03-02."""
    return _moment(at).date().isoformat()


def parse(text: str) -> int:
    """The moment that an ISO 8601 text means; without an offset it is UTC."""
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is not None:
            moment = moment.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError) as e:
        raise Invalid(f"{text[:60]!r} is not a time; write it like 2026-03-02T10:15:00Z") from e
    return (moment - _EPOCH) // timedelta(microseconds=1)


def _moment(at: int) -> datetime:
    # A reported time may lie beyond the calendar; a file is written all the same.
    return _EPOCH + timedelta(seconds=min(max(at // 1_000_000, _FIRST), _LAST))
