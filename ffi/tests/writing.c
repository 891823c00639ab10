/* Every function that writes, in earnest. */
#define _XOPEN_SOURCE 700
#include "support.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static kb_writer *writer;
static kb *file;

static kb_report_view numbers_of(kb_report *report) {
    kb_report_view view = KB_REPORT_VIEW_INIT;
    CHECK_STATUS(KB_OK, kb_report_get(report, &view, &err));
    return view;
}

/* The view of one document; its texts die with `documents`. */
static kb_document found(const char *name, kb_documents **documents) {
    kb_document document = KB_DOCUMENT_INIT;
    CHECK_STATUS(KB_OK, kb_find_document(file, kb_str_from(name), documents, &err));
    CHECK_STATUS(KB_OK, kb_documents_get(*documents, 0, &document, &err));
    return document;
}

static int32_t count_calls(const kb_progress *progress, void *data) {
    CHECK(progress->struct_size >= sizeof *progress && progress->stage >= 0 && progress->stage <= KB_STAGE_SEARCH);
    ((int *)data)[progress->stage]++;
    return 0;
}

static void a_document_is_added_with_all_its_fields(void) {
    writer = writer_of(temp_path("a.kb"));
    CHECK(!exists(temp_path("a.kb")));
    kb_str tags[] = {KB_STR("Tide"), KB_STR("sea")};
    kb_pair metadata[] = {{KB_STR("station"), KB_STR("Skagen")}, {KB_STR("empty"), KB_STR("")}};
    int calls[8] = {0};
    kb_new_document document = KB_NEW_DOCUMENT_INIT;
    document.path = KB_STR("logs/one.md");
    document.data = "# Heading\n\nA note about the sea.\n";
    document.data_len = 33;
    document.title = KB_STR("The title");
    document.tags = tags;
    document.tags_len = 2;
    document.metadata = metadata;
    document.metadata_len = 2;
    document.modified_ms = 1234567890123;
    document.progress = count_calls;
    document.progress_data = calls;
    CHECK_STATUS(KB_OK, kb_writer_add(writer, &document, &err));
    CHECK_NUMBER(1, kb_writer_pending(writer));
    commit(writer);
    CHECK_NUMBER(0, kb_writer_pending(writer));
    file = opened(temp_path("a.kb"));
    kb_documents *documents = NULL;
    kb_document view = found("logs/one.md", &documents);
    CHECK_TEXT("The title", view.title);
    CHECK_NUMBER(2, view.tags_len);
    CHECK_TEXT("sea", view.tags[0]);
    CHECK_TEXT("tide", view.tags[1]);
    CHECK_NUMBER(2, view.metadata_len);
    CHECK_TEXT("Skagen", view.metadata[0].value);
    CHECK_TEXT("", view.metadata[1].value);
    CHECK_NUMBER(1234567890123, view.modified_ms);
    kb_documents_free(&documents);
    CHECK(hits_for(file, "note") == 1);
    close_file(&file);
    close_writer(&writer);
}

static void a_document_that_is_there_is_only_replaced_when_asked(void) {
    writer = writer_of(temp_path("a.kb"));
    kb_str tag = KB_STR("kept");
    add_text(writer, "a.md", "# A\n\nThe former words.\n");
    CHECK_STATUS(KB_OK, kb_writer_tag(writer, KB_STR("a.md"), &tag, 1, NULL, 0, &err));
    commit(writer);
    kb_new_document document = KB_NEW_DOCUMENT_INIT;
    document.path = KB_STR("a.md");
    document.data = "# A\n\nThe latter words.\n";
    document.data_len = 23;
    CHECK_STATUS(KB_DOCUMENT_EXISTS, kb_writer_add(writer, &document, &err));
    CHECK_NUMBER(0, kb_writer_pending(writer));
    document.replace = 1;
    CHECK_STATUS(KB_OK, kb_writer_add(writer, &document, &err));
    file = opened(temp_path("a.kb"));
    /* Nobody sees it before the commit. */
    CHECK(hits_for(file, "former") == 1 && hits_for(file, "latter") == 0);
    commit(writer);
    CHECK(hits_for(file, "former") == 0 && hits_for(file, "latter") == 1);
    kb_documents *documents = NULL;
    kb_document view = found("a.md", &documents);
    CHECK(view.tags_len == 1 && equals(view.tags[0], "kept"));
    kb_documents_free(&documents);
    close_file(&file);
    close_writer(&writer);
}

