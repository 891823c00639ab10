/* What the C tests of libkb share: checks, a folder for each test, and a file to search. */

#ifndef SUPPORT_H
#define SUPPORT_H

#include "kb.h"

#include <stdbool.h>
#include <stddef.h>

/* One test: a sentence about behaviour, and the function that looks. */
typedef struct {
    const char *name;
    void (*run)(void);
} test_case;

#define TEST(function) {#function, function}

/* Runs the tests whose name contains a filter of the command line, and prints what a Rust test binary prints. Arguments:
 * `--temp FOLDER`, `--golden FOLDER`, `--kb PROGRAM`, `--quick`, `--timeout SECONDS`, and a filter. Returns the exit
 * status. */
int run_tests(int argc, char **argv, const test_case *tests, size_t len);

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define RUN(tests) run_tests(argc, argv, tests, COUNT(tests))

/* From the command line. */
extern const char *golden_folder;
extern const char *kb_program;
/* Shorter loops, for valgrind. */
extern bool is_quick;

/* Where the calls of a thread put their error: `CHECK_STATUS(KB_OK, kb_close(&file, &err))`. */
extern _Thread_local kb_error *err;
/* Message and hint of the last call that CHECK_STATUS saw fail, ended by NUL. */
extern _Thread_local char last_message[2048];
extern _Thread_local char last_hint[2048];

/* A pointer that no call may leave where it writes its result. */
#define POISON ((void *)(uintptr_t)0x10)

/* A failed check does not end its test: the library takes NULL everywhere, so what follows cannot crash for it, and a
 * check within a callback must return to the library. */
#define CHECK(condition) check((condition), #condition, __FILE__, __LINE__)
bool check(bool condition, const char *text, const char *file, int line);

/* That a call has this status, and its error object says the same; frees it. */
#define CHECK_STATUS(expected, call) \
    (err = POISON, check_status((expected), (call), #call, __FILE__, __LINE__))
bool check_status(kb_status expected, kb_status status, const char *call, const char *file, int line);

/* That numbers or texts are equal; prints both where not. */
#define CHECK_NUMBER(expected, number) \
    check_number((long long)(expected), (long long)(number), #number, __FILE__, __LINE__)
bool check_number(long long expected, long long number, const char *text, const char *file, int line);
#define CHECK_TEXT(expected, text) check_text((expected), (text), #text, __FILE__, __LINE__)
bool check_text(const char *expected, kb_str text, const char *name, const char *file, int line);

/* Whether a text is that one, or contains it. */
bool equals(kb_str text, const char *expected);
bool contains(kb_str text, const char *part);

/* A path in the folder of the running test; valid until 16 more were asked for. */
const char *temp_path(const char *name);
kb_str temp(const char *name);
void write_file(const char *path, const void *data, size_t len);
/* All bytes of a file, which the caller frees; they end with a NUL that is not counted. NULL where it is not there. */
char *read_file(const char *path, size_t *len);
bool exists(const char *path);
void make_folder(const char *path);

/* Seconds since some moment. */
double seconds(void);

kb *opened(const char *path);
kb_writer *writer_of(const char *path);
void add_text(kb_writer *writer, const char *path, const char *text);
void commit(kb_writer *writer);
void close_file(kb **file);
void close_writer(kb_writer **writer);
/* How many documents, and how many hits for a word. */
size_t documents_in(const kb *file);
size_t hits_for(const kb *file, const char *query);

/* Writes a file with prose, a program, a table and odd texts: see SAMPLE_DOCUMENTS. */
void write_sample(const char *path);
#define SAMPLE_DOCUMENTS 8
extern const char TIDES[], LAMP[], STATIONS[];

#endif
