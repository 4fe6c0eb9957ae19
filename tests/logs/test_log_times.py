"""Times of a log: every accepted form, days and months, zones, spans. Expected values are from datetime."""

from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coclick.errors import UserError
from coclick.logs import build, rejects
from coclick.logs.time_options import TimeOptions, parse_half_life, parse_time_format
from coclick.logs.times import COUNT_ORDERS, TimeFormat, decide_order

DAY_FIRST, MONTH_FIRST = TimeFormat(order="day"), TimeFormat(order="month")
NOON = datetime(2011, 9, 14, 12, 46, tzinfo=UTC)
DAY = datetime(2011, 9, 14, tzinfo=UTC)


def microseconds(time: datetime) -> int:
    return (time - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


@pytest.fixture(scope="module")
def db():
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        yield connection


def read(db, values, times, type="VARCHAR"):
    """Read values as the typed fields of a log do: (microseconds, error) of each."""
    table = pa.table({"number": range(len(values)), "x": values})
    db.register("given", table)
    return db.execute(f"""
        SELECT ts, CASE {" ".join(times.error("x", type))} END
        FROM (SELECT *, {times.microseconds("x", type)} AS ts, NULL AS date_text FROM given) ORDER BY number
    """).fetchall()


FORMS = {
    "2011-09-14": DAY,
    "2011-9-14": DAY,
    "2011-09-14 12:46": NOON,
    "2011-09-14T12:46": NOON,
    "2011-09-14T12:46Z": NOON,
    "2011-09-14T14:46:00+02:00": NOON,
    "2011-09-14T14:46:00+0200": NOON,
    "2011-09-14 14:46:00+02": NOON,
    "2011-09-14 14:46:00 +02:00": NOON,
    "2011-09-14 05:46:00 -0700": NOON,
    "2011-09-14 12:46:00 UTC": NOON,
    "2011-09-14 14:46:00 Europe/Berlin": NOON,
    "2011-09-14T12:46:00.5Z": NOON + timedelta(milliseconds=500),
    "2011-09-14T12:46:00,123Z": NOON + timedelta(milliseconds=123),
    "2011-09-14T12:46:00.123456789Z": NOON + timedelta(microseconds=123456),
    "  2011-09-14 12:46  ": NOON,
    "2011/09/14 12:46": NOON,
    "2011.09.14 12:46": NOON,
    "2011-09-14 12:46 PM": NOON,
    "2011-09-14 24:00:00": DAY + timedelta(days=1),
    "20110914": DAY,
    "20110914124600": NOON,
    "20110914T124600Z": NOON,
    "20110914T1246": NOON,
    "1316004360": NOON,
    "1316004360.25": NOON + timedelta(milliseconds=250),
    "1316004360123": NOON + timedelta(milliseconds=123),
    "1316004360123456": NOON + timedelta(microseconds=123456),
    "1316004360123456000": NOON + timedelta(microseconds=123456),
    "0": datetime(1970, 1, 1, tzinfo=UTC),
    "14/09/2011": DAY,
    "14/9/2011 12:46": NOON,
    "14/09/11 12:46": NOON,
    "14/09/99": datetime(1999, 9, 14, tzinfo=UTC),
    "14.09.2011": DAY,
    "14.09.2011 12:46:00,25": NOON + timedelta(milliseconds=250),
    "14.09.11, 12:46": NOON,
    "14-09-2011 12:46": NOON,
    "14-09-2011T12:46:00Z": NOON,
    "14/09/2011 14:46 +0200": NOON,
    "03/04/2011": datetime(2011, 4, 3, tzinfo=UTC),
    "3/4/2011 1:05 PM": datetime(2011, 4, 3, 13, 5, tzinfo=UTC),
    "3/4/2011 1:05:09 p.m.": datetime(2011, 4, 3, 13, 5, 9, tzinfo=UTC),
    "3/4/2011 12:05 AM": datetime(2011, 4, 3, 0, 5, tzinfo=UTC),
    "3/4/2011 12:05am": datetime(2011, 4, 3, 0, 5, tzinfo=UTC),
    "3/4/2011 12:05 PM": datetime(2011, 4, 3, 12, 5, tzinfo=UTC),
    "29.02.2012": datetime(2012, 2, 29, tzinfo=UTC),
    "10/Oct/2000:13:55:36 -0700": datetime(2000, 10, 10, 20, 55, 36, tzinfo=UTC),
    "[10/Oct/2000:13:55:36 -0700]": datetime(2000, 10, 10, 20, 55, 36, tzinfo=UTC),
    "10/Oct/2000:13:55:36": datetime(2000, 10, 10, 13, 55, 36, tzinfo=UTC),
    "/Date(1358066400000)/": datetime(2013, 1, 13, 8, 40, tzinfo=UTC),
    "/Date(1358066400000+0100)/": datetime(2013, 1, 13, 8, 40, tzinfo=UTC),
    "14 Sep 2011": DAY,
    "14-Sep-11 12:46": NOON,
    "14 september 2011 12:46": NOON,
    "Sep 14, 2011": DAY,
    "Sep 14, 2011 @ 12:46:00.000": NOON,
    "September 14th, 2011, 12:46 PM": NOON,
    "Wed, 14 Sep 2011 12:46:00 GMT": NOON,
    "Wed Sep 14 2011 14:46:00 GMT+0200": NOON,
}


def test_every_form(db):
    found = read(db, list(FORMS), DAY_FIRST)
    for (text, time), (ts, error) in zip(FORMS.items(), found, strict=True):
        assert (ts, error) == (microseconds(time), None), text


def test_month_first(db):
    forms = {
        "09/14/2011 12:46": NOON,
        "9/14/11 12:46 PM": NOON,
        "09-14-2011": DAY,
        "03/04/2011": datetime(2011, 3, 4, tzinfo=UTC),
        "2011-09-14": DAY,  # other forms are read as well
        "14 Sep 2011": DAY,
    }
    assert read(db, list(forms), MONTH_FIRST) == [(microseconds(time), None) for time in forms.values()]


LIST = "; accepted are ISO 8601, 14/09/2011, 14 Sep 2011, 1316004360, or what --time-format says"
NOT_THERE = "is a date or time that does not exist, or of an unknown zone"
WRONG = {
    "yesterday": f"is not a time but a text without digits{LIST}",
    "infinity": f"is not a time but a text without digits{LIST}",
    "12:46": f"is not a time but a clock time without a date{LIST}",
    "user-17": f"is not a time in a known form{LIST}",
    "2011-W37-3": f"is not a time in a known form{LIST}",
    "14 Sol 2011": f"is not a time in a known form{LIST}",
    "1e300": f"is not a time in a known form{LIST}",
    "09/14/2011": "is a date with the month first, unlike most dates of the log",
    "31/02/2011": NOT_THERE,
    "29/02/2011": NOT_THERE,
    "2011-02-30": NOT_THERE,
    "32/13/2011": NOT_THERE,
    "14/09/2011 25:00": NOT_THERE,
    "14/09/2011 13:00 PM": NOT_THERE,
    "14/09/2011 0:30 AM": NOT_THERE,
    "14/09/2011 12:46 Mars/Utopia": NOT_THERE,
    "11-09-14": "has a year of two digits between hyphens; name the form with --time-format",
    "1969-12-31": "is not between 1970 and 2200",
    "-1": "is not between 1970 and 2200",
    "2200-01-02": "is not between 1970 and 2200",
}


def test_what_is_not_a_time(db):
    found = [error for _, error in read(db, list(WRONG), DAY_FIRST)]
    assert found == [f"timestamp|{reason}" for reason in WRONG.values()]


ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe")
PATTERNS = {
    "%Y-%m-%d %H:%M:%S.%f": 1,
    "%Y-%m-%dT%H:%M:%S": 10**6,
    "%Y/%m/%d %H:%M": 60 * 10**6,
    "%Y%m%d%H%M%S": 10**6,
    "%d/%m/%Y %H:%M:%S.%f": 1,
    "%d.%m.%Y": 86400 * 10**6,
    "%d/%m/%Y %I:%M %p": 60 * 10**6,
    "%d-%m-%Y, %I:%M:%S%p": 10**6,
    "%d/%b/%Y:%H:%M:%S": 10**6,
    "%A, %d %B %Y %H:%M": 60 * 10**6,
    "%b %d, %Y @ %H:%M:%S.%f": 1,
}
INSTANTS = st.datetimes(datetime(1971, 1, 1), datetime(2037, 12, 1))


@settings(max_examples=25, deadline=None)
@given(
    times=st.lists(INSTANTS, min_size=1, max_size=8),
    zone=st.sampled_from(ZONES),
    form=st.sampled_from(list(PATTERNS)),
)
def test_written_times_are_read_back(db, times, zone, form):
    """Every form in every zone, by itself and by --time-format."""
    resolution = PATTERNS[form]
    times = [time - (time - datetime(1970, 1, 1)) % timedelta(microseconds=resolution) for time in times]
    expected = [microseconds(_local(time, zone)) for time in times]
    texts = [time.strftime(form) for time in times]
    for reader in (TimeFormat(order="day", zone=zone), TimeFormat(pattern=form, zone=zone)):
        assert read(db, texts, reader) == [(time, None) for time in expected]
    with_offset = [f"{time:%d/%m/%Y %H:%M:%S.%f} {_local(time, zone):%z}" for time in times]
    assert read(db, with_offset, TimeFormat(order="day", zone="Asia/Tokyo")) == [
        (microseconds(_local(time, zone)), None) for time in times
    ]


def _local(time: datetime, zone: str) -> datetime:
    """A local time: of a repeated hour the second, of a skipped hour as if not yet skipped."""
    first, second = (time.replace(tzinfo=ZoneInfo(zone), fold=fold) for fold in (0, 1))
    skipped = first.astimezone(UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=None) != time
    return first if skipped else second


def test_hours_that_clocks_skip_or_repeat(db):
    berlin = TimeFormat(order="day", zone="Europe/Berlin")
    skipped, repeated = read(db, ["2021-03-28 02:30", "31/10/2021 02:30"], berlin)
    assert skipped == (microseconds(datetime(2021, 3, 28, 1, 30, tzinfo=UTC)), None)  # 03:30 in summer
    assert repeated == (microseconds(datetime(2021, 10, 31, 1, 30, tzinfo=UTC)), None)  # in winter


@pytest.mark.parametrize(
    "type", ["TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_NS", "DATE", "TIMESTAMPTZ", "BIGINT", "DOUBLE"]
)
def test_typed_columns(db, type):
    zone = "America/New_York"
    value = "2011-09-14" if type == "DATE" else "2011-09-14 12:46:00"
    sql = "1316004360" if type in ("BIGINT", "DOUBLE") else f"TIMESTAMP '{value}'"
    shown = db.execute(f"SELECT typeof(({sql})::{type})").fetchall()[0][0]
    found = [
        db.execute(
            f"SELECT {TimeFormat(zone=z).microseconds('x', shown)} FROM (SELECT ({sql})::{type} AS x)"
        ).fetchall()[0][0]
        for z in ("UTC", zone)
    ]
    time = DAY if type == "DATE" else NOON
    local = time.replace(tzinfo=ZoneInfo(zone)) if "TIME" in type or type == "DATE" else time
    assert found == [microseconds(time), microseconds(time if type == "TIMESTAMPTZ" else local)]


def order_of(db, texts):
    db.register("dates", pa.table({"date_text": pa.array(texts, pa.string())}))
    return decide_order(*db.execute(COUNT_ORDERS.format(source="FROM dates")).fetchall()[0])


def test_the_values_decide_the_order(db):
    assert order_of(db, ["03/04/2011", "14/04/2011", "05/05/2011", None]) == "day"
    assert order_of(db, ["03/04/2011", "04/14/2011"]) == "month"
    assert order_of(db, [None]) is None
    assert order_of(db, ["06/06/2011", "07/07/2011"]) == "day"  # the same in both readings
    assert (
        order_of(db, ["13.12.2011"] * 200 + ["12.13.2011"]) == "day"
    )  # one wrong date does not stop a build
    assert order_of(db, ["45/45/2011", "13/12/2011"]) == "day"
    with pytest.raises(
        UserError, match=r"have the day first \(1 row\), others the month \(2 rows\)"
    ) as raised:
        order_of(db, ["14/04/2011", "04/14/2011", "04/15/2011"])
    assert "day-first" in raised.value.hint
    with pytest.raises(UserError, match="nothing tells if") as raised:
        order_of(db, ["03/04/2011 10:00", "05/04/11", "04/05/2011", "06/06/2011"])
    for text in (
        "'03/04/2011 10:00' is 2011-04-03 or 2011-03-04",
        "'05/04/11' is 2011-04-05 or 2011-05-04",
    ):
        assert text in raised.value.what
    assert "--time-format day-first" in raised.value.hint


def write(path, times, header="timestamp", user="u"):
    rows = [f"{time}\t{user}\tshoe\tD{number}" for number, time in enumerate(times)]
    path.write_text("\n".join([f"{header}\tuser\tquery\tdoc", *rows]) + "\n")
    return path


def days_of(graph):
    assert graph.pairs is not None and graph.daily is not None
    docs = [graph.docs[doc] for doc in graph.pairs.docs]
    return {
        doc: date(1970, 1, 1) + timedelta(days=int(day))
        for doc, day in zip(docs, graph.daily.day, strict=True)
    }


def test_a_column_of_dates_in_any_order_of_rows_and_files(tmp_path):
    times = [
        "03/04/2011 10:00",
        "2011-04-05T10:00:00",
        "04/04/2011 11:30 PM",
        "14/04/2011",
        "04/15/2011 1:00",
    ]
    times += ["15/04/2011"] * 200
    expected = {
        "D0": date(2011, 4, 3),
        "D1": date(2011, 4, 5),
        "D2": date(2011, 4, 4),
        "D3": date(2011, 4, 14),
    }
    for name, order in (("forth", times), ("back", times[::-1])):
        path = write(tmp_path / f"{name}.tsv", order)
        text = path.read_text()
        lines = text.splitlines()
        for number, time in enumerate(order):  # the same document for the same time
            lines[number + 1] = f"{time}\tu\tshoe\tD{times.index(time)}"
        (tmp_path / f"{name}.tsv").write_text("\n".join([lines[0], *lines[1:100]]) + "\n")
        (tmp_path / f"{name}2.tsv").write_text("\n".join([lines[0], *lines[100:]]) + "\n")
        graph = build([tmp_path / f"{name}.tsv", tmp_path / f"{name}2.tsv"], None, tmp_path / name)
        days = days_of(graph)
        assert {doc: days[doc] for doc in expected} == expected
        assert graph.stats["rejected"] == {
            "timestamp is a date with the month first, unlike most dates of the log": 1
        }
        assert graph.stats["right"] == len(times) - 1 and graph.stats["time_format"] == "day-first"
        [(file, line, field, _, raw)] = rejects(graph)
        assert field == "timestamp" and raw.startswith("04/15/2011 1:00\t")
        assert (file, line) == {
            "forth": (str(tmp_path / "forth.tsv"), 6),
            "back": (str(tmp_path / "back2.tsv"), 103),
        }[name]


def test_texts_in_parquet(tmp_path):
    path = tmp_path / "log.parquet"
    texts = ["03/14/2011", "03/04/2011", "2011-03-05", "nonsense"]
    pq.write_table(pa.table({"time": texts, "query": ["q"] * 4, "doc": ["D0", "D1", "D2", "D3"]}), path)
    graph = build([path], None, tmp_path / "graph")
    assert days_of(graph) == {"D0": date(2011, 3, 14), "D1": date(2011, 3, 4), "D2": date(2011, 3, 5)}
    assert graph.stats["time_format"] == "month-first" and [row[1] for row in rejects(graph)] == [4]


def test_undecided_dates_stop_the_build(tmp_path):
    path = write(tmp_path / "log.tsv", ["03/04/2011", "05/04/2011"])
    with pytest.raises(UserError, match="'03/04/2011' is 2011-04-03 or 2011-03-04"):
        build([path], None, tmp_path / "graph")
    assert not (tmp_path / "graph").exists()
    for option, day in (("day-first", 3), ("%d/%m/%Y", 3), ("month-first", 4), ("%m/%d/%Y", 4)):
        graph = build([path], None, tmp_path / "graph", time_format=option, force=True)
        assert days_of(graph)["D0"].day == day and graph.stats["time_format"] == option


def test_a_format_reads_nothing_else(tmp_path):
    path = write(tmp_path / "log.tsv", ["14/09/2011 12:46", "2011-09-14", "1316004360", "14/09/2011"])
    graph = build(
        [path],
        None,
        tmp_path / "graph",
        time_format="%d/%m/%Y %H:%M",
        timezone="europe/berlin",
        max_rejected=1,
    )
    assert graph.stats["rejected"] == {"timestamp is not in the form of --time-format": 3}
    assert graph.stats["first"] == "2011-09-14T10:46:00+00:00" and graph.stats["timezone"] == "Europe/Berlin"
    path = write(tmp_path / "relative.tsv", ["20110914", "20110915", "x"])
    graph = build([path], None, tmp_path / "relative", time_format="s")
    assert graph.stats["first"] == "1970-08-21T18:21:54+00:00"
    assert graph.stats["rejected"] == {"timestamp is not a number, which --time-format asks for": 1}


@pytest.mark.parametrize(
    ("given", "message", "hint"),
    [
        ("%d/%m/%Y %k:%M", "the directive '%k' is unknown", "write %H instead"),
        ("%d/%m/%Y %H:%Q", "the directive '%Q' is unknown", "strptime"),
        ("%d/%m/%Y %", "the directive '%' is unknown", "strptime"),
        ("dd/MM/yyyy HH:mm", "has no directive", "'%d/%m/%Y %H:%M'"),
        ("tomorrow", "has no directive", "for example"),
        ("%s", "is not needed", "without a format"),
        ("%d/%m %H:%M", "has no complete date", "a year, a month and a day"),
        ("%d/%m/%Y %I:%M", "has %I, a 12-hour clock, but no %p", "add %p"),
        ("", "must be a text", "for example"),
        (7, "must be a text", "for example"),
    ],
)
def test_wrong_formats(given, message, hint):
    with pytest.raises(UserError) as raised:
        parse_time_format(given)
    assert message in raised.value.what and hint in raised.value.hint


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ("Europe/Berlni", "Europe/Berlin"),
        ("berlin", "Europe/Berlin"),
        ("New York", "America/New_York"),
        (3, "for"),
    ],
)
def test_wrong_zones(given, hint):
    with pytest.raises(UserError, match="is not the name of a time zone") as raised:
        parse_time_format(None, given)
    assert hint in raised.value.hint