static void what_is_or_holds_a_secret_is_refused(void) {
    writer = writer_of(temp_path("a.kb"));
    /* A token as it would be: letters and digits in no order. It is made here, because a literal one is found by those
     * who look for leaks. */
    char token[64] = "token = ghp_";
    uint32_t state = 12345;
    for (size_t at = strlen(token), end = at + 36; at < end; at++) {
        state = state * 1664525u + 1013904223u;
        token[at] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"[(state >> 16) % 62];
    }
    const struct {
        const char *path, *text;
    } SECRETS[] = {{".env", "A=1\n"}, {"id_rsa", "x\n"}, {"notes.md", token}};
    for (size_t at = 0; at < COUNT(SECRETS); at++) {
        kb_new_document document = KB_NEW_DOCUMENT_INIT;
        document.path = kb_str_from(SECRETS[at].path);
        document.data = SECRETS[at].text;
        document.data_len = strlen(SECRETS[at].text);
        CHECK_STATUS(KB_INVALID_ARGUMENT, kb_writer_add(writer, &document, &err));
        CHECK(strstr(last_message, "include_secrets") != NULL);
        CHECK_NUMBER(at, kb_writer_pending(writer));
        document.include_secrets = 1;
        CHECK_STATUS(KB_OK, kb_writer_add(writer, &document, &err));
    }
    close_writer(&writer);
}

/* A call that fails must leave no half of it behind: what would the next commit write? */
static void an_addition_that_fails_leaves_nothing_to_commit(void) {
    writer = writer_of(temp_path("a.kb"));
    kb_str tags[] = {KB_STR("good"), KB_STR("a,comma")};
    kb_new_document document = KB_NEW_DOCUMENT_INIT;
    document.path = KB_STR("a.md");
    document.data = "# A\n";
    document.data_len = 4;
    document.tags = tags;
    document.tags_len = 2;
    CHECK_STATUS(KB_INVALID_ARGUMENT, kb_writer_add(writer, &document, &err));
    CHECK_NUMBER(0, kb_writer_pending(writer));
    document.tags_len = 1;
    CHECK_STATUS(KB_OK, kb_writer_add(writer, &document, &err));
    commit(writer);
    close_writer(&writer);
}

static void a_replacement_that_fails_leaves_the_former_document(void) {
    writer = writer_of(temp_path("a.kb"));
    add_text(writer, "a.md", "# A\n\nThe former words.\n");
    commit(writer);
    kb_str tag = KB_STR("a,comma");
    kb_new_document document = KB_NEW_DOCUMENT_INIT;
    document.path = KB_STR("a.md");
    document.data = "# A\n\nThe latter words.\n";
    document.data_len = 23;
    document.tags = &tag;
    document.tags_len = 1;
    document.replace = 1;
    CHECK_STATUS(KB_INVALID_ARGUMENT, kb_writer_add(writer, &document, &err));
    CHECK_NUMBER(0, kb_writer_pending(writer));
    commit(writer);
    file = opened(temp_path("a.kb"));
    CHECK(hits_for(file, "former") == 1 && hits_for(file, "latter") == 0);
    close_file(&file);
    close_writer(&writer);
}

