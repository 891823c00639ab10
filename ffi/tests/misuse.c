/* What a caller can get wrong with numbers and with handles: their values, their kinds, when they are used, by which
 * thread, and in which process. */
#define _XOPEN_SOURCE 700
#include "support.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static kb *file;
static kb_writer *writer;
static const kb_str WORD = {"tides", 5};
static const kb_str NAME = {"docs/tides.md", 13};

static void open_sample(void) {
    write_sample(temp_path("a.kb"));
    file = opened(temp_path("a.kb"));
    writer = writer_of(temp_path("w.kb"));
    add_text(writer, "first.md", "# First\n\nThe first document.\n");
    commit(writer);
}

static void close_sample(void) {
    close_writer(&writer);
    close_file(&file);
}

static kb_status search_with(const kb_search_options *options) {
    kb_hits *hits = POISON;
    kb_status status = kb_search(file, WORD, options, &hits, &err);
    CHECK((status == KB_OK) == (hits != NULL));
    kb_hits_free(&hits);
    return status;
}

static void numbers_that_are_none_of_their_enum_are_refused(void) {
    open_sample();
    const int32_t wrong[] = {-1, 3, 4, 100, INT32_MAX, INT32_MIN};
    for (size_t at = 0; at < COUNT(wrong); at++) {
        kb_search_options options = KB_SEARCH_OPTIONS_INIT;
        options.mode = wrong[at] == 3 ? 4 : wrong[at];
        CHECK_STATUS(KB_INVALID_ARGUMENT, search_with(&options));
        CHECK(strncmp(last_message, "mode:", 5) == 0);
        options.mode = 0;
        options.scope = wrong[at];
        CHECK_STATUS(KB_INVALID_ARGUMENT, search_with(&options));
        CHECK(strncmp(last_message, "scope:", 6) == 0);
        options.scope = 0;
        options.sort = wrong[at];
        CHECK_STATUS(KB_INVALID_ARGUMENT, search_with(&options));
        CHECK(strncmp(last_message, "sort:", 5) == 0);

        kb_vectors *vectors = POISON;
        CHECK_STATUS(KB_INVALID_ARGUMENT, kb_embed(&WORD, 1, wrong[at], &vectors, &err));
        CHECK(vectors == NULL);
        kb_writer *other = POISON;
        kb_writer_options with = KB_WRITER_OPTIONS_INIT;
        with.mode = wrong[at];
        CHECK_STATUS(KB_INVALID_ARGUMENT, kb_writer_open(temp("n.kb"), &with, &other, &err));
        CHECK(other == NULL && !exists(temp_path("n.kb")));
        kb_report *report = POISON;
        kb_str path = kb_str_from(temp_path("."));
        kb_index_options index = KB_INDEX_OPTIONS_INIT;
        index.vectors = wrong[at];
        CHECK_STATUS(KB_INVALID_ARGUMENT, kb_writer_index(writer, &path, 1, &index, &report, &err));
        CHECK(report == NULL);
        index.vectors = 0;
        index.trigrams = wrong[at] == -1 ? -2 : wrong[at];
        CHECK_STATUS(KB_INVALID_ARGUMENT, kb_writer_index(writer, &path, 1, &index, &report, &err));
        index.trigrams = 0;
        index.include_secrets = wrong[at] == -1 ? 2 : wrong[at];
        CHECK_STATUS(KB_INVALID_ARGUMENT, kb_writer_index(writer, &path, 1, &index, &report, &err));
        index.include_secrets = 0;
        index.hidden = wrong[at] == -1 ? 2 : wrong[at];
        CHECK_STATUS(KB_INVALID_ARGUMENT, kb_writer_index(writer, &path, 1, &index, &report, &err));
        CHECK(strncmp(last_message, "hidden:", 7) == 0);
        index.hidden = 0;
        index.follow = wrong[at] == -1 ? 2 : wrong[at];
        CHECK_STATUS(KB_INVALID_ARGUMENT, kb_writer_index(writer, &path, 1, &index, &report, &err));
        CHECK(strncmp(last_message, "follow:", 7) == 0);
        kb_seal_options seal = KB_SEAL_OPTIONS_INIT;
        seal.vectors = wrong[at];
        CHECK_STATUS(KB_INVALID_ARGUMENT, kb_writer_seal(writer, &seal, &report, &err));
        CHECK_TEXT("", kb_str_from(kb_status_name(wrong[at] == -1 ? -50000 : wrong[at])));
    }
    close_sample();
}

