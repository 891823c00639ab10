/* Every function that searches, in earnest: hits, filters, cursors, symbols, several files, vectors. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static kb *file;

static void open_sample(void) {
    write_sample(temp_path("a.kb"));
    file = opened(temp_path("a.kb"));
}

static void a_hit_says_where_it_stands(void) {
    open_sample();
    kb_search_options options = KB_SEARCH_OPTIONS_INIT;
    options.k = 1;
    kb_hits *hits = NULL;
    CHECK_STATUS(KB_OK, kb_search(file, KB_STR("neap tides"), &options, &hits, &err));
    CHECK_NUMBER(1, kb_hits_len(hits));
    kb_hit hit = KB_HIT_INIT;
    CHECK_STATUS(KB_OK, kb_hits_get(hits, 0, &hit, &err));
    CHECK_TEXT("docs/tides.md", hit.document);
    CHECK_TEXT("Tides", hit.title);
    CHECK(contains(hit.section, "Tides"));
    CHECK_TEXT(TIDES, hit.text);
    CHECK_TEXT("markdown", hit.file_type);
    CHECK_NUMBER(KB_CLASS_DOC, hit.document_class);
    CHECK(hit.score > 0 && hit.score <= 1 && hit.keyword_score > 0 && hit.fused_score > 0);
    CHECK(hit.first_line == 1 && hit.last_line == 19);
    CHECK(hit.start_byte == 0 && hit.end_byte == strlen(TIDES));
    CHECK(hit.highlights_len > 0);
    for (size_t at = 0; at < hit.highlights_len; at++) {
        kb_range range = hit.highlights[at];
        CHECK(range.start < range.end && range.end <= hit.text.len);
        CHECK(at == 0 || hit.highlights[at - 1].end <= range.start);
    }
    CHECK(hit.snippet.start < hit.snippet.end && hit.snippet.end <= hit.text.len);
    CHECK_NUMBER(2, hit.tags_len);
    CHECK_NUMBER(1709251200000, hit.modified_ms);
    CHECK_NUMBER(strlen(TIDES), hit.size_bytes);
    CHECK(hit.chunk_index == 0 && hit.chunks == 1 && hit.file == 0);
    CHECK_NUMBER(KB_PART_KIND_NONE, hit.part_kind);
    CHECK_TEXT("", hit.symbol);
    kb_hits_summary about = KB_HITS_SUMMARY_INIT;
    CHECK_STATUS(KB_OK, kb_hits_about(hits, &about, &err));
    CHECK_NUMBER(kb_features() & KB_FEATURE_MODEL ? KB_MODE_HYBRID : KB_MODE_KEYWORD, about.mode);
    CHECK(about.is_relevant != 0 && about.searched_chunks >= 6);
    kb_hits_free(&hits);
    options.mode = KB_MODE_KEYWORD;
    options.context_before = 1;
    options.context_after = 2;
    options.max_lines = 1;
    CHECK_STATUS(KB_OK, kb_search(file, KB_STR("gauge"), &options, &hits, &err));
    CHECK_STATUS(KB_OK, kb_hits_get(hits, 0, &hit, &err));
    CHECK(isnan(hit.vector_score));
    CHECK(contains(hit.text, "gauge") && hit.first_line == hit.last_line);
    CHECK(hit.before.len > 0 || hit.after.len > 0 || hit.first_line == 19);
    kb_hits_free(&hits);
    CHECK_STATUS(KB_OK, kb_search(file, KB_STR("xyzzyplugh"), &options, &hits, &err));
    CHECK_NUMBER(0, kb_hits_len(hits));
    kb_hits_free(&hits);
    if (kb_features() & KB_FEATURE_GRAMMARS) {
        options.max_lines = 0;
        CHECK_STATUS(KB_OK, kb_search(file, KB_STR("flash_now"), &options, &hits, &err));
        CHECK_STATUS(KB_OK, kb_hits_get(hits, 0, &hit, &err));
        CHECK_TEXT("src/lamp.rs", hit.document);
        CHECK_NUMBER(KB_CLASS_CODE, hit.document_class);
        CHECK_TEXT("rust", hit.language);
        kb_hits_free(&hits);
    }
    close_file(&file);
}

/* The paths of all hits of a search with one filter. */
static size_t hits_with(const kb_search_options *options, const char *only) {
    kb_hits *hits = NULL;
    CHECK_STATUS(KB_OK, kb_search(file, KB_STR("the sea lamp buoy station turns"), options, &hits, &err));
    size_t len = kb_hits_len(hits);
    for (size_t at = 0; at < len; at++) {
        kb_hit hit = KB_HIT_INIT;
        CHECK_STATUS(KB_OK, kb_hits_get(hits, at, &hit, &err));
        CHECK(contains(hit.document, only));
    }
    kb_hits_free(&hits);
    return len;
}

