"""What is written: modes, documents, commits, rollbacks."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kbfile


def names(path: Path) -> list[str]:
    with kbfile.open(path) as kb:
        return [document.path for document in kb]


def test_w_makes_a_file_anew_with_its_first_commit(path: Path) -> None:
    with kbfile.open(path, "w") as kb:
        kb.add("Salt.", path="salt.md")
        assert len(names(path)) == 5
    assert names(path) == ["salt.md"]


def test_a_changes_a_file_and_x_makes_only_a_new_one(path: Path, tmp_path: Path) -> None:
    with kbfile.open(path, "a") as kb:
        kb.add("Salt.", path="salt.md")
    assert len(names(path)) == 6
    with pytest.raises(FileExistsError):
        kbfile.open(path, "x")
    with kbfile.open(tmp_path / "new.kb", "x"):
        pass
    assert names(tmp_path / "new.kb") == []


def test_a_block_that_raises_rolls_back(path: Path, tmp_path: Path) -> None:
    before = path.read_bytes()
    for mode in ("a", "w"):
        with pytest.raises(ZeroDivisionError), kbfile.open(path, mode) as kb:  # type: ignore[call-overload]
            kb.add("Gone.", path="gone.md")
            raise ZeroDivisionError
        assert "gone.md" not in names(path) and len(names(path)) == 5
    assert kbfile.open(path).verify(deep=True)
    assert len(before) <= path.stat().st_size
    with pytest.raises(ZeroDivisionError), kbfile.open(tmp_path / "never.kb", "w") as kb:
        kb.add("Gone.", path="gone.md")
        raise ZeroDivisionError
    assert not (tmp_path / "never.kb").exists()


def test_text_files_and_bytes_are_told_apart(tmp_path: Path) -> None:
    source = tmp_path / "guide.md"
    source.write_text("# Guide\n\nText of a file.")
    with kbfile.open(tmp_path / "a.kb", "w") as kb:
        assert kb.add(str(source), path="text.txt") == "text.txt"
        assert kb.add(source, tags="manual") == "guide.md"
        assert kb.add(b"# Bytes", path="bytes.md", title="Other") == "bytes.md"
        assert kb.add("Some words", title="My Note!") == "my-note.txt"
        unnamed = kb.add("Some words")
        assert kb.pending == 5
    with kbfile.open(tmp_path / "a.kb") as reader:
        assert reader["text.txt"].text == str(source)
        assert (reader["guide.md"].title, reader["guide.md"].tags) == ("Guide", ["manual"])
        assert reader["bytes.md"].title == "Other"
        assert reader[unnamed].text == "Some words"


def test_documents_are_replaced_removed_and_tagged(path: Path) -> None:
    with kbfile.open(path, "a") as kb:
        with pytest.raises(kbfile.ExistsError) as taken:
            kb.add("New.", path="docs/bread.md")
        assert "replace=True" in (taken.value.hint or "")
        kb.add("New.", path="docs/bread.md", replace=True)
        assert kb.remove("stations.csv") == "stations.csv"
        assert kb.tag("tides.md", add=["moon", "b"], remove="sea") == ["b", "moon"]
        kb.commit()
        assert kb["docs/bread.md"].text == "New."
        assert "stations.csv" not in kb
        assert sorted(kb["docs/tides.md"].tags) == ["b", "moon"]
        with pytest.raises(KeyError):
            kb.remove("stations.csv")


def test_fields_are_set_and_stay_when_the_content_changes(path: Path) -> None:
    with kbfile.open(path, "a") as kb:
        kb.add("---\nyear: 1999\n---\nNew.", path="new.md", metadata={"by": ["Kim", "Lee"]})
        assert kb.set_metadata("new.md", {"year": 2024}) == {"by": "Kim, Lee", "year": "2024"}
        kb.commit()
        assert kb.set_metadata("new.md", {"by": None, "is_done": True}) == {"year": "2024", "is_done": "true"}
        kb.commit()
        kb.add("---\nyear: 2000\nby: Ann\n---\nOther.", path="new.md", replace=True)
        kb.commit()
        assert kb["new.md"].metadata == {"by": "Ann", "year": "2024", "is_done": "true"}
        assert [hit.document for hit in kb.search("other", where="year = 2024 and is_done")] == ["new.md"]
        assert kb.pending == 0
        with pytest.raises(kbfile.InvalidArgumentError, match="no name"):
            kb.set_metadata("new.md", {"a=b": 1})
        with pytest.raises(KeyError):
            kb.set_metadata("gone.md", {"a": 1})


def test_an_explicit_rollback_forgets(path: Path) -> None:
    with kbfile.open(path, "a") as kb:
        kb.add("Gone.", path="gone.md")
        kb.rollback()
        assert kb.pending == 0
        kb.add("Here.", path="here.md")
    assert "here.md" in names(path) and "gone.md" not in names(path)


def test_close_commits_and_is_no_error_twice(path: Path) -> None:
    kb = kbfile.open(path, "a")
    kb.add("Here.", path="here.md")
    kb.close()
    kb.close()
    assert "here.md" in names(path)
    for call in (lambda: kb.add("x", path="y"), lambda: kb.search("x"), kb.commit, kb.rollback, lambda: kb.__enter__()):
        with pytest.raises(kbfile.ClosedError):
            call()


def test_a_folder_is_indexed_with_progress(folder: Path, tmp_path: Path) -> None:
    calls: list[kbfile.Progress] = []
    with kbfile.open(tmp_path / "a.kb", "w") as kb:
        report = kb.index(folder, progress=calls.append)
        assert (report.documents, len(report.added), report.skipped) == (1500, 1500, [])
        assert {"walk", "index", "write"} <= {it.stage for it in calls}
        assert all(it.files_done <= it.files_total for it in calls if it.files_total)
        (folder / "7.md").unlink()
        again = kb.index(folder)
        assert (again.removed, again.unchanged) == (["7.md"], 1499)
        assert kb.index(folder, progress=True).removed == []


def test_an_exception_of_a_callback_ends_the_call(folder: Path, path: Path) -> None:
    def fail(_: kbfile.Progress) -> None:
        raise LookupError("enough")

    with kbfile.open(path, "a") as kb, pytest.raises(LookupError, match="enough"):
        kb.index(folder, progress=fail)
    assert len(names(path)) == 5


def test_ctrl_c_ends_an_index_run_and_leaves_the_file(folder: Path, path: Path) -> None:
    def interrupt(progress: kbfile.Progress) -> None:
        # In the middle of the run, by the signal that a terminal sends.
        if progress.stage == "index" and not sent:
            sent.append(progress)
            os.kill(os.getpid(), signal.SIGINT)

    sent: list[kbfile.Progress] = []
    with pytest.raises(KeyboardInterrupt), kbfile.open(path, "a") as kb:
        kb.index(folder, progress=interrupt)
    assert len(names(path)) == 5
    with kbfile.open(path, "a") as kb:
        assert len(kb.index(folder).added) == 1500


@pytest.mark.parametrize(
    ("name", "content"),
    [("slow.html", b"<p>the quick &amp; brown <b>tide</b></p>\n" * 400_000), ("slow.txt", b"word tide moon.\n" * 900_000)],
)
def test_ctrl_c_ends_adding_a_large_document_and_leaves_the_file(path: Path, name: str, content: bytes) -> None:
    timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt), kbfile.open(path, "a") as kb:
        timer.start()
        for number in range(1000):
            kb.add(content, path=f"{number}/{name}")
    assert len(names(path)) == 5
    assert kbfile.open(path).verify(deep=True)


def test_ctrl_c_ends_a_check_of_the_file(path: Path, folder: Path) -> None:
    with kbfile.open(path, "a") as kb:
        kb.index(folder)
    stages = []

    def interrupt(progress: kbfile.Progress) -> None:
        stages.append(progress.stage)
        os.kill(os.getpid(), signal.SIGINT)

    kb = kbfile.open(path)
    with pytest.raises(KeyboardInterrupt):
        kb.verify(deep=True, progress=interrupt)
    assert stages == ["verify"]
    assert kb.verify(deep=True)


def test_ctrl_c_ends_waiting_for_another_writer(path: Path) -> None:
    first = kbfile.open(path, "a")
    first.add("one", path="one.md")
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    second = kbfile.open(path, "a", lock_timeout=60)
    with pytest.raises(KeyboardInterrupt):
        second.add("two", path="two.md")
        time.sleep(10)
    timer.join()
    first.close()


def test_a_second_writer_is_told_who_writes(path: Path, python: Callable[..., Any]) -> None:
    with kbfile.open(path, "a") as kb:
        kb.add("one", path="one.md")
        code = (
            f"import kbfile\nkb = kbfile.open({str(path)!r}, 'a', lock_timeout=0.1)\n"
            "try:\n    kb.add('two', path='two.md')\nexcept OSError as e:\n    print(type(e).__name__, e.code, e)\n"
        )
        ended = python("-c", code)
        assert ended.stdout.startswith("LockedError INDEX_LOCKED"), ended
        assert f"process {os.getpid()}" in ended.stdout


def test_waiting_writers_come_to_their_turn(path: Path) -> None:
    first = kbfile.open(path, "a")
    first.add("one", path="one.md")
    second = kbfile.open(path, "a", lock_timeout=60)
    thread = threading.Thread(target=lambda: (second.add("two", path="two.md"), second.close()))
    thread.start()
    first.close()
    thread.join(60)
    assert {"one.md", "two.md"} <= set(names(path))


def test_a_sealed_file_has_a_hash_of_its_content(path: Path, tmp_path: Path) -> None:
    with kbfile.open(path, "a") as kb:
        kb.add("pending", path="pending.md")
        report = kb.seal(tmp_path / "sealed.kb")
        assert (report.documents, len(report.content_root)) == (6, 64)
        assert report.bytes_after == report.path.stat().st_size
        with pytest.raises(FileExistsError):
            kb.seal(tmp_path / "sealed.kb")
        assert kb.seal(tmp_path / "sealed.kb", replace=True).content_root == report.content_root
    assert kbfile.open(tmp_path / "sealed.kb").verify(deep=True).content_root == report.content_root


@pytest.mark.parametrize(
    ("source", "options", "error"),
    [
        (3, {}, TypeError),
        (None, {"path": "a.md"}, TypeError),
        (b"bytes", {}, kbfile.InvalidArgumentError),
        ("text", {"path": "../a.md"}, kbfile.InvalidArgumentError),
        ("text", {"path": ""}, kbfile.InvalidArgumentError),
        ("text", {"path": "a.md", "tags": 3}, TypeError),
        ("\ud800", {"path": "a.md"}, UnicodeEncodeError),
        (Path("/nowhere/at all"), {}, FileNotFoundError),
        (Path("."), {}, kbfile.InvalidArgumentError),
        (b"%PDF-1.7 broken", {"path": "a.pdf"}, ValueError),
        (Path("/dev/null"), {"path": "a.md"}, kbfile.InvalidArgumentError),
    ],
)
def test_what_is_no_document_is_refused(path: Path, source: Any, options: dict[str, Any], error: type[Exception]) -> None:
    with kbfile.open(path, "a") as kb:
        with pytest.raises(error):
            kb.add(source, **options)
        assert kb.pending == 0


def test_secrets_are_refused_unless_they_are_wanted(path: Path) -> None:
    secret = "AWS_SECRET_ACCESS_KEY=x"
    with kbfile.open(path, "a") as kb:
        with pytest.raises(kbfile.InvalidArgumentError, match="include_secrets"):
            kb.add(secret, path="id_rsa")
        assert kb.add(secret, path="id_rsa", include_secrets=True) == "id_rsa"


def test_what_is_no_kb_is_never_replaced(tmp_path: Path) -> None:
    other = tmp_path / "letter.txt"
    other.write_text("Dear reader")
    with pytest.raises(kbfile.FormatError):
        kbfile.open(other, "w")
    assert other.read_text() == "Dear reader"


def test_ctrl_c_ends_many_searches(path: Path) -> None:
    kb = kbfile.open(path)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    ends: list[tuple[str, str]] = []
    # A signal that came only after the call would raise here as well: the profile tells how the call itself ended.
    sys.setprofile(lambda _, event, called: ends.append((event, getattr(called, "__name__", ""))))
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            kb.search_many(["moon and sea"] * 100_000)
            time.sleep(10)
    finally:
        sys.setprofile(None)
    assert ("c_exception", "search_many") in ends
    timer.join()


def test_which_files_are_read_is_chosen_and_remembered(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    for name in ("a.md", "b.txt", ".hidden/c.md", "drafts/d.md"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"# {name}\n\nA word.\n")
    outside = tmp_path / "e.md"
    outside.write_text("# E\n\nA word.\n")
    (folder / "link.md").symlink_to(outside)

    def paths(**options: Any) -> set[str]:
        with kbfile.open(tmp_path / "a.kb", "a") as writer:
            writer.index(folder, **options)
            return {document.path for document in writer}

    assert paths() == {"a.md", "b.txt", "drafts/d.md"}
    assert paths(hidden=True, follow=True) == {"a.md", "b.txt", "drafts/d.md", ".hidden/c.md", "link.md"}
    assert paths(include="*.md", exclude=["drafts/"]) == {"a.md", ".hidden/c.md", "link.md"}
    # The file remembers all four.
    (folder / "drafts" / "f.md").write_text("# F\n\nA word.\n")
    assert paths() == {"a.md", ".hidden/c.md", "link.md"}
    assert paths(include=(), hidden=False) == {"a.md", "b.txt", "link.md"}
    assert paths(exclude=[], follow=False) == {"a.md", "b.txt", "drafts/d.md", "drafts/f.md"}
    with pytest.raises(TypeError, match="include takes a str or an iterable of str, not int"):
        paths(include=7)
