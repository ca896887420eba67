"""Dates in a user's files: in ISO 8601, in a format that is stated, or in a local form that all dates of a column fit.

A column whose dates could all be read with the day first and with the month first is refused.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

from benchmark.system.errors import ConfigError, DataError, quote_value

_DAYS = (
    *("%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y"),
    *("%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%d-%b-%Y"),
)
_TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
#: Local forms that are recognised, as strptime writes them; the last is that of mail.
LOCAL_FORMATS = (*(day + time for day in _DAYS for time in _TIMES), "%a, %d %b %Y %H:%M:%S %z")
#: Stands for ISO 8601 among the formats.
ISO = ""


def check_date_format(form: str, column: str | None) -> None:
    """Raise ConfigError for a format that can't read the dates that it writes, or that has no column of dates."""
    if column is None:
        raise ConfigError("date_format: there is no date; name its column by `date`")
    day = datetime(2024, 5, 31, 10, 20, 30, tzinfo=UTC)
    try:
        right = datetime.strptime(day.strftime(form), form).strftime("%m-%d") == "05-31"  # noqa: DTZ007 - %z is optional
    except ValueError:
        right = False
    if not right:
        raise ConfigError(
            f"date_format is {quote_value(form)}: must have the codes of Python's strptime, such as '%d/%m/%Y' or "
            "'%m/%d/%Y %H:%M'"
        )


class DateColumn:
    """Dates of a column, read one by one in every format that fits all of them so far.

    Parameters
    ----------
    name : str
        Name of the column in messages.
    stated : str, optional
        Format of all dates; by default it is recognised.
    """

    def __init__(self, name: str, stated: str | None = None) -> None:
        self.name, self.stated = name, stated
        self._found: dict[str, list[datetime]] = {}
        self._first = ""
        self._unclear: tuple[str, str] | None = None

    def add(self, value: Any, place: str) -> None:
        """Read the date of the next document; raise DataError if no format fits it and those before."""
        text = str(value).strip()
        if not self._first:
            self._first = text
            self._found = {form: [] for form in self._candidates(value, text)}
        read = {form: parsed for form in self._found if (parsed := _parsed(value, text, form)) is not None}
        if not read:
            raise DataError(f"{place}: {self.name} is {quote_value(value)}, and must be {self._wanted(text)}")
        if len(set(read.values())) > 1 and self._unclear is None:
            self._unclear = place, text
        self._found = {form: self._found[form] for form in read}
        for form, parsed in read.items():
            self._found[form].append(parsed)

    @property
    def formats(self) -> tuple[str, ...]:
        """Formats that fit all dates and differ in some; one, unless the dates are ambiguous."""
        distinct = {tuple(dates): form for form, dates in reversed(self._found.items())}
        return tuple(reversed(distinct.values()))

    @property
    def ambiguity(self) -> str:
        """What is ambiguous about the dates, and how to state what they are; "" if nothing is."""
        if len(self.formats) < 2 or self._unclear is None:
            return ""
        place, text = self._unclear
        ways = " or ".join(f"date_format: {form!r}" for form in self.formats)
        return f"{place}: {self.name} is {text!r}, and no date of the file says which number is the day: state {ways}"

    def dates(self) -> list[datetime]:
        """Return the dates, in UTC without its name; raise DataError if they are ambiguous."""
        if self.ambiguity:
            raise DataError(self.ambiguity)
        return next(iter(self._found.values()), [])

    def _candidates(self, value: Any, text: str) -> tuple[str, ...]:
        if self.stated is not None:
            return (self.stated,)
        return (ISO,) if _parsed(value, text, ISO) is not None else LOCAL_FORMATS

    def _wanted(self, text: str) -> str:
        if ISO in self._found and _is_iso(text):
            return "a date of the years 1 to 9999 in UTC"
        if self.stated is not None:
            return f"a date as date_format states it, {self.stated!r}"
        if self._first != text and self._found:
            return f"a date in the form of the first, {self._first!r}"
        return "a date in ISO 8601, such as 2024-05-31; or state its form, such as date_format: '%d/%m/%y'"


def _is_iso(text: str) -> bool:
    try:
        return bool(datetime.fromisoformat(text))
    except ValueError:
        return False


def _parsed(value: Any, text: str, form: str) -> datetime | None:
    """Return a date in UTC without its name, or None if it isn't of a format; dates of Parquet are of every format."""
    if isinstance(value, date):
        found = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)  # noqa: DTZ001
    else:
        try:
            found = datetime.fromisoformat(text) if form == ISO else datetime.strptime(text, form)  # noqa: DTZ007
        except ValueError:
            return None
    try:
        return found.astimezone(UTC).replace(tzinfo=None) if found.tzinfo else found
    except OverflowError:  # in UTC it is before the year 1, or after 9999
        return None