def test_options_that_need_times(tmp_path):
    path = tmp_path / "log.tsv"
    path.write_text("query\tdoc\nshoe\tD1\n")
    needing: list[dict[str, Any]] = [{"since": "2026-05-01"}, {"until": "2026-05-01"}, {"time_format": "s"}]
    for options in needing:
        with pytest.raises(UserError, match="needs a log of events with a column for the time"):
            build([path], None, tmp_path / "graph", **options)


def test_spans():
    options = TimeOptions(
        timezone="Europe/Berlin", since="2026-05-01", until=datetime(2026, 6, 1, tzinfo=UTC)
    )
    assert options.span.since == microseconds(datetime(2026, 4, 30, 22, tzinfo=UTC))
    assert options.span.until == microseconds(datetime(2026, 6, 1, tzinfo=UTC))
    assert TimeOptions(since=date(2026, 5, 1)).span.since == microseconds(datetime(2026, 5, 1, tzinfo=UTC))
    for wrong in ("2026", "May", "2026-13-01", 5, "01/05/2026"):
        with pytest.raises(UserError, match=r"--since .* is not a day or time"):
            TimeOptions(since=wrong)
    with pytest.raises(UserError, match="--since is not before --until"):
        TimeOptions(since="2026-05-01", until="2026-05-01")
    assert [parse_half_life(text) for text in ("60d", "12h", "4w", " 1.5 D ", timedelta(days=2))] == [
        60,
        0.5,
        28,
        1.5,
        2,
    ]
    for wrong in ("60", "0d", "-3d", "6 months", 60):
        with pytest.raises(UserError, match="is not a time span"):
            parse_half_life(wrong)


