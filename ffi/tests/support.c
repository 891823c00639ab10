#define _XOPEN_SOURCE 700
#include "support.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

const char *golden_folder = "";
const char *kb_program = "";
bool is_quick = false;
_Thread_local kb_error *err;
_Thread_local char last_message[2048];
_Thread_local char last_hint[2048];

/* Checks of the running test that failed; threads count here, too. */
static atomic_int failures;
static const char *running = "";
static char folder[1024];

bool check(bool condition, const char *text, const char *file, int line) {
    if (!condition) {
        atomic_fetch_add(&failures, 1);
        fprintf(stderr, "%s:%d: %s: not so: %s\n", file, line, running, text);
    }
    return condition;
}

static void keep(char *buffer, size_t size, kb_str text) {
    size_t len = text.len < size - 1 ? text.len : size - 1;
    if (len > 0) {
        memcpy(buffer, text.ptr, len);
    }
    buffer[len] = '\0';
}

bool check_status(kb_status expected, kb_status status, const char *call, const char *file, int line) {
    kb_error *error = err == POISON ? NULL : err;
    bool is_given = err != POISON;
    last_message[0] = last_hint[0] = '\0';
    if (error) {
        keep(last_message, sizeof last_message, kb_error_message(error));
        keep(last_hint, sizeof last_hint, kb_error_hint(error));
    }
    bool is_good = status == expected;
    if (!is_good) {
        fprintf(stderr, "%s:%d: %s: %s is %s, not %s\n  message: %s\n  hint: %s\n", file, line, running, call,
                status == KB_OK ? "KB_OK" : kb_status_name(status),
                expected == KB_OK ? "KB_OK" : kb_status_name(expected), last_message, last_hint);
    }
    /* What holds for every call that was given an address for its error. */
    if (is_given && (status == KB_OK) != (error == NULL)) {
        fprintf(stderr, "%s:%d: %s: %s: status %d, but the error is %s\n", file, line, running, call, (int)status,
                error ? "set" : "NULL");
        is_good = false;
    }
    if (error) {
        if (kb_error_status(error) != status || !equals(kb_error_code(error), kb_status_name(status)) ||
            last_message[0] == '\0' || strchr(last_message, '\n')) {
            fprintf(stderr, "%s:%d: %s: %s: the error object contradicts: %s\n", file, line, running, call, last_message);
            is_good = false;
        }
        kb_error_free(&error);
        if (error) {
            fprintf(stderr, "%s:%d: kb_error_free did not set NULL\n", file, line);
            is_good = false;
        }
    }
    err = NULL;
    if (!is_good) {
        atomic_fetch_add(&failures, 1);
    }
    return is_good;
}

bool check_number(long long expected, long long number, const char *text, const char *file, int line) {
    if (expected != number) {
        atomic_fetch_add(&failures, 1);
        fprintf(stderr, "%s:%d: %s: %s is %lld, not %lld\n", file, line, running, text, number, expected);
    }
    return expected == number;
}

bool check_text(const char *expected, kb_str text, const char *name, const char *file, int line) {
    if (!equals(text, expected)) {
        atomic_fetch_add(&failures, 1);
        fprintf(stderr, "%s:%d: %s: %s is \"%.*s\", not \"%s\"\n", file, line, running, name, (int)text.len, text.ptr,
                expected);
        return false;
    }
    return true;
}

bool equals(kb_str text, const char *expected) {
    size_t len = strlen(expected);
    return text.ptr && text.len == len && memcmp(text.ptr, expected, len) == 0;
}

bool contains(kb_str text, const char *part) {
    size_t len = strlen(part);
    for (size_t at = 0; at + len <= text.len; at++) {
        if (memcmp(text.ptr + at, part, len) == 0) {
            return true;
        }
    }
    return false;
}

