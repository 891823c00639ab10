/* What a caller can get wrong in the arguments of a call, as far as it is no memory error of his own: every wrong
 * argument is refused with KB_INVALID_ARGUMENT, gives no result, and leaves the library as it was. */
#include "support.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static kb *file;
static kb_writer *writer;

static void open_sample(void) {
    write_sample(temp_path("a.kb"));
    file = opened(temp_path("a.kb"));
    writer = writer_of(temp_path("w.kb"));
}

static void close_sample(void) {
    close_writer(&writer);
    close_file(&file);
}

/* Refused, with a message that begins with the name of the argument, and with NULL as its result. */
#define REFUSED(argument, call) \
    (CHECK_STATUS(KB_INVALID_ARGUMENT, call), \
     CHECK(strncmp(last_message, argument ":", strlen(argument) + 1) == 0))
#define NO_RESULT(argument, out, call) \
    ((out) = POISON, REFUSED(argument, call), CHECK((out) == NULL), (out) = NULL)

static const kb_str NONE = {NULL, 0};
static const kb_str WORD = {"tides", 5};
static const kb_str NAME = {"docs/tides.md", 13};

static void every_handle_may_be_null(void) {
    kb_documents *documents = NULL;
    kb_sections *sections = NULL;
    kb_parts *parts = NULL;
    kb_hits *hits = NULL;
    kb_symbols *symbols = NULL;
    kb_text *text = NULL;
    kb_info *info = NULL;
    kb_problems *problems = NULL;
    kb_report *report = NULL;
    NO_RESULT("file", documents, kb_find_document(NULL, WORD, &documents, &err));
    NO_RESULT("file", documents, kb_list_documents(NULL, NONE, 0, &documents, &err));
    NO_RESULT("file", info, kb_get_info(NULL, &info, &err));
    NO_RESULT("file", sections, kb_get_outline(NULL, WORD, &sections, &err));
    NO_RESULT("file", parts, kb_get_parts(NULL, WORD, &parts, &err));
    NO_RESULT("file", hits, kb_search(NULL, WORD, NULL, &hits, &err));
    NO_RESULT("file", symbols, kb_find_symbols(NULL, NULL, &symbols, &err));
    NO_RESULT("file", text, kb_get_text(NULL, WORD, 0, 0, &text, &err));
    NO_RESULT("file", text, kb_get_section_text(NULL, WORD, WORD, &text, &err));
    NO_RESULT("file", problems, kb_verify(NULL, NULL, &problems, &err));
    const kb *none = NULL;
    NO_RESULT("files", hits, kb_search_files(&none, 1, WORD, NULL, &hits, &err));

    kb_new_document document = KB_NEW_DOCUMENT_INIT;
    document.path = KB_STR("a.md");
    kb_str path = KB_STR("/");
    REFUSED("writer", kb_writer_add(NULL, &document, &err));
    REFUSED("writer", kb_writer_remove(NULL, WORD, &err));
    REFUSED("writer", kb_writer_tag(NULL, WORD, &path, 1, NULL, 0, &err));
    REFUSED("writer", kb_writer_commit(NULL, NULL, NULL, &err));
    REFUSED("writer", kb_writer_rollback(NULL, &err));
    NO_RESULT("writer", report, kb_writer_index(NULL, &path, 1, NULL, &report, &err));
    NO_RESULT("writer", report, kb_writer_seal(NULL, NULL, &report, &err));

    kb_document one = KB_DOCUMENT_INIT;
    kb_hit hit = KB_HIT_INIT;
    kb_hits_summary summary = KB_HITS_SUMMARY_INIT;
    kb_info_view view = KB_INFO_VIEW_INIT;
    kb_section section = KB_SECTION_INIT;
    kb_part part = KB_PART_INIT;
    kb_symbol symbol = KB_SYMBOL_INIT;
    kb_report_view numbers = KB_REPORT_VIEW_INIT;
    REFUSED("documents", kb_documents_get(NULL, 0, &one, &err));
    REFUSED("hits", kb_hits_get(NULL, 0, &hit, &err));
    REFUSED("hits", kb_hits_about(NULL, &summary, &err));
    REFUSED("info", kb_info_get(NULL, &view, &err));
    REFUSED("sections", kb_sections_get(NULL, 0, &section, &err));
    REFUSED("parts", kb_parts_get(NULL, 0, &part, &err));
    REFUSED("symbols", kb_symbols_get(NULL, 0, &symbol, &err));
    REFUSED("report", kb_report_get(NULL, &numbers, &err));
}

