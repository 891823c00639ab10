"""Conditions on fields, as text and as expressions of Python."""

from __future__ import annotations

import pickle
import re
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kbfile
from kbfile import field
from kbfile._field import FieldValue

NOTES = {
    "a.md": "year: 2016\nauthors: [Kim, Lee]\ndraft: true\ncreated: 2024-05-06 10:20",
    "b.md": "year: 2010\nprice: 2.5\ncreated: 2024-06-01",
    "c.md": "status: 'a \"b\\\\'\n`x: 1",
}


@pytest.fixture
def kb(tmp_path: Path) -> kbfile.Kb:
    path = tmp_path / "notes.kb"
    with kbfile.open(path, "w") as writer:
        for name, front in NOTES.items():
            writer.add(f"---\n{front}\n---\nThe moon pulls the sea.\n", path=name)
    return kbfile.open(path)


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("year > 2015 and not missing(draft)", "a.md"),
        (field("year") > 2015, "a.md"),
        (field("year") <= 2016, "a.md b.md"),
        ((field("year") == 2016) | (field("price") < 3), "a.md b.md"),
        ((field("year") >= 2010) & ~(field("draft") == True), "b.md"),  # noqa: E712
        (field("author").has("kim"), "a.md"),
        (field("author").is_in(["Ann", "LEE"]), "a.md"),
        (field("author").is_in([]), ""),
        (field("author").matches("k?m"), "a.md"),
        (field("author") != "Kim", "b.md c.md"),
        (field("created") == date(2024, 5, 6), "a.md"),
        (field("created") < datetime(2024, 5, 6, 12, 21, tzinfo=timezone(timedelta(hours=2))), "a.md"),
        (field("created") > datetime(2024, 5, 6, 10, 20), "b.md"),
        (field("year").is_missing(), "c.md"),
        (field("path") == "c.md", "c.md"),
        (None, "a.md b.md c.md"),
    ],
)
def test_documents_pass(kb: kbfile.Kb, where: str | None, expected: str) -> None:
    hits = kb.search("the moon and the sea", k=10, scope="documents", where=where)
    assert " ".join(sorted(hit.document for hit in hits)) == expected
    matches = kb.search_regex("moon", where=where)
    assert " ".join(sorted(match.document for match in matches)) == expected


def test_hits_are_sorted_grouped_and_counted(kb: kbfile.Kb) -> None:
    def found(**options: Any) -> str:
        hits = kb.search("the moon and the sea", mode="keyword", **options)
        return " ".join(hit.document for hit in hits)

    assert found(sort="year") == "b.md a.md c.md"
    assert found(sort="-year") == "a.md b.md c.md"
    assert found(sort="path", group_by="class") == "a.md"
    hits = kb.search("sea", facets=["author", "class"])
    assert hits.facets == {"author": [("kim", 1), ("lee", 1)], "class": [("doc", 3)]}
    assert kb.search("sea").facets == {}
    assert pickle.loads(pickle.dumps(hits)).facets == hits.facets
    with pytest.raises(kbfile.InvalidArgumentError, match="did you mean"):
        kb.search("sea", sort="yaer")


TYPES: list[dict[str, Any]] = [
    {"path": "a.md", "metadata": {"year": 2016, "price": 2, "draft": True, "at": date(2024, 5, 6), "by": "Lee, Ann"}},
    {"path": "b.md", "metadata": {"year": -3, "price": 2.5, "mix": 1, "list": ["x", "y, z", "7"], "Type": "book"}},
    {"path": "c.md", "metadata": {"at": datetime(1970, 1, 1), "mix": "one", "list": "x", "ns": [1, 2.5]}},
]


@pytest.fixture
def typed(tmp_path: Path) -> kbfile.Kb:
    with kbfile.open(tmp_path / "typed.kb", "w") as writer:
        writer.add_many([{"text": "The moon pulls the sea.", **row} for row in TYPES])
        writer.add("---\nnames: Kim, Lee\nsince: 2024-05\n---\nThe moon pulls the sea.", path="d.md")
    return kbfile.open(tmp_path / "typed.kb")