const char *temp_path(const char *name) {
    static _Thread_local char paths[16][2048];
    static _Thread_local size_t next;
    char *path = paths[next++ % 16];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

kb_str temp(const char *name) {
    return kb_str_from(temp_path(name));
}

void make_folder(const char *path) {
    if (mkdir(path, 0777) != 0 && errno != EEXIST) {
        perror(path);
        exit(2);
    }
}

void write_file(const char *path, const void *data, size_t len) {
    FILE *file = fopen(path, "wb");
    if (!file || (len > 0 && fwrite(data, 1, len, file) != len) || fclose(file) != 0) {
        perror(path);
        exit(2);
    }
}

char *read_file(const char *path, size_t *len) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        return NULL;
    }
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(size + 1);
    if (!bytes || fread(bytes, 1, size, file) != size) {
        perror(path);
        exit(2);
    }
    fclose(file);
    bytes[size] = '\0';
    if (len) {
        *len = size;
    }
    return bytes;
}

bool exists(const char *path) {
    return access(path, F_OK) == 0;
}

double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

kb *opened(const char *path) {
    kb *file = NULL;
    CHECK_STATUS(KB_OK, kb_open(kb_str_from(path), &file, &err));
    return file;
}

kb_writer *writer_of(const char *path) {
    kb_writer *writer = NULL;
    CHECK_STATUS(KB_OK, kb_writer_open(kb_str_from(path), NULL, &writer, &err));
    return writer;
}

void add_text(kb_writer *writer, const char *path, const char *text) {
    kb_new_document document = KB_NEW_DOCUMENT_INIT;
    document.path = kb_str_from(path);
    document.data = text;
    document.data_len = strlen(text);
    CHECK_STATUS(KB_OK, kb_writer_add(writer, &document, &err));
}

void commit(kb_writer *writer) {
    CHECK_STATUS(KB_OK, kb_writer_commit(writer, NULL, NULL, &err));
}

void close_file(kb **file) {
    CHECK_STATUS(KB_OK, kb_close(file, &err));
    CHECK(*file == NULL);
}

void close_writer(kb_writer **writer) {
    CHECK_STATUS(KB_OK, kb_writer_close(writer, &err));
    CHECK(*writer == NULL);
}

size_t documents_in(const kb *file) {
    kb_documents *documents = NULL;
    CHECK_STATUS(KB_OK, kb_list_documents(file, KB_STR(""), 0, &documents, &err));
    size_t len = kb_documents_len(documents);
    kb_documents_free(&documents);
    return len;
}

size_t hits_for(const kb *file, const char *query) {
    kb_search_options options = KB_SEARCH_OPTIONS_INIT;
    options.mode = KB_MODE_KEYWORD;
    kb_hits *hits = NULL;
    CHECK_STATUS(KB_OK, kb_search(file, kb_str_from(query), &options, &hits, &err));
    size_t len = kb_hits_len(hits);
    kb_hits_free(&hits);
    return len;
}

const char TIDES[] = "---\nauthor: The keepers\ndate: 2024-03-01\n---\n# Tides\n\nThe moon pulls the sea, and the sea rises.\n\n"
                     "## Spring tides\n\nSun and moon in one line: the highest water of the month.\n\n"
                     "## Neap tides\n\nSun and moon at a right angle: the water hardly moves.\n\n"
                     "### Measuring\n\nA gauge in a well writes a curve.\n";
const char LAMP[] = "//! The lamp.\n\n/// A lamp of a lighthouse.\npub struct Lamp {\n    turns: u32,\n}\n\nimpl Lamp {\n"
                    "    /// One revolution of the lens.\n    pub fn revolve(&mut self) -> u32 {\n        self.turns += 1;\n"
                    "        flash_now(self.turns)\n    }\n}\n\n/// How long it shines.\npub fn flash_now(turns: u32) -> u32 {\n"
                    "    turns % 4\n}\n";
const char STATIONS[] = "station,latitude,height\nSkagen,57.7,4.0\nRattray,57.6,2.4\nFastnet,51.4,49\n";

