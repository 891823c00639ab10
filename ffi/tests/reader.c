/* A library that only reads: what it lacks it says, and it searches what others wrote. */

#include "support.h"

#include <stdio.h>

static void golden_files_are_searched_by_keywords(void) {
    char path[4096];
    snprintf(path, sizeof path, "%s/v0.13/golden.kb", golden_folder);
    kb *file = NULL;
    CHECK_STATUS(KB_OK, kb_open(kb_str_from(path), &file, &err));
    kb_search_options options = KB_SEARCH_OPTIONS_INIT;
    options.mode = KB_MODE_KEYWORD;
    kb_hits *hits = NULL;
    CHECK_STATUS(KB_OK, kb_search(file, KB_STR("lamp"), &options, &hits, &err));
    CHECK(kb_hits_len(hits) > 0);
    kb_hits_free(&hits);
    options.mode = KB_MODE_HYBRID;
    CHECK_STATUS(KB_OK, kb_search(file, KB_STR("lamp"), &options, &hits, &err));
    kb_hits_summary about = KB_HITS_SUMMARY_INIT;
    CHECK_STATUS(KB_OK, kb_hits_about(hits, &about, &err));
    CHECK(about.warnings_len == 1);
    kb_hits_free(&hits);
    options.mode = KB_MODE_SEMANTIC;
    CHECK_STATUS(KB_EMBEDDING_MODEL_UNAVAILABLE, kb_search(file, KB_STR("lamp"), &options, &hits, &err));
    CHECK(hits == NULL);
    CHECK_STATUS(KB_OK, kb_close(&file, &err));
}

static void what_is_not_built_is_said(void) {
    CHECK(kb_features() == 0);
    kb_writer *writer = NULL;
    CHECK_STATUS(KB_NOT_BUILT, kb_writer_open(KB_STR("never.kb"), NULL, &writer, &err));
    CHECK(writer == NULL);
    kb_str text = KB_STR("lamp");
    kb_vectors *vectors = NULL;
    CHECK_STATUS(KB_NOT_BUILT, kb_embed(&text, 1, 0, &vectors, &err));
    kb_text *answer = NULL;
    CHECK_STATUS(KB_NOT_BUILT, kb_call(NULL, NULL, KB_STR("{\"call\":\"add\"}"), NULL, NULL, &answer, &err));
    CHECK_STATUS(KB_NOT_BUILT, kb_call(NULL, NULL, KB_STR("{\"call\":\"regex\"}"), NULL, NULL, &answer, &err));
    CHECK_STATUS(KB_OK, kb_call(NULL, NULL, KB_STR("{\"call\":\"help\"}"), NULL, NULL, &answer, &err));
    kb_text_free(&answer);
}

static const test_case TESTS[] = {
    TEST(golden_files_are_searched_by_keywords),
    TEST(what_is_not_built_is_said),
};

int main(int argc, char **argv) {
    return RUN(TESTS);
}