static void documents_are_removed_tagged_and_forgotten(void) {
    writer = writer_of(temp_path("a.kb"));
    add_text(writer, "a.md", "# A\n\nOne.\n");
    add_text(writer, "b/c.md", "# B\n\nTwo.\n");
    commit(writer);
    file = opened(temp_path("a.kb"));
    kb_str tags[] = {KB_STR("one"), KB_STR("two")};
    CHECK_STATUS(KB_OK, kb_writer_tag(writer, KB_STR("c.md"), tags, 2, NULL, 0, &err));
    CHECK_STATUS(KB_OK, kb_writer_tag(writer, KB_STR("b/c.md"), NULL, 0, tags, 1, &err));
    CHECK_STATUS(KB_INVALID_ARGUMENT, kb_writer_tag(writer, KB_STR("a.md"), (kb_str[]){KB_STR("a,b")}, 1, NULL, 0, &err));
    CHECK_STATUS(KB_INVALID_ARGUMENT, kb_writer_tag(writer, KB_STR("a.md"), (kb_str[]){KB_STR("")}, 1, NULL, 0, &err));
    CHECK_STATUS(KB_DOCUMENT_NOT_FOUND, kb_writer_tag(writer, KB_STR("none.md"), tags, 2, NULL, 0, &err));
    CHECK_STATUS(KB_OK, kb_writer_remove(writer, KB_STR("a.md"), &err));
    CHECK_STATUS(KB_DOCUMENT_NOT_FOUND, kb_writer_remove(writer, KB_STR("a.md"), &err));
    CHECK_NUMBER(2, kb_writer_pending(writer));
    CHECK_NUMBER(2, documents_in(file));
    commit(writer);
    CHECK_NUMBER(1, documents_in(file));
    kb_documents *documents = NULL;
    kb_document view = found("b/c.md", &documents);
    CHECK(view.tags_len == 1 && equals(view.tags[0], "two"));
    kb_documents_free(&documents);
    CHECK_STATUS(KB_OK, kb_writer_remove(writer, KB_STR("b/c.md"), &err));
    add_text(writer, "d.md", "# D\n\nFour.\n");
    CHECK_STATUS(KB_OK, kb_writer_rollback(writer, &err));
    CHECK_NUMBER(0, kb_writer_pending(writer));
    commit(writer);
    CHECK_NUMBER(1, documents_in(file));
    add_text(writer, "e.md", "# E\n\nFive.\n");
    /* What was not committed is lost with its writer. */
    close_writer(&writer);
    CHECK_NUMBER(1, documents_in(file));
    close_file(&file);
}

static void modes_of_writers_make_change_and_replace(void) {
    kb_writer_options options = KB_WRITER_OPTIONS_INIT;
    options.mode = KB_WRITER_MODE_OPEN;
    CHECK_STATUS(KB_PATH_NOT_FOUND, kb_writer_open(temp("a.kb"), &options, &writer, &err));
    options.mode = KB_WRITER_MODE_CREATE;
    CHECK_STATUS(KB_OK, kb_writer_open(temp("a.kb"), &options, &writer, &err));
    add_text(writer, "a.md", "# A\n");
    commit(writer);
    close_writer(&writer);
    CHECK_STATUS(KB_OK, kb_writer_open(temp("a.kb"), &options, &writer, &err));
    file = opened(temp_path("a.kb"));
    CHECK_NUMBER(1, documents_in(file));
    commit(writer);
    close_file(&file);
    file = opened(temp_path("a.kb"));
    CHECK_NUMBER(0, documents_in(file));
    close_file(&file);
    close_writer(&writer);
    options.mode = KB_WRITER_MODE_OPEN;
    CHECK_STATUS(KB_OK, kb_writer_open(temp("a.kb"), &options, &writer, &err));
    close_writer(&writer);
    options.worker = KB_STR("/bin/true");
    options.in_process = 1;
    CHECK_STATUS(KB_INVALID_ARGUMENT, kb_writer_open(temp("a.kb"), &options, &writer, &err));
}

