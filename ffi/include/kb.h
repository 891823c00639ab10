/*
 * kb.h - the C library libkb: open, search and write .kb files.
 *
 * One .kb file holds documents and code, their structure, a keyword index and a vector index.
 *
 *     kb *file = NULL;
 *     kb_hits *hits = NULL;
 *     kb_error *error = NULL;
 *     if (kb_open(KB_STR("notes.kb"), &file, &error) == KB_OK &&
 *         kb_search(file, KB_STR("why does the sea rise"), NULL, &hits, &error) == KB_OK) {
 *         for (size_t i = 0; i < kb_hits_len(hits); i++) {
 *             kb_hit hit = KB_HIT_INIT;
 *             kb_hits_get(hits, i, &hit, NULL);
 *             printf("%.*s:%u\n", (int)hit.document.len, hit.document.ptr, hit.first_line);
 *         }
 *     }
 *     kb_error_free(&error);
 *     kb_hits_free(&hits);
 *     kb_close(&file, NULL);
 *
 * CONVENTIONS of every function
 *
 * Names      A function begins with kb_. One that belongs to a type begins with its name:
 *            kb_hits_len. A parameter that is const is not changed.
 * Errors     A function that can fail returns a kb_status: KB_OK (0) or a negative number. Its last
 *            parameter `err` is NULL, or the address of a kb_error pointer. A failure stores a new
 *            error there, with its status, a message and a hint; success stores NULL. An earlier
 *            error there is overwritten, not freed: free it first. There is no error state of the
 *            thread or the process. The comment of a function lists its errors. In addition, every
 *            function can return KB_INVALID_ARGUMENT and KB_PANIC; one that reads a file KB_DAMAGED,
 *            KB_SNAPSHOT_EXPIRED and KB_IO; and one that takes a writer KB_DAMAGED, KB_IO,
 *            KB_WRITER_FAILED and KB_FORKED_WRITER.
 * Outputs    Outputs are the last parameters before `err`. An output handle is overwritten, not
 *            freed, and is NULL after a failure. A NULL output pointer is KB_INVALID_ARGUMENT.
 * Ownership  The caller owns every handle that it gets, and frees it with the function that its
 *            type names (kb_close, kb_hits_free). That function takes the address of the pointer
 *            and sets it to NULL; for NULL it does nothing. So closing one variable twice is
 *            harmless; closing two copies of a pointer is not. Results own their data and outlive
 *            the file that they came from. Arguments are read during the call only. A handle that is
 *            passed must be open, and an array must have the length that is passed with it.
 * Texts      A text is a kb_str: UTF-8 bytes with a length, not NUL-terminated. As an argument, a
 *            NULL pointer with length 0 means "none". Texts of a result are valid as long as the
 *            result. On Unix a path is any bytes without NUL, elsewhere UTF-8.
 * Structs    Options, and the structs that functions fill (views), begin with `struct_size`.
 *            Initialise them with their INIT macro: all other fields are 0, the default of every
 *            option. NULL options mean the defaults.
 *            So a program and a library of different versions work together: an option that the
 *            library does not know is KB_INVALID_ARGUMENT, and a view field that it does not know
 *            is 0. Struct fields with an enum value are int32_t or uint32_t: a value outside the
 *            enum is KB_INVALID_ARGUMENT.
 * Threads    A kb and all results may be used by any number of threads at once; close a kb after
 *            the last call has returned. A kb_writer takes one call at a time: a second one fails
 *            with KB_IN_USE at once. Handles may move between threads.
 * Callbacks  A progress callback runs on the thread of its call, and returns 0 to continue. It may
 *            use other handles, and may search with the kb of its call. It must not close that kb,
 *            and must not use the writer of its call (KB_IN_USE). No exception and no longjmp may
 *            leave it.
 * Processes  After a fork, the child can use a kb, but can only close a kb_writer. Closing it there
 *            does not change the file, and does not free the memory of its pending changes. The
 *            library uses no network, keeps no thread after a call, and changes no signal handler
 *            and no environment variable. A panic inside it prints to stderr and becomes KB_PANIC.
 * Versions   KB_ABI_VERSION grows when functions, fields at the end of structs, or enum values are
 *            added. A program compiled for a lower version keeps working. A breaking change
 *            changes the soname. Statuses keep their numbers. Before 1.0 every minor version has
 *            its own soname.
 *
 * Made by cbindgen from ffi/src; do not edit. License: MIT OR Apache-2.0.
 */


#ifndef KB_H
#define KB_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define KB_VERSION "0.1.0"
#define KB_VERSION_MAJOR 0
#define KB_VERSION_MINOR 1
#define KB_VERSION_PATCH 0


// Version of the interface in this header. It grows when something is added. A library works with programs compiled for
// its own version, and for lower versions with the same soname.
#define KB_ABI_VERSION 2

// Result of a call: `KB_OK`, or a negative number for each kind of error. A number is never reused for another kind.
// Later versions add numbers, so treat unknown ones as errors.
enum kb_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Success.
    KB_OK = 0,
    // A path does not exist.
    KB_PATH_NOT_FOUND = -1,
    // A path is outside the folders that may be indexed. This library never returns it.
    KB_PATH_NOT_ALLOWED = -2,
    // The operating system refused an operation on a file; the message has its reason.
    KB_IO = -3,
    // The storage of an open file failed, for example because the disk is full. The file keeps its last commit.
    KB_STORAGE = -4,
    // The file is not a .kb file.
    KB_NOT_A_KB = -5,
    // The file has a format that this library does not read.
    KB_FORMAT_UNSUPPORTED = -6,
    // Bytes of the file contradict its format or their checksum.
    KB_DAMAGED = -7,
    // Another process, or another writer in this process, is writing the file.
    KB_INDEX_LOCKED = -8,
    // The file was moved or replaced while it was written.
    KB_FILE_REPLACED = -9,
    // Replacing the file would lose data: it has several hard links, may belong to another program, or is of an older
    // format and holds what no folder has.
    KB_NOT_REPLACEABLE = -10,
    // The output exists and is another .kb: see `replace` of `kb_seal_options`.
    KB_OUTPUT_EXISTS = -11,
    // A writer was used in a child process after a fork: open the file there.
    KB_FORKED_WRITER = -12,
    // Other commits overtook every attempt to read the file. Call again.
    KB_SNAPSHOT_EXPIRED = -13,
    // An earlier write of this writer failed: close it and open another one.
    KB_WRITER_FAILED = -14,
    // An argument is NULL, empty, not UTF-8, out of range or of the wrong kind.
    KB_INVALID_ARGUMENT = -15,
    // A pattern is not a supported regular expression.
    KB_INVALID_REGEX = -16,
    // No document of that name.
    KB_DOCUMENT_NOT_FOUND = -17,
    // Several documents of that name.
    KB_AMBIGUOUS_DOCUMENT = -18,
    // No section of that name, or several.
    KB_SECTION_NOT_FOUND = -19,
    // No sheet of that name.
    KB_SHEET_NOT_FOUND = -20,
    // A sheet was named, but the document is one table without sheets.
    KB_CSV_NO_SHEETS = -21,
    // The document has no pages, sheets or slides.
    KB_UNSUPPORTED_DOCUMENT_TYPE = -22,
    // No folder of that name.
    KB_FOLDER_NOT_FOUND = -23,
    // A document with this path already exists.
    KB_DOCUMENT_EXISTS = -24,
    // Lines, pages, slides or cells outside a document.
    KB_INVALID_RANGE = -25,
    // The cursor does not belong to this request.
    KB_INVALID_CONTINUATION_TOKEN = -26,
    // The file changed after the cursor was returned: search again from the start.
    KB_CONTINUATION_STALE = -27,
    // This library does not have the embedding model of the file.
    KB_EMBEDDING_MODEL_UNAVAILABLE = -28,
    // A folder that was indexed before has no files: see `prune` of `kb_index_options`.
    KB_ROOT_VANISHED = -29,
    // More bytes or items than the format can hold.
    KB_FILE_TOO_LARGE = -30,
    // The document is encrypted.
    KB_ENCRYPTED = -31,
    // The document exceeds a limit of size, time or memory.
    KB_EXTRACTION_LIMIT = -32,
    // The reader of the document failed.
    KB_EXTRACTION_FAILED = -33,
    // The document is read in a worker process only, and there is none: see `worker` of `kb_writer_options`.
    KB_NO_EXTRACTION_WORKER = -34,
    // A progress callback stopped the call.
    KB_CANCELLED = -35,
    // A bug in this library: a panic was caught. Please report it.
    KB_PANIC = -100,
    // The handle is in use: another thread is in a call with it, or this call comes from one of its callbacks.
    KB_IN_USE = -101,
    // This build of the library lacks the requested feature: see `kb_features`.
    KB_NOT_BUILT = -102,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum kb_status kb_status;