def test_fields_have_the_types_that_they_were_given(typed: kbfile.Kb) -> None:
    at = datetime(2024, 5, 6, tzinfo=timezone.utc)
    expected: dict[str, dict[str, Any]] = {row["path"]: row["metadata"] for row in TYPES}
    expected["a.md"] = expected["a.md"] | {"at": at}
    expected["c.md"] = expected["c.md"] | {"at": datetime(1970, 1, 1, tzinfo=timezone.utc)}
    expected["d.md"] = {"names": "Kim, Lee", "since": datetime(2024, 5, 1, tzinfo=timezone.utc)}
    hits = typed.search("moon", mode="keyword")
    for found in [hits, pickle.loads(pickle.dumps(hits)), typed.documents()]:
        documents = {getattr(one, "document", None) or one.path: one.fields for one in found}
        assert documents == expected
        assert [type(documents["a.md"][name]) for name in ("year", "draft")] == [int, bool]
    assert hits[0].to_dict()["fields"] == hits[0].fields


def test_a_file_says_its_fields(typed: kbfile.Kb) -> None:
    fields = {(one.name, one.type): one for one in typed.fields()}
    assert [kind for name, kind in fields if name == "mix"] == ["integer", "text"]
    year, listed = fields["year", "integer"], fields["list", "text"]
    assert (year.documents, year.distinct, year.min, year.max, year.has_more_values) == (2, 2, -3, 2016, False)
    assert listed.values(1) == [("x", 2)]
    assert sorted(listed.values()) == [("7", 1), ("x", 2), ("y, z", 1)]
    assert (listed.min, listed.max) == (None, None)
    assert fields["at", "time"].max == datetime(2024, 5, 6, tzinfo=timezone.utc)
    assert repr(year) == 'FieldInfo("year", integer, documents=2, distinct=2)'


def test_documents_are_listed_by_a_condition(tmp_path: Path) -> None:
    with kbfile.open(tmp_path / "a.kb", "w") as writer:
        for path, year in [("a.md", 1), ("b/a.md", 2), ("b/c/a.md", 3)]:
            writer.add("The sea.", path=path, metadata={"year": year})
    kb = kbfile.open(tmp_path / "a.kb")

    def paths(*arguments: str, **options: Any) -> str:
        return " ".join(one.path for one in kb.documents(*arguments, **options))

    assert paths(where=field("year") >= 2) == "b/a.md b/c/a.md"
    assert paths(where="year < 3", recursive=False) == "a.md"
    assert paths("b", where="year < 4") == "b/a.md b/c/a.md"
    assert paths("b", where="year < 4", recursive=False) == "b/a.md"
    with pytest.raises(kbfile.InvalidArgumentError, match="did you mean"):
        kb.documents(where="yeer < 4")


def test_tables_of_hits_have_the_fields(typed: kbfile.Kb) -> None:
    hits = typed.search("moon", mode="keyword", sort="path")
    frame = hits.to_pandas()
    types = {name: str(frame[name].dtype) for name in ["year", "price", "draft", "at", "by", "mix", "list", "meta.type"]}
    assert types == {
        "year": "Int64",
        "price": "Float64",
        "draft": "boolean",
        "at": "datetime64[ms, UTC]",
        "by": "string",
        "mix": "object",
        "list": "object",
        "meta.type": "string",
    }
    assert frame["year"].isna().tolist() == [False, False, True, True]
    assert frame["year"].tolist()[:2] == [2016, -3]
    assert frame["at"].isna().tolist() == [False, True, False, True]
    assert frame["list"].tolist()[1:3] == [["x", "y, z", "7"], "x"]
    assert frame.groupby("year")["document"].first().tolist() == ["b.md", "a.md"]
    assert frame["type"].tolist() == ["markdown"] * 4
    table = hits.to_arrow()
    assert table.column("year").to_pylist() == [2016, -3, None, None]
    assert table.column("list").to_pylist() == [None, ["x", "y, z", "7"], ["x"], None]
    assert table.column("mix").to_pylist() == [None, "1", "one", None]
    assert table.column("ns").to_pylist() == [None, None, [1.0, 2.5], None]
    assert hits.to_polars()["price"].to_list() == [2.0, 2.5, None, None]
    assert list(hits.columns()) == list(frame.columns) == table.column_names
    assert len(typed.search("moon", where="year = 9").to_pandas()) == 0


