/* Every function that reads, in earnest, on files that the tests write. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static kb *file;

static void open_sample(void) {
    write_sample(temp_path("a.kb"));
    file = opened(temp_path("a.kb"));
}

#define NAME KB_STR("docs/tides.md")

static void the_library_is_that_of_the_header(void) {
    CHECK_TEXT(KB_VERSION, kb_str_from(kb_version()));
    char version[64];
    snprintf(version, sizeof version, "%d.%d.%d", KB_VERSION_MAJOR, KB_VERSION_MINOR, KB_VERSION_PATCH);
    CHECK_TEXT(version, kb_str_from(kb_version()));
    CHECK_NUMBER(KB_ABI_VERSION, kb_abi_version());
    CHECK((kb_features() & KB_FEATURE_WRITE) != 0);
    CHECK_NUMBER(0, kb_features() & ~127u);
}

static void documents_are_listed_page_by_page(void) {
    open_sample();
    static const char *const PATHS[SAMPLE_DOCUMENTS] = {
        "data/stations.csv", "docs/fog.md", "docs/tides.md", "notes/empty.txt",
        "notes/log.txt", "notes/nul.txt", "notes/\xc3\xbc" "ber.md", "src/lamp.rs"};
    for (size_t limit = 1; limit <= SAMPLE_DOCUMENTS + 1; limit++) {
        char after[64];
        size_t seen = 0, len = 1;
        kb_str start = {NULL, 0};
        while (len > 0 && seen <= SAMPLE_DOCUMENTS) {
            kb_documents *documents = NULL;
            CHECK_STATUS(KB_OK, kb_list_documents(file, start, limit, &documents, &err));
            len = kb_documents_len(documents);
            CHECK(len <= limit);
            for (size_t at = 0; at < len && seen < SAMPLE_DOCUMENTS; at++) {
                kb_document document = KB_DOCUMENT_INIT;
                CHECK_STATUS(KB_OK, kb_documents_get(documents, at, &document, &err));
                CHECK_TEXT(PATHS[seen++], document.path);
                snprintf(after, sizeof after, "%.*s", (int)document.path.len, document.path.ptr);
            }
            start = kb_str_from(after);
            kb_documents_free(&documents);
        }
        CHECK_NUMBER(SAMPLE_DOCUMENTS, seen);
    }
    kb_documents *all = NULL;
    CHECK_STATUS(KB_OK, kb_list_documents(file, KB_STR(""), SIZE_MAX, &all, &err));
    CHECK_NUMBER(SAMPLE_DOCUMENTS, kb_documents_len(all));
    kb_documents_free(&all);
    close_file(&file);
}

static void a_document_is_found_with_all_that_is_recorded(void) {
    open_sample();
    kb_documents *documents = NULL;
    CHECK_STATUS(KB_OK, kb_find_document(file, KB_STR("tides.md"), &documents, &err));
    CHECK_NUMBER(1, kb_documents_len(documents));
    kb_document document = KB_DOCUMENT_INIT;
    CHECK_STATUS(KB_OK, kb_documents_get(documents, 0, &document, &err));
    CHECK_NUMBER(sizeof document, document.struct_size);
    CHECK_TEXT("docs/tides.md", document.path);
    CHECK_TEXT("Tides", document.title);
    CHECK_TEXT("markdown", document.file_type);
    CHECK_NUMBER(KB_CLASS_DOC, document.document_class);
    CHECK_NUMBER(KB_PART_KIND_NONE, document.part_kind);
    CHECK_NUMBER(strlen(TIDES), document.size_bytes);
    CHECK_NUMBER(strlen(TIDES), document.text_bytes);
    CHECK_NUMBER(19, document.lines);
    CHECK_NUMBER(1, document.chunks);
    CHECK_NUMBER(1709251200000, document.modified_ms);
    CHECK(document.added_ms > document.modified_ms);
    CHECK_NUMBER(2, document.tags_len);
    CHECK_TEXT("keeper", document.tags[0]);
    CHECK_TEXT("sea", document.tags[1]);
    CHECK_NUMBER(3, document.metadata_len);
    CHECK_TEXT("author", document.metadata[0].key);
    CHECK_TEXT("The keepers", document.metadata[0].value);
    CHECK_TEXT("source", document.metadata[2].key);
    CHECK_TEXT("the almanac", document.metadata[2].value);
    CHECK_NUMBER(0x23, document.hash[0]);
    CHECK_NUMBER(0x40, document.hash[31]);
    char handle[64];
    snprintf(handle, sizeof handle, "%.*s", (int)document.handle.len, document.handle.ptr);
    kb_documents *same = NULL;
    CHECK_STATUS(KB_OK, kb_find_document(file, kb_str_from(handle), &same, &err));
    kb_documents_free(&same);
    CHECK_STATUS(KB_DOCUMENT_NOT_FOUND, kb_find_document(file, KB_STR("docs/tide.md"), &same, &err));
    CHECK(strstr(last_hint, "docs/tides.md") != NULL);
    CHECK_STATUS(KB_DOCUMENT_NOT_FOUND, kb_find_document(file, KB_STR(""), &same, &err));
    CHECK_STATUS(KB_DOCUMENT_NOT_FOUND, kb_find_document(file, KB_STR("docs/tides.md\0"), &same, &err));
    kb_documents_free(&documents);
    close_file(&file);
}

static void texts_come_whole_by_lines_and_by_section(void) {
    open_sample();
    kb_text *text = NULL;
    CHECK_STATUS(KB_OK, kb_get_text(file, NAME, 0, 0, &text, &err));
    CHECK_TEXT(TIDES, kb_text_str(text));
    CHECK_NUMBER(strlen(TIDES), strlen(kb_text_str(text).ptr));
    kb_text_free(&text);
    CHECK_STATUS(KB_OK, kb_get_text(file, NAME, 2, 3, &text, &err));
    CHECK_TEXT("author: The keepers\ndate: 2024-03-01\n", kb_text_str(text));
    kb_text_free(&text);
    CHECK_STATUS(KB_OK, kb_get_text(file, NAME, 19, 0, &text, &err));
    CHECK_TEXT("A gauge in a well writes a curve.\n", kb_text_str(text));
    kb_text_free(&text);
    CHECK_STATUS(KB_OK, kb_get_text(file, KB_STR("docs/tides.md:5-5"), 0, 0, &text, &err));
    CHECK_TEXT("# Tides\n", kb_text_str(text));
    kb_text_free(&text);
    static const char *const SECTIONS[] = {"1.2", "Neap tides"};
    for (size_t at = 0; at < COUNT(SECTIONS); at++) {
        CHECK_STATUS(KB_OK, kb_get_section_text(file, NAME, kb_str_from(SECTIONS[at]), &text, &err));
        CHECK(contains(kb_text_str(text), "right angle") && contains(kb_text_str(text), "gauge"));
        CHECK(!contains(kb_text_str(text), "highest water"));
        kb_text_free(&text);
    }
    CHECK_STATUS(KB_SECTION_NOT_FOUND, kb_get_section_text(file, NAME, KB_STR("9"), &text, &err));
    CHECK_STATUS(KB_DOCUMENT_NOT_FOUND, kb_get_text(file, KB_STR("none.md"), 0, 0, &text, &err));
    close_file(&file);
}

static void texts_may_be_empty_hold_nul_and_have_names_beyond_ascii(void) {
    open_sample();
    kb_text *text = NULL;
    CHECK_STATUS(KB_OK, kb_get_text(file, KB_STR("notes/empty.txt"), 0, 0, &text, &err));
    CHECK_TEXT("", kb_text_str(text));
    CHECK(kb_text_str(text).ptr[0] == '\0');
    kb_text_free(&text);
    CHECK_STATUS(KB_OK, kb_get_text(file, KB_STR("notes/nul.txt"), 0, 0, &text, &err));
    kb_str found = kb_text_str(text);
    CHECK(found.len == 23 && memcmp(found.ptr, "before\0behind the zero\n", 24) == 0);
    kb_text_free(&text);
    kb_documents *documents = NULL;
    CHECK_STATUS(KB_OK, kb_find_document(file, KB_STR("notes/nul.txt"), &documents, &err));
    kb_document document = KB_DOCUMENT_INIT;
    CHECK_STATUS(KB_OK, kb_documents_get(documents, 0, &document, &err));
    CHECK(document.title.len == 7 && memcmp(document.title.ptr, "a\0title", 7) == 0);
    CHECK(document.tags == NULL && document.tags_len == 0 && document.metadata == NULL && document.metadata_len == 0);
    kb_documents_free(&documents);
    CHECK_STATUS(KB_OK, kb_get_text(file, KB_STR("notes/\xc3\xbc" "ber.md"), 3, 3, &text, &err));
    CHECK_TEXT("Der Leuchtturm steht auf der Insel. \xe7\x81\xaf\xe5\x8f\xb0\n", kb_text_str(text));
    kb_text_free(&text);
    CHECK(hits_for(file, "\xe7\x81\xaf\xe5\x8f\xb0") == 1);
    CHECK(hits_for(file, "behind\0zero") >= 1);
    close_file(&file);
}

static void outlines_have_headings_and_symbols(void) {
    open_sample();
    kb_sections *sections = NULL;
    CHECK_STATUS(KB_OK, kb_get_outline(file, NAME, &sections, &err));
    CHECK_NUMBER(4, kb_sections_len(sections));
    kb_section section = KB_SECTION_INIT;
    CHECK_STATUS(KB_OK, kb_sections_get(sections, 3, &section, &err));
    CHECK_TEXT("1.2.1", section.number);
    CHECK_TEXT("Measuring", section.title);
    CHECK_TEXT("", section.symbol);
    CHECK_NUMBER(0, section.symbol_kind);
    CHECK_NUMBER(3, section.level);
    CHECK_NUMBER(17, section.first_line);
    CHECK_NUMBER(19, section.last_line);
    CHECK_NUMBER(strstr(TIDES, "### Measuring") - TIDES, section.start_byte);
    CHECK_NUMBER(strlen(TIDES), section.end_byte);
    CHECK_NUMBER(0, section.part_number);
    kb_sections_free(&sections);
    CHECK_STATUS(KB_OK, kb_get_outline(file, KB_STR("src/lamp.rs"), &sections, &err));
    if (kb_features() & KB_FEATURE_GRAMMARS) {
        CHECK_NUMBER(4, kb_sections_len(sections));
        CHECK_STATUS(KB_OK, kb_sections_get(sections, 2, &section, &err));
        CHECK_TEXT("fn revolve", section.title);
        CHECK_TEXT("revolve", section.symbol);
        CHECK_NUMBER(KB_SYMBOL_KIND_METHOD, section.symbol_kind);
        CHECK_NUMBER(10, section.first_line);
    }
    kb_sections_free(&sections);
    CHECK_STATUS(KB_OK, kb_get_outline(file, KB_STR("notes/empty.txt"), &sections, &err));
    CHECK_NUMBER(0, kb_sections_len(sections));
    kb_sections_free(&sections);
    close_file(&file);
}

static void a_table_has_one_part(void) {
    open_sample();
    kb_parts *parts = NULL;
    if (kb_features() & KB_FEATURE_SHEETS) {
        CHECK_STATUS(KB_OK, kb_get_parts(file, KB_STR("data/stations.csv"), &parts, &err));
        CHECK_NUMBER(1, kb_parts_len(parts));
        kb_part part = KB_PART_INIT;
        CHECK_STATUS(KB_OK, kb_parts_get(parts, 0, &part, &err));
        CHECK_NUMBER(KB_PART_KIND_SHEET, part.kind);
        CHECK_NUMBER(1, part.number);
        CHECK_TEXT("", part.name);
        CHECK_NUMBER(4, part.rows);
        CHECK_NUMBER(3, part.columns);
        CHECK_NUMBER(1, part.header_row);
        CHECK_NUMBER(0, part.is_hidden);
        CHECK_NUMBER(1, part.first_line);
        CHECK_NUMBER(4, part.last_line);
        CHECK_NUMBER(0, part.start_byte);
        CHECK_NUMBER(strlen(STATIONS), part.end_byte);
        kb_parts_free(&parts);
    }
    close_file(&file);
}

static void a_document_without_parts_is_told_apart(void) {
    open_sample();
    kb_parts *parts = NULL;
    CHECK_STATUS(KB_OK, kb_get_parts(file, NAME, &parts, &err));
    CHECK_NUMBER(0, kb_parts_len(parts));
    kb_parts_free(&parts);
    close_file(&file);
}

static void a_document_is_found_by_the_end_of_its_path(void) {
    open_sample();
    kb_documents *documents = NULL;
    kb_text *text = NULL;
    CHECK_STATUS(KB_OK, kb_find_document(file, KB_STR("tides.md"), &documents, &err));
    CHECK_STATUS(KB_OK, kb_get_text(file, KB_STR("tides.md"), 0, 0, &text, &err));
    kb_documents_free(&documents);
    kb_text_free(&text);
    close_file(&file);
}

static void bytes_are_a_file_like_any_other(void) {
    write_sample(temp_path("a.kb"));
    size_t len = 0;
    char *bytes = read_file(temp_path("a.kb"), &len);
    CHECK_STATUS(KB_OK, kb_open_bytes((const uint8_t *)bytes, len, &file, &err));
    /* They were copied. */
    memset(bytes, 0xAA, len);
    free(bytes);
    CHECK_NUMBER(SAMPLE_DOCUMENTS, documents_in(file));
    CHECK(hits_for(file, "gauge") == 1);
    kb_problems *problems = NULL;
    CHECK_STATUS(KB_OK, kb_verify(file, NULL, &problems, &err));
    CHECK_NUMBER(0, kb_problems_len(problems));
    kb_problems_free(&problems);
    close_file(&file);
}

