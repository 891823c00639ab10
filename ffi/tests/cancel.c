/* A call that its callback stops at the n-th step, for every n until it gets through: each time it says so, is not asked
 * again, and leaves the file as it was. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static kb *file;
static kb_writer *writer;

/* Stops at the n-th call; once it did it must not be called again. */
typedef struct {
    int at, calls;
    int32_t stopped_in;
} stop;

static int32_t stop_at(const kb_progress *progress, void *data) {
    stop *it = data;
    CHECK(it->stopped_in < 0);
    if (it->calls++ == it->at) {
        it->stopped_in = progress->stage;
        return 1;
    }
    return 0;
}

static void fill_folder(void) {
    make_folder(temp_path("folder"));
    for (int at = 0; at < (is_quick ? 10 : 60); at++) {
        char name[64], text[256];
        snprintf(name, sizeof name, "folder/f%02d.md", at);
        int len = snprintf(text, sizeof text, "# File %d\n\nThe water of the sea, number %d.\n", at, at);
        write_file(temp_path(name), text, (size_t)len);
    }
}

static char *copy_of(const char *name, size_t *len) {
    char *bytes = read_file(temp_path(name), len);
    CHECK(bytes != NULL);
    return bytes;
}

/* Documents of the file, and that no byte of it is wrong. */
static size_t sound_documents(const char *name) {
    kb *looked = opened(temp_path(name));
    kb_problems *problems = NULL;
    kb_verify_options deep = KB_VERIFY_OPTIONS_INIT;
    deep.deep = 1;
    CHECK_STATUS(KB_OK, kb_verify(looked, &deep, &problems, &err));
    CHECK_NUMBER(0, kb_problems_len(problems));
    kb_problems_free(&problems);
    size_t documents = documents_in(looked);
    close_file(&looked);
    return documents;
}

/* Whether a stopped call ended as it must. A merge follows a commit that stays, and while a commit is synced it may be too
 * late to stop it: then the call succeeds, and has done all of its work. */
static bool is_cancelled(kb_status status, const stop *it, kb_error **error) {
    bool is_late = it->stopped_in == KB_STAGE_MERGE || it->stopped_in == KB_STAGE_COMMIT || it->stopped_in == KB_STAGE_WRITE;
    bool is_to_fail = it->stopped_in >= 0 && !(is_late && status == KB_OK);
    if (!CHECK(status == (is_to_fail ? KB_CANCELLED : KB_OK))) {
        fprintf(stderr, "  status %d; stopped at call %d in stage %d\n", (int)status, it->at, (int)it->stopped_in);
    }
    CHECK(kb_error_status(*error) == status);
    kb_error_free(error);
    return status == KB_CANCELLED;
}

static void search_and_verify_stop_at_every_step(void) {
    write_sample(temp_path("a.kb"));
    file = opened(temp_path("a.kb"));
    int steps[4] = {0};
    const kb *files[] = {file, file};
    for (int which = 0; which < 4; which++) {
        stop it = {-1, 0, 0};
        do {
            it = (stop){it.at + 1, 0, -1};
            kb_search_options search = KB_SEARCH_OPTIONS_INIT;
            kb_verify_options verify = KB_VERIFY_OPTIONS_INIT;
            search.progress = verify.progress = stop_at;
            search.progress_data = verify.progress_data = &it;
            verify.deep = which == 2;
            kb_hits *hits = POISON;
            kb_problems *problems = POISON;
            kb_status status = which == 0   ? kb_search(file, KB_STR("sea water"), &search, &hits, &err)
                               : which == 1 ? kb_search_files(files, 2, KB_STR("sea water"), &search, &hits, &err)
                                            : kb_verify(file, &verify, &problems, &err);
            if (is_cancelled(status, &it, &err)) {
                CHECK(which < 2 ? hits == NULL : problems == NULL);
                steps[which]++;
            } else if (which < 2) {
                kb_hits_free(&hits);
            } else {
                kb_problems_free(&problems);
            }
            CHECK(hits_for(file, "gauge") == 1);
        } while (it.stopped_in >= 0 && it.at < 1000);
        CHECK(steps[which] > 0 && it.stopped_in < 0);
    }
    kb_text *text = POISON;
    stop it = {0, 0, -1};
    CHECK_STATUS(KB_CANCELLED, kb_call(file, NULL, KB_STR("{\"call\":\"verify\"}"), stop_at, &it, &text, &err));
    CHECK(text == NULL);
    close_file(&file);
}