def test_tables_of_documents_have_the_fields(typed: kbfile.Kb) -> None:
    documents = typed.documents()
    frame = documents.to_pandas()
    types = {name: str(frame[name].dtype) for name in ["year", "price", "at", "list", "line_count", "modified"]}
    assert types.pop("modified").startswith("datetime64") and types == {
        "year": "Int64",
        "price": "Float64",
        "at": "datetime64[ms, UTC]",
        "list": "object",
        "line_count": "uint32",
    }
    assert frame.groupby("year")["path"].first().tolist() == ["b.md", "a.md"]
    table = documents.to_arrow()
    assert table.column("list").to_pylist() == [None, ["x", "y, z", "7"], ["x"], None]
    assert documents.to_polars()["price"].to_list() == [2.0, 2.5, None, None]
    assert list(documents.columns()) == list(frame.columns) == table.column_names
    assert [one.path for one in documents] == frame["path"].tolist()
    # What was read is not in the table, and a condition chooses the rows.
    assert len(documents.to_pandas()) == documents.to_arrow().num_rows == 0
    assert typed.documents(where="year > 0").to_polars()["year"].to_list() == [2016]


def test_fields_named_as_columns_of_other_tables_are_left_as_they_are(tmp_path: Path) -> None:
    with kbfile.open(tmp_path / "a.kb", "w") as writer:
        writer.add("The moon.", path="a.md", metadata={"page": "iv", "chunk_index": 2.5, "size_bytes": -1, "path": "x"})
    frame = kbfile.open(tmp_path / "a.kb").documents().to_pandas()
    row = frame.iloc[0]
    assert (row["page"], row["chunk_index"], row["meta.size_bytes"], row["meta.path"]) == ("iv", 2.5, -1, "x")


def test_a_year_that_python_lacks_is_a_text(tmp_path: Path) -> None:
    with kbfile.open(tmp_path / "a.kb", "w") as writer:
        writer.add("---\nat: 0000-05-06\n---\nThe moon.", path="a.md")
        writer.add("---\nat: 9999-12-31 23:59:59\n---\nThe moon.", path="b.md")
    hits = kbfile.open(tmp_path / "a.kb").search("moon", sort="path")
    assert hits.to_pandas()["at"].tolist() == ["0000-05-06T00:00:00Z", datetime(9999, 12, 31, 23, 59, 59, tzinfo=timezone.utc)]


def test_conditions_are_text_with_the_parentheses_that_they_need() -> None:
    a, b, c = field("a") == 1, field("b") == "x", field("and") == True  # noqa: E712
    assert (a & b | c) == '(a = 1 and b = "x") or `and` = true'
    assert ((a | b) & ~(a & b)) == '(a = 1 or b = "x") and not (a = 1 and b = "x")'
    assert ~~a == "not not a = 1"
    assert (kbfile.Condition("a or b") & c) == "(a or b) and `and` = true"
    many = a
    for _ in range(500):
        many = many & a
    assert many.count("(") == 0


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("yeer > 3", 'unknown field "yeer" at character 1; did you mean "year"?'),
        ("year >", "at character 7"),
        ("year = 2016 or", "at character 15"),
        ("x" * 70_000, "65536 bytes"),
    ],
)
def test_errors_name_the_place(kb: kbfile.Kb, where: str, said: str) -> None:
    with pytest.raises(kbfile.InvalidArgumentError, match=re.escape(said)):
        kb.search("moon", where=where)


def test_what_is_no_condition_is_refused(kb: kbfile.Kb) -> None:
    for wrong in [3, ["year > 3"], field("year")]:
        with pytest.raises(TypeError):
            kb.search("moon", where=wrong)  # type: ignore[arg-type]
    for number in [float("nan"), float("inf"), 2**63]:
        with pytest.raises(ValueError, match="number|64 bits"):
            field("year") == number  # noqa: B015
    with pytest.raises(TypeError, match="not list"):
        field("year") == [1]  # type: ignore[operator]  # noqa: B015
    with pytest.raises(ValueError, match="name"):
        field(" ")


