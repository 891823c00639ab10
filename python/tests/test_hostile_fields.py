"""Fields that nobody should have: many, long, oddly named, of several types, and conditions that are no conditions."""

from __future__ import annotations

import random
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kbfile
from kbfile import field

MANY = 100_000


def found(kb: kbfile.Kb, where: str) -> str:
    return " ".join(document.path for document in kb.documents(where=where))


def test_a_hundred_thousand_fields_are_found(tmp_path: Path) -> None:
    path = tmp_path / "many.kb"
    with kbfile.open(path, "w") as writer:
        for number in range(MANY // 200):
            values = {f"f{number * 200 + each}": each for each in range(200)}
            writer.add("The sea.", path=f"{number:03}.txt", metadata=values)
    with kbfile.open(path) as kb:
        assert len(kb.fields()) == MANY
        assert found(kb, "f99999 = 199") == "499.txt"
        assert found(kb, "f0 >= 0 and f1 < 2") == "000.txt"
        assert found(kb, "not missing(f50000)") == "250.txt"
        assert [hit.document for hit in kb.search("sea", where="f777 = 177")] == ["003.txt"]
        assert kb.search("sea", facets=["f777"], k=1).facets == {"f777": [("177", 1)]}
        with pytest.raises(kbfile.InvalidArgumentError, match="did you mean") as caught:
            kb.search("sea", where="f100000 = 1")
        assert len(str(caught.value)) < 1000
        for long in [{"facets": ["g"]}, {"group_by": "g"}, {"sort": "g"}, {"field": "g=1"}]:
            with pytest.raises(kbfile.InvalidArgumentError) as caught:
                kb.search("sea", **long)
            assert len(str(caught.value)) < 1000, long
        table = kb.search("sea", k=1).to_pandas()
        assert len(table.columns) == 221
    with kbfile.open(path, "a") as writer:
        writer.seal()
    with kbfile.open(path) as kb:
        assert found(kb, "f99999 = 199") == "499.txt"
        assert kb.verify(deep=True)


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> kbfile.Kb:
    path = tmp_path_factory.mktemp("notes") / "notes.kb"
    with kbfile.open(path, "w") as writer:
        writer.add("The sea.", path="a.md", metadata={"year": 2016, "by": "Kim"})
    return kbfile.open(path)


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("year = 1 or " * 90_000 + "year = 1", "65536 bytes"),
        ("(" * 1_000_000, "65536 bytes"),
        ("(" * 60_000, "levels"),
        ("not " * 16_000 + "year = 1", "levels"),
        (" or ".join(["year = 1"] * 1100), "tests"),
        ('by = "' + "x" * 65_000, "character"),
        ("year = 2016\0", "character"),
        ("", "the name of a field"),
        (" \n", "the name of a field"),
        ("year = nan", "character"),
        ("year = inf", "character"),
        ("year = 9223372036854775808", "64 bits"),
        ("year = -9223372036854775809", "64 bits"),
        ("year = 1e999", "character"),
        ("year = 2024-13", "date"),
        ("year = 2024-02-30", "date"),
        ("year = 2024-05-06T25:00", "date"),
        ("and = 1", "character"),
        ("not", "character"),
        ("year = 1 and", "character"),
        ("`year = 1", "character"),
        ("`` = 1", "character"),
        ("year ~ 3", "character"),
        ("missing()", "character"),
        ("year has", "character"),
        ("`ye\u0301ar` = 1", "unknown field"),
    ],
)
def test_what_is_no_condition_is_a_short_error(notes: kbfile.Kb, where: str, said: str) -> None:
    for call in [lambda: notes.search("sea", where=where), lambda: notes.documents(where=where)]:
        with pytest.raises(kbfile.InvalidArgumentError, match=re.escape(said)) as caught:
            call()
        message = "".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
        assert len(message) < 2000
        # The words of another front.
        assert "--" not in message and "kb info" not in message, message