static void index_stops_at_every_step(void) {
    fill_folder();
    write_sample(temp_path("base.kb"));
    size_t len = 0, cancelled = 0;
    char *base = copy_of("base.kb", &len);
    for (int at = 0, is_done = 0; !is_done && at < 2000; at++) {
        write_file(temp_path("a.kb"), base, len);
        writer = writer_of(temp_path("a.kb"));
        stop it = {at, 0, -1};
        kb_index_options options = KB_INDEX_OPTIONS_INIT;
        options.progress = stop_at;
        options.progress_data = &it;
        kb_report *report = POISON;
        kb_str path = temp("folder");
        kb_status status = kb_writer_index(writer, &path, 1, &options, &report, &err);
        if (is_cancelled(status, &it, &err)) {
            cancelled++;
            CHECK(report == NULL);
            CHECK_NUMBER(SAMPLE_DOCUMENTS, sound_documents("a.kb"));
            /* The writer goes on. */
            add_text(writer, "after.md", "# After\n");
            commit(writer);
            CHECK_NUMBER(SAMPLE_DOCUMENTS + 1, sound_documents("a.kb"));
        } else {
            CHECK(report != NULL && sound_documents("a.kb") > SAMPLE_DOCUMENTS);
            kb_report_free(&report);
            is_done = it.stopped_in < 0;
        }
        close_writer(&writer);
    }
    CHECK(cancelled >= 3);
    free(base);
}

static void commit_stops_at_every_step(void) {
    write_sample(temp_path("base.kb"));
    size_t len = 0, cancelled = 0;
    char *base = copy_of("base.kb", &len);
    for (int at = 0, is_done = 0; !is_done && at < 2000; at++) {
        write_file(temp_path("a.kb"), base, len);
        writer = writer_of(temp_path("a.kb"));
        for (int number = 0; number < (is_quick ? 3 : 40); number++) {
            char name[32];
            snprintf(name, sizeof name, "n%d.md", number);
            add_text(writer, name, "# N\n\nA new text of the sea.\n");
        }
        stop it = {at, 0, -1};
        kb_status status = kb_writer_commit(writer, stop_at, &it, &err);
        if (is_cancelled(status, &it, &err)) {
            cancelled++;
            CHECK_NUMBER(SAMPLE_DOCUMENTS, sound_documents("a.kb"));
            /* What waited is forgotten. */
            CHECK_NUMBER(0, kb_writer_pending(writer));
            add_text(writer, "n0.md", "# N\n");
            commit(writer);
            CHECK_NUMBER(SAMPLE_DOCUMENTS + 1, sound_documents("a.kb"));
        } else {
            CHECK(sound_documents("a.kb") > SAMPLE_DOCUMENTS);
            is_done = it.stopped_in < 0;
        }
        close_writer(&writer);
    }
    CHECK(cancelled > 0);
    free(base);
}

