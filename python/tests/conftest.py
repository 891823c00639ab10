"""Files that tests read, and what several of them ask."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import kbfile

REPOSITORY = Path(__file__).parents[2]

PROGRAM = "def ebb():\n    return 1\n\n\ndef flow():\n    return ebb()\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with prose, a table, a program and a document that is not ASCII."""
    path = tmp_path / "notes.kb"
    with kbfile.open(path, "w") as kb:
        kb.add("# Tides\n\nThe moon pulls the sea twice a day.\n\n## Neap\n\nHalf moon.\n", path="docs/tides.md", tags=["sea"])
        kb.add("# Bread\n\nFlour, water, salt and patience.\n", path="docs/bread.md")
        kb.add("station,height\nSkagen,2\nRattray,4.5\n", path="stations.csv")
        kb.add(PROGRAM, path="src/tides.py")
        kb.add("# Übung\n\n\U0001f600 Der Mond zieht die See.\n", path="übung.md")
    return path


@pytest.fixture
def kb(path: Path) -> Iterator[kbfile.Kb]:
    with kbfile.open(path) as kb:
        yield kb


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that takes some time to index."""
    folder = tmp_path / "sources"
    folder.mkdir()
    for number in range(1500):
        text = f"# Gauge {number}\n\n" + f"High water number {number} at the pier. " * 120
        (folder / f"{number}.md").write_text(text)
    return folder


@pytest.fixture
def python() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs code, or arguments of this Python, in a process of its own."""

    def run(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments],
            capture_output=True,
            text=True,
            input=stdin,
            timeout=120,
            check=False,
            # Python looks there first, and the sources of the package have no module.
            cwd=Path(kbfile.__file__).parents[1],
        )

    return run
