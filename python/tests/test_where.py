"""Conditions on fields, as text and as expressions of Python."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kbfile
from kbfile import field

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


def test_conditions_are_text_with_the_parentheses_that_they_need() -> None:
    a, b, c = field("a") == 1, field("b") == "x", field("and") == True  # noqa: E712
    assert (a & b | c) == 'a = 1 and b = "x" or `and` = true'
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
def test_any_name_and_value_is_read(name: str, value: kbfile.FieldValue) -> None:
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