/* Seals in place, or to an output; `waits`: with a document that was not committed. */
static void seal_stops(bool is_in_place, bool waits) {
    write_sample(temp_path("base.kb"));
    size_t len = 0, cancelled = 0;
    char *base = copy_of("base.kb", &len);
    for (int at = 0, is_done = 0; !is_done && at < 2000; at++) {
        write_file(temp_path("a.kb"), base, len);
        remove(temp_path("out.kb"));
        writer = writer_of(temp_path("a.kb"));
        if (waits) {
            add_text(writer, "waits.md", "# W\n\nIt waits.\n");
        }
        stop it = {at, 0, -1};
        kb_seal_options options = KB_SEAL_OPTIONS_INIT;
        options.output = is_in_place ? (kb_str){NULL, 0} : temp("out.kb");
        options.progress = stop_at;
        options.progress_data = &it;
        kb_report *report = POISON;
        kb_status status = kb_writer_seal(writer, &options, &report, &err);
        if (is_cancelled(status, &it, &err)) {
            cancelled++;
            CHECK(report == NULL && !exists(temp_path("out.kb")));
            /* The commit before it may have been cancelled, or stand. */
            size_t documents = sound_documents("a.kb");
            CHECK(documents == SAMPLE_DOCUMENTS || (waits && documents == SAMPLE_DOCUMENTS + 1));
            if (!waits) {
                size_t now_len = 0;
                char *now = copy_of("a.kb", &now_len);
                CHECK(now_len == len && memcmp(now, base, len) == 0);
                free(now);
            }
        } else {
            CHECK_NUMBER(SAMPLE_DOCUMENTS + (waits ? 1 : 0), sound_documents(is_in_place ? "a.kb" : "out.kb"));
            kb_report_free(&report);
            is_done = it.stopped_in < 0;
        }
        close_writer(&writer);
    }
    CHECK(cancelled > 0);
    free(base);
}

static void seal_in_place_stops_at_every_step(void) {
    seal_stops(true, false);
}

static void seal_to_an_output_stops_at_every_step(void) {
    seal_stops(false, false);
}

static void a_stopped_seal_leaves_the_file_sound(void) {
    seal_stops(false, true);
}

static void an_addition_stops(void) {
    writer = writer_of(temp_path("a.kb"));
    kb_new_document document = KB_NEW_DOCUMENT_INIT;
    document.path = KB_STR("a.md");
    document.data = TIDES;
    document.data_len = strlen(TIDES);
    document.progress = stop_at;
    for (int at = 0; at < 1000; at++) {
        stop it = {at, 0, -1};
        document.progress_data = &it;
        if (!is_cancelled(kb_writer_add(writer, &document, &err), &it, &err)) {
            break;
        }
        CHECK_NUMBER(0, kb_writer_pending(writer));
    }
    CHECK_NUMBER(1, kb_writer_pending(writer));
    close_writer(&writer);
}

/* Stops once, in a merge, and would let the rest pass. */
static int32_t stop_in_merge(const kb_progress *progress, void *data) {
    stop *it = data;
    it->calls += it->stopped_in >= 0;
    if (it->stopped_in < 0 && progress->stage == KB_STAGE_MERGE) {
        it->stopped_in = progress->stage;
        return 1;
    }
    return 0;
}

/* Sealing commits what waits, and that commit may merge: a stop there does not undo the commit, but ends the call. */
static void a_seal_that_is_stopped_in_a_merge_does_not_go_on(void) {
    stop it = {0, 0, -1};
    for (int at = 0; at < 40 && it.stopped_in < 0; at++) {
        char name[32];
        snprintf(name, sizeof name, "d%02d.md", at);
        writer = writer_of(temp_path("a.kb"));
        add_text(writer, name, "# D\n\nA text of the sea.\n");
        kb_seal_options options = KB_SEAL_OPTIONS_INIT;
        options.output = temp("out.kb");
        options.replace = 1;
        options.progress = stop_in_merge;
        options.progress_data = &it;
        kb_report *report = NULL;
        kb_status status = kb_writer_seal(writer, &options, &report, NULL);
        CHECK_NUMBER(it.stopped_in < 0 ? KB_OK : KB_CANCELLED, status);
        kb_report_free(&report);
        close_writer(&writer);
    }
    CHECK(it.stopped_in == KB_STAGE_MERGE);
    CHECK_NUMBER(0, it.calls);
    CHECK(sound_documents("a.kb") > 0);
}

static const test_case TESTS[] = {
    TEST(search_and_verify_stop_at_every_step),
    TEST(index_stops_at_every_step),
    TEST(commit_stops_at_every_step),
    TEST(seal_in_place_stops_at_every_step),
    TEST(seal_to_an_output_stops_at_every_step),
    TEST(a_stopped_seal_leaves_the_file_sound),
    TEST(a_seal_that_is_stopped_in_a_merge_does_not_go_on),
    TEST(an_addition_stops),
};

int main(int argc, char **argv) {
    return RUN(TESTS);
}
