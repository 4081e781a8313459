"""Time as a page has it: milliseconds, within the calendar of a browser."""

from datetime import UTC, datetime

_FIRST, _LAST = (
    int(datetime(*date, tzinfo=UTC).timestamp()) * 1000 for date in ((1, 1, 1), (9999, 12, 31))
)


def milliseconds(moment: int) -> int:
    """A moment; one that was reported beyond the calendar is at its end."""
    return min(max(moment // 1000, _FIRST), _LAST)