static void functions_without_errors_answer_null_with_nothing(void) {
    CHECK_NUMBER(KB_OK, kb_error_status(NULL));
    CHECK_TEXT("", kb_error_code(NULL));
    CHECK_TEXT("", kb_error_message(NULL));
    CHECK_TEXT("", kb_error_hint(NULL));
    CHECK_TEXT("", kb_text_str(NULL));
    CHECK_TEXT("", kb_report_json(NULL));
    CHECK_TEXT("", kb_symbols_next(NULL));
    CHECK_TEXT("", kb_problems_get(NULL, 0));
    CHECK_NUMBER(0, kb_documents_len(NULL));
    CHECK_NUMBER(0, kb_hits_len(NULL));
    CHECK_NUMBER(0, kb_sections_len(NULL));
    CHECK_NUMBER(0, kb_parts_len(NULL));
    CHECK_NUMBER(0, kb_symbols_len(NULL));
    CHECK_NUMBER(0, kb_symbols_total(NULL));
    CHECK_NUMBER(0, kb_problems_len(NULL));
    CHECK_NUMBER(0, kb_writer_pending(NULL));
    size_t len = 7, dim = 7;
    CHECK(kb_vectors_data(NULL, &len, &dim) == NULL && len == 0 && dim == 0);
    CHECK(kb_vectors_data(NULL, NULL, NULL) == NULL);
}

/* `free(NULL)`, and free of a NULL, for all types. */
#define FREES_NULL(type, function) \
    do { \
        type *nothing = NULL; \
        function(&nothing); \
        function(NULL); \
        CHECK(nothing == NULL); \
    } while (0)

static void null_is_freed_and_closed_in_peace(void) {
    FREES_NULL(kb_error, kb_error_free);
    FREES_NULL(kb_text, kb_text_free);
    FREES_NULL(kb_documents, kb_documents_free);
    FREES_NULL(kb_vectors, kb_vectors_free);
    FREES_NULL(kb_hits, kb_hits_free);
    FREES_NULL(kb_info, kb_info_free);
    FREES_NULL(kb_sections, kb_sections_free);
    FREES_NULL(kb_parts, kb_parts_free);
    FREES_NULL(kb_symbols, kb_symbols_free);
    FREES_NULL(kb_problems, kb_problems_free);
    FREES_NULL(kb_report, kb_report_free);
    kb *no_file = NULL;
    kb_writer *no_writer = NULL;
    CHECK_STATUS(KB_OK, kb_close(&no_file, &err));
    CHECK_STATUS(KB_OK, kb_close(NULL, &err));
    CHECK_STATUS(KB_OK, kb_close(NULL, NULL));
    CHECK_STATUS(KB_OK, kb_writer_close(&no_writer, &err));
    CHECK_STATUS(KB_OK, kb_writer_close(NULL, &err));
    CHECK_STATUS(KB_OK, kb_writer_close(NULL, NULL));
}

static void closing_twice_by_one_variable_does_nothing(void) {
    open_sample();
    kb_hits *hits = NULL;
    CHECK_STATUS(KB_OK, kb_search(file, WORD, NULL, &hits, &err));
    kb_hits_free(&hits);
    CHECK(hits == NULL);
    kb_hits_free(&hits);
    close_sample();
    close_sample();
}