static void an_info_says_what_a_file_holds(void) {
    open_sample();
    kb_info *info = NULL;
    CHECK_STATUS(KB_OK, kb_get_info(file, &info, &err));
    close_file(&file);
    kb_info_view view = KB_INFO_VIEW_INIT;
    CHECK_STATUS(KB_OK, kb_info_get(info, &view, &err));
    CHECK_NUMBER(32, view.uuid.len);
    CHECK(view.format.len >= 3 && memcmp(view.format.ptr, "0.", 2) == 0);
    CHECK(view.model.len > 0 && view.dim > 0);
    CHECK_NUMBER((kb_features() & KB_FEATURE_MODEL) != 0, view.is_model_available != 0);
    CHECK_TEXT("", view.content_root);
    CHECK_NUMBER(0, view.is_sealed);
    CHECK_NUMBER(SAMPLE_DOCUMENTS, view.documents);
    CHECK(view.chunks >= 7 && view.text_bytes > strlen(TIDES) && view.file_bytes > 0);
    CHECK(view.created_ms > 1709251200000 && view.updated_ms >= view.created_ms);
    kb_info_free(&info);
}

static void each_commit_has_a_higher_number(void) {
    open_sample();
    kb_writer *writer = writer_of(temp_path("a.kb"));
    uint64_t before = 0;
    for (uint64_t commits = 1; commits <= 3; commits++) {
        kb_info *info = NULL;
        kb_info_view view = KB_INFO_VIEW_INIT;
        CHECK_STATUS(KB_OK, kb_get_info(file, &info, &err));
        CHECK_STATUS(KB_OK, kb_info_get(info, &view, &err));
        CHECK(view.commits > before);
        before = view.commits;
        kb_info_free(&info);
        if (commits < 3) {
            add_text(writer, commits == 1 ? "one.md" : "two.md", "# More\n\nMore.\n");
            commit(writer);
        }
    }
    close_writer(&writer);
    close_file(&file);
}

