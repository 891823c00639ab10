/* The answers of tests/golden/expected.json, which every front gives, from the C functions; what they do not tell, from
 * kb_call. */
#include "json.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Scores are compared to four digits: sums of floats differ a little between machines. */
#define TOLERANCE 1.01e-4

static kb *file;
static const char *place = "";

static json *expectations(void) {
    char path[2048];
    size_t len = 0;
    snprintf(path, sizeof path, "%s/expected.json", golden_folder);
    char *text = read_file(path, &len);
    json *all = text ? json_parse(text, len) : NULL;
    CHECK(json_len(all) > 0);
    free(text);
    return all;
}

/* Opens each golden file, from its path or from its bytes, and compares. */
static void each_golden(bool from_bytes, void (*compare)(const json *expected)) {
    json *all = expectations();
    const json *files = json_get(all, "info");
    CHECK(json_len(files) > 0);
    for (size_t at = 0; at < json_len(files); at++) {
        char path[2048];
        snprintf(path, sizeof path, "%s/%s", golden_folder, files->keys[at]);
        if (from_bytes) {
            size_t len = 0;
            char *bytes = read_file(path, &len);
            CHECK_STATUS(KB_OK, kb_open_bytes((const uint8_t *)bytes, len, &file, &err));
            free(bytes);
        } else {
            file = opened(path);
        }
        place = files->keys[at];
        compare(all);
        close_file(&file);
    }
    json_free(all);
}

static bool is_same(kb_str text, const json *expected) {
    kb_str wanted = json_text(expected);
    bool is_good = expected && text.len == wanted.len && memcmp(text.ptr, wanted.ptr, text.len) == 0;
    if (!is_good) {
        fprintf(stderr, "  %s: \"%.*s\", not \"%.*s\"\n", place, (int)text.len, text.ptr, (int)wanted.len, wanted.ptr);
    }
    return is_good;
}

static bool is_number(double number, const json *expected) {
    bool is_good = expected && fabs(number - json_number(expected)) <= 1e-9;
    if (!is_good) {
        fprintf(stderr, "  %s: %.17g, not %.17g\n", place, number, json_number(expected));
    }
    return is_good;
}

/* A score, which is NaN where there is none. */
static bool is_score(float score, const json *expected) {
    bool is_good = json_is_null(expected) ? isnan(score) : fabs((double)score - json_number(expected)) <= TOLERANCE;
    if (!is_good) {
        fprintf(stderr, "  %s: score %g, not %g\n", place, (double)score, json_number(expected));
    }
    return is_good;
}

/* Whether `told` has all of `expected`; it may say more. */
static bool says(const json *told, const json *expected) {
    if (!told || told->kind != expected->kind) {
        return false;
    }
    bool is_good = expected->kind != JSON_ARRAY || told->len == expected->len;
    for (size_t at = 0; is_good && at < expected->len; at++) {
        const json *part = expected->kind == JSON_OBJECT ? json_get(told, expected->keys[at]) : json_at(told, at);
        is_good = says(part, &expected->items[at]);
        if (!is_good) {
            fprintf(stderr, "  %s: differs: %s %zu\n", place, expected->kind == JSON_OBJECT ? expected->keys[at] : "", at);
        }
    }
    if (expected->kind == JSON_STRING) {
        return is_same(json_text(told), expected);
    }
    return is_good && fabs(told->number - expected->number) <= 1e-9;
}

static json *answer(const char *format, kb_str name, kb_str second) {
    char request[4096];
    snprintf(request, sizeof request, format, (int)name.len, name.ptr, (int)second.len, second.ptr);
    kb_text *text = NULL;
    CHECK_STATUS(KB_OK, kb_call(file, NULL, kb_str_from(request), NULL, NULL, &text, &err));
    kb_str found = kb_text_str(text);
    json *value = json_parse(found.ptr, found.len);
    CHECK(value != NULL);
    kb_text_free(&text);
    return value;
}

