/*
 * Indexes a folder: index FOLDER FILE.kb. Ctrl-C stops it and leaves the file as it was.
 * Build: cc index.c -I../include -L../../target/release -lkb -Wl,-rpath,../../target/release -o index
 */
#include "kb.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

static volatile sig_atomic_t interrupted = 0;

static void on_interrupt(int signal) {
    (void)signal;
    interrupted = 1;
}

/* Runs about 20 times a second on the thread of the call; a value other than 0 cancels it. */
static int32_t on_progress(const kb_progress *progress, void *data) {
    FILE *out = data;
    if (progress->files_total > 0)
        fprintf(out, "\r%" PRIu64 " of %" PRIu64 " files", progress->files_done, progress->files_total);
    return interrupted;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: %s FOLDER FILE.kb\n", argv[0]);
        return 2;
    }
    signal(SIGINT, on_interrupt);

    kb_writer *writer = NULL;
    kb_report *report = NULL;
    kb_error *error = NULL;
    kb_index_options options = KB_INDEX_OPTIONS_INIT;
    options.progress = on_progress;
    options.progress_data = stderr;

    kb_str folder = kb_str_from(argv[1]);
    if (kb_writer_open(kb_str_from(argv[2]), NULL, &writer, &error) == KB_OK)
        kb_writer_index(writer, &folder, 1, &options, &report, &error);
    fputc('\n', stderr);

    if (report) {
        kb_report_view view = KB_REPORT_VIEW_INIT;
        kb_report_get(report, &view, NULL);
        printf("%" PRIu64 " documents, %" PRIu64 " chunks\n", view.documents, view.chunks);
        printf("added %" PRIu64 ", updated %" PRIu64 ", removed %" PRIu64 ", left out %" PRIu64 "\n",
               view.added, view.updated, view.removed, view.skipped);
    }
    int status = 0;
    if (error) {
        kb_str message = kb_error_message(error), hint = kb_error_hint(error);
        /* A shell reports a program that Ctrl-C stopped with 130. */
        status = kb_error_status(error) == KB_CANCELLED ? 130 : 2;
        fprintf(stderr, "error: %.*s\n", (int)message.len, message.ptr);
        if (hint.len > 0) fprintf(stderr, "hint: %.*s\n", (int)hint.len, hint.ptr);
    }

    kb_error_free(&error);
    kb_report_free(&report);
    kb_writer_close(&writer, NULL);
    return status;
}
