"""Threads, processes, ends of life, wrong arguments."""

from __future__ import annotations

import gc
import os
import pickle
import re
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import kbfile

REFUSED = (TypeError, ValueError, OverflowError, kbfile.Error)

ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=2**63),
    st.floats(),
    st.text(st.characters(exclude_categories=())),
    st.binary(max_size=8),
    st.lists(st.one_of(st.text(max_size=3), st.integers()), max_size=3),
    st.just(object()),
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> kbfile.Kb:
    path = tmp_path_factory.mktemp("shared") / "a.kb"
    with kbfile.open(path, "w") as kb:
        kb.add("# Tides\n\nThe moon pulls the sea.", path="tides.md")
    return kbfile.open(path)


OPTIONS = [
    "k", "mode", "scope", "sort", "folder", "path", "type", "language", "class_", "tag", "field", "where", "since", "symbol",
    "links_to", "kind", "min_score", "context", "smart_context", "max_lines", "max_tokens", "cursor", "plain", "exact", "join", "explain",
]  # fmt: skip


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(option=st.sampled_from(OPTIONS), value=ANYTHING)
@example(option="k", value=10**400)
@example(option="since", value=float("nan"))
@example(option="type", value="\ud800")
def test_any_option_is_taken_or_refused(shared: kbfile.Kb, option: str, value: Any) -> None:
    try:
        hits = shared.search("moon", **{option: value})
    except REFUSED:
        return
    assert len(hits) in (0, 1)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=ANYTHING)
@example(value="a\0b")
@example(value="x" * 100_000)
def test_any_name_query_or_pattern_is_taken_or_refused(shared: kbfile.Kb, value: Any) -> None:
    for call in (shared.search, shared.__getitem__, shared.search_regex, shared.symbols, shared.documents, shared.embed):
        try:
            call(value)  # type: ignore[operator]
        except REFUSED:
            pass
    assert isinstance(value in shared, bool)


@settings(max_examples=100, deadline=None)
@given(value=ANYTHING)
def test_what_is_opened_is_a_kb_or_refused(value: Any) -> None:
    if isinstance(value, str) and value:
        value = "/nowhere/" + value
    with pytest.raises((*REFUSED, OSError)):
        kbfile.open(value)


def test_threads_share_a_handle_while_another_one_writes(path: Path) -> None:
    kb = kbfile.open(path)
    stop, wrong = threading.Event(), []

    def read() -> None:
        while not stop.is_set():
            try:
                hits = kb.search("moon sea", k=3)
                if hits[0].document != "docs/tides.md" or not kb["tides.md"].text:
                    wrong.append(hits)
            except Exception as error:  # noqa: BLE001
                wrong.append(error)

    threads = [threading.Thread(target=read) for _ in range(8)]
    [thread.start() for thread in threads]
    with kbfile.open(path, "a") as writer:
        for number in range(20):
            writer.add(f"gauge {number}", path=f"{number}.txt")
            writer.commit()
    stop.set()
    [thread.join() for thread in threads]
    assert wrong == [] and len(kb) == 25


def test_other_threads_run_while_a_call_does(folder: Path, path: Path) -> None:
    turns = 0
    done = threading.Event()

    def count() -> None:
        nonlocal turns
        while not done.is_set():
            turns += 1

    thread = threading.Thread(target=count)
    thread.start()
    with kbfile.open(path, "a") as kb:
        before = turns
        kb.index(folder)
        during = turns - before
    done.set()
    thread.join()
    # One call of many milliseconds: a thread that had to wait for it would have had no turn but the last one.
    assert during > 10


def in_child(work: Callable[[], bool]) -> bool:
    """Whether `work` is true in a process that is forked from this one."""
    child = os.fork()
    if child == 0:
        status = 3
        try:
            status = 0 if work() else 1
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_reads_but_does_not_write(path: Path) -> None:
    kb, writer = kbfile.open(path), kbfile.open(path, "a")
    writer.add("pending", path="pending.md")
    of_bytes = kbfile.open(path.read_bytes())

    def child() -> bool:
        try:
            writer.commit()
        except kbfile.ForkError as error:
            return len(kb.search("moon")) > 0 and len(of_bytes) == 5 and error.code == "FORKED_WRITER"
        return False

    assert in_child(child)
    writer.close()
    assert len(kb) == 6


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_of_a_process_in_the_middle_of_searches_reads(path: Path) -> None:
    kb = kbfile.open(path)
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            kb.search("moon")

    threads = [threading.Thread(target=read) for _ in range(3)]
    [thread.start() for thread in threads]
    try:
        assert all(in_child(lambda: len(kb.search("moon")) > 0) for _ in range(20))
    finally:
        stop.set()
        [thread.join() for thread in threads]