static void every_output_must_be_there(void) {
    open_sample();
    kb_str path = KB_STR("/");
    size_t len = 0;
    char *bytes = read_file(temp_path("a.kb"), &len);
    REFUSED("out", kb_open(temp("a.kb"), NULL, &err));
    REFUSED("out", kb_open_bytes((const uint8_t *)bytes, len, NULL, &err));
    REFUSED("out", kb_writer_open(temp("b.kb"), NULL, NULL, &err));
    REFUSED("out", kb_find_document(file, WORD, NULL, &err));
    REFUSED("out", kb_list_documents(file, NONE, 0, NULL, &err));
    REFUSED("out", kb_embed(&WORD, 1, 0, NULL, &err));
    REFUSED("out", kb_get_info(file, NULL, &err));
    REFUSED("out", kb_get_outline(file, WORD, NULL, &err));
    REFUSED("out", kb_get_parts(file, WORD, NULL, &err));
    REFUSED("out", kb_search(file, WORD, NULL, NULL, &err));
    REFUSED("out", kb_search_files((const kb *const *)&file, 1, WORD, NULL, NULL, &err));
    REFUSED("out", kb_find_symbols(file, NULL, NULL, &err));
    REFUSED("out", kb_get_text(file, WORD, 0, 0, NULL, &err));
    REFUSED("out", kb_get_section_text(file, WORD, WORD, NULL, &err));
    REFUSED("out", kb_verify(file, NULL, NULL, &err));
    REFUSED("out", kb_writer_index(writer, &path, 1, NULL, NULL, &err));
    REFUSED("out", kb_writer_seal(writer, NULL, NULL, &err));
    REFUSED("out", kb_call(file, writer, KB_STR("{\"call\":\"help\"}"), NULL, NULL, NULL, &err));
    kb_documents *documents = NULL;
    kb_hits *hits = NULL;
    kb_info *info = NULL;
    kb_sections *sections = NULL;
    kb_parts *parts = NULL;
    kb_symbols *symbols = NULL;
    kb_report *report = NULL;
    CHECK_STATUS(KB_OK, kb_find_document(file, NAME, &documents, &err));
    CHECK_STATUS(KB_OK, kb_search(file, WORD, NULL, &hits, &err));
    CHECK_STATUS(KB_OK, kb_get_info(file, &info, &err));
    CHECK_STATUS(KB_OK, kb_get_outline(file, NAME, &sections, &err));
    CHECK_STATUS(KB_OK, kb_get_parts(file, KB_STR("data/stations.csv"), &parts, &err));
    CHECK_STATUS(KB_OK, kb_find_symbols(file, NULL, &symbols, &err));
    CHECK_STATUS(KB_OK, kb_writer_seal(writer, NULL, &report, &err));
    REFUSED("out", kb_documents_get(documents, 0, NULL, &err));
    REFUSED("out", kb_hits_get(hits, 0, NULL, &err));
    REFUSED("out", kb_hits_about(hits, NULL, &err));
    REFUSED("out", kb_info_get(info, NULL, &err));
    REFUSED("out", kb_sections_get(sections, 0, NULL, &err));
    REFUSED("out", kb_parts_get(parts, 0, NULL, &err));
    REFUSED("out", kb_symbols_get(symbols, 0, NULL, &err));
    REFUSED("out", kb_report_get(report, NULL, &err));
    kb_documents_free(&documents);
    kb_hits_free(&hits);
    kb_info_free(&info);
    kb_sections_free(&sections);
    kb_parts_free(&parts);
    kb_symbols_free(&symbols);
    kb_report_free(&report);
    free(bytes);
    close_sample();
}

static void an_error_need_not_be_asked_for(void) {
    open_sample();
    kb_hits *hits = POISON;
    kb *other = POISON;
    CHECK_STATUS(KB_INVALID_ARGUMENT, kb_search(NULL, WORD, NULL, &hits, NULL));
    CHECK(hits == NULL);
    CHECK_STATUS(KB_PATH_NOT_FOUND, kb_open(temp("none.kb"), &other, NULL));
    CHECK(other == NULL);
    CHECK_STATUS(KB_DOCUMENT_NOT_FOUND, kb_writer_remove(writer, WORD, NULL));
    close_sample();
}

