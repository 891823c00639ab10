"""Vectors of a file in place, vectors of texts, tables of other libraries."""

from __future__ import annotations

import gc
import re
from pathlib import Path

import numpy
import pytest

import kbfile

pandas = pytest.importorskip("pandas", reason="pandas is not installed")
polars = pytest.importorskip("polars", reason="polars is not installed")
pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")


def mapped_file(address: int) -> str:
    """The file that an address is mapped from."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        start, end = (int(part, 16) for part in line.split()[0].split("-"))
        if start <= address < end:
            return line.split(maxsplit=5)[-1]
    return ""


def anonymous_kib() -> int:
    found = re.search(r"RssAnon:\s+(\d+)", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1])


def test_arrays_lie_in_the_map_of_the_file(kb: kbfile.Kb) -> None:
    vectors = kb.vectors
    arrays = [numpy.asarray(block) for block in vectors]
    assert [array.dtype for array in arrays] == [numpy.int8] * len(vectors)
    assert sum(len(array) for array in arrays) == vectors.row_count == kb.info["chunks"]
    assert all(array.shape[1] == vectors.dim for array in arrays)
    assert {mapped_file(array.ctypes.data) for array in arrays} == {str(kb.path)}


def test_views_of_a_large_file_take_no_private_memory(tmp_path: Path) -> None:
    with kbfile.open(tmp_path / "a.kb", "w") as writer:
        for number in range(20_000):
            writer.add(f"gauge {number}", path=f"{number}.txt")
    kb = kbfile.open(tmp_path / "a.kb")
    nbytes = kb.vectors.nbytes
    assert nbytes >= 20_000 * 192
    gc.collect()
    before = anonymous_kib()
    held = [numpy.asarray(block) for _ in range(10) for block in kb.vectors]
    assert (anonymous_kib() - before) * 1024 < nbytes / 4, len(held)


def test_arrays_are_read_only_and_outlive_everything(path: Path) -> None:
    kb = kbfile.open(path)
    block = kb.vectors[0]
    array = numpy.asarray(block)
    copy = array.copy()
    assert not array.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        array[0, 0] = 1
    with pytest.raises((BufferError, ValueError)):
        array.setflags(write=True)
    kb.close()
    del kb, block
    path.unlink()
    gc.collect()
    assert (array == copy).all()


def test_numbers_are_int8_times_the_scale(kb: kbfile.Kb) -> None:
    vectors = kb.vectors
    numbers = vectors.to_float32()
    assert numbers.dtype == numpy.float32
    expected = numpy.concatenate([numpy.asarray(block) * numpy.float32(block.scale) for block in vectors])
    numpy.testing.assert_allclose(numbers, expected, rtol=1e-6)
    numpy.testing.assert_allclose(numpy.linalg.norm(numbers, axis=1), 1, atol=0.05)


def test_rows_are_named_by_their_chunks(kb: kbfile.Kb) -> None:
    vectors = kb.vectors
    ids = vectors.ids()
    query = kb.embed("Flour, water, salt and patience.")
    best = ids[int((vectors.to_float32() @ query[0]).argmax())]
    assert best == ("docs/bread.md", 0)


def test_deleted_chunks_have_no_name(path: Path) -> None:
    with kbfile.open(path, "a") as writer:
        writer.remove("docs/bread.md")
    kb = kbfile.open(path)
    ids = kb.vectors.ids()
    assert ids.count(None) == kb.info["deleted_chunks"] >= 1
    assert all(name is None or name[0] in kb for name in ids)


def test_names_of_another_commit_are_refused(path: Path) -> None:
    vectors = kbfile.open(path).vectors
    with kbfile.open(path, "a") as writer:
        writer.add("new", path="new.md")
    with pytest.raises(kbfile.CursorError):
        vectors.ids()


def test_a_sealed_file_may_have_nibbles(path: Path, tmp_path: Path) -> None:
    with kbfile.open(path, "a") as writer:
        writer.seal(tmp_path / "small.kb", vectors="i4")
    small, large = kbfile.open(tmp_path / "small.kb").vectors, kbfile.open(path).vectors
    assert (small.codec, numpy.asarray(small[0]).dtype) == ("i4", numpy.uint8)
    assert small.nbytes < large.nbytes
    by_name = dict(zip(large.ids(), large.to_float32(), strict=True))
    for name, vector in zip(small.ids(), small.to_float32(), strict=True):
        assert float(vector @ by_name[name]) > 0.9
    assert pyarrow.table(small).schema.field("vector").type.value_type == pyarrow.float32()


def test_an_arrow_stream_of_vectors_is_not_copied(kb: kbfile.Kb) -> None:
    table = pyarrow.table(kb.vectors)
    assert table.column_names == ["document", "chunk_index", "is_deleted", "scale", "vector"]
    assert table.schema.field("vector").type == pyarrow.list_(pyarrow.field("item", pyarrow.int8(), nullable=False), kb.vectors.dim)
    values = table.column("vector").chunk(0).values
    assert mapped_file(values.buffers()[1].address) == str(kb.path)
    frame = polars.DataFrame(kb.vectors)
    assert frame.shape == (kb.vectors.row_count, 5)


def test_texts_are_embedded_without_a_file() -> None:
    vectors = kbfile.embed(["the sea rises", "high tide", "a tax on flour", ""])
    assert (vectors.dtype, vectors.shape[0]) == (numpy.float32, 4)
    sea, tide, flour, nothing = vectors
    assert sea @ tide > sea @ flour
    assert not nothing.any()
    numpy.testing.assert_array_equal(kbfile.embed("high tide")[0], tide)
    assert kbfile.embed([]).shape == (0, vectors.shape[1])
    many = kbfile.embed(f"text {number}" for number in range(3000))
    numpy.testing.assert_array_equal(many[2999], kbfile.embed("text 2999")[0])
    for wrong in (None, 3, [3], [b"bytes"]):
        with pytest.raises(TypeError):
            kbfile.embed(wrong)  # type: ignore[arg-type]


def test_memory_is_lent_as_the_protocol_says(kb: kbfile.Kb) -> None:
    view = memoryview(kb.vectors[0])  # type: ignore[arg-type]
    assert (view.format, view.readonly, view.ndim, view.itemsize) == ("b", True, 2, 1)
    assert view.nbytes == len(bytes(view)) == view.shape[0] * view.shape[1]
    kept = view[0:1] if view.ndim == 1 else view
    del kb
    assert kept[0, 0] in range(-128, 128)


def test_hits_become_tables(kb: kbfile.Kb) -> None:
    hits = kb.search("moon", k=5)
    columns = hits.columns()
    frames = [hits.to_pandas(), hits.to_polars(), hits.to_arrow()]
    assert [list(frame.columns) for frame in frames[:2]] == [list(columns)] * 2
    assert frames[2].column_names == list(columns)
    assert [len(frame) for frame in frames] == [len(hits)] * 3
    assert frames[0]["document"].tolist() == frames[1]["document"].to_list() == columns["document"]
    assert frames[2].column("page").to_pylist() == [None] * len(hits)
    assert str(frames[2].schema.field("modified").type) == "timestamp[ms, tz=UTC]"
    assert frames[2].column("modified").to_pylist() == columns["modified"]
    empty = kb.search("moon", min_score=1.0, mode="semantic")
    assert len(empty) == len(empty.to_pandas()) == len(empty.to_polars()) == empty.to_arrow().num_rows


def test_tables_of_notebooks_are_escaped(tmp_path: Path) -> None:
    with kbfile.open(tmp_path / "a.kb", "w") as writer:
        writer.add("<script>alert('moon')</script> moon", path="<b>.txt")
    html = kbfile.open(tmp_path / "a.kb").search("moon")._repr_html_()
    assert "<script>" not in html and "<b>" not in html and "&lt;script&gt;" in html
