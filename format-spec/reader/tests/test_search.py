"""Queries of the second reader against `expected.json`, the pages, and the engine where its module is installed."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import pytest

if sys.version_info < (3, 14):
    pytest.importorskip("backports.zstd", reason="a decoder of zstd is not installed")
pytest.importorskip("Stemmer", reason="PyStemmer is not installed")

from kbreader import analysis, keyword, root, search, text
from kbreader.constants import CALIBRATION, CONSTANTS
from kbreader.container import Column, Container
from kbreader.model import Model, words

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "golden"
EXPECTED = json.loads((GOLDEN / "expected.json").read_text(encoding="utf-8"))
NAMES = ["v0.13", "v0.13-lists", "v0.13-groups", "v0.13-fields"]
QUERIES = [
    ("how is the lens cleaned", "hybrid"),
    ("\u706f\u53f0 \u9727", "hybrid"),
    ("next_high_water", "keyword"),
    ("gr\xfcne lamp of the keeper", "hybrid"),
    ("gruene", "keyword"),
    ("saving people from a sinking ship", "semantic"),
    ("museum opening times", "semantic"),
    ("buoy drift NMEA-0183 v2.10 C++", "keyword"),
    ("storm signal harbour watch", "hybrid"),
    ("high water of gauge 3", "keyword"),
    ("gauge", "keyword"),
    ("the", "keyword"),
    # Words of a document that was removed.
    ("a scratch document of fog and foghorns", "keyword"),
]


def opened(name: str) -> text.Documents:
    return text.Documents(Container((GOLDEN / name / "golden.kb").read_bytes()))


@pytest.fixture(scope="module")
def model():
    return Model(ROOT / "engine" / "model")


@pytest.fixture(params=NAMES, scope="module")
def searcher(request, model):
    return search.Searcher(opened(request.param), model)


def test_words_and_signs_have_the_terms_of_the_page() -> None:
    terms = lambda of: [term for _, word, kind in analysis.words(of) for term, _ in analysis.terms_of(word, kind)]
    for written, expected in [
        ("The parseHTTPRequest", "parsehttprequest pars http request"),
        ("snake_case utf8", "snake_cas snake case utf8 utf"),
        ("2.10.3 22.04 v1.30 python3.11", "2.10.3 10 22.04 22 04 1.30 v1 30 python3.11 3.11 python3 python 11"),
        ("3.14159 example.net a--b i++ &#39;", "3 14159 exampl net 39"),
        ("C++ C# .NET --dry-run @app #4711", "c++ c# .net net --dry-run dri run @app app #4711 4711"),
        ("I/O Q&A x->y ABC-123 x86-64", "i/o q&a x->y abc-123 abc 123 x86-64 x86 86 64"),
        ("2024-05-01T10:20 k-means", "2024-05-01 2024 05 01t10 01 10 20 k-means mean"),
        ("K\xf6ln stra\xdfe", "k\xf6ln koln koeln stra\xdfe strass"),
        ("\u706f\u53f0\u5b88 \u9727 \u2705", "\u706f\u53f0 \u53f0\u5b88 \u9727 \u2705"),
        ("vitamin C, a 7 deadbeef01a2", "vitamin c 7 deadbeef01a2"),
    ]:
        assert terms(written) == expected.split(), written


def test_vectors_are_those_of_the_model(model) -> None:
    cases = json.loads((ROOT / "engine" / "model" / "vectors.json").read_text(encoding="utf-8"))["cases"]
    for case in cases:
        assert [token for word, _ in words(case["text"]) for token in model.tokens(word)] == case["ids"]
        near = zip(model.vector(case["text"]), case["vector"], strict=True)
        assert all(abs(one - other) < 2e-6 for one, other in near), case["text"]


def test_a_model_is_known_by_the_probes_of_a_file(model) -> None:
    probes = opened("v0.13").meta["embedder"]["probes"]
    assert len(probes) == 4 and model.reproduces(probes)
    changed = [-one if at % 50 == 0 else one for at, one in enumerate(probes[0][1])]
    assert not model.reproduces([(probes[0][0], changed), *probes[1:]])
    assert not model.reproduces([])


def test_every_term_has_the_rows_that_the_lengths_count(searcher) -> None:
    for index in searcher.indexes:
        terms, lengths, before = 0, [0] * index.rows, b""
        for term, where in index.terms_from():
            assert term > before or not terms
            terms, before = terms + 1, term
            for row, frequency in index.read(where):
                lengths[row] += frequency if term[0] > 3 else 0
        assert terms == index.terms
        # Other forms of words have terms and count in no length.
        assert all(counted >= index.length(row) for row, counted in enumerate(lengths))
        assert sum(map(index.length, range(index.rows))) == index.total_length


def bits(numbers: list[int], width: int) -> bytes:
    """As `packed` of the page: four lanes whose words alternate."""
    lanes = [sum((number & (1 << width) - 1) << at * width for at, number in enumerate(numbers[lane::4])) for lane in range(4)]
    words = [lanes[at % 4] >> at // 4 * 32 & 0xFFFFFFFF for at in range(4 * width)]
    return b"".join(word.to_bytes(4, "little") for word in words)


def test_a_block_of_postings_is_unpacked_with_its_exceptions() -> None:
    gaps = [at * 7 % 5 for at in range(128)]
    gaps[3], gaps[100] = 1000, 77
    frequencies = [at % 4 for at in range(128)]
    frequencies[9] = 300
    exceptions = b"\x03\x7d" + b"\x64\x09" + b"\x89\x4b"
    packed = bits(gaps, 3) + bits(frequencies, 2) + exceptions
    rows, last = [], 4
    for gap in gaps:
        last += gap + 1
        rows.append(last)
    head = last.to_bytes(4, "little") + b"\0\0" + bytes([3, 2, len(exceptions)])
    tail = bytes([2 * 5 + 1, 2 * 1, 9])
    tail_head = (last + 8).to_bytes(4, "little") + b"\0\0" + len(tail).to_bytes(2, "little") + b"\0"
    found = keyword.packed_part(head + tail_head + packed + tail, 130, 4)
    expected = list(zip(rows, [one + 1 for one in frequencies])) + [(last + 6, 1), (last + 8, 9)]
    assert found == expected


def test_nibbles_stand_for_the_middle_of_eleven_bytes() -> None:
    row = bytes((at * 37 % 255 + 129) % 256 for at in range(128))
    reader = search.Vectors.__new__(search.Vectors)
    reader.codec, reader.dim = 2, 100
    reader.column = Column([root.nibbles(row, 1, 100)], 64)
    numbers = reader.numbers(0)
    assert len(numbers) == 100 and len(reader.column.row(0)) == 64
    for number, byte in zip(numbers, row):
        value = byte - 256 if byte > 127 else byte
        middle = min(7, (max(abs(value), 1) - 1) // 11) * 2 + 1
        assert number == (middle if value > 0 else -middle)


def facets(wanted) -> dict:
    aliases = {"md": "markdown", "py": "python"}
    named = {"type": "types", "language": "languages", "class": "classes", "tag": "tags"}
    return {name: [aliases.get(one, one) for one in wanted[key]] for name, key in named.items() if wanted[key]}


@pytest.mark.parametrize("name", ["v0.13", "v0.13-lists"])
def test_scores_of_chunks_are_those_expected(name: str, model) -> None:
    searcher = search.Searcher(opened(name), model)
    for wanted in EXPECTED["searches"]:
        folder = wanted["paths"][0].removesuffix("/**") if wanted["paths"] else ""
        filters = facets(wanted)
        assert sum(map(len, searcher.passing(filters, folder))) == wanted["searched_chunks"]
        found, _ = searcher.search(wanted["query"], wanted["mode"], filters, folder)
        scores = {}
        for it in found:
            segment, row = searcher.segments[it["address"][0]], it["address"][1]
            place = segment.chunk(row)
            scores.setdefault(searcher.path(segment, row), []).append((place[1], place[2], it["keyword"], it["vector"]))
        for hit in wanted["hits"]:
            # A passage has the scores of its best chunk.
            inside = [it[2:] for it in scores[hit["document"]] if hit["start_byte"] <= it[0] and it[1] <= hit["end_byte"]]
            shown = (hit["keyword_score"] or 0.0, hit["vector_score"] or 0.0)
            assert any(math.dist(shown, it) < 1.5e-4 for it in inside), (wanted["query"], hit)


@pytest.mark.parametrize("query,mode", QUERIES)
def test_scores_are_those_of_the_engine(searcher, query: str, mode: str) -> None:
    kbfile = pytest.importorskip("kbfile", reason="the module of the engine is not installed")
    path = next(GOLDEN / name / "golden.kb" for name in NAMES if opened_like(searcher, name))
    found, facts = searcher.search(query, mode)
    with kbfile.open(path) as kb:
        hits = kb.search(query, mode=mode, k=1000, join=False, explain=True, plain=True, exact=True)
        mine = {(searcher.segments[at].number, row): it for it in found for at, row in [it["address"]]}
        theirs = {hit.chunk: hit for hit in hits}
        assert set(mine) <= set(theirs)
        for chunk, it in mine.items():
            hit = theirs[chunk]
            assert (hit.keyword_score or 0.0) == pytest.approx(it["keyword"], abs=1e-9)
            assert (hit.vector_score or 0.0) == pytest.approx(it["vector"], abs=1e-6)
            assert hit.fused_score - sum(hit.bonuses.values()) == pytest.approx(it["fused"], abs=1e-6)
            if not hits.missing:
                assert hit.score == pytest.approx(search.score(facts, hit.fused_score), abs=1e-6)
        if not any(hit.bonuses for hit in hits):
            # Without evidence of names and texts the order is that of the fused scores.
            first = [(searcher.segments[it["address"][0]].number, it["address"][1]) for it in found[:3]]
            assert [hit.chunk for hit in hits][:3] == first


@pytest.mark.parametrize("query", ["museum opening times", "saving people from a sinking ship", "rope and mast"])
def test_passages_are_those_of_the_engine(query: str, model) -> None:
    kbfile = pytest.importorskip("kbfile", reason="the module of the engine is not installed")
    searcher = search.Searcher(opened("v0.13"), model)
    found, facts = searcher.search(query, "semantic")
    with kbfile.open(GOLDEN / "v0.13" / "golden.kb") as kb:
        hits = kb.search(query, mode="semantic", explain=True, plain=True, exact=True)
    told = []
    for hit in searcher.passages(found)[:10]:
        segment, (first, end) = searcher.segments[hit["address"][0]], hit["rows"]
        told.append((hit["path"], (segment.chunk(first)[1], segment.chunk(end - 1)[2]), hit["fused"]))
    assert any(end - start > 2000 for _, (start, end), _ in told), "a passage of several chunks"
    evidence = [sum(value for name, value in hit.bonuses.items() if name != "repeats") for hit in hits]
    assert not any(evidence), "a query whose hits have no evidence of names and texts"
    assert [(hit.document, hit.span) for hit in hits] == [it[:2] for it in told]
    for hit, (_, _, fused) in zip(hits, told, strict=True):
        assert hit.fused_score == pytest.approx(fused, abs=1e-6)
        assert hit.score == pytest.approx(search.score(facts, fused), abs=1e-6)


TEXTS = {
    "hafen.md": "# Hafen\n\nDie Fischer bringen ihre Boote am Abend in den Hafen zur\xfcck. Am Morgen verkaufen sie auf dem "
    "Markt, was sie in der Nacht gefangen haben. Bei Sturm bleiben alle H\xe4user am Ufer geschlossen.\n",
    "port.md": "# Port\n\nLes p\xeacheurs ram\xe8nent leurs bateaux au port le soir. Le matin, ils vendent au march\xe9 ce "
    "qu'ils ont attrap\xe9 pendant la nuit. En cas de temp\xeate, toutes les maisons du rivage restent ferm\xe9es.\n",
    "harbour.md": "# Harbour\n\nThe fishermen bring their boats back to the harbour and sell at the market.\n",
}


def test_stems_of_other_languages_score_as_the_engine_says(tmp_path: Path, model) -> None:
    kbfile = pytest.importorskip("kbfile", reason="the module of the engine is not installed")
    path = tmp_path / "languages.kb"
    with kbfile.open(path, "w") as writer:
        for name, body in TEXTS.items():
            writer.add(body, path=name)
    searcher = search.Searcher(text.Documents(Container(path.read_bytes())), model)
    with kbfile.open(path) as kb:
        for query, language in [
            ("H\xe4usern", None),
            ("die maison am Markt", None),
            ("was sie in der Nacht gefangen haben", "de"),
            ("toutes les maisons du rivage restent ferm\xe9es", "fr"),
        ]:
            hits = kb.search(query, mode="keyword", join=False, explain=True, plain=True, exact=True)
            assert language is None or any(term.startswith("\x02" + language) for hit in hits for term in hit.terms)
            found, _ = searcher.search(query, "keyword", language=language)
            mine = {(searcher.segments[at].number, row): it["keyword"] for it in found for at, row in [it["address"]]}
            assert {hit.chunk: hit.keyword_score for hit in hits} == pytest.approx(mine, abs=1e-9)


def opened_like(searcher, name: str) -> bool:
    return (GOLDEN / name / "golden.kb").read_bytes() == searcher.documents.container.data


@pytest.mark.parametrize("column", ["angles", "places"])
def test_given_vectors_score_as_the_engine_says(column: str) -> None:
    kbfile = pytest.importorskip("kbfile", reason="the module of the engine is not installed")
    searcher = search.Searcher(opened("v0.13-lists"), None)
    with kbfile.open(GOLDEN / "v0.13-lists" / "golden.kb") as kb:
        for row in (3, 17, 41):
            vector = [math.sin((row * 31 + dim * dim * 17) % 97 / 9) for dim in range(24)]
            hits = kb.search(vector=vector, vector_column=column, k=10, join=False)
            mine = {(searcher.segments[at].number, one): score for (at, one), score in searcher.nearest(vector, column)}
            assert len(hits) == 10
            for hit in hits:
                assert hit.vector_score == pytest.approx(mine[hit.chunk], abs=1e-6)


def test_numbers_of_the_page_are_read_in_their_places() -> None:
    # tests/format/scores.rs compares the page with the engine.
    assert CONSTANTS["k1"] == 1.2 < keyword.K1 and CONSTANTS["missing odds"] < 0 and len(CONSTANTS) == 23
    assert [len(weights) for weights in CALIBRATION.values()] == [6, 6, 6]
    assert CALIBRATION["keyword"][1] == CALIBRATION["semantic"][2] == 0.0 < CALIBRATION["hybrid"][1]