def test_handles_and_results_are_pickled(kb: kbfile.Kb) -> None:
    hits = kb.search("ebb moon", k=5, explain=True)
    for value in (hits, hits[0], kb["tides.md"], kb.symbols("ebb")[:]):
        assert pickle.loads(pickle.dumps(value)) == value
    again = pickle.loads(pickle.dumps(kb))
    assert (again.path, list(again.search("moon"))) == (kb.path, list(kb.search("moon")))
    assert kb.path is not None
    with kbfile.open(kb.path, "a") as writer, pytest.raises(TypeError, match="writer"):
        pickle.dumps(writer)
    error = pickle.loads(pickle.dumps(kbfile.LockedError("held", "INDEX_LOCKED", "wait")))
    assert (str(error), error.code, error.hint) == ("held", "INDEX_LOCKED", "wait")


def test_closed_handles_raise_and_results_stay(kb: kbfile.Kb) -> None:
    hits, document = kb.search("moon"), kb["tides.md"]
    kb.close()
    kb.close()
    assert kb.closed and "closed" in repr(kb)
    calls: list[Callable[[], Any]] = [
        lambda: kb.search("moon"), lambda: len(kb), lambda: list(kb), lambda: kb["tides.md"], lambda: "a" in kb,
        lambda: kb.info, lambda: kb.vectors, lambda: kb.verify(), lambda: document.text, lambda: kb.__enter__(),
        lambda: pickle.dumps(kb),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(kbfile.ClosedError):
            call()
    assert hits[0].text and document.title == "Tides"


def test_a_file_that_is_deleted_or_replaced_is_followed(path: Path, tmp_path: Path) -> None:
    kb = kbfile.open(path)
    with kbfile.open(tmp_path / "other.kb", "w") as writer:
        writer.add("Other.", path="other.md")
    path.unlink()
    assert len(kb.search("moon")) > 0
    (tmp_path / "other.kb").rename(path)
    assert [document.path for document in kb] == ["other.md"]


def test_what_is_damaged_newer_or_none_is_told_apart(path: Path, tmp_path: Path) -> None:
    content = bytearray(path.read_bytes())
    for at in range(0, len(content), 512):
        content[at] ^= 0x55
    damaged = tmp_path / "damaged.kb"
    damaged.write_bytes(content)
    with pytest.raises((kbfile.DamagedError, kbfile.FormatError)):
        kbfile.open(damaged).search("moon")
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 2] ^= 1
    damaged.write_bytes(whole)
    try:
        kb = kbfile.open(damaged)
    except kbfile.DamagedError:
        pass
    else:
        assert isinstance(bool(kb.verify()), bool)
    with pytest.raises(kbfile.FormatError):
        kbfile.open(b"PK\x03\x04 no kb at all")
    with pytest.raises(kbfile.FormatError):
        kbfile.open(tmp_path)
    with pytest.raises(FileNotFoundError) as missing:
        kbfile.open(tmp_path / "nothing.kb")
    assert missing.value.filename == str(tmp_path / "nothing.kb") and missing.value.errno == 2


# The signature block at 512 holds the version at 520 and ends with a checksum of what is before it: that of the golden
# file with another version.
OTHER_VERSIONS = {(0, 4): "e4ec9e3d5886b6de", (0, 14): "7ad37aaaa6861167", (1, 0): "8f56a03f680edcfb"}


@pytest.mark.parametrize("version", OTHER_VERSIONS)
def test_a_file_of_another_version_is_told_from_a_damaged_one(version: tuple[int, int]) -> None:
    content = bytearray((Path(__file__).parents[2] / "tests" / "golden" / "v0.13" / "golden.kb").read_bytes())
    content[520:524] = bytes([version[0], 0, version[1], 0])
    with pytest.raises(kbfile.DamagedError):
        kbfile.open(bytes(content))
    content[1016:1024] = bytes.fromhex(OTHER_VERSIONS[version])
    with pytest.raises(kbfile.FormatError, match=f"version {version[0]}.{version[1]}") as refused:
        kbfile.open(bytes(content))
    assert refused.value.code == "FORMAT_UNSUPPORTED"


def test_a_writer_of_an_older_file_changes_nothing_and_says_what_helps(tmp_path: Path) -> None:
    content = bytearray((Path(__file__).parents[2] / "tests" / "golden" / "v0.13" / "golden.kb").read_bytes())
    content[520:524] = bytes([0, 0, 11, 0])
    content[1016:1024] = bytes.fromhex("99718d8a5d750262")
    path = tmp_path / "older.kb"
    path.write_bytes(content)

    def add(kb: kbfile.Writer) -> None:
        kb.add("Salt.", path="salt.md")

    changes: list[Callable[[kbfile.Writer], Any]] = [
        add,
        lambda kb: kb.remove("docs/handbook.md"),
        lambda kb: kb.tag("docs/handbook.md", add=["x"]),
        lambda kb: kb.seal(),
        lambda kb: kb.info(),
    ]
    for change in changes:
        with pytest.raises(kbfile.FormatError, match="0.11") as refused, kbfile.open(path, "a") as kb:
            change(kb)
        assert 'kbfile.open(path, "a").index(folder)' in (refused.value.hint or "")
    with pytest.raises(kbfile.FormatError), kbfile.open(path, "w") as kb:
        add(kb)
    # An index run rebuilds it, unless that loses documents: these are of no folder.
    with pytest.raises(kbfile.Error, match="would lose documents") as lost, kbfile.open(path, "a") as kb:
        kb.index(tmp_path)
    assert lost.value.code == "NOT_REPLACEABLE"
    assert path.read_bytes() == content and [one.name for one in tmp_path.iterdir()] == ["older.kb"]