/* Calls `with` for every text of the interface; `argument` is the name that the message must begin with. */
static void each_text(kb_str wrong, bool also_paths) {
    kb_documents *documents;
    kb_sections *sections;
    kb_parts *parts;
    kb_hits *hits;
    kb_symbols *symbols;
    kb_text *text;
    kb_vectors *vectors;
    kb_report *report;
    NO_RESULT("name", documents, kb_find_document(file, wrong, &documents, &err));
    NO_RESULT("after", documents, kb_list_documents(file, wrong, 0, &documents, &err));
    NO_RESULT("name", sections, kb_get_outline(file, wrong, &sections, &err));
    NO_RESULT("name", parts, kb_get_parts(file, wrong, &parts, &err));
    NO_RESULT("name", text, kb_get_text(file, wrong, 0, 0, &text, &err));
    NO_RESULT("name", text, kb_get_section_text(file, wrong, WORD, &text, &err));
    NO_RESULT("section", text, kb_get_section_text(file, WORD, wrong, &text, &err));
    NO_RESULT("query", hits, kb_search(file, wrong, NULL, &hits, &err));
    NO_RESULT("query", hits, kb_search_files((const kb *const *)&file, 1, wrong, NULL, &hits, &err));
    NO_RESULT("request", text, kb_call(file, writer, wrong, NULL, NULL, &text, &err));
    kb_str second[] = {WORD, wrong};
    NO_RESULT("texts", vectors, kb_embed(second, 2, 0, &vectors, &err));
    REFUSED("name", kb_writer_remove(writer, wrong, &err));
    REFUSED("name", kb_writer_tag(writer, wrong, &WORD, 1, NULL, 0, &err));
    REFUSED("add", kb_writer_tag(writer, WORD, second, 2, NULL, 0, &err));
    REFUSED("remove", kb_writer_tag(writer, WORD, NULL, 0, second, 2, &err));

    static const char *const LISTS[] = {"paths", "folders", "types", "languages", "tags", "symbol_names"};
    for (size_t at = 0; at < COUNT(LISTS); at++) {
        kb_search_options options = KB_SEARCH_OPTIONS_INIT;
        const kb_str **list[] = {&options.paths,     &options.folders, &options.types,
                                 &options.languages, &options.tags,    &options.symbol_names};
        size_t *len[] = {&options.paths_len,     &options.folders_len, &options.types_len,
                         &options.languages_len, &options.tags_len,    &options.symbol_names_len};
        *list[at] = second;
        *len[at] = 2;
        CHECK_STATUS(KB_INVALID_ARGUMENT, kb_search(file, WORD, &options, &hits, &err));
        CHECK(strncmp(last_message, LISTS[at], strlen(LISTS[at])) == 0);
    }
    kb_search_options options = KB_SEARCH_OPTIONS_INIT;
    options.cursor = wrong;
    NO_RESULT("cursor", hits, kb_search(file, WORD, &options, &hits, &err));
    static const char *const TEXTS[] = {"name", "uses", "used_by", "cursor", "languages", "paths"};
    for (size_t at = 0; at < COUNT(TEXTS); at++) {
        kb_symbols_options wanted = KB_SYMBOLS_OPTIONS_INIT;
        kb_str *texts[] = {&wanted.name, &wanted.uses, &wanted.used_by, &wanted.cursor};
        if (at < 4) {
            *texts[at] = wrong;
        } else {
            *(at == 4 ? &wanted.languages : &wanted.paths) = second;
            *(at == 4 ? &wanted.languages_len : &wanted.paths_len) = 2;
        }
        CHECK_STATUS(KB_INVALID_ARGUMENT, kb_find_symbols(file, &wanted, &symbols, &err));
        CHECK(strncmp(last_message, TEXTS[at], strlen(TEXTS[at])) == 0);
    }
    kb_pair pairs[] = {{WORD, wrong}, {wrong, WORD}};
    for (int at = 0; at < 5; at++) {
        static const char *const NAMES[] = {"path", "title", "tags", "metadata", "metadata"};
        kb_new_document document = KB_NEW_DOCUMENT_INIT;
        document.path = at == 0 ? wrong : WORD;
        document.title = at == 1 ? wrong : NONE;
        document.tags = second;
        document.tags_len = at == 2 ? 2 : 0;
        document.metadata = at == 4 ? &pairs[1] : pairs;
        document.metadata_len = at >= 3 ? 1 : 0;
        CHECK_STATUS(KB_INVALID_ARGUMENT, kb_writer_add(writer, &document, &err));
        CHECK(strncmp(last_message, NAMES[at], strlen(NAMES[at])) == 0);
    }
    kb_index_options index = KB_INDEX_OPTIONS_INIT;
    index.root = wrong;
    kb_str folder = KB_STR("/nowhere");
    NO_RESULT("root", report, kb_writer_index(writer, &folder, 1, &index, &report, &err));
    index.root = (kb_str){0};
    index.include = &wrong;
    index.include_len = 1;
    NO_RESULT("include", report, kb_writer_index(writer, &folder, 1, &index, &report, &err));
    index.include = NULL;
    NO_RESULT("include", report, kb_writer_index(writer, &folder, 1, &index, &report, &err));
    index.include_len = 0;
    index.exclude = &wrong;
    index.exclude_len = 1;
    NO_RESULT("exclude", report, kb_writer_index(writer, &folder, 1, &index, &report, &err));
    if (also_paths) {
        kb *other;
        kb_writer *another;
        NO_RESULT("path", other, kb_open(wrong, &other, &err));
        NO_RESULT("path", another, kb_writer_open(wrong, NULL, &another, &err));
        kb_writer_options with = KB_WRITER_OPTIONS_INIT;
        with.worker = wrong;
        NO_RESULT("worker", another, kb_writer_open(temp("n.kb"), &with, &another, &err));
        kb_seal_options seal = KB_SEAL_OPTIONS_INIT;
        seal.output = wrong;
        NO_RESULT("output", report, kb_writer_seal(writer, &seal, &report, &err));
        NO_RESULT("paths", report, kb_writer_index(writer, &wrong, 1, NULL, &report, &err));
    }
    CHECK_NUMBER(0, kb_writer_pending(writer));
}

