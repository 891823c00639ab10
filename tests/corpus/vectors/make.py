"""Writes the files of vectors of this folder with NumPy and PyArrow: `python make.py`.

Five vectors of four numbers, of chunks 0 to 4 of `a.md`, in every form that is read. All numbers are exact in half
precision, so that each file holds the same.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

HERE = Path(__file__).parent

vectors = np.array([[1.0, -0.5, 0.25, row + 0.125] for row in range(5)], dtype=np.float32)


def table(kind, name="chunk", fixed=False, text=pa.string()):
    numbers = pa.array(vectors.reshape(-1), type=kind)
    lists = pa.FixedSizeListArray.from_arrays(numbers, 4)
    if not fixed:
        lists = lists.cast(pa.list_(kind))
    columns = {"note": ["not read"] * 5, "document": pa.array(["a.md"] * 5).cast(text)}
    if name == "chunk":
        columns["chunk"] = pa.array(range(5), pa.int64())
    elif name == "name":
        columns["chunk"] = [f"a.md#{row}" for row in range(5)]
    else:
        columns["start"] = pa.array(range(0, 50, 10), pa.int32())
        columns["end"] = pa.array(range(10, 60, 10), pa.uint16())
    columns["vector"] = lists
    return pa.table(columns)


def write_ipc(path, rows, stream=False, **options):
    new = pa.ipc.new_stream if stream else pa.ipc.new_file
    with new(path, rows.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(rows, max_chunksize=2)


np.save(HERE / "f4.npy", vectors)
np.save(HERE / "f4-big.npy", vectors.astype(">f4"))
np.save(HERE / "f8.npy", vectors.astype(np.float64))
np.save(HERE / "f2.npy", vectors.astype(np.float16))
np.save(HERE / "i1.npy", (vectors * 8).astype(np.int8))
np.save(HERE / "fortran.npy", np.asfortranarray(vectors))
np.save(HERE / "flat.npy", vectors[0])
np.save(HERE / "objects.npy", np.array([[1.0], [1.0, 2.0]], dtype=object), allow_pickle=True)
for version in (2, 3):
    with open(HERE / f"version-{version}.npy", "wb") as file:
        np.lib.format.write_array(file, vectors, version=(version, 0))

dictionary = pa.dictionary(pa.int8(), pa.string())
pq.write_table(table(pa.float32()), HERE / "snappy.parquet", row_group_size=3)
pq.write_table(table(pa.float64(), "span"), HERE / "zstd-f8.parquet", compression="zstd")
pq.write_table(table(pa.float16(), "name", fixed=True), HERE / "lz4-f2.parquet", compression="lz4")
pq.write_table(table(pa.float32(), text=dictionary), HERE / "plain.parquet", compression="none", data_page_version="2.0", use_dictionary=False)
ragged = pa.table({"document": ["a.md"] * 3, "chunk": [0, 1, 2], "vector": [[1.0, 2.0], [3.0], [4.0, 5.0]]})
pq.write_table(ragged, HERE / "ragged.parquet")
nulls = pa.table({"document": ["a.md"] * 3, "chunk": [0, 1, 2], "vector": [[1.0, 2.0], None, [4.0, None]]})
pq.write_table(nulls, HERE / "nulls.parquet")

write_ipc(HERE / "plain.arrow", table(pa.float32()))
write_ipc(HERE / "stream.arrow", table(pa.float64(), "span", text=dictionary), stream=True)
write_ipc(HERE / "zstd.arrow", table(pa.float16(), "name", fixed=True), compression="zstd")
pa.feather.write_feather(table(pa.float32(), text=dictionary), HERE / "lz4.feather", compression="lz4")