#else
typedef int32_t kb_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How to search.
enum kb_mode
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Keyword and vector index, their scores fused. The default.
    KB_MODE_HYBRID = 0,
    // The vector index alone.
    KB_MODE_SEMANTIC = 1,
    // The keyword index alone.
    KB_MODE_KEYWORD = 2,
    // Documents by title, slug and tags.
    KB_MODE_TITLE = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum kb_mode kb_mode;
#else
typedef int32_t kb_mode;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What one hit is.
enum kb_scope
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // A passage of a document. The default.
    KB_SCOPE_CHUNKS = 0,
    // A document, shown by its best chunk.
    KB_SCOPE_DOCUMENTS = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum kb_scope kb_scope;
#else
typedef int32_t kb_scope;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The order of hits.
enum kb_sort
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Best score first. The default.
    KB_SORT_SCORE = 0,
    // The relevant hits, the most recently modified document first.
    KB_SORT_RECENCY = 1,
    // The relevant hits, by path.
    KB_SORT_PATH = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum kb_sort kb_sort;
#else
typedef int32_t kb_sort;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Classes of documents, as bits.
enum kb_class
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Programs.
    KB_CLASS_CODE = 1,
    // Prose.
    KB_CLASS_DOC = 2,
    // Data.
    KB_CLASS_DATA = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum kb_class kb_class;
#else
typedef int32_t kb_class;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Kind of the parts of a document.
enum kb_part_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // The document has no parts.
    KB_PART_KIND_NONE = 0,
    // Pages.
    KB_PART_KIND_PAGE = 1,
    // Sheets.
    KB_PART_KIND_SHEET = 2,
    // Slides.
    KB_PART_KIND_SLIDE = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum kb_part_kind kb_part_kind;
#else
typedef int32_t kb_part_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Kinds of symbols, as bits.
enum kb_symbol_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // A function that belongs to no type.
    KB_SYMBOL_KIND_FUNCTION = 1,
    // A class.
    KB_SYMBOL_KIND_CLASS = 2,
    // A function of a type.
    KB_SYMBOL_KIND_METHOD = 4,
    // An interface.
    KB_SYMBOL_KIND_INTERFACE = 8,
    // A structure or union.
    KB_SYMBOL_KIND_STRUCT = 16,
    // An enumeration.
    KB_SYMBOL_KIND_ENUM = 32,
    // A trait.
    KB_SYMBOL_KIND_TRAIT = 64,
    // A module or namespace.
    KB_SYMBOL_KIND_MODULE = 128,
    // A constant or variable outside of any function.
    KB_SYMBOL_KIND_CONSTANT = 256,
    // A type alias.
    KB_SYMBOL_KIND_TYPE = 512,
    // The methods of a type apart from its definition.
    KB_SYMBOL_KIND_IMPL = 1024,
    // A field of a type, a variant of an enumeration. No section.
    KB_SYMBOL_KIND_FIELD = 2048,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum kb_symbol_kind kb_symbol_kind;
#else
typedef int32_t kb_symbol_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Role of a text that is embedded.
enum kb_text_role
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // A text to search in. The default.
    KB_TEXT_ROLE_DOCUMENT = 0,
    // A query.
    KB_TEXT_ROLE_QUERY = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum kb_text_role kb_text_role;
#else
typedef int32_t kb_text_role;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How a writer opens its file.
enum kb_writer_mode
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Opens the file, or creates it if it does not exist. The default.
    KB_WRITER_MODE_OPEN_OR_CREATE = 0,
    // Creates a new file. An existing file is replaced at the first commit.
    KB_WRITER_MODE_CREATE = 1,
    // Opens the file; `KB_PATH_NOT_FOUND` if it does not exist.
    KB_WRITER_MODE_OPEN = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum kb_writer_mode kb_writer_mode;
#else
typedef int32_t kb_writer_mode;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How the numbers of vectors are stored.
enum kb_codec
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // The codec of the file; `KB_CODEC_I8` for a new file.
    KB_CODEC_DEFAULT = 0,
    // A byte each.
    KB_CODEC_I8 = 1,
    // Half a byte each: smaller and slightly less precise.
    KB_CODEC_I4 = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum kb_codec kb_codec;
#else
typedef int32_t kb_codec;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What a long call is doing.
enum kb_stage
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Listing files and comparing them with the documents; the totals are still unknown.
    KB_STAGE_WALK = 0,
    // Reading, splitting, embedding and storing files.
    KB_STAGE_INDEX = 1,
    // Writing indexes and the commit of an index run.
    KB_STAGE_WRITE = 2,
    // Merging segments after a commit, which stays.
    KB_STAGE_MERGE = 3,
    // Writing a sealed file.
    KB_STAGE_SEAL = 4,
    // Comparing a file with its checksums.
    KB_STAGE_VERIFY = 5,
    // Writing the changes of a commit.
    KB_STAGE_COMMIT = 6,
    // Searching.
    KB_STAGE_SEARCH = 7,
    // Building the inverted lists that make vector search fast in a large file.
    KB_STAGE_LISTS = 8,
    // Importing vectors: `files_done` counts the vectors read, then the chunks written.
    KB_STAGE_IMPORT = 9,
    // Embedding chunks by a model: `files_done` counts chunks.
    KB_STAGE_EMBED = 10,
    // Parsing source files whose text is indexed already.
    KB_STAGE_SYMBOLS = 11,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum kb_stage kb_stage;
