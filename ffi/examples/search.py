"""Searches a .kb file with ctypes: python3 search.py LIBKB FILE.kb QUERY

LIBKB is the path of libkb.so. (For Python there is also the module `kbfile`, with all of the library: see ../../python.)
"""

import ctypes as c
import os
import sys


class Str(c.Structure):  # kb_str: bytes and their number, no NUL at the end
    # c_void_p, because ctypes would cut a c_char_p at the first NUL.
    _fields_ = [("ptr", c.c_void_p), ("len", c.c_size_t)]

    def __str__(self):
        return c.string_at(self.ptr, self.len).decode()


class SearchOptions(c.Structure):
    # The first fields of kb_search_options. A struct may be shorter than that of the library: struct_size says how long.
    _fields_ = [(name, c.c_uint32) for name in ("k", "mode", "scope", "sort")]
    _fields_ = [("struct_size", c.c_size_t), *_fields_, ("min_score", c.c_float)]
    _fields_ += [(name, c.c_uint32) for name in ("context_before", "context_after", "max_lines")]


class Hit(c.Structure):  # the first fields of kb_hit
    _fields_ = [("struct_size", c.c_size_t)]
    _fields_ += [(name, Str) for name in ("document", "handle", "title", "section", "section_number")]
    _fields_ += [(name, Str) for name in ("text", "before", "after")]
    _fields_ += [(name, c.c_float) for name in ("score", "fused_score", "keyword_score", "vector_score")]
    _fields_ += [(name, c.c_uint32) for name in ("first_line", "last_line", "start_byte", "end_byte")]


class Error(Exception):
    hint = ""


class Kb:
    """An open file. Use it with `with`, which closes it."""

    def __init__(self, library, path):
        self.lib, self.file = load(library), c.c_void_p()
        self._call(self.lib.kb_open, text(os.fsencode(path)), c.byref(self.file))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.lib.kb_close(c.byref(self.file), None)

    def _call(self, function, *arguments):
        """Calls a function and raises what it put to its last parameter."""
        error = c.c_void_p()
        if function(*arguments, c.byref(error)) == 0:
            return
        try:
            raised = Error(str(self.lib.kb_error_message(error)))
            raised.hint = str(self.lib.kb_error_hint(error))
        finally:
            self.lib.kb_error_free(c.byref(error))
        raise raised

    def search(self, query, k=10, max_lines=0):
        """Yields (document, first line, last line, score, text)."""
        options = SearchOptions(struct_size=c.sizeof(SearchOptions), k=k, max_lines=max_lines)
        hits = c.c_void_p()
        self._call(self.lib.kb_search, self.file, text(query.encode()), c.byref(options), c.byref(hits))
        try:
            for i in range(self.lib.kb_hits_len(hits)):
                hit = Hit(struct_size=c.sizeof(Hit))
                self._call(self.lib.kb_hits_get, hits, i, c.byref(hit))
                # str() copies the texts: those of `hit` end with the hits.
                yield str(hit.document), hit.first_line, hit.last_line, hit.score, str(hit.text)
        finally:
            self.lib.kb_hits_free(c.byref(hits))


def text(data):
    """Bytes as an argument. They must live during the call, so the Str keeps them."""
    result = Str(c.cast(c.c_char_p(data), c.c_void_p), len(data))
    result.data = data
    return result


def load(path):
    """The library with the types of its functions. Pointers without a type would be cut to 32 bits."""
    lib, p = c.CDLL(path), c.c_void_p
    types = {
        "kb_open": (c.c_int32, Str, p, p),
        "kb_close": (c.c_int32, p, p),
        "kb_search": (c.c_int32, p, Str, p, p, p),
        "kb_hits_len": (c.c_size_t, p),
        "kb_hits_get": (c.c_int32, p, c.c_size_t, p, p),
        "kb_hits_free": (None, p),
        "kb_error_message": (Str, p),
        "kb_error_hint": (Str, p),
        "kb_error_free": (None, p),
    }
    for name, (result, *arguments) in types.items():
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    return lib


def main():
    found = 1
    try:
        with Kb(sys.argv[1], sys.argv[2]) as kb:
            for document, first, last, score, passage in kb.search(sys.argv[3], k=5, max_lines=4):
                print(f"{document}:{first}-{last}  {score:.2f}\n{passage}")
                found = 0
    except Error as error:
        print("error:", error, file=sys.stderr)
        if error.hint:
            print("hint:", error.hint, file=sys.stderr)
        return 2
    return found


if __name__ == "__main__":
    sys.exit(main())
