"""The command line: `python -m kbreader FILE VERB ...`. Prints JSON, one object a line, or text."""

import argparse
import json
import sys
import uuid

from . import root, symbols
from .container import Container, Damaged, NotAKb, Unsupported
from .text import CLASSES, PAGE_SOURCES, Documents, shown




def show(**fields):
    print(json.dumps(fields, ensure_ascii=False))


def info(documents, _):
    signature, meta = documents.container.signature, documents.meta
    counts = {name: meta[name] for name in ("documents", "chunks", "text_bytes", "created_ms", "updated_ms", "analyser")}
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


def verify(documents, _):
    found, is_sealed = root.verify(documents)
    show(content_root=found.hex(), sealed=is_sealed)


VERBS = {"info": info, "ls": ls, "text": text, "outline": outline, "symbols": list_symbols, "parts": parts}
VERBS |= {"verify": verify}


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
    return found


def main():
    options = parser().parse_args()
    try:
        with open(options.file, "rb") as file:
            documents = Documents(Container(file.read()))
        VERBS[options.verb](documents, options)
    except (Damaged, NotAKb, Unsupported) as error:
        sys.exit(f"{type(error).__name__}: {error}")
    except BrokenPipeError:
        sys.stderr.close()  # the reader of a pipe has enough
    except (KeyError, IndexError) as error:
        sys.exit(f"not found: {error}")


main()