static void compare_info(const json *expected) {
    const json *wanted = json_get(json_get(expected, "info"), place);
    kb_info *info = NULL;
    kb_info_view view = KB_INFO_VIEW_INIT;
    CHECK_STATUS(KB_OK, kb_get_info(file, &info, &err));
    CHECK_STATUS(KB_OK, kb_info_get(info, &view, &err));
    CHECK(is_same(view.uuid, json_get(wanted, "uuid")));
    CHECK(is_same(view.format, json_get(wanted, "format")));
    CHECK(is_same(view.model, json_get(wanted, "model")));
    CHECK(is_number(view.dim, json_get(wanted, "dim")));
    CHECK(is_number((double)view.documents, json_get(wanted, "documents")));
    CHECK(is_number((double)view.chunks, json_get(wanted, "chunks")));
    CHECK(is_number((double)view.text_bytes, json_get(wanted, "text_bytes")));
    CHECK(is_number((double)view.file_bytes, json_get(wanted, "file_bytes")));
    CHECK(is_number((double)view.created_ms, json_get(wanted, "created_ms")));
    CHECK(is_number((double)view.updated_ms, json_get(wanted, "updated_ms")));
    kb_info_free(&info);
    json *told = answer("{\"call\":\"info\"}", KB_STR(""), KB_STR(""));
    CHECK(says(told, wanted));
    json_free(told);
}

static void compare_document(const json *wanted) {
    static const char *const CLASSES[] = {"", "code", "doc", "", "data"};
    kb_str name = json_text(json_get(wanted, "document"));
    kb_documents *documents = NULL;
    kb_document view = KB_DOCUMENT_INIT;
    CHECK_STATUS(KB_OK, kb_find_document(file, name, &documents, &err));
    CHECK_STATUS(KB_OK, kb_documents_get(documents, 0, &view, &err));
    CHECK(is_same(view.path, json_get(wanted, "document")));
    CHECK(is_same(view.title, json_get(wanted, "title")));
    CHECK(is_same(view.handle, json_get(wanted, "handle")));
    CHECK(is_same(view.file_type, json_get(wanted, "file_type")));
    CHECK(is_same(view.language, json_get(wanted, "language")));
    CHECK(is_same(kb_str_from(CLASSES[view.document_class % 5]), json_get(wanted, "class")));
    CHECK(is_number((double)view.size_bytes, json_get(wanted, "size_bytes")));
    CHECK(is_number((double)view.text_bytes, json_get(wanted, "text_bytes")));
    CHECK(is_number(view.lines, json_get(wanted, "lines")));
    CHECK(is_number(view.chunks, json_get(wanted, "chunks")));
    CHECK(is_number((double)view.modified_ms, json_get(wanted, "modified_ms")));
    CHECK(is_number((double)view.added_ms, json_get(wanted, "added_ms")));
    char hash[65];
    for (size_t at = 0; at < sizeof view.hash; at++) {
        snprintf(hash + 2 * at, 3, "%02x", view.hash[at]);
    }
    CHECK(is_same(kb_str_from(hash), json_get(wanted, "hash")));
    const json *tags = json_get(wanted, "tags"), *metadata = json_get(wanted, "metadata");
    CHECK_NUMBER(json_len(tags), view.tags_len);
    for (size_t at = 0; at < view.tags_len; at++) {
        CHECK(is_same(view.tags[at], json_at(tags, at)));
    }
    CHECK_NUMBER(json_len(metadata), view.metadata_len);
    for (size_t at = 0; at < view.metadata_len; at++) {
        CHECK(is_same(view.metadata[at].key, json_at(json_at(metadata, at), 0)));
        CHECK(is_same(view.metadata[at].value, json_at(json_at(metadata, at), 1)));
    }
    kb_documents_free(&documents);
    kb_text *text = NULL;
    CHECK_STATUS(KB_OK, kb_get_text(file, name, 2, 3, &text, &err));
    CHECK(is_same(kb_text_str(text), json_get(wanted, "lines_2_to_3")));
    kb_text_free(&text);
    const json *first = json_at(json_get(wanted, "parts"), 0);
    if (!equals(json_text(json_get(first, "kind")), "sheet")) {
        /* Of a sheet the text shows what a reader sees; what is stored has the values, too. */
        CHECK_STATUS(KB_OK, kb_get_text(file, name, 0, 0, &text, &err));
        CHECK(is_number((double)kb_text_str(text).len, json_get(wanted, "text_bytes")));
        kb_text_free(&text);
    }
    const json *outline = json_get(wanted, "outline");
    kb_sections *sections = NULL;
    CHECK_STATUS(KB_OK, kb_get_outline(file, name, &sections, &err));
    CHECK_NUMBER(json_len(outline), kb_sections_len(sections));
    for (size_t at = 0; at < kb_sections_len(sections); at++) {
        kb_section section = KB_SECTION_INIT;
        CHECK_STATUS(KB_OK, kb_sections_get(sections, at, &section, &err));
        CHECK(is_number(section.level, json_get(json_at(outline, at), "level")));
        CHECK(is_same(section.title, json_get(json_at(outline, at), "title")));
        CHECK(is_number(section.start_byte, json_get(json_at(outline, at), "start_byte")));
    }
    kb_sections_free(&sections);
}

