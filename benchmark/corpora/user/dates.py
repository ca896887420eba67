"""Dates of a user's documents: ISO 8601, with the year first or the month's name, or of a stated format."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Any

from benchmark.system.errors import quote_value

#: What a date is written like that has one meaning: the year first, or the name of the month.
_UNAMBIGUOUS = re.compile(r"\d{4}[/.]|.*\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec).*\d{4}", re.IGNORECASE)


def parse_date(value: Any, form: str | None = None, name: str = "date") -> datetime:
    """Return a date in UTC without its name.

    Parameters
    ----------
    value : Any
    form : str, optional
        Format of its text, in the codes of strptime.
    name : str
        Name of its column.

    Raises
    ------
    ValueError
        The value is no date of the format, or of ISO 8601, or may have the day or the month first.
    """
    if form is None:
        stated = "date_format: '%d/%m/%Y' (bench init --date-format '%d/%m/%Y')"
        wanted = f"a date in ISO 8601, such as 2024-05-31; or state its form, such as {stated}"
    else:
        wanted = f"a date as date_format states it, {form!r}"
    try:
        found = value if isinstance(value, date) else _parsed(str(value).strip(), form)
        found = found if isinstance(found, datetime) else datetime(found.year, found.month, found.day)  # noqa: DTZ001
        return found.astimezone(UTC).replace(tzinfo=None) if found.tzinfo else found
    except (OverflowError, ValueError):  # in UTC, it may be before the year 1, or after 9999
        raise ValueError(f"{name} is {quote_value(value)}, and must be {wanted}") from None


def _parsed(text: str, form: str | None) -> datetime:
    if form is not None:
        return datetime.strptime(text, form)  # noqa: DTZ007 - as the format says
    if not _UNAMBIGUOUS.match(text):
        return datetime.fromisoformat(text)
    import pandas as pd  # noqa: PLC0415 - slow to import, and for few dates

    return pd.Timestamp(text).to_pydatetime()
