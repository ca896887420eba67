"""Dates of a user's documents: ISO 8601, with the year first or the month's name, or of a stated format."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Any

#: What a date is written like that has one meaning: the year first, or the name of the month.
_UNAMBIGUOUS = re.compile(r"\d{4}[/.]|.*\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec).*\d{4}", re.IGNORECASE)


def parse_date(value: Any, form: str | None = None) -> datetime:
    """Return a date in UTC without its name.

    Raises
    ------
    ValueError
        The value is no date of the format, or of ISO 8601, or may have the day or the month first.
    """
    if isinstance(value, date):
        found = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)  # noqa: DTZ001
    else:
        found = _parsed(str(value).strip(), form)
    try:
        return found.astimezone(UTC).replace(tzinfo=None) if found.tzinfo else found
    except OverflowError:
        raise ValueError("a date of the years 1 to 9999 in UTC") from None


def _parsed(text: str, form: str | None) -> datetime:
    if form is not None:
        try:
            return datetime.strptime(text, form)  # noqa: DTZ007 - as the format says
        except ValueError:
            raise ValueError(f"a date as date_format states it, {form!r}") from None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        pass
    if _UNAMBIGUOUS.match(text):
        import pandas as pd  # noqa: PLC0415 - slow to import, and for few dates

        try:
            return pd.Timestamp(text).to_pydatetime()
        except ValueError:
            pass
    raise ValueError("a date in ISO 8601, such as 2024-05-31; or state its form, such as date_format: '%d/%m/%Y'")