static void a_length_without_bytes_is_refused(void) {
    open_sample();
    each_text((kb_str){NULL, 1}, true);
    each_text((kb_str){NULL, SIZE_MAX}, true);
    close_sample();
}

static void a_length_beyond_memory_is_refused(void) {
    open_sample();
    each_text((kb_str){"x", (size_t)PTRDIFF_MAX + 1}, true);
    each_text((kb_str){"x", SIZE_MAX}, true);
    close_sample();
}

static void what_is_not_utf8_is_refused(void) {
    open_sample();
    each_text(KB_STR("a\xff"), false);
    CHECK(strstr(last_message, "byte 1") != NULL);
    each_text(KB_STR("\xc3"), false);
    each_text(KB_STR("\xed\xa0\x80"), false);
    each_text(KB_STR("\xf4\x90\x80\x80"), false);
    close_sample();
}

static void lengths_of_lists_and_bytes_are_checked(void) {
    open_sample();
    size_t sizes[] = {1, SIZE_MAX, (size_t)PTRDIFF_MAX, SIZE_MAX / sizeof(kb_str), SIZE_MAX / sizeof(kb_str) + 1};
    kb_hits *hits;
    kb_vectors *vectors;
    kb_report *report;
    kb *other;
    for (size_t at = 0; at < COUNT(sizes); at++) {
        /* An array that is there is only wrong where it would be larger than memory. */
        for (int is_there = 0; is_there < (at == 0 ? 1 : 2); is_there++) {
            const kb_str *texts = is_there ? &WORD : NULL;
            size_t len = sizes[at];
            NO_RESULT("texts", vectors, kb_embed(texts, len, 0, &vectors, &err));
            REFUSED("add", kb_writer_tag(writer, WORD, texts, len, NULL, 0, &err));
            REFUSED("remove", kb_writer_tag(writer, WORD, NULL, 0, texts, len, &err));
            NO_RESULT("paths", report, kb_writer_index(writer, texts, len, NULL, &report, &err));
            kb_search_options options = KB_SEARCH_OPTIONS_INIT;
            options.tags = texts;
            options.tags_len = len;
            NO_RESULT("tags", hits, kb_search(file, WORD, &options, &hits, &err));
            kb_new_document document = KB_NEW_DOCUMENT_INIT;
            document.path = KB_STR("a.md");
            document.metadata = is_there ? (const kb_pair *)&WORD : NULL;
            document.metadata_len = len;
            REFUSED("metadata", kb_writer_add(writer, &document, &err));
            if (!is_there || len == SIZE_MAX) {
                const kb *const *files = is_there ? (const kb *const *)&file : NULL;
                NO_RESULT("files", hits, kb_search_files(files, len, WORD, NULL, &hits, &err));
                const uint8_t *data = is_there ? (const uint8_t *)"x" : NULL;
                NO_RESULT("data", other, kb_open_bytes(data, len, &other, &err));
                document.metadata_len = 0;
                document.data = data;
                document.data_len = len;
                REFUSED("data", kb_writer_add(writer, &document, &err));
            }
        }
    }
    NO_RESULT("data", other, kb_open_bytes(NULL, 0, &other, &err));
    CHECK_STATUS(KB_NOT_A_KB, kb_open_bytes((const uint8_t *)"", 0, &other, &err));
    CHECK_STATUS(KB_NOT_A_KB, kb_open_bytes((const uint8_t *)"something else", 14, &other, &err));
    NO_RESULT("paths", report, kb_writer_index(writer, NULL, 0, NULL, &report, &err));
    close_sample();
}

