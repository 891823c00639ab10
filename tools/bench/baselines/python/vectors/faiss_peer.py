"""FAISS, held in memory: exact, quantised, inverted lists, a graph."""

import faiss

import protocol

INDEX = "index.faiss"


class Faiss:
    version = f"faiss-cpu {faiss.__version__}"

    def __init__(self, factory):
        self.factory = factory

    def build(self, rows, place):
        count, dim = rows.shape
        lists = protocol.lists(count)
        # Fast-scan codes: 4 bits for every two numbers.
        name = self.factory.format(lists=lists, half=dim // 2)
        index = faiss.index_factory(dim, name, faiss.METRIC_INNER_PRODUCT)
        self.prepare(index)
        if not index.is_trained:
            # As many as its clustering takes before it draws a sample itself.
            index.train(protocol.sample(rows, max(256 * lists, 65_536)))
        for _, block in protocol.blocks(rows):
            index.add(block)
        faiss.write_index(index, str(place / INDEX))

    def prepare(self, index):
        pass

    def open(self, place):
        faiss.omp_set_num_threads(1)
        self.index = faiss.read_index(str(place / INDEX))
        self.made = {}

    def settings(self, _rows):
        return [{"scan": "all"}]

    def parameters(self, _setting):
        return None

    def search(self, query, k, setting):
        # Made once for each setting, as a good caller would.
        key = tuple(setting.values())
        if key not in self.made:
            self.made[key] = self.parameters(setting)
        _, found = self.index.search(query[None], k, params=self.made[key])
        return [row for row in found[0].tolist() if row >= 0]


class FaissIvf(Faiss):
    def settings(self, rows):
        most = min(512, protocol.lists(rows))
        return [{"nprobe": nprobe} for nprobe in protocol.powers(1, most)]

    def parameters(self, setting):
        return faiss.SearchParametersIVF(nprobe=setting["nprobe"])


class FaissIvfRefined(FaissIvf):
    def settings(self, rows):
        # Sums over codes of 4 bits rank coarsely: more lists help only with more candidates.
        return [{**lists, "refined": factor} for lists in super().settings(rows)[1:] for factor in (4, 16, 64)]

    def parameters(self, setting):
        lists = super().parameters(setting)
        return faiss.IndexRefineSearchParameters(k_factor=setting["refined"], base_index_params=lists)


class FaissHnsw(Faiss):
    def prepare(self, index):
        index.hnsw.efConstruction = protocol.CANDIDATES

    def settings(self, _rows):
        return [{"ef": ef} for ef in protocol.powers(16, 1024)]

    def parameters(self, setting):
        return faiss.SearchParametersHNSW(efSearch=setting["ef"])


PEERS = {
    "flat": (Faiss, "Flat"),
    "sq8": (Faiss, "SQ8"),
    "ivf-sq8": (FaissIvf, "IVF{lists},SQ8"),
    "ivf-pq-flat": (FaissIvfRefined, "IVF{lists},PQ{half}x4fs,RFlat"),
    "ivf-pq-sq8": (FaissIvfRefined, "IVF{lists},PQ{half}x4fs,Refine(SQ8)"),
    "hnsw": (FaissHnsw, "HNSW32"),
}

if __name__ == "__main__":
    protocol.run(PEERS)