BOOKS = [
    {"path": "a.txt", "text": "The sea.", "year": 2016, "tags": ["sea"], "metadata": {"author": ["Kim", "Lee, Ann"]}},
    {"path": "b.txt", "text": "The sea.", "year": 2010, "price": 2.5, "draft": True, "at": date(2024, 5, 6)},
    {"path": "c.txt", "text": "The sea.", "year": None, "zip": "01234", "price": float("nan")},
]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("year > 2015", "a"),
        ('author = "lee, ann"', "a"),
        ("author = \"lee\"", ""),
        ("draft and at = 2024-05", "b"),
        ('zip = "01234"', "c"),
        ("zip = 1234", ""),
        ("missing(year) and missing(price)", "c"),
        ('tags has "sea"', "a"),
        ("price < 3", "b"),
    ],
)
def test_rows_become_documents_with_fields(tmp_path: Path, where: str, expected: str) -> None:
    with kbfile.open(tmp_path / "rows.kb", "w") as writer:
        assert writer.add_many(BOOKS) == ["a.txt", "b.txt", "c.txt"]
    with kbfile.open(tmp_path / "rows.kb") as kb:
        hits = kb.search("sea", k=10, where=where)
        assert "".join(sorted(hit.document[0] for hit in hits)) == expected


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_tables_are_rows(tmp_path: Path, library: str) -> None:
    module = pytest.importorskip(library)
    columns = {
        "body": ["The sea.", "The moon."],
        "path": ["a.txt", "b.txt"],
        "n": [1, 2],
        "x": [0.5, None],
        "at": [datetime(2024, 5, 6, tzinfo=timezone.utc), None],
        "topics": [["a", "b"], ["c"]],
    }
    table = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    with kbfile.open(tmp_path / "rows.kb", "w") as writer:
        assert writer.add_many(table, text="body") == ["a.txt", "b.txt"]
    with kbfile.open(tmp_path / "rows.kb") as kb:
        for where, expected in [
            ("n = 2", "b"),
            ("x = 0.5 and at = 2024-05-06", "a"),
            ("missing(x) and missing(at)", "b"),
            ('topics has "b"', "a"),
        ]:
            found = kb.search(path="*", where=where)
            assert [hit.document[0] for hit in found] == [expected], where


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({"a=b": 1}, "no name of a field"),
        ({"": 1}, "no name of a field"),
        ({"tags": "x"}, "as tags"),
        ({"n": 2**63}, "64 bits"),
        ({"n": float("nan")}, "no value"),
        ({"n": {"a": 1}}, "not dict"),
        ({"n": [[1]]}, "not list"),
        ({"n": object()}, "not object"),
        ({1: 2}, "names are str"),
        ([1], "takes a dict"),
        ({"n": "x" * 5000}, "4096 bytes"),
    ],
)
def test_what_is_no_field_is_refused(tmp_path: Path, metadata: Any, said: str) -> None:
    with kbfile.open(tmp_path / "a.kb", "w") as writer:
        with pytest.raises((TypeError, kbfile.InvalidArgumentError), match=said):
            writer.add("The sea.", path="a.txt", metadata=metadata)
        assert writer.pending == 0


def test_wrong_rows_are_named(tmp_path: Path) -> None:
    with kbfile.open(tmp_path / "a.kb", "w") as writer:
        with pytest.raises(ValueError, match="row 1: 'text' is a str, not int"):
            writer.add_many([{"text": "a"}, {"text": 3}])
        for wrong in ["text", {"text": "a"}, 3]:
            with pytest.raises(TypeError, match="rows are dicts"):
                writer.add_many(wrong)


def test_a_given_field_takes_the_place_of_a_stated_one(tmp_path: Path) -> None:
    with kbfile.open(tmp_path / "a.kb", "w") as writer:
        writer.add("---\nyear: 1999\nstatus: old\n---\nSea.", path="a.md", metadata={"year": 2016, "status": None})
    with kbfile.open(tmp_path / "a.kb") as kb:
        assert len(kb.search("sea", where="year = 2016 and missing(status)")) == 1
        assert len(kb.search("sea", where="year = 1999")) == 0


@given(
    name=st.text(min_size=1, max_size=8).filter(lambda name: name.strip()),
    value=st.one_of(
        st.text(max_size=8),
        st.integers(-(2**63), 2**63 - 1),
        st.floats(allow_nan=False, allow_infinity=False),
        st.booleans(),
        st.dates(),
        st.datetimes(),
    ),
)
def test_any_name_and_value_is_read(name: str, value: FieldValue) -> None:
    kb = SHARED
    with pytest.raises(kbfile.InvalidArgumentError, match="unknown field"):
        kb.search("moon", where=(field("zz" + name) == value) & (field("zz" + name) >= value))


def _shared() -> kbfile.Kb:
    import io
    import tempfile

    path = Path(tempfile.mkdtemp()) / "a.kb"
    with kbfile.open(path, "w") as writer:
        writer.add("The moon pulls the sea.", path="a.md")
    return kbfile.open(io.BytesIO(path.read_bytes()).getvalue())


SHARED = _shared()
