"""The examples of both README.md print what is shown."""

import doctest
from pathlib import Path

import kbfile
import pytest

README = Path(__file__).parent.parent / "README.md"


def test_readme_examples_print_what_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("numpy", "polars", "duckdb"):
        pytest.importorskip(module, reason=f"README.md shows {module}")
    monkeypatch.chdir(tmp_path)
    with kbfile.open("probe.kb", "w") as kb:
        kb.add("def probe():\n    pass\n", path="probe.py")
    if not len(kbfile.open("probe.kb").symbols("probe")):
        pytest.skip("this module has no grammars: README.md shows symbols")
    (tmp_path / "probe.kb").unlink()
    # As `python -m doctest README.md` runs it, without options.
    results = doctest.testfile(str(README), module_relative=False)
    assert results.attempted > 30 and results.failed == 0


def test_the_example_of_the_project_prints_what_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    results = doctest.testfile(str(README.parent.parent / "README.md"), module_relative=False)
    assert results.attempted >= 3 and results.failed == 0
