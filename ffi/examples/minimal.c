#include "kb.h"
#include <stdio.h>
int main(int argc, char **argv) { /* minimal FILE.kb QUERY */
    kb *file = NULL;
    kb_hits *hits = NULL;
    kb_error *error = NULL;
    if (argc == 3 && kb_open(kb_str_from(argv[1]), &file, &error) == KB_OK)
        kb_search(file, kb_str_from(argv[2]), NULL, &hits, &error);
    for (size_t i = 0; i < kb_hits_len(hits); i++) {
        kb_hit hit = KB_HIT_INIT;
        kb_hits_get(hits, i, &hit, NULL);
        printf("%.*s:%u\n", (int)hit.document.len, hit.document.ptr, (unsigned)hit.first_line);
    }
    int failed = error != NULL;
    if (failed) fprintf(stderr, "error: %.*s\n", (int)kb_error_message(error).len, kb_error_message(error).ptr);
    kb_error_free(&error);
    kb_hits_free(&hits);
    kb_close(&file, NULL);
    return failed;
}
