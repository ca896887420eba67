"""Dates are those of the calendar in every form that is recognised, and a column that could be two is refused."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.corpora.user.dates import ISO, LOCAL_FORMATS, DateColumn, check_date_format
from benchmark.system.errors import ConfigError, DataError

DAYS = st.datetimes(datetime(1970, 1, 1), datetime(2070, 1, 1)).map(lambda day: day.replace(microsecond=0))  # noqa: DTZ001


def column(values: list[object], stated: str | None = None) -> DateColumn:
    found = DateColumn("when", stated)
    for number, value in enumerate(values, start=2):
        found.add(value, f"a.csv:{number}")
    return found


@given(st.sampled_from(LOCAL_FORMATS), DAYS)
def test_a_form_with_a_late_day_is_recognised(form: str, day: datetime) -> None:
    """The last of a month is no month, so that such a column isn't ambiguous."""
    last = (day.replace(day=1) + timedelta(days=32)).replace(day=1, tzinfo=UTC) - timedelta(days=1)
    days = [day.replace(tzinfo=UTC), last]
    found = column([each.strftime(form) for each in days])
    whole = [datetime.strptime(each.strftime(form), form) for each in days]  # noqa: DTZ007
    assert found.dates() == [each.replace(tzinfo=None) for each in whole]
    assert len(found.formats) == 1


@given(st.lists(DAYS, min_size=1, max_size=5))
def test_iso_8601_is_read_as_before(days: list[datetime]) -> None:
    found = column([day.isoformat() for day in days])
    assert (found.dates(), found.formats) == (days, (ISO,))


@given(st.lists(st.tuples(DAYS, st.integers(-14 * 60, 14 * 60)), min_size=1, max_size=5))
def test_dates_of_several_time_zones_are_read_in_utc(given: list[tuple[datetime, int]]) -> None:
    """Moments in ISO 8601, in the form of mail, and of Parquet; documents are ordered by moment, not by the clock."""
    moments = [day.replace(tzinfo=timezone(timedelta(minutes=minutes))) for day, minutes in given]
    expected = [moment.astimezone(UTC).replace(tzinfo=None) for moment in moments]
    for values in ([m.isoformat() for m in moments], [m.strftime(LOCAL_FORMATS[-1]) for m in moments], moments):
        assert column(list(values)).dates() == expected


def test_days_that_could_be_months_are_refused_with_both_formats() -> None:
    with pytest.raises(DataError) as raised:
        column(["01/01/2020", "03/04/2020", "05/04/2020"]).dates()
    said = "a.csv:3: when is '03/04/2020', and no date of the file says which number is the day: state date_format: "
    assert str(raised.value) == f"{said}'%d/%m/%Y' or date_format: '%m/%d/%Y'"
    assert column(["03/04/2020"], "%m/%d/%Y").dates() == [datetime(2020, 3, 4)]  # noqa: DTZ001
    assert column(["01/01/2020", "02/02/2020"]).dates()[1] == datetime(2020, 2, 2)  # noqa: DTZ001
    assert column(["03/04/2020", "13/04/2020"]).dates()[0] == datetime(2020, 4, 3)  # noqa: DTZ001
    assert column(["03.04.2020"]).dates() == [datetime(2020, 4, 3)]  # noqa: DTZ001


@pytest.mark.parametrize(
    ("values", "stated", "said"),
    [
        (
            ["soon"],
            None,
            "a.csv:2: when is 'soon', and must be a date in ISO 8601, such as 2024-05-31; or state its form",
        ),
        (["03/04/20"], None, "or state its form, such as date_format: '%d/%m/%y'"),
        (
            ["31/12/2020", "12/31/2020"],
            None,
            "a.csv:3: when is '12/31/2020', and must be a date in the form of the first",
        ),
        (["2020-12-31", "31/12/2020"], None, "in the form of the first, '2020-12-31'"),
        (["31/12/2020"], "%m/%d/%Y", "must be a date as date_format states it, '%m/%d/%Y'"),
        ([""], None, "a.csv:2: when is ''"),
    ],
)
def test_what_is_no_date_is_refused_with_its_line(values: list[object], stated: str | None, said: str) -> None:
    with pytest.raises(DataError) as raised:
        column(values, stated).dates()
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("form", "good"),
    [
        *((form, True) for form in LOCAL_FORMATS),
        *((form, True) for form in ("%d/%m/%y", "%Y%m%d", "%m-%d", "%j %Y", "%Y-%m-%dT%H:%M:%S%z")),
        *((form, False) for form in ("", "%Y", "%m/%Y", "%H:%M", "dd.mm.yyyy", "%d/%m/%Q", "%d")),
    ],
)
def test_a_format_must_say_the_month_and_the_day(form: str, *, good: bool) -> None:
    if good:
        check_date_format(form, "when")
        with pytest.raises(ConfigError, match=r"^date_format: there is no date; name its column by `date`$"):
            check_date_format(form, None)
        return
    with pytest.raises(ConfigError) as raised:
        check_date_format(form, "when")
    assert str(raised.value) == (
        f"date_format is {form!r}: must have the codes of Python's strptime, such as '%d/%m/%Y' or '%m/%d/%Y %H:%M'"
    )


def test_only_dates_that_differ_by_the_form_are_ambiguous() -> None:
    """The first that is so is named, and no date says more than those before and after it."""
    for values, place in (
        (["02/02/2020", "03/04/2020", "05/06/2020"], "a.csv:3: when is '03/04/2020'"),
        (["03-04-2020 10:00", "05-06-2020 11:00"], "a.csv:2: when is '03-04-2020 10:00'"),
    ):
        found = column(list(values))
        assert found.ambiguity.startswith(f"{place}, and no date of the file says which number is the day: state date")
        assert len(found.formats) == 2
        with pytest.raises(DataError, match=place):
            found.dates()
        assert column([*values, f"30{values[-1][2:]}"]).ambiguity == ""
    assert (column([]).dates(), column([]).ambiguity, column([]).formats) == ([], "", ())


def test_dates_of_parquet_need_no_format() -> None:
    values = [date(2020, 4, 3), datetime(2020, 4, 3, 5, tzinfo=UTC)]
    found = column(values, "%d/%m/%Y").dates()
    assert found == column(values).dates()
    assert [day.isoformat() for day in found] == ["2020-04-03T00:00:00", "2020-04-03T05:00:00"]