#else
typedef int32_t kb_stage;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What a build of the library can have, as bits.
enum kb_feature
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Writers.
    KB_FEATURE_WRITE = 1,
    // The built-in embedding model: search by meaning.
    KB_FEATURE_MODEL = 2,
    // Grammars: source code is parsed.
    KB_FEATURE_GRAMMARS = 4,
    // Documents and presentations of office programs.
    KB_FEATURE_OFFICE = 8,
    // PDF.
    KB_FEATURE_PDF = 16,
    // Sheets of workbooks and tables.
    KB_FEATURE_SHEETS = 32,
    // Search by regular expressions: the call "regex" of `kb_call`.
    KB_FEATURE_REGEX = 64,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum kb_feature kb_feature;
#else
typedef int32_t kb_feature;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A file that is open for reading and searching. Any number of threads may use it at once. Each call reads the newest
// commit and does not disturb a writer. The caller owns it: `kb_close`.
typedef struct kb kb;

// Documents of a file. The caller owns it: `kb_documents_free`.
typedef struct kb_documents kb_documents;

// The error of a failed call: a status, a message and a hint. The caller owns it: `kb_error_free`.
typedef struct kb_error kb_error;

// The hits of a search. Any number of threads may read one at once. The caller owns it: `kb_hits_free`.
typedef struct kb_hits kb_hits;

// What a file holds. The caller owns it: `kb_info_free`.
typedef struct kb_info kb_info;

// The pages, sheets or slides of a document. The caller owns it: `kb_parts_free`.
typedef struct kb_parts kb_parts;

// The problems that a verification found. The caller owns it: `kb_problems_free`.
typedef struct kb_problems kb_problems;

// Report of an index run or of sealing. The caller owns it: `kb_report_free`.
typedef struct kb_report kb_report;

// The sections of a document: its headings, or the symbols of a program. The caller owns it: `kb_sections_free`.
typedef struct kb_sections kb_sections;

// Symbols of a file. The caller owns it: `kb_symbols_free`.
typedef struct kb_symbols kb_symbols;

// A text that the library returns: document text with its range of lines, or JSON. The caller owns it: `kb_text_free`.
typedef struct kb_text kb_text;

// Vectors of some texts. The caller owns it: `kb_vectors_free`.
typedef struct kb_vectors kb_vectors;

// A file that is open for writing. One call at a time: a second one does not wait, but fails with `KB_IN_USE`. The
// first change locks the file until this writer is closed or rolled back. Changes of other writers, in any process,
// wait for up to their `lock_timeout_ms` and then fail with `KB_INDEX_LOCKED`. Readers see changes after
// `kb_writer_commit`. After a fork, the child may only close the writer. The caller owns it: `kb_writer_close`.
typedef struct kb_writer kb_writer;

// A borrowed UTF-8 text. It is not NUL-terminated and may contain NUL. As an argument, a NULL pointer with length 0
// means "none". As a result, it is valid until the object that it came from is freed, and `ptr` is never NULL.
typedef struct {
    // The first byte.
    const char *ptr;
    // Number of bytes.
    size_t len;
} kb_str;

// Progress of a long call. Counts grow within a stage and start at 0 in each stage.
typedef struct {
    // Size of this struct in the library, in bytes.
    size_t struct_size;
    // A `kb_stage`; later versions may have more.
    int32_t stage;
    // Files or documents done in this stage.
    uint64_t files_done;
    // Total number of files or documents; 0 while unknown.
    uint64_t files_total;
    // Bytes done in this stage.
    uint64_t bytes_done;
    // Total bytes; 0 while unknown.
    uint64_t bytes_total;
} kb_progress;

// Called when a stage begins and then about 20 times a second, on the thread of the call. Return 0 to continue. Any
// other value cancels the call, mostly within 50 ms: it returns `KB_CANCELLED`, and the file keeps its last
// commit. A cancellation during the sync of a commit or the merge after it is too late: the commit stands, and the
// call may return `KB_OK`. `progress` is valid during the callback. The callback may use other handles, but must not close or
// change the handle of its call. It must return: no exception or `longjmp` may leave it.
typedef int32_t (*kb_progress_fn)(const kb_progress *progress, void *data);

// A key with its value.
typedef struct {
    // The key.
    kb_str key;
    // The value.
    kb_str value;
} kb_pair;

// The stored facts about a document. Texts and arrays are valid until the documents are freed.
typedef struct {
    // sizeof(kb_document).
    size_t struct_size;
    // Path in the .kb, with `/`.
    kb_str path;
    // Title; the file name if the document has no title.
    kb_str title;
    // A short name that stays the same if the document is renamed.
    kb_str handle;
    // File type: `markdown`, `rust`, `pdf`.
    kb_str file_type;
    // Programming language; empty for prose.
    kb_str language;
    // A `kb_class`.
    int32_t document_class;
    // A `kb_part_kind`; 0: it has no parts.
    int32_t part_kind;
    // How many pages, sheets or slides.
    uint32_t parts;
    // Number of lines of the original.
    uint32_t lines;
    // Chunks.
    uint32_t chunks;
    // Size of the original in bytes.
    uint64_t size_bytes;
    // Size of the stored text in bytes.
    uint64_t text_bytes;
    // Modification time of the original, milliseconds since 1970; 0: unknown.
    int64_t modified_ms;
    // When it was added to the .kb, milliseconds since 1970 (UTC).
    int64_t added_ms;
    // Its tags.
    const kb_str *tags;
    // Number of items.
    size_t tags_len;
    // Metadata that the document states, such as author and date.
    const kb_pair *metadata;
    // Number of items.
    size_t metadata_len;
    // BLAKE3 of the original bytes.
    uint8_t hash[32];
} kb_document;

// A range of bytes; the end is exclusive.
typedef struct {
    // The first byte.
    size_t start;
    // End in bytes, exclusive.
    size_t end;
} kb_range;

// A hit: a passage of a document and its location. Texts and arrays are valid until the hits are freed.
typedef struct {
    // sizeof(kb_hit).
    size_t struct_size;
    // Path of the document.
    kb_str document;
    // Its handle: a short name that stays the same if the document is renamed.
    kb_str handle;
    // Its title.
    kb_str title;
    // Titles of the sections around the passage, the outermost first, joined by " > ".
    kb_str section;
    // Number of the section: "2.1"; empty where there is none.
    kb_str section_number;
    // The passage.
    kb_str text;
    // The lines before it: see `context_before`.
    kb_str before;
    // The lines after it: see `context_after`.
    kb_str after;
    // Estimated probability that the hit answers the query, 0 to 1. Comparable between queries and files.
    float score;
    // The score that orders the hits; it has no unit.
    float fused_score;
    // Score in the keyword index; NaN if it was not found there.
    float keyword_score;
    // Score in the vector index; NaN if it was not found there.
    float vector_score;
    // First line in the original, from 1; 0 where the document has no text.
    uint32_t first_line;
    // Last line, included.
    uint32_t last_line;
    // First byte in the stored text.
    uint32_t start_byte;
    // End in bytes, exclusive.
    uint32_t end_byte;
    // Ranges of `text` that match terms of the query, ascending.
    const kb_range *highlights;
    // Number of items.
    size_t highlights_len;
    // Range of `text`: its best whole lines, up to four.
    kb_range snippet;
    // Name of the symbol that the passage belongs to; empty where there is none.
    kb_str symbol;
    // One bit of `kb_symbol_kind`; 0 without a symbol.
    uint32_t symbol_kind;
    // The text before the body of the symbol, on one line.
    kb_str signature;
    // The enclosing symbols and the symbol itself: `impl Foo > fn bar`.
    kb_str hierarchy;
    // A `kb_part_kind`; 0: the document has no parts.
    int32_t part_kind;
    // Number of the page, sheet or slide, from 1.
    uint32_t part_number;
    // Name of the sheet, title of the slide, or number printed on the page.
    kb_str part_name;
    // File type of the document.
    kb_str file_type;
    // Its language; empty for prose.
    kb_str language;
    // A `kb_class`.
    int32_t document_class;
    // Tags of the document.
    const kb_str *tags;
    // Number of items.
    size_t tags_len;
    // Modification time of the original, milliseconds since 1970; 0: unknown.
    int64_t modified_ms;
    // Size of the original in bytes.
    uint64_t size_bytes;
    // Number of the best chunk in the document, from 0.
    uint32_t chunk_index;
    // Number of chunks in the passage.
    uint32_t chunks;
    // Position of the file among those that were searched.
    size_t file;
} kb_hit;

