"""Vectors of other models: imported from arrays, searched by, listed."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import numpy
import pytest

import kbfile

NAMES = ["docs/bread.md", "docs/tides.md", "src/tides.py", "stations.csv", "übung.md"]


def rows(dtype: str = "float32") -> numpy.ndarray:
    """A vector for each document of `path`, each nearest to itself."""
    return (numpy.eye(5, 8) + 0.125).astype(dtype)


@pytest.fixture
def imported(path: Path) -> Path:
    with kbfile.open(path, "a") as writer:
        report = writer.import_vectors("own", rows(), model="mine", default=True)
    assert (report.rows, report.chunks, report.dim, report.replaced, report.cut_numbers) == (5, 5, 8, 0, 0)
    return path


def test_rows_are_the_chunks_in_order(imported: Path) -> None:
    kb = kbfile.open(imported)
    assert [document.path for document in kb] == NAMES
    for number, name in enumerate(NAMES):
        hit = kb.search(vector=rows()[number], vector_column="own")[0]
        assert hit.document == name
        assert hit.vector_score is not None and hit.vector_score > 0.97


def test_columns_are_listed(imported: Path) -> None:
    kb = kbfile.open(imported)
    built_in, own = kb.vector_columns()
    assert (built_in.name, built_in.is_default, built_in.model) == ("built-in", False, kbfile.built_in_model)
    assert (own.name, own.model, own.dim, own.metric, own.codec, own.rows, own.is_default) == ("own", "mine", 8, "cosine", "i8", 5, True)
    assert repr(own) == 'VectorColumn("own", dim=8, cosine, i8, rows=5, default)'
    assert [column["name"] for column in kb.info["vector_columns"]] == ["built-in", "own"]


def test_stored_vectors_of_a_column_are_arrays(path: Path) -> None:
    with kbfile.open(path, "a") as writer:
        writer.import_vectors("own", rows()[:2], NAMES[:2])
    kb = kbfile.open(path)
    vectors = kb.vectors_of("own")
    by_name = dict(zip(vectors.ids(), vectors.to_float32(), strict=True))
    assert set(by_name) >= {(NAMES[0], 0), (NAMES[1], 0)}
    assert (NAMES[2], 0) not in by_name
    expected = rows()[1] / numpy.linalg.norm(rows()[1])
    numpy.testing.assert_allclose(by_name[NAMES[1], 0], expected, atol=0.02)
    assert kb.vectors_of("built-in").dim == kb.vectors.dim
    with pytest.raises(kbfile.InvalidArgumentError, match="owl"):
        kb.vectors_of("owl")


def test_every_kind_of_array_is_taken(path: Path, tmp_path: Path) -> None:
    numpy.save(tmp_path / "mapped.npy", rows())
    arrays = {
        "f64": rows("float64"),
        "f16": rows("float16"),
        "big": rows(">f4"),
        "fortran": numpy.asfortranarray(rows()),
        "strided": numpy.repeat(rows(), 2, axis=1)[:, ::2],
        "mapped": numpy.load(tmp_path / "mapped.npy", mmap_mode="r"),
        "lists": rows().tolist(),
        "memoryview": memoryview(rows()),
        "int8": (rows() * 8).astype("int8"),
    }
    with kbfile.open(path, "a") as writer:
        for name, array in arrays.items():
            assert writer.import_vectors(name, array).rows == 5, name
    kb = kbfile.open(path)
    for name in arrays:
        assert kb.search(vector=rows()[3], vector_column=name)[0].document == NAMES[3], name


def test_rows_are_named_in_each_way(path: Path) -> None:
    kb = kbfile.open(path)
    order = [3, 0, 4]
    names = [NAMES[number] for number in order]
    chunks = [kb[name].chunks[0] for name in names]
    with kbfile.open(path, "a") as writer:
        ways = {"documents": {}, "chunks": {"chunks": numpy.zeros(3, int)}, "spans": {"spans": [it.span for it in chunks]}, "lines": {"lines": [it.lines for it in chunks]}}
        for name, way in ways.items():
            assert writer.import_vectors(name, rows()[order], names, **way).rows == 3  # type: ignore[arg-type]
    for name in ways:
        hits = kb.search(vector=rows()[4], vector_column=name)
        assert [hits[0].document, len(hits)] == [NAMES[4], 3], name


def test_what_is_wrong_is_named_and_nothing_imported(path: Path) -> None:
    nan = rows()
    nan[3, 1] = numpy.nan
    with kbfile.open(path, "a") as writer:
        for arguments, message in [
            ({"vectors": nan}, "row 3"),
            ({"vectors": numpy.zeros((5, 8), "float32")}, "row 0"),
            ({"vectors": numpy.ones((6, 8), "float32")}, "row 5|6"),
            ({"vectors": rows()[:4]}, "4 rows for the chunks in order, and the file has 5"),
            ({"vectors": numpy.ones((5, 4097), "float32")}, "4097"),
            ({"vectors": numpy.ones(5, "float32")}, "axes"),
            ({"vectors": rows(), "documents": NAMES[:4]}, "4 given, and 5 vectors"),
            ({"vectors": rows(), "documents": NAMES, "chunks": [0]}, "1 given, and 5 vectors"),
            ({"vectors": rows(), "chunks": [0] * 5}, "required with"),
            ({"vectors": rows(), "documents": NAMES, "chunks": [9] * 5}, "row 0"),
            ({"vectors": rows(), "metric": "psychic"}, "cosine, dot, l2"),
            ({"vectors": rows(), "codec": "f32"}, "i8, i4"),
        ]:
            with pytest.raises(kbfile.InvalidArgumentError, match=message):
                writer.import_vectors("own", **arguments)  # type: ignore[arg-type]
        with pytest.raises(kbfile.InvalidArgumentError, match='row 0: no document "none.md"'):
            writer.import_vectors("own", rows(), ["none.md"] * 5)
        with pytest.raises(ValueError, match="inhomogeneous"):
            writer.import_vectors("own", [[1.0, 2.0], [3.0]] * 2, NAMES[:4])
        for wrong in (7, None, (it for it in rows())):
            with pytest.raises(TypeError, match="vectors takes"):
                writer.import_vectors("own", wrong)
        with pytest.raises(TypeError, match="nonsense"):
            writer.import_vectors("own", rows(), nonsense=1)  # type: ignore[call-arg]
    assert [column.name for column in kbfile.open(path).vector_columns()] == ["built-in"]


def test_what_an_array_raises_ends_the_import(path: Path) -> None:
    class Broken:
        def __len__(self) -> int:
            return 5

        def __getitem__(self, index: slice) -> object:
            raise RuntimeError("the disk is gone")

    with kbfile.open(path, "a") as writer:
        with pytest.raises(RuntimeError, match="the disk is gone"):
            writer.import_vectors("own", Broken())
        with pytest.raises(ZeroDivisionError):
            writer.import_vectors("own", rows(), progress=lambda progress: 1 // 0)
        assert writer.import_vectors("own", rows()).rows == 5


def test_replacing_removing_and_choosing(imported: Path) -> None:
    with kbfile.open(imported, "a") as writer:
        with pytest.raises(kbfile.InvalidArgumentError):
            writer.import_vectors("own", rows())
        assert writer.import_vectors("own", rows(), replace=True).replaced == 5
        writer.set_default_vectors("built-in")
        assert [column.is_default for column in writer.vector_columns()] == [True, False]
        with pytest.raises(kbfile.InvalidArgumentError):
            writer.set_default_vectors("owl")
        assert writer.remove_vectors("own") == 5
        with pytest.raises(kbfile.InvalidArgumentError):
            writer.remove_vectors("built-in")
    assert len(kbfile.open(imported).vector_columns()) == 1


def test_a_vector_of_a_search_has_many_forms(imported: Path) -> None:
    kb = kbfile.open(imported)
    one = rows()[2]
    for vector in (one, one.tolist(), tuple(one.tolist()), one[None, :], one.astype("float64"), memoryview(one), one.astype("float16")):
        assert kb.search(vector=vector)[0].document == NAMES[2]
    hits = kb.search("moon", vector=one, k=3)
    assert {hits[0].document, hits[1].document} <= {NAMES[1], NAMES[2], NAMES[4]}
    assert kbfile.search_files([kb], vector=one)[0].document == NAMES[2]
    for wrong in (rows(), one[:3], numpy.zeros(8), one * numpy.nan, []):
        with pytest.raises(kbfile.InvalidArgumentError):
            kb.search(vector=wrong)
    for wrong in ("0.5", b"bytes", {"a": 1}):
        with pytest.raises((TypeError, ValueError)):
            kb.search(vector=wrong)
    with pytest.raises(kbfile.InvalidArgumentError):
        kb.search()
    with pytest.raises(kbfile.InvalidArgumentError):
        kb.search("moon", vector_column="own")
    with pytest.raises(TypeError):
        kb.search_many(["moon"], vector=one)  # type: ignore[call-arg]


def test_lists_do_without_numpy(python: Callable[..., subprocess.CompletedProcess[str]], path: Path) -> None:
    program = """