static void paths_that_are_none_are_refused(void) {
    kb *other;
    kb_writer *another;
    NO_RESULT("path", other, kb_open(NONE, &other, &err));
    NO_RESULT("path", other, kb_open(KB_STR(""), &other, &err));
    NO_RESULT("path", other, kb_open(KB_STR("a\0b.kb"), &other, &err));
    NO_RESULT("path", another, kb_writer_open(NONE, NULL, &another, &err));
    NO_RESULT("path", another, kb_writer_open(KB_STR(""), NULL, &another, &err));
    NO_RESULT("path", another, kb_writer_open(KB_STR("a\0b.kb"), NULL, &another, &err));
    CHECK_STATUS(KB_PATH_NOT_FOUND, kb_open(temp("none.kb"), &other, &err));
    kb_writer_options options = KB_WRITER_OPTIONS_INIT;
    options.mode = KB_WRITER_MODE_OPEN;
    CHECK_STATUS(KB_PATH_NOT_FOUND, kb_writer_open(temp("none.kb"), &options, &another, &err));
    write_file(temp_path("text.kb"), "no knowledge base at all, but a text", 36);
    CHECK_STATUS(KB_NOT_A_KB, kb_open(temp("text.kb"), &other, &err));
    CHECK_STATUS(KB_NOT_A_KB, kb_writer_open(temp("text.kb"), NULL, &another, &err));
    make_folder(temp_path("folder.kb"));
    CHECK(kb_open(temp("folder.kb"), &other, NULL) < 0 && other == NULL);
    /* On Unix a path need not be UTF-8. */
    write_sample(temp_path("caf\xe9.kb"));
    other = opened(temp_path("caf\xe9.kb"));
    CHECK_NUMBER(SAMPLE_DOCUMENTS, documents_in(other));
    close_file(&other);
    open_sample();
    static const char *const PATHS[] = {"", "/", "/etc/passwd", "../a.md", "a/../../b.md", "a//b.md", "./a.md", "a/"};
    for (size_t at = 0; at < COUNT(PATHS); at++) {
        kb_new_document document = KB_NEW_DOCUMENT_INIT;
        document.path = kb_str_from(PATHS[at]);
        CHECK_STATUS(KB_INVALID_ARGUMENT, kb_writer_add(writer, &document, &err));
    }
    kb_new_document document = KB_NEW_DOCUMENT_INIT;
    document.path = KB_STR("a\0b.md");
    CHECK_STATUS(KB_INVALID_ARGUMENT, kb_writer_add(writer, &document, &err));
    kb_report *report = NULL;
    kb_seal_options seal = KB_SEAL_OPTIONS_INIT;
    seal.output = KB_STR("a\0b.kb");
    NO_RESULT("output", report, kb_writer_seal(writer, &seal, &report, &err));
    seal.output = KB_STR("");
    NO_RESULT("output", report, kb_writer_seal(writer, &seal, &report, &err));
    kb_str path = KB_STR("a\0b");
    NO_RESULT("paths", report, kb_writer_index(writer, &path, 1, NULL, &report, &err));
    path = temp("nothing-here");
    CHECK_STATUS(KB_PATH_NOT_FOUND, kb_writer_index(writer, &path, 1, NULL, &report, &err));
    close_sample();
}

