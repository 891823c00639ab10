"""The command line: `python -m kbreader FILE VERB ...`. Prints JSON, one object a line, or text."""

import argparse
import json
import sys
import uuid

from . import root, symbols
from .container import Container, load
from .errors import Damaged, NotAKb, Unsupported
from .text import CLASSES, PAGE_SOURCES, Documents, shown




def show(**fields):
    print(json.dumps(fields, ensure_ascii=False))


def info(documents, _):
    signature, meta = documents.container.signature, documents.meta
    names = ("documents", "chunks", "text_bytes", "created_ms", "updated_ms", "analyser")
    counts = {name: meta[name] for name in names}
    show(
        uuid=uuid.UUID(bytes=signature["uuid"]).hex,
        format=f"{signature['major']}.{signature['minor']}",
        commit=documents.container.commit,
        segments=len(documents.segments),
        model=meta["embedder"]["id"],
        dim=meta["embedder"]["dim"],
        **counts,
    )


def ls(documents, _):
    for path, number in documents.paths():
        record = documents.records[number]
        names = ("title", "file_type", "language", "size_bytes", "text_bytes", "lines", "tags", "metadata")
        fields = {name: record[name] for name in names}
        show(
            document=path,
            handle=documents.handle(record),
            kind=CLASSES[record["class"]],
            chunks=record["rows"],
            hash=record["hash"].hex(),
            **fields,
        )


def text(documents, options):
    number = documents.find(options.document)
    record = documents.records[number]
    parts = documents.parts(number)
    if options.lines:
        first, _, last = options.lines.partition("-")
        found = documents.lines(record, int(first), int(last or first))
    else:
        found = documents.text(record)
        if options.chunk:
            start, end, _, _ = documents.chunks(record)[options.chunk - 1]
            found = found[start:end]
        elif options.page:
            part = parts[options.page - 1]
            found = found[part["start"] : part["end"]]
    is_sheet = parts and parts[0]["kind"] == "sheet" and not options.stored
    sys.stdout.write(shown(found.decode()) if is_sheet else found.decode())


def outline(documents, options):
    for level, title, start, line in documents.outline(documents.find(options.document)):
        show(level=level, title=title, start_byte=start, line=line)


def list_symbols(documents, options):
    wanted = [documents.find(options.document)] if options.document else [number for _, number in documents.paths()]
    for number in wanted:
        for symbol in symbols.of_document(documents.container, number):
            show(
                document=documents.records[number]["path"],
                kind=symbols.KINDS[symbol["kind"] - 1],
                name=symbol["name"],
                keyword=symbol["keyword"],
                bytes=[symbol["start"], symbol["end"]],
                lines=[symbol["line"], symbol["last_line"]],
                head=symbol["head"],
                comment=symbol["doc"],
                parent=symbol["parent"],
            )


def parts(documents, options):
    number = documents.find(options.document)
    for at, part in enumerate(documents.parts(number), 1):
        if "source" in part:
            part["source"] = PAGE_SOURCES[part["source"]]
        part.pop("runs", None)
        show(number=at, **part)


def search(documents, options):
    from . import search as searching
    from .constants import CONSTANTS
    from .model import Model

    model = Model(options.model) if options.model else None
    if model and not model.reproduces(documents.meta["embedder"]["probes"]):
        raise Unsupported("the file was made with another model")
    filters = {name: getattr(options, name) for name in searching.FACETS if getattr(options, name)}
    searcher = searching.Searcher(documents, model)
    found, facts = searcher.search(options.query, options.mode, filters, options.folder, options.of_query)
    for hit in searcher.passages(found)[: options.k]:
        at, (first, end) = hit["address"][0], hit["rows"]
        begin, last = (searcher.segments[at].chunk(row) for row in (first, end - 1))
        scores = {f"{name}_score": round(hit[name], 6) for name in ("keyword", "vector", "fused")}
        place = {"document": hit["path"], "bytes": [begin[1], last[2]], "lines": [begin[3], last[4]]}
        show(**place, score=round(searching.score(facts, hit["fused"]), 6), **scores)
    best = searching.score(facts, found[0]["fused"]) if found else 0.0
    show(relevant=best >= CONSTANTS["relevant score"], facts=facts, constant=searching.calibration(facts)[1])


def nearest(documents, options):
    from .search import Searcher

    searcher = Searcher(documents, None)
    for (at, row), score in searcher.nearest(json.loads(options.vector), options.column)[:10]:
        _, start, end, first, last = searcher.segments[at].chunk(row)
        path = searcher.path(searcher.segments[at], row)
        show(document=path, bytes=[start, end], lines=[first, last], score=round(score, 6))


def verify(documents, _):
    found, is_sealed = root.verify(documents)
    show(content_root=found.hex(), sealed=is_sealed)


VERBS = {"info": info, "ls": ls, "text": text, "outline": outline, "symbols": list_symbols, "parts": parts}
VERBS |= {"search": search, "nearest": nearest, "verify": verify}


def parser():
    found = argparse.ArgumentParser(prog="kbreader", description="Reads a .kb file by its specification alone.")
    found.add_argument("file")
    verbs = found.add_subparsers(dest="verb", required=True)
    for verb in VERBS:
        one = verbs.add_parser(verb)
        if verb in ("text", "outline", "parts"):
            one.add_argument("document", help="a path, a handle, or the suffix of a handle")
        if verb == "symbols":
            one.add_argument("document", nargs="?")
        if verb == "text":
            which = one.add_mutually_exclusive_group()
            which.add_argument("--lines", metavar="A-B", help="lines of the original")
            which.add_argument("--page", type=int, help="a page, sheet or slide, from 1")
            which.add_argument("--chunk", type=int, help="a chunk of the document, from 1")
            one.add_argument("--stored", action="store_true", help="rows of sheets as they are stored")
        if verb == "search":
            one.add_argument("query")
            one.add_argument("--mode", choices=("hybrid", "keyword", "semantic"), default="hybrid")
            one.add_argument("--model", metavar="FOLDER", help="files of the built-in model: engine/model")
            one.add_argument("--folder", default="", help="only documents below this folder")
            one.add_argument("--of-query", metavar="CODE", help="the language of the query, such as `de`")
            one.add_argument("-k", type=int, default=10)
            for facet in ("type", "language", "class", "tag", "kind", "role", "field"):
                one.add_argument(f"--{facet}", action="append", help="only chunks with this value (repeatable)")
        if verb == "nearest":
            one.add_argument("column", help="a column of vectors of another model")
            one.add_argument("vector", help="a JSON list")
    return found


def main():
    options = parser().parse_args()
    try:
        documents = Documents(Container(load(options.file)))
        VERBS[options.verb](documents, options)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of a pipe has enough
    except (Damaged, NotAKb, Unsupported, OSError) as error:
        sys.exit(f"{type(error).__name__}: {error}")
    except (KeyError, IndexError) as error:
        sys.exit(f"not found: {error}")


main()
