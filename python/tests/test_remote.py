"""`connect`: files that `kb serve` serves."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import kbfile


def _serve(folder: Path, *arguments: str) -> tuple[subprocess.Popen[str], str]:
    folders = [os.path.abspath(one) for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one]
    server = subprocess.Popen(
        [sys.executable, "-m", "kbfile", "serve", *arguments, "--listen", "127.0.0.1:0"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(folders)},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stderr is not None
    for line in server.stderr:
        if " (MCP: " in line:
            return server, "http://" + line.split("http://")[1].split("/")[0] + "/"
    raise AssertionError("the server does not start")


def _stop(server: subprocess.Popen[str]) -> None:
    server.terminate()
    server.communicate()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("remote")
    with kbfile.open(folder / "notes.kb", "w") as kb:
        kb.add("# Tides\n\nThe moon pulls the sea.\n", path="sea/a b.md", tags=["sea"], metadata={"year": 2016})
        kb.add("def high_water(day):\n    return day\n", path="tide.py")
    with kbfile.open(folder / "other.kb", "w") as kb:
        kb.add("# Moon\n\nThe moon rises.\n", path="moon.md")
    return folder


@pytest.fixture(scope="module")
def url(folder: Path) -> Iterator[str]:
    server, url = _serve(folder, "notes.kb", "other.kb")
    yield url
    _stop(server)


def test_a_server_answers_as_the_file_does(folder: Path, url: str) -> None:
    remote, local = kbfile.connect(url, file="notes"), kbfile.open(folder / "notes.kb")
    hits, same = remote.search("why does the moon pull"), local.search("why does the moon pull")
    assert [(hit.address, hit.title, hit.tags) for hit in hits] == [(hit.address, hit.title, hit.tags) for hit in same]
    assert hits[0].score == pytest.approx(same[0].score, abs=1e-4)
    assert (hits.relevance, hits.query, hits[0].text) == (same.relevance, same.query, same[0].text)
    assert (hits[0].lines, hits[0].span, hits[0].section) == (same[0].lines, same[0].span, same[0].section)
    assert hits[0].modified is not None and hits[0].fields["year"] == "2016"
    assert [hit.document for hit in remote.search("moon", where="year > 2015")] == ["sea/a b.md"]
    symbol = remote.search("high_water", symbol="high_water")[0].symbol
    assert symbol is not None and (symbol.name, symbol.kind, symbol.lines) == ("high_water", "function", (1, 2))
    assert remote.search("moon", facets="year").facets == {"year": [("2016", 1)]}
    assert len(hits.to_dicts()) == len(hits)


def test_documents_are_read(folder: Path, url: str) -> None:
    remote, local = kbfile.connect(url, file="notes"), kbfile.open(folder / "notes.kb")
    assert remote.text("sea/a b.md") == local["sea/a b.md"].text
    assert remote.text("sea/a b.md", lines=(3, 3)) == "The moon pulls the sea.\n"
    assert [one["document"] for one in remote.documents()] == ["sea/a b.md", "tide.py"]
    assert [one["document"] for one in remote.documents("sea")] == ["sea/a b.md"]
    assert remote.document("tide.py")["language"] == "python"
    assert [one["title"] for one in remote.outline("sea/a b.md")] == ["Tides"]
    assert remote.info["documents"] == 2
    with pytest.raises(kbfile.DocumentNotFoundError):
        remote.text("none.md")


def test_several_files_are_searched_together(url: str) -> None:
    remote = kbfile.connect(url)
    assert remote.files == ["notes", "other"] and remote.file is None
    hits = remote.search("moon")
    assert {(hit.file, hit.document) for hit in hits} >= {(0, "sea/a b.md"), (1, "moon.md")}
    first = remote.search("moon", k=1)
    second = remote.search("moon", k=1, cursor=first.cursor)
    assert first[0].document != second[0].document
    with pytest.raises(ValueError, match="notes, other"):
        remote.text("moon.md")
    with pytest.raises(ValueError, match="has no file 'none'"):
        kbfile.connect(url, file="none")
    with pytest.raises(kbfile.InvalidArgumentError):
        remote.search("moon", where="yaer > 1")


def test_a_token_is_needed_where_the_server_says_so(folder: Path) -> None:
    made = subprocess.run(
        [sys.executable, "-m", "kbfile", "token", "create", "test", "--tokens", "tokens.json"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(os.path.abspath(one) for one in sys.path if one)},
        capture_output=True,
        text=True,
        check=True,
    )
    server, url = _serve(folder, "notes.kb", "--tokens", "tokens.json")
    try:
        for wrong in (None, "kb_wrong"):
            with pytest.raises(kbfile.PermissionDeniedError):
                kbfile.connect(url, token=wrong)
        assert kbfile.connect(url, token=made.stdout.strip()).file == "notes"
    finally:
        _stop(server)


def test_what_is_no_server_is_refused() -> None:
    for url in ("notes.kb", "ftp://127.0.0.1/", "http://"):
        with pytest.raises(ValueError, match="not the address"):
            kbfile.connect(url)
    with pytest.raises(kbfile.StorageError, match="does not answer"):
        kbfile.connect("http://127.0.0.1:9/", timeout=5)