/* Every struct that begins with its size: in front of the caller's struct lies a larger block, so that a size beyond it
 * can be tried. */
typedef kb_status (*sized_call)(void *options);
static kb_hits *made_hits;
static kb_documents *made_documents;
static kb_info *made_info;
static kb_sections *made_sections;
static kb_parts *made_parts;
static kb_symbols *made_symbols;
static kb_report *made_report;

#define OPTIONS_CALL(name, type, free_function, call) \
    static kb_status name(void *options) { \
        type *out = POISON; \
        kb_status status = call; \
        CHECK((status == KB_OK) == (out != NULL)); \
        free_function(&out); \
        return status; \
    }
static void close_quietly(kb_writer **it) { kb_writer_close(it, NULL); }
OPTIONS_CALL(sized_search, kb_hits, kb_hits_free, kb_search(file, WORD, options, &out, &err))
OPTIONS_CALL(sized_symbols, kb_symbols, kb_symbols_free, kb_find_symbols(file, options, &out, &err))
OPTIONS_CALL(sized_verify, kb_problems, kb_problems_free, kb_verify(file, options, &out, &err))
OPTIONS_CALL(sized_seal, kb_report, kb_report_free, kb_writer_seal(writer, options, &out, &err))
OPTIONS_CALL(sized_open, kb_writer, close_quietly, kb_writer_open(temp("n.kb"), options, &out, &err))
static kb_status sized_index(void *options) {
    kb_report *out = NULL;
    kb_str path = temp("folder");
    kb_status status = kb_writer_index(writer, &path, 1, options, &out, &err);
    kb_report_free(&out);
    return status;
}
static kb_status sized_hit(void *out) { return kb_hits_get(made_hits, 0, out, &err); }
static kb_status sized_summary(void *out) { return kb_hits_about(made_hits, out, &err); }
static kb_status sized_document(void *out) { return kb_documents_get(made_documents, 0, out, &err); }
static kb_status sized_info(void *out) { return kb_info_get(made_info, out, &err); }
static kb_status sized_section(void *out) { return kb_sections_get(made_sections, 0, out, &err); }
static kb_status sized_part(void *out) { return kb_parts_get(made_parts, 0, out, &err); }
static kb_status sized_symbol(void *out) { return kb_symbols_get(made_symbols, 0, out, &err); }
static kb_status sized_report(void *out) { return kb_report_get(made_report, out, &err); }