static void unknown_bits_are_refused(void) {
    open_sample();
    const uint32_t wrong[] = {1u << 12, 1u << 31, UINT32_MAX, 8192 | 1};
    for (size_t at = 0; at < COUNT(wrong); at++) {
        kb_search_options options = KB_SEARCH_OPTIONS_INIT;
        options.classes = wrong[at];
        CHECK_STATUS(KB_INVALID_ARGUMENT, search_with(&options));
        CHECK(strncmp(last_message, "classes:", 8) == 0);
        options.classes = 0;
        options.symbol_kinds = wrong[at];
        CHECK_STATUS(KB_INVALID_ARGUMENT, search_with(&options));
        CHECK(strncmp(last_message, "symbol_kinds:", 13) == 0);
        kb_symbols_options symbols = KB_SYMBOLS_OPTIONS_INIT;
        symbols.kinds = wrong[at];
        kb_symbols *found = POISON;
        CHECK_STATUS(KB_INVALID_ARGUMENT, kb_find_symbols(file, &symbols, &found, &err));
        CHECK(strncmp(last_message, "kinds:", 6) == 0 && found == NULL);
    }
    kb_search_options options = KB_SEARCH_OPTIONS_INIT;
    options.classes = 8;
    CHECK_STATUS(KB_INVALID_ARGUMENT, search_with(&options));
    options.classes = KB_CLASS_CODE | KB_CLASS_DOC | KB_CLASS_DATA;
    CHECK_STATUS(KB_OK, search_with(&options));
    options.symbol_kinds = (1u << 12) - 1;
    CHECK_STATUS(KB_OK, search_with(&options));
    close_sample();
}