static void a_folder_is_indexed_and_what_changed_is_told(void) {
    make_folder(temp_path("folder"));
    make_folder(temp_path("folder/sub"));
    write_file(temp_path("folder/a.md"), "# A\n\nOne word.\n", 15);
    write_file(temp_path("folder/sub/b.txt"), "Two words.\n", 11);
    write_file(temp_path("folder/.env"), "PASSWORD=hunter2\n", 17);
    writer = writer_of(temp_path("a.kb"));
    add_text(writer, "waiting.md", "# W\n\nIt waits.\n");
    kb_str path = temp("folder");
    int calls[8] = {0};
    kb_index_options options = KB_INDEX_OPTIONS_INIT;
    options.progress = count_calls;
    options.progress_data = calls;
    kb_report *report = NULL;
    CHECK_STATUS(KB_OK, kb_writer_index(writer, &path, 1, &options, &report, &err));
    CHECK(calls[KB_STAGE_WALK] > 0 && calls[KB_STAGE_INDEX] > 0 && calls[KB_STAGE_WRITE] > 0);
    kb_report_view view = numbers_of(report);
    CHECK_NUMBER(2, view.added);
    CHECK_NUMBER(3, view.documents);
    CHECK(view.chunks == 3 && view.updated == 0 && view.removed == 0 && view.unchanged == 0);
    CHECK_NUMBER(1, view.skipped);
    CHECK_TEXT("", view.content_root);
    CHECK(contains(kb_report_json(report), "sub/b.txt") && contains(kb_report_json(report), ".env"));
    kb_report_free(&report);
    CHECK_STATUS(KB_OK, kb_writer_index(writer, &path, 1, NULL, &report, &err));
    view = numbers_of(report);
    CHECK(view.unchanged == 2 && view.added == 0 && view.updated == 0 && view.documents == 3);
    kb_report_free(&report);
    write_file(temp_path("folder/a.md"), "# A\n\nAnother word, a longer text.\n", 34);
    remove(temp_path("folder/sub/b.txt"));
    // An empty folder keeps its documents: it may be a disk that is not mounted.
    remove(temp_path("folder/sub"));
    options.include_secrets = 1;
    options.trigrams = 1;
    options.threads = 1;
    CHECK_STATUS(KB_OK, kb_writer_index(writer, &path, 1, &options, &report, &err));
    view = numbers_of(report);
    CHECK(view.updated == 1 && view.removed == 1 && view.added == 1 && view.skipped == 0);
    kb_report_free(&report);
    path = temp("nothing");
    CHECK_STATUS(KB_PATH_NOT_FOUND, kb_writer_index(writer, &path, 1, NULL, &report, &err));
    CHECK(report == NULL);
    close_writer(&writer);
}

/* Indexes the folder; how many documents the file has then. */
static uint64_t documents_after(const kb_index_options *options) {
    kb_report *report = NULL;
    kb_str path = temp("chosen");
    CHECK_STATUS(KB_OK, kb_writer_index(writer, &path, 1, options, &report, &err));
    kb_report_view view = numbers_of(report);
    kb_report_free(&report);
    return view.documents;
}

static void which_files_are_read_is_chosen_and_remembered(void) {
    make_folder(temp_path("chosen"));
    make_folder(temp_path("chosen/.hidden"));
    write_file(temp_path("chosen/a.md"), "# A\n\nOne word.\n", 15);
    write_file(temp_path("chosen/b.txt"), "Two words.\n", 11);
    write_file(temp_path("chosen/.hidden/c.md"), "# C\n\nOne word.\n", 15);
    write_file(temp_path("outside.md"), "# O\n\nOne word.\n", 15);
    CHECK(symlink("../outside.md", temp_path("chosen/link.md")) == 0);
    writer = writer_of(temp_path("a.kb"));
    CHECK_NUMBER(2, documents_after(NULL));
    kb_index_options options = KB_INDEX_OPTIONS_INIT;
    options.hidden = 1;
    CHECK_NUMBER(3, documents_after(&options));
    options.hidden = 0;
    options.follow = 1;
    CHECK_NUMBER(4, documents_after(&options));
    const kb_str markdown = KB_STR("*.md"), hidden = KB_STR(".hidden/");
    options.follow = 0;
    options.include = &markdown;
    options.include_len = 1;
    CHECK_NUMBER(3, documents_after(&options));
    options.exclude = &hidden;
    options.exclude_len = 1;
    CHECK_NUMBER(2, documents_after(&options));
    /* All of them are remembered. */
    CHECK_NUMBER(2, documents_after(NULL));
    /* No patterns: every file. */
    options.include_len = 0;
    options.exclude_len = 0;
    CHECK_NUMBER(4, documents_after(&options));
    options.hidden = -1;
    options.follow = -1;
    CHECK_NUMBER(2, documents_after(&options));
    close_writer(&writer);
}