// Facts about a search as a whole.
typedef struct {
    // sizeof(kb_hits_summary).
    size_t struct_size;
    // The `kb_mode` that was used: that of the request, or `KB_MODE_KEYWORD` if the model is missing.
    int32_t mode;
    // Not 0: the best hit is probably relevant, not a chance match.
    int32_t is_relevant;
    // Chunks that passed the filters.
    uint64_t searched_chunks;
    // Pass it as `cursor` of the same request to get the next hits. Empty if there are none.
    kb_str next;
    // Warnings, one sentence each.
    const kb_str *warnings;
    // Number of items.
    size_t warnings_len;
} kb_hits_summary;

// What a file holds. Texts are valid until the info is freed.
typedef struct {
    // sizeof(kb_info_view).
    size_t struct_size;
    // Identity of the file, 32 hexadecimal digits.
    kb_str uuid;
    // Format version: "0.13".
    kb_str format;
    // Id of its embedding model.
    kb_str model;
    // Hash of the whole content if the file is sealed; else empty.
    kb_str content_root;
    // Dimensions of its vectors.
    uint32_t dim;
    // Not 0: this library has its model.
    int32_t is_model_available;
    // Not 0: the file is sealed and unchanged since then.
    int32_t is_sealed;
    // Documents.
    uint64_t documents;
    // Chunks.
    uint64_t chunks;
    // Bytes of stored text.
    uint64_t text_bytes;
    // Bytes of the file.
    uint64_t file_bytes;
    // Number of the last commit: it grows with each change of the file, by one or more.
    uint64_t commits;
    // When it was made, milliseconds since 1970.
    int64_t created_ms;
    // When it was changed last.
    int64_t updated_ms;
} kb_info_view;

// A section. Texts are valid until the sections are freed.
typedef struct {
    // sizeof(kb_section).
    size_t struct_size;
    // Number of the section: "2.1".
    kb_str number;
    // Text of the heading; of a symbol its label: `fn parse`.
    kb_str title;
    // Name of the symbol: `parse`; empty for other sections.
    kb_str symbol;
    // One bit of `kb_symbol_kind`; 0 for other sections.
    uint32_t symbol_kind;
    // Depth of the heading, from 1.
    uint32_t level;
    // First line in the original, from 1.
    uint32_t first_line;
    // Last line, included.
    uint32_t last_line;
    // First byte in the stored text.
    uint32_t start_byte;
    // End in bytes, exclusive.
    uint32_t end_byte;
    // Number of the page, sheet or slide in which it begins; 0: the document has none.
    uint32_t part_number;
} kb_section;

// A page, sheet or slide. Texts are valid until the parts are freed.
typedef struct {
    // sizeof(kb_part).
    size_t struct_size;
    // A `kb_part_kind`.
    int32_t kind;
    // Its number in the document, from 1.
    uint32_t number;
    // Name of the sheet, title of the slide, or number printed on the page.
    kb_str name;
    // First byte in the stored text.
    uint32_t start_byte;
    // End in bytes, exclusive.
    uint32_t end_byte;
    // First line; 0 where it has no text.
    uint32_t first_line;
    // Last line, included.
    uint32_t last_line;
    // Rows of a sheet.
    uint32_t rows;
    // Columns of a sheet.
    uint32_t columns;
    // Number of the header row of a sheet; 0: none.
    uint32_t header_row;
    // Not 0: a hidden sheet or slide.
    int32_t is_hidden;
} kb_part;

// Options of a search. Zeros are defaults: begin with `KB_SEARCH_OPTIONS_INIT`. Items of one filter are alternatives;
// filters are joined by AND.
typedef struct {
    // sizeof(kb_search_options).
    size_t struct_size;
    // Maximum number of hits, 1 to 10000; 0: 10.
    uint32_t k;
    // A `kb_mode`.
    int32_t mode;
    // A `kb_scope`.
    int32_t scope;
    // A `kb_sort`.
    int32_t sort;
    // Minimum score of a hit, 0 to 1.
    float min_score;
    // Lines of the document before each hit, up to 1000.
    uint32_t context_before;
    // Lines of the document after each hit, up to 1000.
    uint32_t context_after;
    // Maximum number of lines of each passage; the best lines are kept. 0: the whole passage.
    uint32_t max_lines;
    // Maximum tokens (4 bytes each) of the whole result, up to 1000000; 0: no limit. `cursor` continues it.
    uint32_t max_tokens;
    // Not 0: operators such as `"phrase"` and `-word` are plain text.
    int32_t plain;
    // Not 0: neighbouring chunks stay separate hits.
    int32_t no_join;
    // Not 0: a hit inside a symbol is extended to the whole symbol, up to 16 KB.
    int32_t smart_context;
    // Bits of `kb_class`; 0: all.
    uint32_t classes;
    // Bits of `kb_symbol_kind` of the symbol around a hit; 0: all hits, with or without a symbol.
    uint32_t symbol_kinds;
    // Milliseconds since 1970: documents modified then or later; 0: all.
    int64_t modified_since_ms;
    // Globs over paths: `docs/**`; `!locales/**` excludes.
    const kb_str *paths;
    // Number of items.
    size_t paths_len;
    // Folders: documents in them and in their subfolders.
    const kb_str *folders;
    // Number of items.
    size_t folders_len;
    // File types: `markdown`.
    const kb_str *types;
    // Number of items.
    size_t types_len;
    // Languages: `rust`, `shell`.
    const kb_str *languages;
    // Number of items.
    size_t languages_len;
    // Tags.
    const kb_str *tags;
    // Number of items.
    size_t tags_len;
    // Names of symbols, with `*` and `?`; case is ignored.
    const kb_str *symbol_names;
    // Number of items.
    size_t symbol_names_len;
    // Continues an earlier result: `next` of its `kb_hits_summary`.
    kb_str cursor;
    // Progress callback; NULL: none.
    kb_progress_fn progress;
    // Passed to `progress`.
    void *progress_data;
    // What documents state about themselves: `status=draft`, `date>=2024-05`.
    const kb_str *fields;
    // Number of items.
    size_t fields_len;
    // Documents that the documents link to.
    const kb_str *links_to;
    // Number of items.
    size_t links_to_len;
    // Not 0: words are searched as they are written; slips are not corrected.
    int32_t exact;
} kb_search_options;

