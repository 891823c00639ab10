"""The command line, and the server, as a wheel has them."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., Any]


def test_the_command_says_by_its_status_how_it_ended(path: Path, python: Run) -> None:
    found = python("-m", "kbfile", "search", "-f", str(path), "moon", "--json", "-k", "1")
    assert found.returncode == 0
    assert json.loads(found.stdout.splitlines()[0])["document"] == "docs/tides.md"
    nothing = python("-m", "kbfile", "search", "-f", str(path), "--mode", "keyword", "xyzzyplugh")
    assert (nothing.returncode, nothing.stdout) == (1, "")
    wrong = python("-m", "kbfile", "search", "--nonsense")
    assert wrong.returncode == 2 and "error:" in wrong.stderr


def test_help_and_hints_name_the_command(path: Path, python: Run) -> None:
    assert "kbfile index ." in python("-m", "kbfile", "--help").stdout
    missing = python("-m", "kbfile", "get", "-f", str(path), "nothing.md")
    assert "`kbfile ls" in missing.stderr, missing.stderr


def test_documents_of_other_programs_are_read_by_workers(tmp_path: Path, python: Run) -> None:
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "letter.rtf").write_text("{\\rtf1 Dear reader of letters.}")
    file = tmp_path / "a.kb"
    made = python("-m", "kbfile", "index", str(sources), "-o", str(file))
    assert made.returncode == 0 and "skipped 0" in made.stdout + made.stderr, made
    assert "letter.rtf" in python("-m", "kbfile", "search", "-f", str(file), "reader").stdout


def test_a_configuration_starts_this_python(path: Path, python: Run) -> None:
    printed = python("-m", "kbfile", "mcp", str(path), "--print-config", "claude")
    (server,) = json.loads(printed.stdout)["mcpServers"].values()
    assert server["command"] == os.path.abspath(sys.executable)
    assert server["args"][:3] == ["-m", "kbfile", "mcp"] and server["args"][3].endswith(str(path))


def test_the_server_answers_on_stdin_and_stdout(path: Path, python: Run) -> None:
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }
    answered = python("-m", "kbfile", "mcp", str(path), stdin=json.dumps(hello) + "\n")
    answer = json.loads(answered.stdout.splitlines()[0])
    assert answer["id"] == 1 and answer["result"]["serverInfo"]["name"]