/* Indexes a folder with one office document; how many came in, how many were left out. */
static kb_report_view index_office(const kb_writer_options *how, const char *name) {
    kb_report *report = NULL;
    kb_str path = temp("office");
    CHECK_STATUS(KB_OK, kb_writer_open(temp(name), how, &writer, &err));
    CHECK_STATUS(KB_OK, kb_writer_index(writer, &path, 1, NULL, &report, &err));
    kb_report_view view = numbers_of(report);
    CHECK(view.skipped == 0 || contains(kb_report_json(report), "reason"));
    kb_report_free(&report);
    close_writer(&writer);
    return view;
}

static void office_documents_need_a_worker_or_trust(void) {
    char from[2048];
    size_t len = 0;
    snprintf(from, sizeof from, "%s/../corpus/documents/numbered-headings.docx", golden_folder);
    char *bytes = read_file(from, &len);
    if (!CHECK(bytes != NULL) || !(kb_features() & KB_FEATURE_OFFICE)) {
        free(bytes);
        return;
    }
    make_folder(temp_path("office"));
    write_file(temp_path("office/a.docx"), bytes, len);
    kb_writer_options how = KB_WRITER_OPTIONS_INIT;
    kb_report_view view = index_office(&how, "none.kb");
    CHECK(view.added == 0 && view.skipped == 1);
    how.in_process = 1;
    view = index_office(&how, "trusted.kb");
    CHECK(view.added == 1 && view.skipped == 0);
    how.in_process = 0;
    how.worker = KB_STR("/nowhere/kb");
    view = index_office(&how, "wrong.kb");
    CHECK(view.added == 0 && view.skipped == 1);
    if (kb_program[0]) {
        how.worker = kb_str_from(kb_program);
        view = index_office(&how, "worker.kb");
        CHECK(view.added == 1 && view.skipped == 0);
    }
    writer = writer_of(temp_path("one.kb"));
    kb_new_document document = KB_NEW_DOCUMENT_INIT;
    document.path = KB_STR("a.docx");
    document.data = bytes;
    document.data_len = len;
    CHECK_STATUS(KB_NO_EXTRACTION_WORKER, kb_writer_add(writer, &document, &err));
    CHECK(last_message[0] != '\0' && (last_hint[0] != '\0' || strstr(last_message, "worker")));
    close_writer(&writer);
    free(bytes);
}