import sys
sys.modules["numpy"] = None
import kbfile
rows = [[float(at == row) + 0.125 for at in range(8)] for row in range(5)]
with kbfile.open(sys.argv[1], "a") as writer:
    writer.import_vectors("own", rows)
    try:
        writer.import_vectors("other", [[1.0, 2.0], [3.0]], ["docs/bread.md", "docs/tides.md"])
    except kbfile.InvalidArgumentError as error:
        print(error)
print(kbfile.open(sys.argv[1]).search(vector=rows[4], vector_column="own")[0].document)
"""
    done = python("-c", program, str(path))
    assert done.stdout.splitlines() == ["vectors: row 1 has 1 numbers, row 0 has 2", NAMES[4]], done.stderr


def test_an_import_warns_of_what_quantising_loses(tmp_path: Path) -> None:
    random = numpy.random.default_rng(7)
    even = random.standard_normal((400, 32), dtype=numpy.float32)
    one_large = even.copy()
    one_large[:, 0] *= 40
    with kbfile.open(tmp_path / "a.kb", "w") as writer:
        for number in range(400):
            writer.add(f"row {number}", path=f"{number:03}.txt")
        report = writer.import_vectors("even", even, metric="dot")
        assert report.recall is not None and report.recall > 0.95
        with pytest.warns(UserWarning, match=r"searches find only \d+ % of the 10 nearest") as warned:
            report = writer.import_vectors("large", one_large, metric="dot", codec="i4")
        assert report.recall is not None and report.recall < 0.9
        assert f"recall={report.recall:.3f}" in repr(report)
        assert warned[0].filename == __file__
        few = writer.import_vectors("few", even[:100], [f"{number:03}.txt" for number in range(100)])
        assert few.recall is None and "recall=None" in repr(few)


def test_importing_a_column_again_uses_its_space_again(tmp_path: Path) -> None:
    path = tmp_path / "a.kb"
    random = numpy.random.default_rng(7)
    with kbfile.open(path, "w") as writer:
        for number in range(200):
            writer.add(f"row {number}", path=f"{number:03}.txt")
    sizes = []
    with kbfile.open(path, "a") as writer:
        for _ in range(5):
            for _ in range(8):
                writer.import_vectors("own", random.standard_normal((200, 512), dtype=numpy.float32), replace=True)
            # The length has room that takes no disk, and is cut when the file is closed.
            sizes.append(path.stat().st_blocks * 512)
            # What a commit replaces stays for two seconds, for those who read it.
            time.sleep(2.1)
    # 40 columns of 100 KB: without the space of earlier ones the last size is more than three times the first.
    assert sizes[-1] < 2 * sizes[0], sizes
    assert path.stat().st_size < 2 * sizes[0]
