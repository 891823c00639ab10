"""Each notebook of examples/ runs from start to end and draws its figures."""

from pathlib import Path

import pytest

nbclient = pytest.importorskip("nbclient", reason="notebooks need nbclient, nbformat and ipykernel")
nbformat = pytest.importorskip("nbformat")
for module in ("ipykernel", "numpy", "pandas", "matplotlib"):
    pytest.importorskip(module, reason=f"notebooks need {module}")

EXAMPLES = Path(__file__).parent.parent / "examples"

FIGURES = {"tour": 1, "map": 2, "sizes": 1, "fields": 1}


def test_every_notebook_is_run() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.ipynb")} == set(FIGURES)


@pytest.mark.parametrize("name", FIGURES)
def test_notebook_is_committed_without_outputs(name: str) -> None:
    notebook = nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.outputs == [] and cell.execution_count is None


@pytest.mark.parametrize("name", FIGURES)
# The client of Jupyter opens sockets and event loops of its own and warns about them.
@pytest.mark.filterwarnings("ignore")
def test_notebook_runs_and_draws(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Settings and caches of the kernel stay out of the home directory.
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    notebook = nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4)
    client = nbclient.NotebookClient(
        notebook,
        timeout=240,
        kernel_name="python3",
        resources={"metadata": {"path": str(EXAMPLES)}},
    )
    # Raises CellExecutionError with the traceback of the cell.
    client.execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert not [output for output in outputs if output.output_type == "error"]
    assert not [output.text for output in outputs if output.get("name") == "stderr"]
    figures = [output for output in outputs if "image/png" in output.get("data", {})]
    assert len(figures) == FIGURES[name]