static void numbers_out_of_range_are_refused(void) {
    open_sample();
#define REFUSED_FIELD(field, value) \
    do { \
        kb_search_options options = KB_SEARCH_OPTIONS_INIT; \
        options.field = (value); \
        CHECK_STATUS(KB_INVALID_ARGUMENT, search_with(&options)); \
    } while (0)
    REFUSED_FIELD(k, 10001);
    REFUSED_FIELD(k, UINT32_MAX);
    REFUSED_FIELD(min_score, -0.5f);
    REFUSED_FIELD(min_score, 1.5f);
    REFUSED_FIELD(min_score, NAN);
    REFUSED_FIELD(min_score, INFINITY);
    REFUSED_FIELD(context_before, 1001);
    REFUSED_FIELD(context_after, UINT32_MAX);
    REFUSED_FIELD(max_tokens, 1000001);
    REFUSED_FIELD(max_tokens, UINT32_MAX);
    kb_symbols_options symbols = KB_SYMBOLS_OPTIONS_INIT;
    kb_symbols *found = POISON;
    symbols.max_tokens = UINT32_MAX;
    CHECK_STATUS(KB_INVALID_ARGUMENT, kb_find_symbols(file, &symbols, &found, &err));
    symbols.max_tokens = 0;
    symbols.uses = symbols.used_by = WORD;
    CHECK_STATUS(KB_INVALID_ARGUMENT, kb_find_symbols(file, &symbols, &found, &err));
    kb_text *text = POISON;
    CHECK_STATUS(KB_INVALID_RANGE, kb_get_text(file, NAME, 1000, 1001, &text, &err));
    CHECK_STATUS(KB_INVALID_RANGE, kb_get_text(file, NAME, 3, 2, &text, &err));
    CHECK_STATUS(KB_INVALID_RANGE, kb_get_text(file, NAME, 0, 2, &text, &err));
    CHECK_STATUS(KB_INVALID_RANGE, kb_get_text(file, NAME, UINT32_MAX, UINT32_MAX, &text, &err));
    CHECK(text == NULL);
    kb_search_options extreme = KB_SEARCH_OPTIONS_INIT;
    extreme.modified_since_ms = INT64_MIN;
    CHECK_STATUS(KB_OK, search_with(&extreme));
    extreme.modified_since_ms = INT64_MAX;
    CHECK_STATUS(KB_OK, search_with(&extreme));
    extreme.cursor = KB_STR("no cursor");
    CHECK_STATUS(KB_INVALID_CONTINUATION_TOKEN, search_with(&extreme));
    kb_hits *hits = POISON;
    CHECK_STATUS(KB_INVALID_ARGUMENT, kb_search(file, KB_STR("  "), NULL, &hits, &err));
    CHECK_STATUS(KB_INVALID_ARGUMENT, kb_search_files((const kb *const *)&file, 0, WORD, NULL, &hits, &err));
    const kb *many[65];
    for (size_t at = 0; at < COUNT(many); at++) {
        many[at] = file;
    }
    CHECK_STATUS(KB_INVALID_ARGUMENT, kb_search_files(many, 65, WORD, NULL, &hits, &err));
    CHECK(hits == NULL);
    /* Times beyond what a calendar has: stored, or refused, but no panic. */
    const int64_t times[] = {INT64_MIN, INT64_MAX, -1};
    for (size_t at = 0; at < COUNT(times); at++) {
        kb_new_document document = KB_NEW_DOCUMENT_INIT;
        document.path = KB_STR("time.md");
        document.modified_ms = times[at];
        document.replace = 1;
        kb_status status = kb_writer_add(writer, &document, NULL);
        CHECK(status == KB_OK || status == KB_INVALID_ARGUMENT);
        kb_text *answer = NULL;
        commit(writer);
        kb *other = opened(temp_path("w.kb"));
        CHECK_STATUS(KB_OK, kb_call(other, NULL, KB_STR("{\"call\":\"document\",\"document\":\"time.md\"}"), NULL, NULL, &answer, &err));
        kb_text_free(&answer);
        close_file(&other);
    }
    kb_index_options index = KB_INDEX_OPTIONS_INIT;
    index.threads = UINT32_MAX;
    index.max_file_bytes = UINT64_MAX;
    make_folder(temp_path("f"));
    kb_str path = temp("f");
    kb_report *report = NULL;
    CHECK_STATUS(KB_OK, kb_writer_index(writer, &path, 1, &index, &report, &err));
    kb_report_free(&report);
    close_sample();
}

static void a_handle_of_another_kind_is_refused(void) {
    open_sample();
    kb_hits *hits = NULL;
    CHECK_STATUS(KB_OK, kb_search(file, WORD, NULL, &hits, &err));
    kb_hits *made = POISON;
    CHECK_STATUS(KB_INVALID_ARGUMENT, kb_search((const kb *)hits, WORD, NULL, &made, &err));
    CHECK(strstr(last_message, "no kb") != NULL && made == NULL);
    CHECK_STATUS(KB_INVALID_ARGUMENT, kb_search((const kb *)writer, WORD, NULL, &made, &err));
    CHECK_STATUS(KB_INVALID_ARGUMENT, kb_writer_commit((kb_writer *)file, NULL, NULL, &err));
    CHECK(strstr(last_message, "kb_writer") != NULL);
    kb_hit hit = KB_HIT_INIT;
    CHECK_STATUS(KB_INVALID_ARGUMENT, kb_hits_get((const kb_hits *)file, 0, &hit, &err));
    kb_text *text = POISON;
    kb_str help = KB_STR("{\"call\":\"info\"}");
    CHECK_STATUS(KB_INVALID_ARGUMENT, kb_call((const kb *)writer, NULL, help, NULL, NULL, &text, &err));
    CHECK_STATUS(KB_INVALID_ARGUMENT,
                 kb_call(NULL, (kb_writer *)file, KB_STR("{\"call\":\"commit\"}"), NULL, NULL, &text, &err));
    CHECK_NUMBER(0, kb_hits_len((const kb_hits *)file));
    CHECK_NUMBER(0, kb_writer_pending((const kb_writer *)file));
    CHECK_TEXT("", kb_text_str((const kb_text *)hits));
    CHECK_TEXT("", kb_error_message((const kb_error *)hits));
    /* Neither freed nor closed. */
    kb_hits *alias = (kb_hits *)file;
    kb_hits_free(&alias);
    CHECK(alias == (kb_hits *)file);
    kb *closed = (kb *)hits;
    CHECK_STATUS(KB_INVALID_ARGUMENT, kb_close(&closed, &err));
    closed = (kb *)writer;
    CHECK_STATUS(KB_INVALID_ARGUMENT, kb_close(&closed, &err));
    /* Eight bytes that are no handle at all, and an address that none can have. */
    uint64_t other[4] = {1, 2, 3, 4};
    CHECK_STATUS(KB_INVALID_ARGUMENT, kb_search((const kb *)(const void *)other, WORD, NULL, &made, &err));
    CHECK_STATUS(KB_INVALID_ARGUMENT, kb_search((const kb *)(const void *)((const char *)other + 1), WORD, NULL, &made, &err));
    CHECK(kb_hits_len(hits) > 0);
    kb_hits_free(&hits);
    close_sample();
}