static void results_outlive_their_file(void) {
    open_sample();
    kb_hits *hits = NULL;
    kb_documents *documents = NULL;
    kb_text *text = NULL;
    kb_sections *sections = NULL;
    kb_symbols *symbols = NULL;
    CHECK_STATUS(KB_OK, kb_search(file, KB_STR("neap tides"), NULL, &hits, &err));
    CHECK_STATUS(KB_OK, kb_find_document(file, NAME, &documents, &err));
    CHECK_STATUS(KB_OK, kb_get_text(file, NAME, 0, 0, &text, &err));
    CHECK_STATUS(KB_OK, kb_get_outline(file, NAME, &sections, &err));
    CHECK_STATUS(KB_OK, kb_find_symbols(file, NULL, &symbols, &err));
    close_file(&file);
    remove(temp_path("a.kb"));
    kb_hit hit = KB_HIT_INIT;
    kb_document document = KB_DOCUMENT_INIT;
    kb_section section = KB_SECTION_INIT;
    CHECK_STATUS(KB_OK, kb_hits_get(hits, 0, &hit, &err));
    CHECK_TEXT(TIDES, hit.text);
    CHECK_STATUS(KB_OK, kb_documents_get(documents, 0, &document, &err));
    CHECK_TEXT("sea", document.tags[1]);
    CHECK_STATUS(KB_OK, kb_sections_get(sections, 1, &section, &err));
    CHECK_TEXT("Spring tides", section.title);
    CHECK_TEXT(TIDES, kb_text_str(text));
    kb_hits_free(&hits);
    kb_documents_free(&documents);
    kb_text_free(&text);
    kb_sections_free(&sections);
    kb_symbols_free(&symbols);
}