static void a_file_is_sealed_in_place_and_to_an_output(void) {
    write_sample(temp_path("a.kb"));
    writer = writer_of(temp_path("a.kb"));
    add_text(writer, "waiting.md", "# W\n\nIt waits.\n");
    file = opened(temp_path("a.kb"));
    kb_seal_options options = KB_SEAL_OPTIONS_INIT;
    int calls[8] = {0};
    options.output = temp("out.kb");
    options.progress = count_calls;
    options.progress_data = calls;
    kb_report *report = NULL;
    CHECK_STATUS(KB_OK, kb_writer_seal(writer, &options, &report, &err));
    CHECK(calls[KB_STAGE_SEAL] > 0);
    kb_report_view view = numbers_of(report);
    CHECK_NUMBER(SAMPLE_DOCUMENTS + 1, view.documents);
    CHECK(view.bytes_before > view.bytes_after && view.bytes_after > 0);
    CHECK(view.content_root.len >= 32);
    CHECK(contains(kb_report_json(report), "content_root"));
    kb *sealed = opened(temp_path("out.kb"));
    kb_info *info = NULL;
    kb_info_view facts = KB_INFO_VIEW_INIT;
    CHECK_STATUS(KB_OK, kb_get_info(sealed, &info, &err));
    CHECK_STATUS(KB_OK, kb_info_get(info, &facts, &err));
    CHECK(facts.is_sealed != 0 && facts.file_bytes == view.bytes_after);
    CHECK(facts.content_root.len == view.content_root.len &&
          memcmp(facts.content_root.ptr, view.content_root.ptr, facts.content_root.len) == 0);
    kb_info_free(&info);
    kb_report_free(&report);
    close_file(&sealed);
    /* That output is a .kb by now, of the same file; another one needs leave. */
    kb_writer *other = writer_of(temp_path("other.kb"));
    add_text(other, "o.md", "# O\n");
    commit(other);
    CHECK_STATUS(KB_OUTPUT_EXISTS, kb_writer_seal(other, &options, &report, &err));
    CHECK(report == NULL && last_message[0] != '\0');
    options.replace = 1;
    options.vectors = KB_CODEC_I4;
    CHECK_STATUS(KB_OK, kb_writer_seal(other, &options, &report, &err));
    kb_report_free(&report);
    close_writer(&other);
    write_file(temp_path("text.kb"), "a text, no knowledge base", 25);
    options.output = temp("text.kb");
    kb_status status = kb_writer_seal(writer, &options, &report, NULL);
    CHECK(status == KB_NOT_A_KB || status == KB_NOT_REPLACEABLE);
    options.output = temp("no/folder/here.kb");
    status = kb_writer_seal(writer, &options, &report, NULL);
    CHECK(status == KB_PATH_NOT_FOUND || status == KB_IO);
    CHECK_STATUS(KB_OK, kb_writer_seal(writer, NULL, &report, &err));
    kb_report_free(&report);
    CHECK_NUMBER(SAMPLE_DOCUMENTS + 1, documents_in(file));
    /* The writer goes on, and what changes breaks the seal. */
    CHECK_STATUS(KB_OK, kb_get_info(file, &info, &err));
    CHECK_STATUS(KB_OK, kb_info_get(info, &facts, &err));
    CHECK(facts.is_sealed != 0);
    kb_info_free(&info);
    add_text(writer, "after.md", "# After\n");
    commit(writer);
    CHECK_STATUS(KB_OK, kb_get_info(file, &info, &err));
    CHECK_STATUS(KB_OK, kb_info_get(info, &facts, &err));
    CHECK(facts.is_sealed == 0 && facts.documents == SAMPLE_DOCUMENTS + 2);
    kb_info_free(&info);
    close_file(&file);
    close_writer(&writer);
}

static void what_a_refused_seal_has_committed_stays(void) {
    write_sample(temp_path("a.kb"));
    write_sample(temp_path("other.kb"));
    writer = writer_of(temp_path("a.kb"));
    file = opened(temp_path("a.kb"));
    add_text(writer, "waiting.md", "# W\n\nIt waits.\n");
    kb_seal_options options = KB_SEAL_OPTIONS_INIT;
    options.output = temp("other.kb");
    kb_report *report = NULL;
    CHECK_STATUS(KB_OUTPUT_EXISTS, kb_writer_seal(writer, &options, &report, &err));
    CHECK_NUMBER(SAMPLE_DOCUMENTS + 1, documents_in(file));
    CHECK_NUMBER(0, kb_writer_pending(writer));
    close_file(&file);
    close_writer(&writer);
}