static void an_index_behind_the_last_item_is_refused(void) {
    open_sample();
    kb_hits *hits = NULL;
    kb_documents *documents = NULL;
    kb_sections *sections = NULL;
    kb_parts *parts = NULL;
    kb_symbols *symbols = NULL;
    kb_problems *problems = NULL;
    CHECK_STATUS(KB_OK, kb_search(file, WORD, NULL, &hits, &err));
    CHECK_STATUS(KB_OK, kb_find_document(file, NAME, &documents, &err));
    CHECK_STATUS(KB_OK, kb_get_outline(file, NAME, &sections, &err));
    CHECK_STATUS(KB_OK, kb_get_parts(file, KB_STR("data/stations.csv"), &parts, &err));
    CHECK_STATUS(KB_OK, kb_find_symbols(file, NULL, &symbols, &err));
    CHECK_STATUS(KB_OK, kb_verify(file, NULL, &problems, &err));
    kb_hit hit = KB_HIT_INIT;
    kb_document document = KB_DOCUMENT_INIT;
    kb_section section = KB_SECTION_INIT;
    kb_part part = KB_PART_INIT;
    kb_symbol symbol = KB_SYMBOL_INIT;
    CHECK_STATUS(KB_INVALID_ARGUMENT, kb_hits_get(hits, kb_hits_len(hits), &hit, &err));
    CHECK_STATUS(KB_INVALID_ARGUMENT, kb_hits_get(hits, SIZE_MAX, &hit, &err));
    CHECK_STATUS(KB_INVALID_ARGUMENT, kb_documents_get(documents, 1, &document, &err));
    CHECK_STATUS(KB_INVALID_ARGUMENT, kb_sections_get(sections, kb_sections_len(sections), &section, &err));
    CHECK_STATUS(KB_INVALID_ARGUMENT, kb_parts_get(parts, kb_parts_len(parts), &part, &err));
    CHECK_STATUS(KB_INVALID_ARGUMENT, kb_symbols_get(symbols, kb_symbols_len(symbols), &symbol, &err));
    CHECK(hit.document.ptr == NULL && hit.struct_size == sizeof hit);
    CHECK_TEXT("", kb_problems_get(problems, 0));
    CHECK_TEXT("", kb_problems_get(problems, SIZE_MAX));
    kb_hits_free(&hits);
    kb_documents_free(&documents);
    kb_sections_free(&sections);
    kb_parts_free(&parts);
    kb_symbols_free(&symbols);
    kb_problems_free(&problems);
    close_sample();
}