static void compare_documents(const json *expected) {
    const json *documents = json_get(expected, "documents");
    CHECK_NUMBER(json_len(documents), documents_in(file));
    for (size_t at = 0; at < json_len(documents); at++) {
        compare_document(json_at(documents, at));
    }
}

/* The cells of a sheet as they are shown: a formula whose value is not known shows itself. */
static void compare_cells(kb_str name, const json *part) {
    bool is_named = json_text(json_get(part, "name")).len > 0;
    json *told = answer(is_named ? "{\"call\":\"sheet\",\"document\":\"%.*s\",\"sheet\":\"%.*s\"}"
                                 : "{\"call\":\"sheet\",\"document\":\"%.*s\"}",
                        name, json_text(json_get(part, "name")));
    const json *rows = json_get(told, "rows"), *wanted = json_get(part, "cells");
    CHECK_NUMBER(json_len(wanted), json_len(rows));
    for (size_t row = 0; row < json_len(rows); row++) {
        const json *cells = json_get(json_at(rows, row), "cells"), *expected = json_at(json_at(wanted, row), 1);
        size_t shown = 0;
        CHECK(is_number(json_number(json_get(json_at(rows, row), "row")), json_at(json_at(wanted, row), 0)));
        for (size_t cell = 0; cell < json_len(expected); cell++) {
            const json *one = json_at(expected, cell), *text = json_at(one, 1);
            if (json_text(text).len == 0 && equals(json_text(json_at(one, 2)), "formula")) {
                text = json_at(one, 3);
            }
            if (json_text(text).len > 0) {
                while (shown < json_len(cells) && json_text(json_at(cells, shown)).len == 0) {
                    shown++;
                }
                CHECK(is_same(json_text(json_at(cells, shown)), text));
                shown++;
            }
        }
    }
    json_free(told);
}

static void compare_parts(const json *expected) {
    const json *documents = json_get(expected, "documents");
    for (size_t at = 0; at < json_len(documents); at++) {
        const json *wanted = json_get(json_at(documents, at), "parts");
        kb_str name = json_text(json_get(json_at(documents, at), "document"));
        kb_parts *parts = NULL;
        if (json_len(wanted) == 0) {
            continue;
        }
        CHECK_STATUS(KB_OK, kb_get_parts(file, name, &parts, &err));
        CHECK_NUMBER(json_len(wanted), kb_parts_len(parts));
        bool has_pages = equals(json_text(json_get(json_at(wanted, 0), "kind")), "page");
        json *pages = has_pages ? answer("{\"call\":\"pages\",\"document\":\"%.*s\"}", name, KB_STR("")) : NULL;
        for (size_t it = 0; it < kb_parts_len(parts); it++) {
            const json *part = json_at(wanted, it), *page = json_at(json_get(pages, "pages"), it);
            kb_str kind = json_text(json_get(part, "kind"));
            kb_part view = KB_PART_INIT;
            CHECK_STATUS(KB_OK, kb_parts_get(parts, it, &view, &err));
            CHECK(is_number(view.number, json_get(part, "number")));
            CHECK(is_number(view.start_byte, json_get(part, "start_byte")));
            CHECK(is_number(view.end_byte, json_get(part, "end_byte")));
            CHECK(is_number(view.first_line, json_get(part, "start_line")));
            CHECK(is_number(view.last_line, json_get(part, "end_line")));
            if (has_pages) {
                CHECK_NUMBER(KB_PART_KIND_PAGE, view.kind);
                CHECK(is_same(view.name, json_get(part, "label")));
                CHECK(is_same(json_text(json_get(page, "source")), json_get(part, "source")));
            } else if (equals(kind, "slide")) {
                CHECK_NUMBER(KB_PART_KIND_SLIDE, view.kind);
                CHECK(is_same(view.name, json_get(part, "title")));
                CHECK(is_number(view.is_hidden != 0, json_get(part, "hidden")));
            } else {
                CHECK_NUMBER(KB_PART_KIND_SHEET, view.kind);
                CHECK(is_same(view.name, json_get(part, "name")));
                CHECK(is_number(view.rows, json_get(part, "rows")));
                CHECK(is_number(view.columns, json_get(part, "columns")));
                const json *header = json_get(part, "header_row");
                CHECK(view.header_row == (json_is_null(header) ? 0 : (uint32_t)json_number(header)));
                CHECK(is_number(view.is_hidden != 0, json_get(part, "hidden")));
                compare_cells(name, part);
            }
        }
        json_free(pages);
        kb_parts_free(&parts);
    }
}