static void filters_leave_out_what_they_do_not_name(void) {
    open_sample();
#define FILTERED(only, ...) \
    do { \
        kb_search_options options = KB_SEARCH_OPTIONS_INIT; \
        options.k = 100; \
        __VA_ARGS__; \
        CHECK(hits_with(&options, only) > 0); \
    } while (0)
    kb_str glob = KB_STR("docs/**"), folder = KB_STR("notes"), type = KB_STR("csv"), language = KB_STR("rust");
    kb_str tag = KB_STR("keeper"), symbol = KB_STR("REV*"), field = KB_STR("date>=2024-03"), nowhere = KB_STR("nowhere.md");
    FILTERED("docs/", (options.paths = &glob, options.paths_len = 1));
    FILTERED("notes/", (options.folders = &folder, options.folders_len = 1));
    FILTERED(".csv", (options.types = &type, options.types_len = 1));
    FILTERED("lamp.rs", (options.languages = &language, options.languages_len = 1));
    FILTERED("tides.md", (options.tags = &tag, options.tags_len = 1));
    FILTERED("tides.md", (options.fields = &field, options.fields_len = 1));
    FILTERED("lamp.rs", options.classes = KB_CLASS_CODE);
    FILTERED("stations.csv", options.classes = KB_CLASS_DATA);
    if (kb_features() & KB_FEATURE_GRAMMARS) {
        FILTERED("lamp.rs", (options.symbol_names = &symbol, options.symbol_names_len = 1));
        FILTERED("lamp.rs", options.symbol_kinds = KB_SYMBOL_KIND_METHOD | KB_SYMBOL_KIND_STRUCT);
    }
    kb_search_options options = KB_SEARCH_OPTIONS_INIT;
    options.modified_since_ms = 1709251200001;
    options.tags = &tag;
    options.tags_len = 1;
    CHECK_NUMBER(0, hits_with(&options, ""));
    options.modified_since_ms = 1709251200000;
    CHECK_NUMBER(1, hits_with(&options, ""));
    options.folders = &type;
    options.folders_len = 1;
    kb_hits *hits = NULL;
    CHECK_STATUS(KB_FOLDER_NOT_FOUND, kb_search(file, KB_STR("sea"), &options, &hits, &err));
    kb_search_options linked = KB_SEARCH_OPTIONS_INIT;
    linked.links_to = &nowhere;
    linked.links_to_len = 1;
    CHECK_STATUS(KB_DOCUMENT_NOT_FOUND, kb_search(file, KB_STR("sea"), &linked, &hits, &err));
    kb_search_options slip = KB_SEARCH_OPTIONS_INIT;
    slip.mode = KB_MODE_KEYWORD;
    CHECK_STATUS(KB_OK, kb_search(file, KB_STR("tidse"), &slip, &hits, NULL));
    CHECK(kb_hits_len(hits) > 0);
    kb_hits_free(&hits);
    slip.exact = 1;
    CHECK_STATUS(KB_OK, kb_search(file, KB_STR("tidse"), &slip, &hits, NULL));
    CHECK_NUMBER(0, kb_hits_len(hits));
    kb_hits_free(&hits);
    close_file(&file);
}

static void every_mode_scope_and_order_answers(void) {
    open_sample();
    for (int32_t mode = KB_MODE_HYBRID; mode <= KB_MODE_TITLE; mode++) {
        if (mode == KB_MODE_SEMANTIC && !(kb_features() & KB_FEATURE_MODEL)) {
            continue;
        }
        for (int32_t scope = KB_SCOPE_CHUNKS; scope <= KB_SCOPE_DOCUMENTS; scope++) {
            for (int32_t sort = KB_SORT_SCORE; sort <= KB_SORT_PATH; sort++) {
                kb_search_options options = KB_SEARCH_OPTIONS_INIT;
                options.mode = mode;
                options.scope = scope;
                options.sort = sort;
                options.plain = options.no_join = options.smart_context = 1;
                kb_hits *hits = NULL;
                CHECK_STATUS(KB_OK, kb_search(file, KB_STR("tides"), &options, &hits, &err));
                CHECK(kb_hits_len(hits) > 0);
                kb_hits_summary about = KB_HITS_SUMMARY_INIT;
                CHECK_STATUS(KB_OK, kb_hits_about(hits, &about, &err));
                CHECK_NUMBER(kb_features() & KB_FEATURE_MODEL || mode != KB_MODE_HYBRID ? mode : KB_MODE_KEYWORD, about.mode);
                kb_hits_free(&hits);
            }
        }
    }
    close_file(&file);
}