/* A callback that closes the file that calls it, searches with it, and uses it otherwise. */
static int calls;
static int32_t close_from_within(const kb_progress *progress, void *data) {
    (void)data;
    calls++;
    CHECK(progress->struct_size >= sizeof *progress);
    CHECK_STATUS(KB_IN_USE, kb_close(&file, &err));
    CHECK(file != NULL && last_hint[0] != '\0');
    if (calls == 1) {
        CHECK(hits_for(file, "fog") > 0);
        CHECK_NUMBER(SAMPLE_DOCUMENTS, documents_in(file));
        kb *another = opened(temp_path("a.kb"));
        close_file(&another);
        kb_problems *problems = NULL;
        CHECK_STATUS(KB_OK, kb_verify(file, NULL, &problems, &err));
        kb_problems_free(&problems);
    }
    return 0;
}

static void a_callback_may_search_but_not_close_what_called_it(void) {
    open_sample();
    kb_search_options options = KB_SEARCH_OPTIONS_INIT;
    options.progress = close_from_within;
    calls = 0;
    CHECK_STATUS(KB_OK, search_with(&options));
    CHECK(calls > 0);
    kb_verify_options verify = KB_VERIFY_OPTIONS_INIT;
    verify.progress = close_from_within;
    verify.deep = 1;
    calls = 0;
    kb_problems *problems = NULL;
    CHECK_STATUS(KB_OK, kb_verify(file, &verify, &problems, &err));
    CHECK(calls > 0);
    CHECK_NUMBER(0, kb_problems_len(problems));
    kb_problems_free(&problems);
    kb_text *text = NULL;
    calls = 0;
    CHECK_STATUS(KB_OK, kb_call(file, NULL, KB_STR("{\"call\":\"verify\"}"), close_from_within, NULL, &text, &err));
    CHECK(calls > 0);
    kb_text_free(&text);
    calls = 0;
    kb_hits *hits = NULL;
    const kb *files[] = {file, file};
    CHECK_STATUS(KB_OK, kb_search_files(files, 2, WORD, &options, &hits, &err));
    CHECK(calls > 0);
    kb_hits_free(&hits);
    close_sample();
}

static int32_t write_from_within(const kb_progress *progress, void *data) {
    (void)progress, (void)data;
    calls++;
    kb_new_document document = KB_NEW_DOCUMENT_INIT;
    document.path = KB_STR("within.md");
    kb_str path = KB_STR("/");
    kb_report *report = POISON;
    kb_text *text = POISON;
    CHECK_STATUS(KB_IN_USE, kb_writer_add(writer, &document, &err));
    CHECK(last_hint[0] != '\0');
    CHECK_STATUS(KB_IN_USE, kb_writer_remove(writer, WORD, &err));
    CHECK_STATUS(KB_IN_USE, kb_writer_tag(writer, WORD, &WORD, 1, NULL, 0, &err));
    CHECK_STATUS(KB_IN_USE, kb_writer_commit(writer, NULL, NULL, &err));
    CHECK_STATUS(KB_IN_USE, kb_writer_rollback(writer, &err));
    CHECK_STATUS(KB_IN_USE, kb_writer_index(writer, &path, 1, NULL, &report, &err));
    CHECK(report == NULL);
    CHECK_STATUS(KB_IN_USE, kb_writer_seal(writer, NULL, &report, &err));
    CHECK_STATUS(KB_IN_USE, kb_call(NULL, writer, KB_STR("{\"call\":\"commit\"}"), NULL, NULL, &text, &err));
    CHECK(text == NULL);
    CHECK_NUMBER(0, kb_writer_pending(writer));
    kb_writer *copy = writer;
    CHECK_STATUS(KB_IN_USE, kb_writer_close(&copy, &err));
    CHECK(copy == writer);
    return 0;
}

