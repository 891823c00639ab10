/*
 * Searches a .kb file: search FILE.kb QUERY. Exit status: 0 found, 1 nothing found, 2 error.
 * Build: cc search.c -I../include -L../../target/release -lkb -Wl,-rpath,../../target/release -o search
 */
#include "kb.h"

#include <stdio.h>

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: %s FILE.kb QUERY\n", argv[0]);
        return 2;
    }

    kb *file = NULL;
    kb_hits *hits = NULL;
    kb_error *error = NULL;
    kb_search_options options = KB_SEARCH_OPTIONS_INIT;
    options.k = 5;
    options.max_lines = 4; /* a snippet: the best lines of each passage */

    if (kb_open(kb_str_from(argv[1]), &file, &error) == KB_OK &&
        kb_search(file, kb_str_from(argv[2]), &options, &hits, &error) == KB_OK) {
        for (size_t i = 0; i < kb_hits_len(hits); i++) {
            kb_hit hit = KB_HIT_INIT;
            kb_hits_get(hits, i, &hit, NULL);
            /* Texts do not end with NUL, so each is printed by its length. */
            printf("%.*s:%u-%u  %.2f\n", (int)hit.document.len, hit.document.ptr,
                   (unsigned)hit.first_line, (unsigned)hit.last_line, hit.score);
            printf("%.*s\n", (int)hit.text.len, hit.text.ptr);
        }
    }

    int status = error ? 2 : kb_hits_len(hits) == 0;
    if (error) {
        kb_str message = kb_error_message(error), hint = kb_error_hint(error);
        fprintf(stderr, "error: %.*s\n", (int)message.len, message.ptr);
        if (hint.len > 0) fprintf(stderr, "hint: %.*s\n", (int)hint.len, hint.ptr);
    }

    /* Each of these does nothing where its pointer is NULL. */
    kb_error_free(&error);
    kb_hits_free(&hits);
    kb_close(&file, NULL);
    return status;
}