/* Texts of a filter; at most eight. */
static const kb_str *texts_of(const json *wanted, const char *name, kb_str *into, size_t *len) {
    *len = json_len(json_get(wanted, name));
    for (size_t at = 0; at < *len && at < 8; at++) {
        into[at] = json_text(json_at(json_get(wanted, name), at));
    }
    return *len ? into : NULL;
}

static void compare_hit(const kb_hits *hits, size_t at, const json *wanted) {
    kb_hit hit = KB_HIT_INIT;
    CHECK_STATUS(KB_OK, kb_hits_get(hits, at, &hit, &err));
    char section[1024] = "";
    const json *path = json_get(wanted, "section");
    for (size_t it = 0; it < json_len(path); it++) {
        size_t len = strlen(section);
        snprintf(section + len, sizeof section - len, "%s%s", it ? " > " : "", json_text(json_at(path, it)).ptr);
    }
    CHECK(is_same(hit.document, json_get(wanted, "document")));
    CHECK_TEXT(section, hit.section);
    CHECK(is_number(hit.start_byte, json_get(wanted, "start_byte")));
    CHECK(is_number(hit.end_byte, json_get(wanted, "end_byte")));
    CHECK(is_number(hit.first_line, json_get(wanted, "start_line")));
    CHECK(is_number(hit.last_line, json_get(wanted, "end_line")));
    CHECK(is_score(hit.score, json_get(wanted, "score")));
    CHECK(is_score(hit.keyword_score, json_get(wanted, "keyword_score")));
    CHECK(is_score(hit.vector_score, json_get(wanted, "vector_score")));
}