static void a_callback_may_not_use_the_writer_that_called_it(void) {
    open_sample();
    make_folder(temp_path("folder"));
    write_file(temp_path("folder/a.md"), "# A\n\nwords\n", 11);
    kb_str path = temp("folder");
    kb_index_options index = KB_INDEX_OPTIONS_INIT;
    index.progress = write_from_within;
    kb_report *report = NULL;
    calls = 0;
    CHECK_STATUS(KB_OK, kb_writer_index(writer, &path, 1, &index, &report, &err));
    CHECK(calls > 0);
    kb_report_free(&report);
    kb_new_document document = KB_NEW_DOCUMENT_INIT;
    document.path = KB_STR("b.md");
    document.progress = write_from_within;
    CHECK_STATUS(KB_OK, kb_writer_add(writer, &document, &err));
    calls = 0;
    CHECK_STATUS(KB_OK, kb_writer_commit(writer, write_from_within, NULL, &err));
    CHECK(calls > 0);
    kb_seal_options seal = KB_SEAL_OPTIONS_INIT;
    seal.progress = write_from_within;
    calls = 0;
    CHECK_STATUS(KB_OK, kb_writer_seal(writer, &seal, &report, &err));
    CHECK(calls > 0);
    kb_report_free(&report);
    kb *other = opened(temp_path("w.kb"));
    CHECK_NUMBER(3, documents_in(other));
    close_file(&other);
    close_sample();
}

/* Answers of a search, as numbers to compare. */
static uint64_t digest(const kb *searched) {
    uint64_t sum = 0;
    static const char *const QUERIES[] = {"tides", "moon water", "lamp", "fog horn"};
    for (size_t at = 0; at < COUNT(QUERIES); at++) {
        kb_hits *hits = NULL;
        CHECK_STATUS(KB_OK, kb_search(searched, kb_str_from(QUERIES[at]), NULL, &hits, &err));
        for (size_t it = 0; it < kb_hits_len(hits); it++) {
            kb_hit hit = KB_HIT_INIT;
            CHECK_STATUS(KB_OK, kb_hits_get(hits, it, &hit, &err));
            sum = sum * 31 + hit.start_byte + hit.document.len * 7 + (uint64_t)(hit.score * 1e6f);
        }
        kb_hits_free(&hits);
    }
    kb_text *text = NULL;
    CHECK_STATUS(KB_OK, kb_get_text(searched, NAME, 0, 0, &text, &err));
    sum = sum * 31 + kb_text_str(text).len;
    kb_text_free(&text);
    return sum * 31 + documents_in(searched);
}

static uint64_t expected_digest;
static void *read_in_thread(void *data) {
    (void)data;
    for (int round = 0; round < (is_quick ? 3 : 50); round++) {
        CHECK(digest(file) == expected_digest);
    }
    return NULL;
}

static void eight_threads_read_one_file_with_equal_answers(void) {
    open_sample();
    expected_digest = digest(file);
    pthread_t threads[8];
    for (size_t at = 0; at < COUNT(threads); at++) {
        CHECK(pthread_create(&threads[at], NULL, read_in_thread, NULL) == 0);
    }
    for (size_t at = 0; at < COUNT(threads); at++) {
        CHECK(pthread_join(threads[at], NULL) == 0);
    }
    close_sample();
}

static atomic_int added, refused;
static void *write_in_thread(void *data) {
    size_t thread = *(const size_t *)data;
    for (int round = 0; round < (is_quick ? 5 : 60); round++) {
        char path[64];
        snprintf(path, sizeof path, "t%zu/%d.md", thread, round);
        kb_new_document document = KB_NEW_DOCUMENT_INIT;
        document.path = kb_str_from(path);
        document.data = "# Text\n\nSome words.\n";
        document.data_len = 20;
        kb_status status = kb_writer_add(writer, &document, NULL);
        CHECK(status == KB_OK || status == KB_IN_USE);
        atomic_fetch_add(status == KB_OK ? &added : &refused, 1);
        status = kb_writer_commit(writer, NULL, NULL, NULL);
        CHECK(status == KB_OK || status == KB_IN_USE);
        (void)kb_writer_pending(writer);
    }
    return NULL;
}