void write_sample(const char *path) {
    kb_writer *writer = writer_of(path);
    kb_str tags[] = {KB_STR("sea"), KB_STR("keeper")};
    kb_pair metadata[] = {{KB_STR("source"), KB_STR("the almanac")}};
    kb_new_document document = KB_NEW_DOCUMENT_INIT;
    document.path = KB_STR("docs/tides.md");
    document.data = TIDES;
    document.data_len = strlen(TIDES);
    document.tags = tags;
    document.tags_len = 2;
    document.metadata = metadata;
    document.metadata_len = 1;
    document.modified_ms = 1709251200000;
    CHECK_STATUS(KB_OK, kb_writer_add(writer, &document, &err));
    add_text(writer, "src/lamp.rs", LAMP);
    add_text(writer, "data/stations.csv", STATIONS);
    add_text(writer, "notes/empty.txt", "");
    add_text(writer, "notes/\xc3\xbc" "ber.md", "# Gr\xc3\xbc\xc3\x9f" "e\n\nDer Leuchtturm steht auf der Insel. \xe7\x81\xaf\xe5\x8f\xb0\n");
    add_text(writer, "notes/log.txt", "The buoy drifted north.\nThe buoy was found.\n");
    /* A text with NUL in it, which no C text function reads to its end. */
    kb_new_document odd = KB_NEW_DOCUMENT_INIT;
    odd.path = KB_STR("notes/nul.txt");
    odd.data = "before\0behind the zero\n";
    odd.data_len = 23;
    odd.title = KB_STR("a\0title");
    CHECK_STATUS(KB_OK, kb_writer_add(writer, &odd, &err));
    add_text(writer, "docs/fog.md", "# Fog\n\nThe horn sounds twice a minute in fog.\n");
    commit(writer);
    close_writer(&writer);
}

static int remove_one(const char *path, const struct stat *facts, int kind, struct FTW *at) {
    (void)facts, (void)kind, (void)at;
    return remove(path);
}

static void too_slow(int signal) {
    (void)signal;
    static const char text[] = " ... hangs\n";
    ssize_t written = write(2, running, strlen(running));
    written += write(2, text, sizeof text - 1);
    _exit(written > 0 ? 1 : 3);
}

int run_tests(int argc, char **argv, const test_case *tests, size_t len) {
    const char *temp_folder = "/tmp", *filter = "";
    unsigned timeout = 120;
    for (int at = 1; at < argc; at++) {
        bool has_value = at + 1 < argc;
        if (strcmp(argv[at], "--quick") == 0) {
            is_quick = true;
        } else if (strcmp(argv[at], "--temp") == 0 && has_value) {
            temp_folder = argv[++at];
        } else if (strcmp(argv[at], "--golden") == 0 && has_value) {
            golden_folder = argv[++at];
        } else if (strcmp(argv[at], "--kb") == 0 && has_value) {
            kb_program = argv[++at];
        } else if (strcmp(argv[at], "--timeout") == 0 && has_value) {
            timeout = (unsigned)atoi(argv[++at]);
        } else if (argv[at][0] != '-') {
            filter = argv[at];
        } else {
            fprintf(stderr, "unknown argument %s\n", argv[at]);
            return 2;
        }
    }
    signal(SIGALRM, too_slow);
    setvbuf(stdout, NULL, _IOLBF, 0);
    size_t passed = 0, failed = 0, filtered = 0;
    for (size_t at = 0; at < len; at++) {
        if (!strstr(tests[at].name, filter)) {
            filtered++;
            continue;
        }
        running = tests[at].name;
        atomic_store(&failures, 0);
        snprintf(folder, sizeof folder, "%s/kb-c-%ld-%zu", temp_folder, (long)getpid(), at);
        make_folder(folder);
        alarm(timeout);
        tests[at].run();
        alarm(0);
        nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
        bool is_good = atomic_load(&failures) == 0;
        printf("test %s ... %s\n", running, is_good ? "ok" : "FAILED");
        *(is_good ? &passed : &failed) += 1;
    }
    printf("\ntest result: %s. %zu passed; %zu failed; 0 ignored; 0 measured; %zu filtered out\n",
           failed ? "FAILED" : "ok", passed, failed, filtered);
    return failed ? 1 : 0;
}