static void damage_is_found_and_told(void) {
    write_sample(temp_path("a.kb"));
    size_t len = 0;
    char *bytes = read_file(temp_path("a.kb"), &len);
    /* In the stored text. */
    for (size_t at = len / 2; at < len / 2 + 64; at++) {
        bytes[at] = (char)(bytes[at] ^ 0x55);
    }
    kb_status status = kb_open_bytes((const uint8_t *)bytes, len, &file, NULL);
    CHECK(status == KB_OK || status == KB_DAMAGED);
    if (status == KB_OK) {
        kb_problems *problems = NULL;
        CHECK_STATUS(KB_OK, kb_verify(file, NULL, &problems, &err));
        CHECK(kb_problems_len(problems) > 0);
        CHECK(kb_problems_get(problems, 0).len > 0);
        kb_problems_free(&problems);
        close_file(&file);
    }
    for (size_t cut = 0; cut < len; cut += len / (is_quick ? 8 : 64) + 1) {
        status = kb_open_bytes((const uint8_t *)bytes, cut, &file, NULL);
        if (status == KB_OK) {
            /* All that the last commit needs may lie before the cut. */
            kb_problems *problems = NULL;
            CHECK_STATUS(KB_OK, kb_verify(file, NULL, &problems, &err));
            CHECK(kb_problems_len(problems) > 0);
            kb_problems_free(&problems);
            close_file(&file);
        } else {
            CHECK(status == KB_NOT_A_KB || status == KB_DAMAGED);
        }
    }
    free(bytes);
}

static const test_case TESTS[] = {
    TEST(the_library_is_that_of_the_header),
    TEST(documents_are_listed_page_by_page),
    TEST(a_document_is_found_with_all_that_is_recorded),
    TEST(a_document_is_found_by_the_end_of_its_path),
    TEST(texts_come_whole_by_lines_and_by_section),
    TEST(texts_may_be_empty_hold_nul_and_have_names_beyond_ascii),
    TEST(outlines_have_headings_and_symbols),
    TEST(a_table_has_one_part),
    TEST(a_document_without_parts_is_told_apart),
    TEST(bytes_are_a_file_like_any_other),
    TEST(an_info_says_what_a_file_holds),
    TEST(each_commit_has_a_higher_number),
    TEST(results_outlive_their_file),
    TEST(damage_is_found_and_told),
};

int main(int argc, char **argv) {
    return RUN(TESTS);
}