static void eight_threads_on_one_writer_work_or_are_told_that_it_is_in_use(void) {
    open_sample();
    pthread_t threads[8];
    size_t numbers[8];
    added = refused = 0;
    for (size_t at = 0; at < COUNT(threads); at++) {
        numbers[at] = at;
        CHECK(pthread_create(&threads[at], NULL, write_in_thread, &numbers[at]) == 0);
    }
    for (size_t at = 0; at < COUNT(threads); at++) {
        CHECK(pthread_join(threads[at], NULL) == 0);
    }
    commit(writer);
    kb *other = opened(temp_path("w.kb"));
    CHECK_NUMBER(atomic_load(&added) + 1, documents_in(other));
    CHECK(atomic_load(&added) > 0);
    close_file(&other);
    close_sample();
}

/* Waits for a child, and that it found nothing wrong. */
static void child_succeeds(pid_t child) {
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* Ends a child in a way that valgrind does not look for leaks after: what a child must not touch of a writer it leaks. */
static void end_child(void) {
    kill(getpid(), SIGKILL);
    _exit(2);
}

#define CHILD_DEMANDS(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: in the child: not so: %s\n", __FILE__, __LINE__, #condition); \
            _exit(1); \
        } \
    } while (0)

static void after_a_fork_the_child_searches(void) {
    open_sample();
    expected_digest = digest(file);
    pid_t child = fork();
    if (child == 0) {
        CHILD_DEMANDS(digest(file) == expected_digest);
        CHILD_DEMANDS(kb_close(&file, NULL) == KB_OK && file == NULL);
        end_child();
    }
    child_succeeds(child);
    CHECK(digest(file) == expected_digest);
    close_sample();
}

static void after_a_fork_the_child_closes_a_writer_and_the_parent_goes_on(void) {
    open_sample();
    add_text(writer, "pending.md", "# Pending\n\nIt waits.\n");
    pid_t child = fork();
    if (child == 0) {
        kb_writer *copy = writer;
        kb_new_document document = KB_NEW_DOCUMENT_INIT;
        document.path = KB_STR("child.md");
        CHILD_DEMANDS(kb_writer_add(copy, &document, NULL) == KB_FORKED_WRITER);
        CHILD_DEMANDS(kb_writer_remove(copy, KB_STR("first.md"), NULL) == KB_FORKED_WRITER);
        CHILD_DEMANDS(kb_writer_commit(copy, NULL, NULL, NULL) == KB_FORKED_WRITER);
        kb_report *report = POISON;
        kb_str path = temp(".");
        CHILD_DEMANDS(kb_writer_index(copy, &path, 1, NULL, &report, NULL) == KB_FORKED_WRITER);
        CHILD_DEMANDS(kb_writer_seal(copy, NULL, &report, NULL) == KB_FORKED_WRITER && report == NULL);
        CHILD_DEMANDS(kb_writer_close(&copy, NULL) == KB_OK && copy == NULL);
        end_child();
    }
    child_succeeds(child);
    CHECK_NUMBER(1, kb_writer_pending(writer));
    /* The lock is the parent's still: another writer may not come between. */
    kb_writer *second = writer_of(temp_path("w.kb"));
    CHECK_STATUS(KB_INDEX_LOCKED, kb_writer_remove(second, KB_STR("first.md"), &err));
    commit(writer);
    add_text(writer, "more.md", "# More\n\nThe parent goes on.\n");
    commit(writer);
    kb *other = opened(temp_path("w.kb"));
    CHECK_NUMBER(3, documents_in(other));
    close_file(&other);
    close_writer(&second);
    close_sample();
}

static const test_case TESTS[] = {
    TEST(numbers_that_are_none_of_their_enum_are_refused),
    TEST(unknown_bits_are_refused),
    TEST(numbers_out_of_range_are_refused),
    TEST(a_handle_of_another_kind_is_refused),
    TEST(an_index_behind_the_last_item_is_refused),
    TEST(a_callback_may_search_but_not_close_what_called_it),
    TEST(a_callback_may_not_use_the_writer_that_called_it),
    TEST(eight_threads_read_one_file_with_equal_answers),
    TEST(eight_threads_on_one_writer_work_or_are_told_that_it_is_in_use),
    TEST(after_a_fork_the_child_searches),
    TEST(after_a_fork_the_child_closes_a_writer_and_the_parent_goes_on),
};

int main(int argc, char **argv) {
    return RUN(TESTS);
}
