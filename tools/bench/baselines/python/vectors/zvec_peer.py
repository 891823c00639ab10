"""zvec: a graph over signed bytes, and inverted lists over RaBitQ codes."""

from importlib.metadata import version

import zvec

import protocol

FIELD = "vector"
# More rows are refused in one call.
AT_ONCE = 1000


class Zvec:
    version = f"zvec {version('zvec')}"

    def build(self, rows, place):
        zvec.init(log_level=zvec.LogLevel.ERROR)
        count, dim = rows.shape
        vector = zvec.VectorSchema(FIELD, zvec.DataType.VECTOR_FP32, dim, index_param=self.index(count))
        schema = zvec.CollectionSchema(name="rows", vectors=vector)
        collection = zvec.create_and_open(path=str(place / "rows"), schema=schema)
        for first, block in protocol.blocks(rows):
            for at in range(0, len(block), AT_ONCE):
                piece = block[at : at + AT_ONCE]
                documents = [
                    zvec.Doc(id=str(first + at + number), vectors={FIELD: one})
                    for number, one in enumerate(piece)
                ]
                for status in collection.insert(documents):
                    if not status.ok():
                        raise RuntimeError(status.message())
        collection.optimize()
        collection.flush()
        collection.close()

    def open(self, place):
        zvec.init(log_level=zvec.LogLevel.ERROR, query_threads=1)
        option = zvec.CollectionOption(read_only=True, enable_mmap=True)
        self.collection = zvec.open(path=str(place / "rows"), option=option)
        self.made = {}

    def search(self, query, k, setting):
        key = tuple(setting.values())
        if key not in self.made:
            self.made[key] = self.parameters(setting)
        asked = zvec.Query(field_name=FIELD, vector=query, param=self.made[key])
        return [int(found.id) for found in self.collection.query(asked, topk=k)]


class Hnsw(Zvec):
    def index(self, _rows):
        return zvec.HnswIndexParam(
            metric_type=zvec.MetricType.COSINE,
            m=protocol.LINKS,
            ef_construction=protocol.CANDIDATES,
            quantize_type=zvec.QuantizeType.INT8,
        )

    def settings(self, _rows):
        return [{"ef": ef, "refined": refined} for ef in protocol.powers(16, 1024) for refined in (False, True)]

    def parameters(self, setting):
        return zvec.HnswQueryParam(ef=setting["ef"], is_using_refiner=setting["refined"])


class IvfRabitq(Zvec):
    def index(self, rows):
        return zvec.IvfRabitqIndexParam(metric_type=zvec.MetricType.COSINE, nlist=protocol.lists(rows))

    def settings(self, rows):
        counts = protocol.powers(1, min(512, protocol.lists(rows)))
        return [{"nprobe": nprobe, "refined": refined} for nprobe in counts for refined in (False, True)]

    def parameters(self, setting):
        return zvec.IvfRabitqQueryParam(nprobe=setting["nprobe"], is_using_refiner=setting["refined"])


PEERS = {"hnsw-i8": (Hnsw,), "ivf-rabitq": (IvfRabitq,)}

if __name__ == "__main__":
    protocol.run(PEERS)