static void a_reader_beside_a_writer_sees_each_commit(void) {
    writer = writer_of(temp_path("a.kb"));
    commit(writer);
    file = opened(temp_path("a.kb"));
    for (size_t round = 0; round < (is_quick ? 5 : 40); round++) {
        CHECK_NUMBER(round, documents_in(file));
        char path[32];
        snprintf(path, sizeof path, "d%zu.md", round);
        add_text(writer, path, "# D\n\nThe sea.\n");
        CHECK_NUMBER(round, documents_in(file));
        commit(writer);
        kb_search_options options = KB_SEARCH_OPTIONS_INIT;
        options.k = 100;
        options.mode = KB_MODE_KEYWORD;
        kb_hits *hits = NULL;
        CHECK_STATUS(KB_OK, kb_search(file, KB_STR("sea"), &options, &hits, &err));
        CHECK_NUMBER(round + 1, kb_hits_len(hits));
        kb_hits_free(&hits);
    }
    close_file(&file);
    close_writer(&writer);
}

static void *roll_back_after_a_while(void *data) {
    nanosleep(&(struct timespec){0, 300 * 1000 * 1000}, NULL);
    CHECK_STATUS(KB_OK, kb_writer_rollback(data, &err));
    return NULL;
}

static void a_second_writer_is_locked_out_or_waits_for_its_turn(void) {
    writer = writer_of(temp_path("a.kb"));
    add_text(writer, "a.md", "# A\n");
    commit(writer);
    kb_writer *second = writer_of(temp_path("a.kb"));
    kb_writer_options options = KB_WRITER_OPTIONS_INIT;
    options.lock_timeout_ms = 200;
    kb_writer *patient = NULL;
    CHECK_STATUS(KB_OK, kb_writer_open(temp("a.kb"), &options, &patient, &err));
    /* A commit gives the file to nobody: its writer has it until it rolls back or is closed. */
    add_text(writer, "b.md", "# B\n");
    commit(writer);
    CHECK_STATUS(KB_INDEX_LOCKED, kb_writer_remove(second, KB_STR("a.md"), &err));
    kb_report *report = NULL;
    CHECK_STATUS(KB_INDEX_LOCKED, kb_writer_seal(second, NULL, &report, &err));
    double start = seconds();
    CHECK_STATUS(KB_INDEX_LOCKED, kb_writer_remove(patient, KB_STR("a.md"), &err));
    CHECK(seconds() - start > 0.15);
    close_writer(&patient);
    options.lock_timeout_ms = 20000;
    CHECK_STATUS(KB_OK, kb_writer_open(temp("a.kb"), &options, &patient, &err));
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, roll_back_after_a_while, writer) == 0);
    start = seconds();
    CHECK_STATUS(KB_OK, kb_writer_remove(patient, KB_STR("a.md"), &err));
    CHECK(seconds() - start > 0.1);
    CHECK(pthread_join(thread, NULL) == 0);
    commit(patient);
    CHECK_STATUS(KB_OK, kb_writer_rollback(patient, &err));
    CHECK_STATUS(KB_OK, kb_writer_remove(second, KB_STR("b.md"), &err));
    CHECK_STATUS(KB_INDEX_LOCKED, kb_writer_remove(writer, KB_STR("b.md"), &err));
    CHECK_STATUS(KB_OK, kb_writer_rollback(second, &err));
    CHECK_STATUS(KB_OK, kb_writer_remove(writer, KB_STR("b.md"), &err));
    close_writer(&writer);
    CHECK_STATUS(KB_OK, kb_writer_remove(second, KB_STR("b.md"), &err));
    commit(second);
    close_writer(&second);
    close_writer(&patient);
    file = opened(temp_path("a.kb"));
    CHECK_NUMBER(0, documents_in(file));
    close_file(&file);
}