static void compare_searches(const json *expected) {
    const json *searches = json_get(expected, "searches");
    static const char *const MODES[] = {"hybrid", "semantic", "keyword", "title"};
    static const char *const CLASSES[] = {"code", "doc", "data"};
    CHECK(json_len(searches) > 5);
    for (size_t at = 0; at < json_len(searches); at++) {
        const json *wanted = json_at(searches, at), *error = json_get(wanted, "error");
        kb_search_options options = KB_SEARCH_OPTIONS_INIT;
        kb_str texts[4][8];
        options.k = (uint32_t)json_number(json_get(wanted, "k"));
        for (int32_t mode = 0; mode < 4; mode++) {
            options.mode = equals(json_text(json_get(wanted, "mode")), MODES[mode]) ? mode : options.mode;
        }
        options.paths = texts_of(wanted, "paths", texts[0], &options.paths_len);
        options.types = texts_of(wanted, "types", texts[1], &options.types_len);
        options.languages = texts_of(wanted, "languages", texts[2], &options.languages_len);
        options.tags = texts_of(wanted, "tags", texts[3], &options.tags_len);
        for (size_t it = 0; it < json_len(json_get(wanted, "classes")); it++) {
            for (uint32_t bit = 0; bit < 3; bit++) {
                bool is_it = equals(json_text(json_at(json_get(wanted, "classes"), it)), CLASSES[bit]);
                options.classes |= is_it ? 1u << bit : 0;
            }
        }
        kb_hits *hits = NULL;
        kb_status status = kb_search(file, json_text(json_get(wanted, "query")), &options, &hits, NULL);
        if (error) {
            CHECK(is_same(kb_str_from(kb_status_name(status)), error));
            CHECK(hits == NULL);
            continue;
        }
        CHECK_NUMBER(KB_OK, status);
        kb_hits_summary about = KB_HITS_SUMMARY_INIT;
        CHECK_STATUS(KB_OK, kb_hits_about(hits, &about, &err));
        CHECK(is_number((double)about.searched_chunks, json_get(wanted, "searched_chunks")));
        const json *warnings = json_get(wanted, "warnings");
        CHECK_NUMBER(json_len(warnings), about.warnings_len);
        for (size_t it = 0; it < about.warnings_len; it++) {
            CHECK(is_same(about.warnings[it], json_at(warnings, it)));
        }
        CHECK_NUMBER(json_len(json_get(wanted, "hits")), kb_hits_len(hits));
        for (size_t it = 0; it < kb_hits_len(hits); it++) {
            compare_hit(hits, it, json_at(json_get(wanted, "hits"), it));
        }
        kb_hits_free(&hits);
    }
}

/* A pattern as JSON has it. */
static kb_str escaped(kb_str text, char *into, size_t size) {
    size_t len = 0;
    for (size_t at = 0; at < text.len && len + 2 < size; at++) {
        if (text.ptr[at] == '\\' || text.ptr[at] == '"') {
            into[len++] = '\\';
        }
        into[len++] = text.ptr[at];
    }
    return (kb_str){into, len};
}

static void compare_patterns(const json *expected) {
    const json *patterns = json_get(expected, "patterns");
    for (size_t at = 0; kb_features() & KB_FEATURE_REGEX && at < json_len(patterns); at++) {
        char text[512];
        const json *wanted = json_get(json_at(patterns, at), "lines");
        kb_str pattern = escaped(json_text(json_get(json_at(patterns, at), "pattern")), text, sizeof text);
        json *told = answer("{\"call\":\"regex\",\"k\":20,\"pattern\":\"%.*s\"}", pattern, KB_STR(""));
        const json *matches = json_get(told, "matches");
        CHECK_NUMBER(json_len(wanted), json_len(matches));
        for (size_t it = 0; it < json_len(matches); it++) {
            const json *found = json_at(matches, it), *line = json_at(wanted, it);
            CHECK(is_same(json_text(json_get(found, "document")), json_at(line, 0)));
            CHECK(is_number(json_number(json_get(found, "start_line")), json_at(line, 1)));
            CHECK(is_same(json_text(json_get(found, "text")), json_at(line, 2)));
        }
        CHECK(is_number(json_number(json_get(json_get(told, "paging"), "has_more")),
                        json_get(json_at(patterns, at), "has_more")));
        json_free(told);
    }
}

static void golden_files_answer_from_bytes_as_they_always_did(void) {
    each_golden(true, compare_searches);
    each_golden(true, compare_documents);
}
static void facts_are_those_expected(void) { each_golden(false, compare_info); }
static void documents_are_those_expected(void) { each_golden(false, compare_documents); }
static void parts_of_documents_are_those_expected(void) { each_golden(false, compare_parts); }
static void searches_are_answered_as_expected(void) { each_golden(false, compare_searches); }
static void patterns_match_the_lines_expected(void) { each_golden(false, compare_patterns); }

static const test_case TESTS[] = {
    TEST(facts_are_those_expected),
    TEST(documents_are_those_expected),
    TEST(parts_of_documents_are_those_expected),
    TEST(searches_are_answered_as_expected),
    TEST(patterns_match_the_lines_expected),
    TEST(golden_files_answer_from_bytes_as_they_always_did),
};

int main(int argc, char **argv) {
    return RUN(TESTS);
}
