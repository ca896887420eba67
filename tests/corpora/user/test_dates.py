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


#: The last day of May in every form of a day.
IN_MAY = [
    *("2024/05/31", "2024.05.31", "31.05.2024", "31/05/2024", "05/31/2024", "31-05-2024", "05-31-2024"),
    *("31 May 2024", "May 31, 2024", "31-May-2024"),
]
IN_FULL = {"31 January 2024": "2024-01-31", "January 31, 2024": "2024-01-31", "30 Sep 2024": "2024-09-30"}
#: Ten past one in the afternoon in every form of a time.
AT_ONE = {
    "": (0, 0, 0),
    " 13:10": (13, 10, 0),
    " 13:10:05": (13, 10, 5),
    " 1:10 PM": (13, 10, 0),
    " 1:10:05 PM": (13, 10, 5),
}


@pytest.mark.parametrize("time", AT_ONE)
def test_every_local_form_is_recognised(time: str) -> None:
    hour, minute, second = AT_ONE[time]
    for day, expected in {**dict.fromkeys(IN_MAY, "2024-05-31"), **IN_FULL}.items():
        found = column([day + time]).dates()
        assert found == [datetime.fromisoformat(expected).replace(hour=hour, minute=minute, second=second)], day
    mail = "Fri, 31 May 2024 13:10:05 +0200"
    assert column([mail]).dates() == [datetime(2024, 5, 31, 11, 10, 5)]  # noqa: DTZ001


def test_no_other_form_is() -> None:
    """Nor a form of a day with another's time."""
    for value in ("31.05.24", "2024-31-05", "31 05 2024", "2024/05/31T10:00", "31.05.2024 10", "May 2024", "31/05"):
        with pytest.raises(DataError, match="must be a date in ISO 8601"):
            column([value])
    assert len(LOCAL_FORMATS) == len(set(LOCAL_FORMATS)) == 12 * len(AT_ONE) + 1