// Options of a search for symbols. Zeros are defaults: begin with `KB_SYMBOLS_OPTIONS_INIT`.
typedef struct {
    // sizeof(kb_symbols_options).
    size_t struct_size;
    // Bits of `kb_symbol_kind`; 0: all.
    uint32_t kinds;
    // Maximum tokens (4 bytes each) of the result, up to 1000000; 0: no limit. `cursor` continues it.
    uint32_t max_tokens;
    // Maximum number of symbols; 0: 100.
    uint32_t k;
    // A name, with `*` and `?`; case is ignored. NULL: all.
    kb_str name;
    // A name: symbols that use it. Cannot be combined with `used_by`.
    kb_str uses;
    // A name: symbols that it uses.
    kb_str used_by;
    // Languages.
    const kb_str *languages;
    // Number of items.
    size_t languages_len;
    // Globs over paths; `!tests/**` excludes.
    const kb_str *paths;
    // Number of items.
    size_t paths_len;
    // Continues an earlier result: pass its `kb_symbols_next`.
    kb_str cursor;
} kb_symbols_options;

// A symbol. Texts and arrays are valid until the symbols are freed.
typedef struct {
    // sizeof(kb_symbol).
    size_t struct_size;
    // Path of its document.
    kb_str document;
    // Language of its document.
    kb_str language;
    // Its name.
    kb_str name;
    // The enclosing symbols and the symbol itself: `impl Foo > fn bar`.
    kb_str hierarchy;
    // The text before its body, on one line.
    kb_str signature;
    // One bit of `kb_symbol_kind`.
    uint32_t kind;
    // First line of its definition, from 1.
    uint32_t first_line;
    // Last line, included.
    uint32_t last_line;
    // Lines that contain the name given as `uses`, ascending.
    const uint32_t *uses;
    // Number of items.
    size_t uses_len;
    // The lines of `uses` in which the name is called.
    const uint32_t *calls;
    // Number of items.
    size_t calls_len;
} kb_symbol;

// Options of a verification. Zeros are defaults: begin with `KB_VERIFY_OPTIONS_INIT`.
typedef struct {
    // sizeof(kb_verify_options).
    size_t struct_size;
    // Not 0: also decode all contents and compare them with each other; about ten times slower.
    int32_t deep;
    // Progress callback; NULL: none.
    kb_progress_fn progress;
    // Passed to `progress`.
    void *progress_data;
} kb_verify_options;

// A document to add. Zeros are defaults: begin with `KB_NEW_DOCUMENT_INIT`.
typedef struct {
    // sizeof(kb_new_document).
    size_t struct_size;
    // Its path in the file: "notes/tides.md". The extension decides how the bytes are read.
    kb_str path;
    // The content: UTF-8 text, or the bytes of a file.
    const void *data;
    // Number of bytes at `data`.
    size_t data_len;
    // Its title; NULL: its first heading, else its name. The title is searched and embedded with the text, so pass an
    // empty one, `KB_STR("")`, if the name is meaningless.
    kb_str title;
    // Tags.
    const kb_str *tags;
    // Number of items.
    size_t tags_len;
    // Metadata in addition to that in the document.
    const kb_pair *metadata;
    // Number of items.
    size_t metadata_len;
    // Modification time of the original, milliseconds since 1970; 0: now.
    int64_t modified_ms;
    // Not 0: replaces an existing document with this path; its handle and tags stay.
    int32_t replace;
    // Not 0: adds it even if it may hold keys or credentials.
    int32_t include_secrets;
    // Progress callback while the bytes are read; NULL: none.
    kb_progress_fn progress;
    // Passed to `progress`.
    void *progress_data;
} kb_new_document;

// Options of an index run. Zeros are defaults: begin with `KB_INDEX_OPTIONS_INIT`.
typedef struct {
    // sizeof(kb_index_options).
    size_t struct_size;
    // Number of threads; 0: one per core.
    uint32_t threads;
    // A `kb_codec`.
    int32_t vectors;
    // Files with more bytes are skipped; 0: 16 MiB.
    uint64_t max_file_bytes;
    // Not 0: reads every file again; imported vectors are lost.
    int32_t rebuild;
    // Not 0: compares contents even if size and time are unchanged.
    int32_t force_hash;
    // Not 0: removes the documents of folders that have no files left.
    int32_t prune;
    // 1: also reads files that may hold keys or credentials; -1: skips them; 0: the choice stored in the file.
    int32_t include_secrets;
    // 1: writes a trigram index, which makes search by regular expressions fast; -1: writes none; 0: the choice stored
    // in the file.
    int32_t trigrams;
    // Name of the root that this folder continues, for a folder that was moved. NULL: the root with the same path.
    kb_str root;
    // Progress callback; NULL: none.
    kb_progress_fn progress;
    // Passed to `progress`.
    void *progress_data;
    // 1: also reads hidden files and folders that git does not track; -1: skips them; 0: the choice stored for the folder,
    // else -1. Hidden files that git tracks are always read.
    int32_t hidden;
    // 1: follows symbolic links; -1: skips them; 0: the choice stored for the folder, else -1.
    int32_t follow;
    // Patterns as in .gitignore, relative to the folder: only files that match one, or are in a folder that matches, are
    // read. NULL: the patterns stored for the folder. Not NULL with `include_len` 0: every file.
    const kb_str *include;
    // How many patterns `include` points to.
    size_t include_len;
    // Patterns as in .gitignore of files and folders to skip; NULL and length 0 as for `include`.
    const kb_str *exclude;
    // How many patterns `exclude` points to.
    size_t exclude_len;
} kb_index_options;

// Options of sealing. Zeros are defaults: begin with `KB_SEAL_OPTIONS_INIT`.
typedef struct {
    // sizeof(kb_seal_options).
    size_t struct_size;
    // Path of the sealed file; NULL: in place.
    kb_str output;
    // A `kb_codec`.
    int32_t vectors;
    // Not 0: replaces another .kb at `output`.
    int32_t replace;
    // Progress callback; NULL: none.
    kb_progress_fn progress;
    // Passed to `progress`.
    void *progress_data;
} kb_seal_options;

// Options of a writer. Zeros are defaults: begin with `KB_WRITER_OPTIONS_INIT`.
typedef struct {
    // sizeof(kb_writer_options).
    size_t struct_size;
    // A `kb_writer_mode`.
    int32_t mode;
    // How long a change waits for another writer to close, in milliseconds; 0: not at all.
    uint32_t lock_timeout_ms;
    // Path of a `kb` program of this version, which reads PDF and office documents in sandboxed worker processes. If it is
    // NULL and `in_process` is 0, such documents are skipped with a reason.
    kb_str worker;
    // Not 0: reads them in this process, for trusted files only. A hostile file can slow the process down, exhaust its
    // memory or abort it.
    int32_t in_process;
} kb_writer_options;