static void a_cursor_continues_until_all_hits_were_there(void) {
    kb_writer *writer = writer_of(temp_path("many.kb"));
    for (int at = 0; at < 25; at++) {
        char path[32];
        snprintf(path, sizeof path, "d%02d.md", at);
        add_text(writer, path, "# Buoy\n\nThe buoy drifted.\n");
    }
    commit(writer);
    file = opened(temp_path("many.kb"));
    kb_search_options options = KB_SEARCH_OPTIONS_INIT;
    options.k = 4;
    options.mode = KB_MODE_KEYWORD;
    char cursor[512] = "";
    bool seen[25] = {false};
    size_t total = 0, pages = 0;
    do {
        options.cursor = kb_str_from(cursor);
        kb_hits *hits = NULL;
        CHECK_STATUS(KB_OK, kb_search(file, KB_STR("buoy"), &options, &hits, &err));
        for (size_t at = 0; at < kb_hits_len(hits); at++) {
            kb_hit hit = KB_HIT_INIT;
            CHECK_STATUS(KB_OK, kb_hits_get(hits, at, &hit, &err));
            int number = atoi(hit.document.ptr + 1);
            CHECK(number < 25 && !seen[number]);
            seen[number] = true;
            total++;
        }
        kb_hits_summary about = KB_HITS_SUMMARY_INIT;
        CHECK_STATUS(KB_OK, kb_hits_about(hits, &about, &err));
        snprintf(cursor, sizeof cursor, "%.*s", (int)about.next.len, about.next.ptr);
        kb_hits_free(&hits);
    } while (cursor[0] && ++pages < 30);
    CHECK_NUMBER(25, total);
    CHECK_NUMBER(6, pages);
    /* After a change it says so instead of leaving something out. */
    options.cursor = KB_STR("");
    kb_hits *hits = NULL;
    CHECK_STATUS(KB_OK, kb_search(file, KB_STR("buoy"), &options, &hits, &err));
    kb_hits_summary about = KB_HITS_SUMMARY_INIT;
    CHECK_STATUS(KB_OK, kb_hits_about(hits, &about, &err));
    options.cursor = about.next;
    kb_hits *more = NULL;
    CHECK_STATUS(KB_INVALID_CONTINUATION_TOKEN, kb_search(file, KB_STR("another question"), &options, &more, &err));
    add_text(writer, "new.md", "# Buoy\n\nA new buoy.\n");
    commit(writer);
    CHECK_STATUS(KB_CONTINUATION_STALE, kb_search(file, KB_STR("buoy"), &options, &more, &err));
    CHECK(more == NULL);
    kb_hits_free(&hits);
    close_file(&file);
    close_writer(&writer);
}

static void symbols_are_found_by_name_kind_and_use(void) {
    open_sample();
    if (!(kb_features() & KB_FEATURE_GRAMMARS)) {
        close_file(&file);
        return;
    }
    kb_symbols *symbols = NULL;
    kb_symbols_options options = KB_SYMBOLS_OPTIONS_INIT;
    CHECK_STATUS(KB_OK, kb_find_symbols(file, &options, &symbols, &err));
    CHECK_NUMBER(4, kb_symbols_len(symbols));
    CHECK_NUMBER(4, kb_symbols_total(symbols));
    CHECK_TEXT("", kb_symbols_next(symbols));
    kb_symbols_free(&symbols);
    options.name = KB_STR("REV?lve");
    CHECK_STATUS(KB_OK, kb_find_symbols(file, &options, &symbols, &err));
    CHECK_NUMBER(1, kb_symbols_len(symbols));
    kb_symbol symbol = KB_SYMBOL_INIT;
    CHECK_STATUS(KB_OK, kb_symbols_get(symbols, 0, &symbol, &err));
    CHECK_TEXT("src/lamp.rs", symbol.document);
    CHECK_TEXT("rust", symbol.language);
    CHECK_TEXT("revolve", symbol.name);
    CHECK_TEXT("impl Lamp > fn revolve", symbol.hierarchy);
    CHECK_TEXT("pub fn revolve(&mut self) -> u32", symbol.signature);
    CHECK_NUMBER(KB_SYMBOL_KIND_METHOD, symbol.kind);
    CHECK(symbol.first_line == 10 && symbol.last_line == 13);
    CHECK(symbol.uses == NULL && symbol.uses_len == 0 && symbol.calls_len == 0);
    kb_symbols_free(&symbols);
    options.name = (kb_str){NULL, 0};
    options.uses = KB_STR("flash_now");
    CHECK_STATUS(KB_OK, kb_find_symbols(file, &options, &symbols, &err));
    CHECK_NUMBER(1, kb_symbols_len(symbols));
    CHECK_STATUS(KB_OK, kb_symbols_get(symbols, 0, &symbol, &err));
    CHECK_TEXT("revolve", symbol.name);
    CHECK(symbol.uses_len == 1 && symbol.uses[0] == 12 && symbol.calls_len == 1 && symbol.calls[0] == 12);
    kb_symbols_free(&symbols);
    options.uses = (kb_str){NULL, 0};
    options.used_by = KB_STR("revolve");
    CHECK_STATUS(KB_OK, kb_find_symbols(file, &options, &symbols, &err));
    CHECK_NUMBER(1, kb_symbols_len(symbols));
    kb_symbols_free(&symbols);
    options.used_by = (kb_str){NULL, 0};
    options.k = 1;
    char cursor[512] = "";
    size_t total = 0;
    do {
        options.cursor = kb_str_from(cursor);
        CHECK_STATUS(KB_OK, kb_find_symbols(file, &options, &symbols, &err));
        total += kb_symbols_len(symbols);
        kb_str next = kb_symbols_next(symbols);
        snprintf(cursor, sizeof cursor, "%.*s", (int)next.len, next.ptr);
        kb_symbols_free(&symbols);
    } while (cursor[0] && total < 20);
    CHECK_NUMBER(4, total);
    close_file(&file);
}

