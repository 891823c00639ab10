// Searches a .kb file from Node 20: npm install && node search.mjs LIBKB FILE.kb QUERY
// LIBKB is the path of libkb.so. Requests are JSON through kb_call; `documents` shows a struct.
import koffi from "koffi";

const [libraryPath, filePath, query] = process.argv.slice(2);
const lib = koffi.load(libraryPath);

// Bytes and their number, no NUL at the end. As an argument a Buffer stands for the pointer.
koffi.struct("kb_str", { ptr: "const void *", len: "size_t" });
// The first fields of kb_info_view: struct_size tells the library how many of them there are.
const InfoView = koffi.struct("kb_info_view", {
  struct_size: "size_t", uuid: "kb_str", format: "kb_str", model: "kb_str", content_root: "kb_str",
  dim: "uint32_t", is_model_available: "int32_t", is_sealed: "int32_t", documents: "uint64_t",
});
for (const handle of ["kb", "kb_text", "kb_info", "kb_error"]) koffi.opaque(handle);

const kb_open = lib.func("int32_t kb_open(kb_str path, _Out_ kb **out, _Out_ kb_error **err)");
const kb_close = lib.func("int32_t kb_close(kb **file, void *err)");
const kb_call = lib.func(`int32_t kb_call(kb *file, void *writer, kb_str request, void *progress, void *data,
                                          _Out_ kb_text **out, _Out_ kb_error **err)`);
const kb_text_str = lib.func("kb_str kb_text_str(kb_text *text)");
const kb_text_free = lib.func("void kb_text_free(kb_text **text)");
const kb_get_info = lib.func("int32_t kb_get_info(kb *file, _Out_ kb_info **out, _Out_ kb_error **err)");
const kb_info_get = lib.func("int32_t kb_info_get(kb_info *info, _Inout_ kb_info_view *out, _Out_ kb_error **err)");
const kb_info_free = lib.func("void kb_info_free(kb_info **info)");
const kb_error_message = lib.func("kb_str kb_error_message(kb_error *error)");
const kb_error_hint = lib.func("kb_str kb_error_hint(kb_error *error)");
const kb_error_free = lib.func("void kb_error_free(kb_error **error)");

class KbError extends Error {}

const argument = (text) => {
  const bytes = Buffer.from(text);
  return { ptr: bytes, len: bytes.length };
};
// A copy: the bytes of a result end with it.
const copy = ({ ptr, len }) => (len ? Buffer.from(koffi.view(ptr, Number(len))).toString() : "");

// Calls a function whose last two parameters are its output and its error.
function checked(call, ...args) {
  const out = [null];
  const err = [null];
  if (call(...args, out, err) === 0) return out[0];
  const error = new KbError(copy(kb_error_message(err[0])));
  error.hint = copy(kb_error_hint(err[0]));
  kb_error_free(err);
  throw error;
}

class Kb {
  #file;

  constructor(path) {
    this.#file = checked(kb_open, argument(path));
  }

  close() {
    kb_close([this.#file], null);
    this.#file = null;
  }

  // Any request of kb_call; {call: "help"} lists them.
  call(request) {
    const answer = checked(kb_call, this.#file, null, argument(JSON.stringify(request)), null, null);
    try {
      return JSON.parse(copy(kb_text_str(answer)));
    } finally {
      kb_text_free([answer]);
    }
  }

  get documents() {
    const info = checked(kb_get_info, this.#file);
    try {
      const view = { struct_size: koffi.sizeof(InfoView) };
      kb_info_get(info, view, [null]);
      return view.documents;
    } finally {
      kb_info_free([info]);
    }
  }
}

try {
  const kb = new Kb(filePath);
  try {
    console.error(`${kb.documents} documents`);
    const { hits } = kb.call({ call: "search", query, k: 5, lines: 4 });
    for (const hit of hits) {
      console.log(`${hit.document}:${hit.start_line}-${hit.end_line}  ${hit.score.toFixed(2)}\n${hit.text}`);
    }
    process.exitCode = hits.length ? 0 : 1;
  } finally {
    kb.close();
  }
} catch (error) {
  if (!(error instanceof KbError)) throw error;
  console.error(`error: ${error.message}`);
  if (error.hint) console.error(`hint: ${error.hint}`);
  process.exitCode = 2;
}