// The numbers of a report. Fields of the other kind of report are 0.
typedef struct {
    // sizeof(kb_report_view).
    size_t struct_size;
    // Documents of the file.
    uint64_t documents;
    // Index run: chunks of the file.
    uint64_t chunks;
    // Index run: documents that were added.
    uint64_t added;
    // Index run: documents that were updated.
    uint64_t updated;
    // Index run: documents that were removed.
    uint64_t removed;
    // Index run: documents that are unchanged.
    uint64_t unchanged;
    // Index run: files that were skipped.
    uint64_t skipped;
    // Sealing: bytes of the file before.
    uint64_t bytes_before;
    // Sealing: bytes of the sealed file.
    uint64_t bytes_after;
    // Sealing: hash of the whole content. Valid until the report is freed.
    kb_str content_root;
} kb_report_view;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The status of an error; `KB_OK` for NULL.
kb_status kb_error_status(const kb_error *error);

// The stable name of its status: "DOCUMENT_NOT_FOUND". Static: it is never freed.
kb_str kb_error_code(const kb_error *error);

// One sentence that says what happened, for people. Valid until the error is freed.
kb_str kb_error_message(const kb_error *error);

// What to do, for people; may be empty. Valid until the error is freed.
kb_str kb_error_hint(const kb_error *error);

// Frees an error and sets the pointer to NULL. Does nothing if either is NULL.
void kb_error_free(kb_error **error);

// The stable name of a status: "DOCUMENT_NOT_FOUND". Static and NUL-terminated. Empty for an unknown number.
const char *kb_status_name(int32_t status);

// The bytes of a text, valid until it is freed; empty for NULL. A NUL follows the last byte and is not counted.
kb_str kb_text_str(const kb_text *text);

// Frees a text and sets the pointer to NULL. Does nothing if either is NULL.
void kb_text_free(kb_text **text);

// Answers a JSON object with a JSON object, which has the fields of `kb --json`. `file` is for calls that read, `writer`
// for calls that write; the other one may be NULL. `progress` is NULL, or is called with `progress_data`.
// `{"call": "help"}` lists the calls with the names of their arguments:
//
//     {"call": "search", "query": "why does the sea rise", "k": 3}
//     {"call": "text", "document": "tides.md", "lines": "10-20"}
//     {"call": "add", "path": "notes/tides.md", "text": "The moon pulls the sea."}
//     {"call": "import_vectors", "name": "minilm", "rows": [{"document": "tides.md", "chunk": 0, "vector": [0.1, 0.2]}]}
//     {"call": "search", "vector": [0.1, 0.2], "vector_column": "minilm"}
//     {"call": "merge", "sources": ["a.kb", "b.kb"], "on_conflict": "keep-newest"}
//
// Errors: `KB_INVALID_ARGUMENT` for a request that is not a JSON object, and for an unknown argument; `KB_NOT_BUILT`
// for a call that this library lacks; and the errors of the function that does the same.
kb_status kb_call(const kb *file,
                  kb_writer *writer,
                  kb_str request,
                  kb_progress_fn progress,
                  void *progress_data,
                  kb_text **out,
                  kb_error **err);

// Finds a document by path, handle, or the end of its path. The result has one document.
//
// Errors: `KB_DOCUMENT_NOT_FOUND` with the nearest name as hint, `KB_AMBIGUOUS_DOCUMENT`.
kb_status kb_find_document(const kb *file, kb_str name, kb_documents **out, kb_error **err);

// Lists documents in the order of their path bytes, beginning after the path `after` (NULL: from the first one). Returns
// at most `limit` documents; 0 means 10000, which is the maximum. Pass the last path as `after` to continue; an empty
// result is the end.
kb_status kb_list_documents(const kb *file,
                            kb_str after,
                            size_t limit,
                            kb_documents **out,
                            kb_error **err);

// How many documents there are; 0 for NULL.
size_t kb_documents_len(const kb_documents *documents);

// Fills `out` with one document: `kb_document document = KB_DOCUMENT_INIT;`
//
// Errors: `KB_INVALID_ARGUMENT` for an index from `kb_documents_len` on.
kb_status kb_documents_get(const kb_documents *documents,
                           size_t index,
                           kb_document *out,
                           kb_error **err);

// Frees documents and sets the pointer to NULL. Does nothing if either is NULL.
void kb_documents_free(kb_documents **documents);

// Embeds texts with the built-in model. Each vector has unit length, or is zero if the model knows no word of its text.
// `role` is a `kb_text_role`. Takes about a microsecond per word.
//
// Errors: `KB_INVALID_ARGUMENT`; `KB_NOT_BUILT` in a library without the model.
kb_status kb_embed(const kb_str *texts,
                   size_t len,
                   int32_t role,
                   kb_vectors **out,
                   kb_error **err);

// Returns the numbers, one vector after the other. Writes the dimensions to `dim` and the number of vectors to `len`, unless
// they are NULL. NULL for NULL. Valid until the vectors are freed.
const float *kb_vectors_data(const kb_vectors *vectors,
                             size_t *len,
                             size_t *dim);

// Frees vectors and sets the pointer to NULL. Does nothing if either is NULL.
void kb_vectors_free(kb_vectors **vectors);

// How many hits there are; 0 for NULL.
size_t kb_hits_len(const kb_hits *hits);

// Fills `out` with one hit. `out->struct_size` is set before: `kb_hit hit = KB_HIT_INIT;`
//
// Errors: `KB_INVALID_ARGUMENT` for an index from `kb_hits_len` on.
kb_status kb_hits_get(const kb_hits *hits, size_t index, kb_hit *out, kb_error **err);

// Fills `out` with facts about the search as a whole: `kb_hits_summary summary = KB_HITS_SUMMARY_INIT;`
kb_status kb_hits_about(const kb_hits *hits,
                        kb_hits_summary *out,
                        kb_error **err);

// Frees hits and sets the pointer to NULL. Does nothing if either is NULL.
void kb_hits_free(kb_hits **hits);

// Returns what a file holds. The call "info" of `kb_call` returns more.
kb_status kb_get_info(const kb *file, kb_info **out, kb_error **err);

// Fills `out`: `kb_info_view view = KB_INFO_VIEW_INIT;`
kb_status kb_info_get(const kb_info *info, kb_info_view *out, kb_error **err);

// Frees an info and sets the pointer to NULL. Does nothing if either is NULL.
void kb_info_free(kb_info **info);

// Version of the library, NUL-terminated; equal to KB_VERSION if header and library match. Static.
const char *kb_version(void);

// `KB_ABI_VERSION` of the library, to compare with that of the header.
uint32_t kb_abi_version(void);

// What this build of the library has, as bits of `kb_feature`.
uint32_t kb_features(void);

// Opens a file. Takes milliseconds at any size, because the file is mapped, not read.
//
// Errors: `KB_PATH_NOT_FOUND`, `KB_IO`, `KB_NOT_A_KB`, `KB_FORMAT_UNSUPPORTED`, `KB_DAMAGED`.
kb_status kb_open(kb_str path, kb **out, kb_error **err);

// Opens a file from its bytes in memory, for example from an archive or an executable. The bytes are copied.
//
// Errors: as those of `kb_open`.
kb_status kb_open_bytes(const uint8_t *data,
                        size_t len,
                        kb **out,
                        kb_error **err);

// Closes a file and sets the pointer to NULL, so that a second close does nothing. Its results stay valid. Does nothing
// if either pointer is NULL.
//
// Errors: `KB_IN_USE` during a call with it, in another thread or around this callback; the file stays open.
kb_status kb_close(kb **file,
                   kb_error **err);