def test_a_list_of_many_values_is_a_condition(notes: kbfile.Kb) -> None:
    assert found(notes, "year in (" + ",".join(["1"] * 30_000) + ",2016)") == "a.md"


NAMES = [
    "and", "or", "not", "in", "has", "missing", "true", "false", "AND", "a b", " a", "a'b", 'a"b', "a`b", "a\\b", "a\\`b", "a.b",
    "meta.type", "type", "path", "title", "a/b", "-a", "1", "2024-05", "é", "e\u0301", "ß", "ẞ", "İ", "日本", "🌊", "a,b", "(a)",
    "a:b", "$gt", "a~b", "!", "*", "?", "a--b", "\u202ea", "n" * 64,
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_any_name_is_found_by_every_argument(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.kb"
    with kbfile.open(path, "w") as writer:
        writer.add("The sea.", path="a.txt", metadata={name: 7})
        writer.add("The sea.", path="b.txt", metadata={name: 8})
        writer.add("The sea.", path="c.txt")
    for is_sealed in [False, True]:
        if is_sealed:
            with kbfile.open(path, "a") as writer:
                writer.seal()
        with kbfile.open(path) as kb:
            own = f"meta.{name.strip()}"
            if name != "meta.type":
                assert found(kb, field(name) == 7) == "a.txt"
            assert found(kb, (field(own) == 8) & ~field(own).is_missing()) == "b.txt"
            assert found(kb, field(own).is_missing()) == "c.txt"
            assert [hit.document for hit in kb.search("sea", sort=f"-{own}")] == ["b.txt", "a.txt", "c.txt"]
            counted = kb.search("sea", facets=[own], group_by=own).facets[own]
            assert counted == [("7", 1), ("8", 1)]
            assert kb["a.txt"].fields == {name.strip() if name != "e\u0301" else "é": 7}
            assert sorted(kb.search("sea").to_pandas().iloc[:, -1].dropna()) == [7, 8]


def test_names_that_no_field_can_have_are_refused(tmp_path: Path) -> None:
    with kbfile.open(tmp_path / "a.kb", "w") as writer:
        for name in ["", " ", "a=b", "a<b", "a>b", "a\nb", "a\0b", "\x7f", "n" * 65, "tags", "Tags "]:
            with pytest.raises(kbfile.InvalidArgumentError, match="field"):
                writer.add("The sea.", path="a.txt", metadata={name: 7})
        writer.add("The sea.", path="a.txt")
        for name in ["", "a=b", "tags"]:
            with pytest.raises(kbfile.InvalidArgumentError, match="field") as caught:
                writer.set_metadata("a.txt", {name: 7})
            assert "--" not in str(caught.value)


def test_numbers_at_the_ends_are_exact(tmp_path: Path) -> None:
    least, greatest = -(2**63), 2**63 - 1
    numbers = [least, least + 1, -(2**53) - 1, -1, 0, 2**53, 2**53 + 1, greatest - 1, greatest]
    floats = [-1.7976931348623157e308, -9.3e18, 5e-324, 0.1, 9007199254740992.0, 9.3e18, 1.7976931348623157e308]
    with kbfile.open(tmp_path / "a.kb", "w") as writer:
        for at, number in enumerate([*numbers, *floats]):
            writer.add("The sea.", path=f"{at:02}.txt", metadata={"n": number})
    with kbfile.open(tmp_path / "a.kb") as kb:
        every = [*numbers, *floats]
        for limit in every:
            for where, holds in [
                (field("n") == limit, lambda it, limit=limit: it == limit),
                (field("n") < limit, lambda it, limit=limit: it < limit),
                (field("n") >= limit, lambda it, limit=limit: it >= limit),
            ]:
                expected = " ".join(f"{at:02}.txt" for at, number in enumerate(every) if holds(number))
                assert found(kb, where) == expected, where
        assert [document.fields["n"] for document in kb] == every
        order = [hit.document for hit in kb.search("sea", k=50, sort="n")]
        assert order == [f"{at:02}.txt" for at in sorted(range(len(every)), key=every.__getitem__)]
    for wrong in [2**63, -(2**63) - 1, float("nan"), float("inf"), float("-inf")]:
        with kbfile.open(tmp_path / "b.kb", "w") as writer:
            with pytest.raises(kbfile.InvalidArgumentError, match="64 bits|no value"):
                writer.add("The sea.", path="a.txt", metadata={"n": wrong})


def test_a_text_that_looks_like_a_date_is_one_text(tmp_path: Path) -> None:
    with kbfile.open(tmp_path / "a.kb", "w") as writer:
        for name, at in {"a": date(2024, 5, 6), "b": "2024-05-06", "c": "2024-02-30", "d": "soon"}.items():
            writer.add("The sea.", path=name, metadata={"at": at})
    with kbfile.open(tmp_path / "a.kb") as kb:
        assert found(kb, "at = 2024-05") == "a"
        assert found(kb, 'at = "2024-05-06"') == "b"
        assert found(kb, 'at ~ "2024*"') == "b c"
        assert kb["b"].fields == {"at": "2024-05-06"}


_values = st.one_of(
    st.integers(-3, 3),
    st.sampled_from([0.5, 1.0, 2.0, -1e300]),
    st.booleans(),
    st.sampled_from(["a", "b", "1", "true", "2024-05-06", "a, b"]),
    st.sampled_from([date(2024, 5, 6), date(1969, 12, 31)]),
)
_rows = st.dictionaries(st.sampled_from(["f", "g"]), st.one_of(_values, st.lists(_values, max_size=3)), max_size=2)


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=st.lists(_rows, min_size=1, max_size=12), changes=st.lists(_rows, max_size=6), seed=st.integers(0, 99))
def test_types_stay_apart_through_commits_merges_edits_and_seals(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]], changes: list[dict[str, Any]], seed: int
) -> None:
    path = tmp_path_factory.mktemp("types") / "a.kb"
    chance = random.Random(seed)
    # So many documents that the commits have columns.
    stored = [dict(chance.choice(rows)) for _ in range(150)] + rows

    def check() -> None:
        with kbfile.open(path) as kb:
            names = {name for row in stored for name, values in row.items() if values != []}
            for name in names:
                for value in [1, 2, 0.5, True, "1", "true", "a", date(2024, 5, 6), "2024-05-06", "a, b"]:
                    expected = [f"{at:03}.txt" for at, row in enumerate(stored) if has(row.get(name, []), value)]
                    assert found(kb, field(name) == value).split() == expected, (name, value)
                less = [f"{at:03}.txt" for at, row in enumerate(stored) if any(map(is_below_one, several(row.get(name, []))))]
                assert found(kb, field(name) < 1).split() == less
                missing = [f"{at:03}.txt" for at, row in enumerate(stored) if several(row.get(name, [])) == []]
                assert found(kb, field(name).is_missing()).split() == missing
            assert kb.verify(deep=True)

    with kbfile.open(path, "w") as writer:
        for at, row in enumerate(stored):
            writer.add("The sea.", path=f"{at:03}.txt", metadata=row)
            if at % 40 == 39:
                writer.commit()
    check()
    with kbfile.open(path, "a") as writer:
        for change in changes:
            at = chance.randrange(len(stored))
            writer.set_metadata(f"{at:03}.txt", change)
            stored[at] = stored[at] | change
            writer.commit()
    check()
    with kbfile.open(path, "a") as writer:
        writer.seal()
    check()


def several(values: Any) -> list[Any]:
    return values if isinstance(values, list) else [values]


def kind(value: Any) -> type:
    return float if isinstance(value, (int, float)) and not isinstance(value, bool) else type(value)


def has(values: Any, value: Any) -> bool:
    return any(kind(one) is kind(value) and one == value for one in several(values))


def is_below_one(value: Any) -> bool:
    return kind(value) is float and value < 1