def test_any_changed_page_is_an_error_or_a_problem_or_unused(path: Path) -> None:
    content = path.read_bytes()
    outcomes = []
    for at in range(100, len(content), 4096):
        changed = bytearray(content)
        changed[at] ^= 1
        try:
            outcomes.append(bool(kbfile.open(bytes(changed)).verify(deep=True)))
        except kbfile.DamagedError:
            outcomes.append(False)
    # Pages that no commit uses may hold anything.
    assert outcomes.count(False) > len(outcomes) // 2


@pytest.mark.parametrize(
    "code",
    [
        "kb = kbfile.open(path)",
        "kb = kbfile.open(path); v = kb.vectors[0]; m = memoryview(v); del kb",
        "kb = kbfile.open(path, 'a'); kb.add('x', path='x.md')",
        "import threading\nkb = kbfile.open(path)\n"
        "def f():\n    while True:\n        kb.search('moon')\n"
        "[threading.Thread(target=f, daemon=True).start() for _ in range(4)]",
        "import threading\nkb = kbfile.open(path, 'a')\n"
        "threading.Thread(target=lambda: kb.index(folder), daemon=True).start()",
        "class Late:\n    def __init__(self): self.kb = kbfile.open(path)\n"
        "    def __del__(self): self.kb.search('moon')\nlate = Late()",
    ],
)
def test_the_interpreter_ends_with_whatever_is_open(
    code: str, path: Path, folder: Path, python: Callable[..., Any]
) -> None:
    ended = python("-c", f"import kbfile\npath, folder = {str(path)!r}, {str(folder)!r}\n{code}")
    assert ended.returncode == 0, ended
    assert kbfile.open(path).verify(deep=True)


def test_a_thousand_handles_are_open_at_once(path: Path) -> None:
    handles = [kbfile.open(path) for _ in range(500)]
    assert {len(handle) for handle in handles} == {5}
    handles += [kbfile.open(path.read_bytes()) for _ in range(500)]
    assert all(handle.search("moon", k=1)[0].document == "docs/tides.md" for handle in handles)


def test_searches_leave_no_memory_behind(kb: kbfile.Kb) -> None:
    def anonymous_kib() -> int:
        found = re.search(r"RssAnon:\s+(\d+)", Path("/proc/self/status").read_text())
        assert found is not None
        return int(found[1])

    def searches(count: int) -> None:
        for number in range(count):
            hits = kb.search(f"moon {number % 7}", k=5)
            pickle.dumps(hits)
            hits[0].to_dict(), hits.columns(), kb["tides.md"].chunks, memoryview(kb.vectors[0])  # type: ignore[arg-type]

    searches(500)
    gc.collect()
    before, objects = anonymous_kib(), len(gc.get_objects())
    searches(10_000)
    gc.collect()
    assert anonymous_kib() - before < 4096
    assert len(gc.get_objects()) - objects < 1000


def test_a_file_in_a_folder_that_is_gone_is_read(tmp_path: Path, path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    shutil.copy(path, inner / "a.kb")
    kb = kbfile.open(inner / "a.kb")
    shutil.rmtree(inner)
    assert len(kb.search("moon")) > 0


def test_first_mistakes_are_told_what_to_do(kb: kbfile.Kb, tmp_path: Path) -> None:
    with pytest.raises(AttributeError, match="'kbfile.Kb' object has no attribute 'add'") as reading:
        kb.add("text")  # type: ignore[attr-defined]
    assert reading.value.__notes__ == ['hint: it is open for reading; kbfile.open(path, "a") changes it']
    assert reading.value.name == "add" and reading.value.obj is kb
    with pytest.raises(AttributeError) as other:
        kb.serch  # type: ignore[attr-defined]
    assert not hasattr(other.value, "__notes__") and not hasattr(kb, "_ipython_display_")
    with pytest.raises(kbfile.NotFoundError) as missing:
        kbfile.open(tmp_path / "missing.kb")
    assert missing.value.hint == 'kbfile.open(path, "w") makes a .kb'


def test_what_a_notebook_prints_names_what_it_is(kb: kbfile.Kb) -> None:
    assert repr(kb.documents()) == repr(kb).replace("Kb(", "DocumentIterator(")
    assert repr(kb.search_regex("patience")) == "Matches(1 match)"
    assert repr(kb.search_regex("o", k=1)) == "Matches(1 match, and more)"
    assert "<thead>" not in kb["src/tides.py"]._repr_html_().split("</table>")[0]