// Returns the outline of a document, in reading order; empty if it has none.
//
// Errors: `KB_DOCUMENT_NOT_FOUND`, `KB_AMBIGUOUS_DOCUMENT`.
kb_status kb_get_outline(const kb *file, kb_str name, kb_sections **out, kb_error **err);

// How many sections there are; 0 for NULL.
size_t kb_sections_len(const kb_sections *sections);

// Fills `out` with one section: `kb_section section = KB_SECTION_INIT;`
//
// Errors: `KB_INVALID_ARGUMENT` for an index from `kb_sections_len` on.
kb_status kb_sections_get(const kb_sections *sections,
                          size_t index,
                          kb_section *out,
                          kb_error **err);

// Frees sections and sets the pointer to NULL. Does nothing if either is NULL.
void kb_sections_free(kb_sections **sections);

// Returns the pages, sheets or slides of a document; empty if it has none. `kb_get_text` of their lines returns their
// text. The calls "sheet" and "pages" of `kb_call` return cells with their values.
//
// Errors: `KB_DOCUMENT_NOT_FOUND`, `KB_AMBIGUOUS_DOCUMENT`.
kb_status kb_get_parts(const kb *file,
                       kb_str name,
                       kb_parts **out,
                       kb_error **err);

// How many parts there are; 0 for NULL.
size_t kb_parts_len(const kb_parts *parts);

// Fills `out` with one part: `kb_part part = KB_PART_INIT;`
//
// Errors: `KB_INVALID_ARGUMENT` for an index from `kb_parts_len` on.
kb_status kb_parts_get(const kb_parts *parts, size_t index, kb_part *out, kb_error **err);

// Frees parts and sets the pointer to NULL. Does nothing if either is NULL.
void kb_parts_free(kb_parts **parts);

// Searches a file for a query: words, a question, or an identifier, with the operators `"phrase"`, `+word`, `-word`,
// `title:`, `path:` and `tag:`. About a millisecond for 100000 chunks.
//
// Errors: `KB_INVALID_ARGUMENT` (an empty query, a number out of range), `KB_FOLDER_NOT_FOUND`,
// `KB_EMBEDDING_MODEL_UNAVAILABLE` (only with `KB_MODE_SEMANTIC`), `KB_INVALID_CONTINUATION_TOKEN`,
// `KB_CONTINUATION_STALE`, `KB_CANCELLED`, `KB_DAMAGED`, `KB_SNAPSHOT_EXPIRED`.
kb_status kb_search(const kb *file,
                    kb_str query,
                    const kb_search_options *options,
                    kb_hits **out,
                    kb_error **err);

// Searches 1 to 64 files as if they were one. `file` of a hit is the position of its file in `files`.
//
// Errors: as those of `kb_search`.
kb_status kb_search_files(const kb *const *files,
                          size_t files_len,
                          kb_str query,
                          const kb_search_options *options,
                          kb_hits **out,
                          kb_error **err);

// Finds symbols by name, kind, language or path, or by the names that they use. Names are compared, not scopes:
// functions with the same name are not distinguished.
//
// Errors: `KB_INVALID_ARGUMENT`, `KB_INVALID_CONTINUATION_TOKEN`, `KB_CONTINUATION_STALE`.
kb_status kb_find_symbols(const kb *file,
                          const kb_symbols_options *options,
                          kb_symbols **out,
                          kb_error **err);

// How many symbols there are in this result; 0 for NULL.
size_t kb_symbols_len(const kb_symbols *symbols);

// How many symbols there are on all pages; 0 for NULL.
uint64_t kb_symbols_total(const kb_symbols *symbols);

// Pass it as `cursor` of the same options to get the next symbols. Empty if there are none. Valid until the symbols
// are freed.
kb_str kb_symbols_next(const kb_symbols *symbols);

// Fills `out` with one symbol: `kb_symbol symbol = KB_SYMBOL_INIT;`
//
// Errors: `KB_INVALID_ARGUMENT` for an index from `kb_symbols_len` on.
kb_status kb_symbols_get(const kb_symbols *symbols, size_t index, kb_symbol *out, kb_error **err);

// Frees symbols and sets the pointer to NULL. Does nothing if either is NULL.
void kb_symbols_free(kb_symbols **symbols);

// The text of a document, or its lines `first_line` to `last_line`, counted from 1 and both included. 0 and 0 mean the
// whole text; a `last_line` of 0 means to the end. `name` is a path, a handle, or the end of a path. It may name
// lines: "a.md:10-20".
//
// Errors: `KB_DOCUMENT_NOT_FOUND`, `KB_AMBIGUOUS_DOCUMENT`, `KB_INVALID_RANGE`; `KB_FILE_TOO_LARGE` for more than 256
// MiB at once.
kb_status kb_get_text(const kb *file,
                      kb_str name,
                      uint32_t first_line,
                      uint32_t last_line,
                      kb_text **out,
                      kb_error **err);

// The text of a section of a document, by its number ("2.1") or title.
//
// Errors: as those of `kb_get_text`, and `KB_SECTION_NOT_FOUND`.
kb_status kb_get_section_text(const kb *file,
                              kb_str name,
                              kb_str section,
                              kb_text **out,
                              kb_error **err);

// Compares a file with its checksums, at about 6 GB/s if it is in memory. Returns `KB_OK` if the check ran to its end,
// also if it found problems: see `kb_problems_len`.
//
// Errors: `KB_CANCELLED`, `KB_SNAPSHOT_EXPIRED`, `KB_IO`.
kb_status kb_verify(const kb *file,
                    const kb_verify_options *options,
                    kb_problems **out,
                    kb_error **err);

// Number of problems; 0: the file is sound.
size_t kb_problems_len(const kb_problems *problems);

// One problem, as a sentence; empty for an index from `kb_problems_len` on. Valid until the problems are freed.
kb_str kb_problems_get(const kb_problems *problems,
                       size_t index);

// Frees problems and sets the pointer to NULL. Does nothing if either is NULL.
void kb_problems_free(kb_problems **problems);

// Adds a document with the next commit. It is read and split into chunks at once.
//
// Errors: `KB_INVALID_ARGUMENT` (an invalid path, or keys or credentials in the content), `KB_DOCUMENT_EXISTS`,
// `KB_INDEX_LOCKED`, `KB_ENCRYPTED`, `KB_EXTRACTION_LIMIT`, `KB_EXTRACTION_FAILED`, `KB_NO_EXTRACTION_WORKER`,
// `KB_FILE_TOO_LARGE`, `KB_CANCELLED`, `KB_IN_USE`.
kb_status kb_writer_add(kb_writer *writer,
                        const kb_new_document *document,
                        kb_error **err);

// Removes a document with the next commit, by path, handle, or the end of its path.
//
// Errors: `KB_DOCUMENT_NOT_FOUND`, `KB_AMBIGUOUS_DOCUMENT`, `KB_INDEX_LOCKED`, `KB_IN_USE`.
kb_status kb_writer_remove(kb_writer *writer, kb_str name, kb_error **err);