static void sizes_of_structs_are_checked(void) {
    open_sample();
    make_folder(temp_path("folder"));
    write_file(temp_path("folder/a.md"), "# A\n\nwords\n", 11);
    CHECK_STATUS(KB_OK, kb_search(file, WORD, NULL, &made_hits, &err));
    CHECK_STATUS(KB_OK, kb_find_document(file, NAME, &made_documents, &err));
    CHECK_STATUS(KB_OK, kb_get_info(file, &made_info, &err));
    CHECK_STATUS(KB_OK, kb_get_outline(file, NAME, &made_sections, &err));
    CHECK_STATUS(KB_OK, kb_get_parts(file, KB_STR("data/stations.csv"), &made_parts, &err));
    CHECK_STATUS(KB_OK, kb_find_symbols(file, NULL, &made_symbols, &err));
    CHECK_STATUS(KB_OK, kb_writer_seal(writer, NULL, &made_report, &err));
    const struct {
        sized_call call;
        size_t size;
        bool is_view;
    } calls[] = {
        {sized_search, sizeof(kb_search_options), false}, {sized_symbols, sizeof(kb_symbols_options), false},
        {sized_verify, sizeof(kb_verify_options), false}, {sized_seal, sizeof(kb_seal_options), false},
        {sized_open, sizeof(kb_writer_options), false},   {sized_index, sizeof(kb_index_options), false},
        {sized_hit, sizeof(kb_hit), true},                {sized_summary, sizeof(kb_hits_summary), true},
        {sized_document, sizeof(kb_document), true},      {sized_info, sizeof(kb_info_view), true},
        {sized_section, sizeof(kb_section), true},        {sized_part, sizeof(kb_part), true},
        {sized_symbol, sizeof(kb_symbol), true},          {sized_report, sizeof(kb_report_view), true},
    };
    const size_t wrong[] = {0, 1, 7, 4097, 1 << 20, PTRDIFF_MAX, SIZE_MAX};
    for (size_t at = 0; at < COUNT(calls); at++) {
        union {
            size_t struct_size;
            unsigned char bytes[4096];
        } block;
        for (size_t it = 0; it < COUNT(wrong); it++) {
            memset(&block, 0, sizeof block);
            block.struct_size = wrong[it];
            CHECK_STATUS(KB_INVALID_ARGUMENT, calls[at].call(&block));
            CHECK(strstr(last_message, "struct_size") != NULL);
        }
        /* A program of an older header, one of a newer one that sets nothing new, and the largest that may be. Behind a
         * view of the size that the caller says nothing is written; beyond what the library knows it becomes 0. */
        const size_t right[] = {sizeof(size_t), sizeof(size_t) + 1, calls[at].size - 1, calls[at].size,
                                calls[at].size + 1, calls[at].size + 64, 4096};
        for (size_t it = 0; it < COUNT(right); it++) {
            memset(&block, calls[at].is_view ? 0xAA : 0, sizeof block);
            block.struct_size = right[it];
            CHECK_STATUS(KB_OK, calls[at].call(&block));
            CHECK_NUMBER(right[it], block.struct_size);
            for (size_t byte = calls[at].size; calls[at].is_view && byte < sizeof block; byte++) {
                if (!CHECK(block.bytes[byte] == (byte < right[it] ? 0 : 0xAA))) {
                    break;
                }
            }
            if (calls[at].is_view && right[it] < sizeof block) {
                CHECK_NUMBER(0xAA, block.bytes[right[it]]);
            }
        }
        if (!calls[at].is_view) {
            memset(&block, 0, sizeof block);
            block.struct_size = calls[at].size + 64;
            block.bytes[calls[at].size + 63] = 1;
            CHECK_STATUS(KB_INVALID_ARGUMENT, calls[at].call(&block));
            CHECK(strstr(last_message, "newer") != NULL);
        }
    }
    kb_hits_free(&made_hits);
    kb_documents_free(&made_documents);
    kb_info_free(&made_info);
    kb_sections_free(&made_sections);
    kb_parts_free(&made_parts);
    kb_symbols_free(&made_symbols);
    kb_report_free(&made_report);
    close_sample();
}

static const test_case TESTS[] = {
    TEST(every_handle_may_be_null),
    TEST(functions_without_errors_answer_null_with_nothing),
    TEST(null_is_freed_and_closed_in_peace),
    TEST(closing_twice_by_one_variable_does_nothing),
    TEST(every_output_must_be_there),
    TEST(an_error_need_not_be_asked_for),
    TEST(a_length_without_bytes_is_refused),
    TEST(a_length_beyond_memory_is_refused),
    TEST(what_is_not_utf8_is_refused),
    TEST(lengths_of_lists_and_bytes_are_checked),
    TEST(paths_that_are_none_are_refused),
    TEST(sizes_of_structs_are_checked),
};

int main(int argc, char **argv) {
    return RUN(TESTS);
}
