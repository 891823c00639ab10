/* Time of searches through libkb, for `cargo xtask bench c`. Arguments: FILE.kb, a file with a query a line, rounds.
 * Prints the least microseconds of each query: the call, ten hits read field by field, and giving them back. */

#include "kb.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_us(void) {
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: calls FILE.kb QUERIES ROUNDS\n");
        return 2;
    }
    kb *file = NULL;
    kb_error *error = NULL;
    if (kb_open(kb_str_from(argv[1]), &file, &error) != KB_OK) {
        fprintf(stderr, "%.*s\n", (int)kb_error_message(error).len, kb_error_message(error).ptr);
        return 1;
    }
    FILE *queries = fopen(argv[2], "r");
    static char line[65536];
    size_t read = 0;
    while (queries && fgets(line, sizeof line, queries)) {
        kb_str query = kb_str_from(line);
        query.len -= query.len > 0 && line[query.len - 1] == '\n';
        double least = 1e18;
        for (int round = atoi(argv[3]); round > 0; round--) {
            double start = now_us();
            kb_hits *hits = NULL;
            if (kb_search(file, query, NULL, &hits, NULL) != KB_OK) {
                return 1;
            }
            for (size_t at = 0; at < kb_hits_len(hits); at++) {
                kb_hit hit = KB_HIT_INIT;
                kb_hits_get(hits, at, &hit, NULL);
                read += hit.text.len + hit.first_line;
            }
            kb_hits_free(&hits);
            double took = now_us() - start;
            least = took < least ? took : least;
        }
        printf("%.2f\n", least);
    }
    kb_close(&file, NULL);
    return read == 0;
}
