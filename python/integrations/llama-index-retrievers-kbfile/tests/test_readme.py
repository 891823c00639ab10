"""The examples of README.md, run in an empty folder."""

import doctest
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"


def test_readme_examples_print_what_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    results = doctest.testfile(str(README), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert results.attempted > 3 and results.failed == 0