@pytest.mark.parametrize("actions", [False, True])
def test_events_outside_the_span_are_ignored(tmp_path, actions):
    rows = [
        ("2026-05-01T00:00:00", "shoe", "A", "click"),
        ("2026-05-31T23:59:59.999999", "hat", "B", "click"),
        ("2026-06-01T00:00:00", "boot", "C", "click"),
        ("2026-04-30T23:59:59", "sock", "D", "click"),
        ("2026-04-01T00:00:00", "™", "D", "click"),  # blank once normalised, outside
        ("2026-05-02T00:00:00", "™", "D", "click"),
        ("2026-04-01T00:00:00", "", "D", "click"),  # wrong, outside
        ("never", "belt", "E", "click"),
    ]
    lines = ["\t".join(row if actions else row[:3]) for row in rows]
    names = "timestamp\tquery\tdoc" + ("\taction" if actions else "")
    if actions:
        lines.append("2026-04-01T00:00:00\tshoe\tA\tscroll")
    path = tmp_path / "log.tsv"
    path.write_text("\n".join([names, *lines]) + "\n")
    graph = build([path], None, tmp_path / "graph", since="2026-05-01", until="2026-06-01")
    stats = graph.stats
    assert list(graph.queries) == ["hat", "shoe"] and list(graph.docs) == ["A", "B"]
    assert stats["outside_span"] == 3 and stats["since"] == "2026-05-01T00:00:00+00:00"
    assert sum(stats["rejected"].values()) == 3 and stats["rows"] == len(lines)
    assert stats["right"] + sum(stats["rejected"].values()) == stats["rows"]
    with pytest.raises(UserError, match="all 6 events are outside") as raised:
        build([path], None, tmp_path / "none", since="2027-01-01")
    assert "to 2026-06-01T00:00:00+00:00" in raised.value.hint
