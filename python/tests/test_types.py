"""What type checkers and help() see."""

from __future__ import annotations

import ast
import doctest
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import kbfile

PUBLIC = [(name, getattr(kbfile, name)) for name in kbfile.__all__]

TYPED = """
from pathlib import Path
from typing import assert_type

import kbfile

with kbfile.open("a.kb") as kb:
    assert_type(kb, kbfile.Kb)
    hits = kb.search("moon", k=3, type=["markdown"], since="7d")
    assert_type(hits, kbfile.Hits)
    assert_type(hits[0], kbfile.Hit)
    assert_type(hits[0:2], list[kbfile.Hit])
    assert_type(hits[0].page, int | None)
    assert_type(kb["a.md"].text, str)
    for document in kb:
        assert_type(document, kbfile.Document)
with kbfile.open(Path("a.kb"), "w", lock_timeout=1) as writer:
    assert_type(writer, kbfile.Writer)
    assert_type(writer.add("text", path="a.md"), str)
    assert_type(writer.index("docs", progress=print), kbfile.IndexReport)
kb.search("moon", mode="nonsense")  # type: ignore[arg-type]
kb.search("moon", nonsense=1)  # type: ignore[call-arg]
kbfile.open(b"bytes", "w")  # type: ignore[call-overload]
"""


def test_the_package_has_the_types_that_its_stub_says() -> None:
    allowed = Path(__file__).with_name("stubtest_allowlist.txt")
    command = [sys.executable, "-m", "mypy.stubtest", "kbfile", "--allowlist", str(allowed)]
    checked = subprocess.run(command, capture_output=True, text=True, cwd=stage(), check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_a_typed_program_is_understood(tmp_path: Path) -> None:
    program = tmp_path / "typed.py"
    program.write_text(TYPED)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(program)]
    checked = subprocess.run(command, capture_output=True, text=True, cwd=stage(), check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def stage() -> Path:
    """The folder that the package was imported from."""
    return Path(kbfile.__file__).parents[1]


@pytest.mark.parametrize(("name", "value"), PUBLIC)
def test_every_public_name_has_a_docstring(name: str, value: object) -> None:
    if isinstance(value, str):
        return
    assert inspect.getdoc(value), name
    if not inspect.isclass(value) or issubclass(value, Exception):
        return
    for attribute, member in vars(value).items():
        if not attribute.startswith("_"):
            assert inspect.getdoc(member), f"{name}.{attribute}"


def test_editors_show_the_docstrings_of_the_module() -> None:
    from kbfile import _kbfile

    stub = ast.parse((Path(kbfile.__file__).parent / "_kbfile.pyi").read_text())
    compared = 0
    for node in stub.body:
        members = node.body if isinstance(node, ast.ClassDef) else [node]
        owner = getattr(_kbfile, node.name) if isinstance(node, ast.ClassDef) else _kbfile
        for member in members:
            if isinstance(member, ast.FunctionDef) and not member.name.startswith("__"):
                shown = inspect.getdoc(getattr(owner, member.name))
                assert ast.get_docstring(member) == shown, f"{owner}.{member.name}"
                compared += 1
    assert compared > 200


def test_the_example_of_the_package_runs() -> None:
    ran = doctest.testmod(kbfile)
    assert ran.failed == 0 and ran.attempted >= 4


def test_every_code_of_the_engine_has_an_exception() -> None:
    from kbfile import _errors

    root = Path(__file__).parents[2]
    source = (root / "engine" / "types" / "src" / "error" / "mod.rs").read_text()
    listed = source.split("pub const CODES", 1)[1].split("];", 1)[0]
    codes = {line.strip().strip('",') for line in listed.splitlines() if line.strip().startswith('"')}
    assert len(codes) >= 35
    assert codes | {"CLOSED"} == set(_errors.BY_CODE)
    assert all(issubclass(it, kbfile.Error) for it in _errors.BY_CODE.values())
    assert {it.__name__ for it in _errors.BY_CODE.values()} <= set(kbfile.__all__)