static void a_file_that_is_replaced_meanwhile_is_noticed(void) {
    writer = writer_of(temp_path("a.kb"));
    add_text(writer, "a.md", "# A\n");
    commit(writer);
    write_sample(temp_path("b.kb"));
    add_text(writer, "b.md", "# B\n");
    CHECK(rename(temp_path("b.kb"), temp_path("a.kb")) == 0);
    CHECK_STATUS(KB_FILE_REPLACED, kb_writer_commit(writer, NULL, NULL, &err));
    close_writer(&writer);
    file = opened(temp_path("a.kb"));
    CHECK_NUMBER(SAMPLE_DOCUMENTS, documents_in(file));
    close_file(&file);
}

static void a_writer_of_an_older_file_changes_nothing_and_says_what_helps(void) {
    char from[4096];
    size_t len = 0, now = 0;
    snprintf(from, sizeof from, "%s/v0.13/golden.kb", golden_folder);
    char *bytes = read_file(from, &len);
    /* Version 0.11 and the checksum of the signature block with it, as in python/tests/test_manners.py. */
    bytes[522] = 11;
    memcpy(bytes + 1016, "\x99\x71\x8d\x8a\x5d\x75\x02\x62", 8);
    write_file(temp_path("older.kb"), bytes, len);
    CHECK_STATUS(KB_FORMAT_UNSUPPORTED, kb_open(temp("older.kb"), &file, &err));
    CHECK(strstr(last_hint, "kb_writer_index rebuilds an older one in place"));
    writer = writer_of(temp_path("older.kb"));
    kb_new_document document = KB_NEW_DOCUMENT_INIT;
    document.path = KB_STR("salt.md");
    document.data = "Salt.";
    document.data_len = 5;
    kb_report *report = NULL;
    kb_str tag = KB_STR("x"), name = KB_STR("docs/handbook.md");
    CHECK_STATUS(KB_FORMAT_UNSUPPORTED, kb_writer_add(writer, &document, &err));
    CHECK(strstr(last_message, "0.11") && strstr(last_hint, "kb_writer_index"));
    CHECK_STATUS(KB_FORMAT_UNSUPPORTED, kb_writer_remove(writer, name, &err));
    CHECK_STATUS(KB_FORMAT_UNSUPPORTED, kb_writer_tag(writer, name, &tag, 1, NULL, 0, &err));
    CHECK_STATUS(KB_FORMAT_UNSUPPORTED, kb_writer_seal(writer, NULL, &report, &err));
    /* An index run rebuilds it, unless that loses documents: these are of no folder. */
    mkdir(temp_path("empty"), 0777);
    kb_str empty = temp("empty");
    CHECK_STATUS(KB_NOT_REPLACEABLE, kb_writer_index(writer, &empty, 1, NULL, &report, &err));
    CHECK(strstr(last_message, "would lose documents"));
    close_writer(&writer);
    char *after = read_file(temp_path("older.kb"), &now);
    CHECK(now == len && memcmp(bytes, after, len) == 0);
    free(bytes);
    free(after);
}

static const test_case TESTS[] = {
    TEST(a_document_is_added_with_all_its_fields),
    TEST(a_document_that_is_there_is_only_replaced_when_asked),
    TEST(what_is_or_holds_a_secret_is_refused),
    TEST(an_addition_that_fails_leaves_nothing_to_commit),
    TEST(a_replacement_that_fails_leaves_the_former_document),
    TEST(documents_are_removed_tagged_and_forgotten),
    TEST(modes_of_writers_make_change_and_replace),
    TEST(a_folder_is_indexed_and_what_changed_is_told),
    TEST(which_files_are_read_is_chosen_and_remembered),
    TEST(office_documents_need_a_worker_or_trust),
    TEST(a_file_is_sealed_in_place_and_to_an_output),
    TEST(what_a_refused_seal_has_committed_stays),
    TEST(a_reader_beside_a_writer_sees_each_commit),
    TEST(a_second_writer_is_locked_out_or_waits_for_its_turn),
    TEST(a_file_that_is_replaced_meanwhile_is_noticed),
    TEST(a_writer_of_an_older_file_changes_nothing_and_says_what_helps),
};

int main(int argc, char **argv) {
    return RUN(TESTS);
}