// Adds and removes tags of a document with the next commit.
//
// Errors: `KB_DOCUMENT_NOT_FOUND`, `KB_AMBIGUOUS_DOCUMENT`, `KB_INVALID_ARGUMENT` (an invalid tag), `KB_INDEX_LOCKED`,
// `KB_IN_USE`.
kb_status kb_writer_tag(kb_writer *writer,
                        kb_str name,
                        const kb_str *add,
                        size_t add_len,
                        const kb_str *remove,
                        size_t remove_len,
                        kb_error **err);

// Makes all pending changes durable and visible to readers in one step. `progress` is NULL, or is called with
// `progress_data`.
//
// Errors: `KB_STORAGE`, `KB_IO`, `KB_FILE_REPLACED`, `KB_CANCELLED`, `KB_IN_USE`. After `KB_IN_USE` the pending
// changes remain. After any other error the file keeps its last commit, and the pending changes are lost.
kb_status kb_writer_commit(kb_writer *writer,
                           kb_progress_fn progress,
                           void *progress_data,
                           kb_error **err);

// Discards all changes since the last commit, and releases the file to other writers.
//
// Errors: `KB_IN_USE`.
kb_status kb_writer_rollback(kb_writer *writer, kb_error **err);

// Indexes folders and files: reads what changed since the last run. The run commits by itself, together with pending
// changes. Readers see all of a run at once; only the first run of a new file also commits after each 30 s or 64 MiB
// of text.
//
// Errors: `KB_PATH_NOT_FOUND`, `KB_ROOT_VANISHED`, `KB_INDEX_LOCKED`, `KB_CANCELLED` (the file keeps its last commit),
// `KB_NOT_REPLACEABLE` (an older format, see docs/versioning.md), `KB_STORAGE`, `KB_IO`, `KB_IN_USE`. A source file
// that cannot be read is not an error: it is listed in the report.
kb_status kb_writer_index(kb_writer *writer,
                          const kb_str *paths,
                          size_t paths_len,
                          const kb_index_options *options,
                          kb_report **out,
                          kb_error **err);

// Commits pending changes and writes the smallest form of the file, for shipping, to `output` or in place. The commit stays
// even if sealing fails.
//
// Errors: `KB_OUTPUT_EXISTS`, `KB_NOT_REPLACEABLE`, `KB_INDEX_LOCKED`, `KB_CANCELLED` (the file stays as it was),
// `KB_STORAGE`, `KB_IO`, `KB_IN_USE`.
kb_status kb_writer_seal(kb_writer *writer,
                         const kb_seal_options *options,
                         kb_report **out,
                         kb_error **err);

// Opens a file for writing. A new file appears with its first commit.
//
// Errors: `KB_PATH_NOT_FOUND`, `KB_IO`, `KB_NOT_A_KB`, `KB_FORMAT_UNSUPPORTED`, `KB_DAMAGED`; `KB_NOT_BUILT` in a library
// that only reads.
kb_status kb_writer_open(kb_str path,
                         const kb_writer_options *options,
                         kb_writer **out,
                         kb_error **err);

// Closes a writer and sets the pointer to NULL, so that a second close does nothing. Uncommitted changes are lost. Does
// nothing if either pointer is NULL.
//
// Errors: `KB_IN_USE` during a call with it, in another thread or around this callback; the writer stays open.
kb_status kb_writer_close(kb_writer **writer,
                          kb_error **err);

// Number of documents that the next commit changes; 0 for NULL, and while another call with this writer runs.
size_t kb_writer_pending(const kb_writer *writer);

// Fills `out`: `kb_report_view view = KB_REPORT_VIEW_INIT;`
kb_status kb_report_get(const kb_report *report, kb_report_view *out, kb_error **err);

// The report as `kb index --json` and `kb seal --json` print it, with every changed document and every skipped file. Valid
// until the report is freed; empty for NULL.
kb_str kb_report_json(const kb_report *report);

// Frees a report and sets the pointer to NULL. Does nothing if either is NULL.
void kb_report_free(kb_report **report);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus


#ifdef __cplusplus
/* The kb_str of a string literal. */
#define KB_STR(literal) (kb_str{"" literal, sizeof(literal) - 1})
#else
/* The kb_str of a string literal. */
#define KB_STR(literal) ((kb_str){"" literal, sizeof(literal) - 1})
#endif

/* The kb_str of a NUL-terminated string; "none" for NULL. */
static inline kb_str kb_str_from(const char *text) {
    kb_str str;
    str.ptr = text;
    str.len = text ? strlen(text) : 0;
    return str;
}

/* Initialisers: `struct_size` is set, all other fields are 0. */
#ifdef __cplusplus
extern "C++" {
template <typename T> inline T kb_init() {
    T all{};
    all.struct_size = sizeof(T);
    return all;
}
}
#define KB_SEARCH_OPTIONS_INIT kb_init<kb_search_options>()
#define KB_SYMBOLS_OPTIONS_INIT kb_init<kb_symbols_options>()
#define KB_VERIFY_OPTIONS_INIT kb_init<kb_verify_options>()
#define KB_WRITER_OPTIONS_INIT kb_init<kb_writer_options>()
#define KB_INDEX_OPTIONS_INIT kb_init<kb_index_options>()
#define KB_SEAL_OPTIONS_INIT kb_init<kb_seal_options>()
#define KB_NEW_DOCUMENT_INIT kb_init<kb_new_document>()
#define KB_HIT_INIT kb_init<kb_hit>()
#define KB_HITS_SUMMARY_INIT kb_init<kb_hits_summary>()
#define KB_DOCUMENT_INIT kb_init<kb_document>()
#define KB_SECTION_INIT kb_init<kb_section>()
#define KB_PART_INIT kb_init<kb_part>()
#define KB_SYMBOL_INIT kb_init<kb_symbol>()
#define KB_INFO_VIEW_INIT kb_init<kb_info_view>()
#define KB_REPORT_VIEW_INIT kb_init<kb_report_view>()
#else
#define KB_SEARCH_OPTIONS_INIT {.struct_size = sizeof(kb_search_options)}
#define KB_SYMBOLS_OPTIONS_INIT {.struct_size = sizeof(kb_symbols_options)}
#define KB_VERIFY_OPTIONS_INIT {.struct_size = sizeof(kb_verify_options)}
#define KB_WRITER_OPTIONS_INIT {.struct_size = sizeof(kb_writer_options)}
#define KB_INDEX_OPTIONS_INIT {.struct_size = sizeof(kb_index_options)}
#define KB_SEAL_OPTIONS_INIT {.struct_size = sizeof(kb_seal_options)}
#define KB_NEW_DOCUMENT_INIT {.struct_size = sizeof(kb_new_document)}
#define KB_HIT_INIT {.struct_size = sizeof(kb_hit)}
#define KB_HITS_SUMMARY_INIT {.struct_size = sizeof(kb_hits_summary)}
#define KB_DOCUMENT_INIT {.struct_size = sizeof(kb_document)}
#define KB_SECTION_INIT {.struct_size = sizeof(kb_section)}
#define KB_PART_INIT {.struct_size = sizeof(kb_part)}
#define KB_SYMBOL_INIT {.struct_size = sizeof(kb_symbol)}
#define KB_INFO_VIEW_INIT {.struct_size = sizeof(kb_info_view)}
#define KB_REPORT_VIEW_INIT {.struct_size = sizeof(kb_report_view)}
#endif

#endif  /* KB_H */