static void several_files_are_searched_as_one(void) {
    write_sample(temp_path("b.kb"));
    kb_writer *writer = writer_of(temp_path("c.kb"));
    add_text(writer, "other.md", "# Other\n\nNeap tides elsewhere.\n");
    commit(writer);
    close_writer(&writer);
    open_sample();
    kb *third = opened(temp_path("c.kb"));
    const kb *files[] = {file, third};
    kb_hits *hits = NULL;
    CHECK_STATUS(KB_OK, kb_search_files(files, 2, KB_STR("neap tides"), NULL, &hits, &err));
    bool is_found[2] = {false, false};
    for (size_t at = 0; at < kb_hits_len(hits); at++) {
        kb_hit hit = KB_HIT_INIT;
        CHECK_STATUS(KB_OK, kb_hits_get(hits, at, &hit, &err));
        if (CHECK(hit.file < 2)) {
            is_found[hit.file] = true;
            CHECK(hit.file == 0 || equals(hit.document, "other.md"));
        }
    }
    CHECK(is_found[0] && is_found[1]);
    kb_hits_free(&hits);
    close_file(&third);
    close_file(&file);
}

static void texts_have_vectors_of_unit_length(void) {
    kb_vectors *vectors = NULL;
    kb_str texts[] = {KB_STR("the sea"), KB_STR(""), KB_STR("a lamp")};
    if (!(kb_features() & KB_FEATURE_MODEL)) {
        CHECK_STATUS(KB_NOT_BUILT, kb_embed(texts, 3, KB_TEXT_ROLE_QUERY, &vectors, &err));
        return;
    }
    CHECK_STATUS(KB_OK, kb_embed(texts, 3, KB_TEXT_ROLE_QUERY, &vectors, &err));
    size_t len = 0, dim = 0;
    const float *numbers = kb_vectors_data(vectors, &len, &dim);
    CHECK_NUMBER(3, len);
    for (size_t at = 0; at < len; at++) {
        double sum = 0;
        for (size_t it = 0; it < dim; it++) {
            sum += (double)numbers[at * dim + it] * numbers[at * dim + it];
        }
        CHECK(fabs(sum - (at == 1 ? 0.0 : 1.0)) < 1e-3);
    }
    kb_vectors_free(&vectors);
    CHECK_STATUS(KB_OK, kb_embed(NULL, 0, KB_TEXT_ROLE_DOCUMENT, &vectors, &err));
    CHECK(kb_vectors_data(vectors, &len, NULL) == NULL && len == 0);
    kb_vectors_free(&vectors);
}

static const test_case TESTS[] = {
    TEST(a_hit_says_where_it_stands),
    TEST(filters_leave_out_what_they_do_not_name),
    TEST(every_mode_scope_and_order_answers),
    TEST(a_cursor_continues_until_all_hits_were_there),
    TEST(symbols_are_found_by_name_kind_and_use),
    TEST(several_files_are_searched_as_one),
    TEST(texts_have_vectors_of_unit_length),
};

int main(int argc, char **argv) {
    return RUN(TESTS);
}
