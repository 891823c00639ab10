/* kb_call: every call that "help" lists, once in earnest, and requests that are none. */
#include "json.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static kb *file;
static kb_writer *writer;

static void open_sample(void) {
    write_sample(temp_path("a.kb"));
    file = opened(temp_path("a.kb"));
    writer = writer_of(temp_path("w.kb"));
}

static void close_sample(void) {
    close_writer(&writer);
    close_file(&file);
}

/* The answer to a request, which the caller frees; NULL where it failed. */
static json *answer(const char *request) {
    kb_text *text = NULL;
    json *value = NULL;
    if (CHECK_STATUS(KB_OK, kb_call(file, writer, kb_str_from(request), NULL, NULL, &text, &err))) {
        kb_str found = kb_text_str(text);
        CHECK(found.ptr[found.len] == '\0');
        value = json_parse(found.ptr, found.len);
        if (!CHECK(value && value->kind == JSON_OBJECT)) {
            fprintf(stderr, "  %s answers %.*s\n", request, (int)found.len, found.ptr);
        }
    } else {
        fprintf(stderr, "  request: %.200s\n", request);
    }
    kb_text_free(&text);
    return value;
}

static bool refused(kb_status expected, kb_str request) {
    kb_text *text = POISON;
    bool is_good = CHECK_STATUS(expected, kb_call(file, writer, request, NULL, NULL, &text, &err));
    if (!is_good || !CHECK(text == NULL)) {
        fprintf(stderr, "  request: %.200s\n", request.ptr);
    }
    return is_good;
}

#define REFUSED(request) refused(KB_INVALID_ARGUMENT, KB_STR(request))
#define SAYS(part) CHECK(strstr(last_message, part) != NULL)

static void what_is_no_request_is_refused(void) {
    open_sample();
    REFUSED("");
    SAYS("request:");
    REFUSED(" ");
    REFUSED("{");
    REFUSED("[]");
    SAYS("object");
    REFUSED("[{\"call\":\"info\"}]");
    REFUSED("null");
    REFUSED("\"info\"");
    REFUSED("1e999");
    REFUSED("{\"call\":\"info\"} x");
    REFUSED("{\"call\":\"info\",}");
    REFUSED("{\"call\":\"in\0fo\"}");
    REFUSED("{\"call\":\"\\ud800\"}");
    REFUSED("{call:'info'}");
    REFUSED("\xef\xbb\xbf{\"call\":\"info\"}");
    REFUSED("{}");
    SAYS("call:");
    REFUSED("{\"call\":null}");
    REFUSED("{\"call\":7}");
    SAYS("a string");
    REFUSED("{\"call\":[\"info\"]}");
    REFUSED("{\"call\":\"INFO\"}");
    SAYS("search");
    REFUSED("{\"call\":\"\"}");
    REFUSED("{\"call\":\"helps\"}");
    REFUSED("{\"call\":\"info\",\"unknown\":1}");
    SAYS("unknown");
    REFUSED("{\"call\":\"help\",\"unknown\":1}");
    REFUSED("{\"call\":\"commit\",\"unknown\":1}");
    close_sample();
}

static void deep_and_long_requests_neither_crash_nor_hang(void) {
    open_sample();
    size_t depth = 100000;
    char *request = malloc(depth * 6 + 100);
    const char *opens[] = {"[", "{\"a\":"};
    for (size_t it = 0; it < COUNT(opens); it++) {
        char *to = request + sprintf(request, "{\"call\":\"info\",\"sizes\":");
        for (size_t at = 0; at < depth; at++) {
            to += sprintf(to, "%s", opens[it]);
        }
        refused(KB_INVALID_ARGUMENT, (kb_str){request, (size_t)(to - request)});
        refused(KB_INVALID_ARGUMENT, (kb_str){request + 23, (size_t)(to - request) - 23});
    }
    free(request);
    size_t len = is_quick ? 1 << 20 : 10 << 20;
    char *text = malloc(len + 100), *to = text + sprintf(text, "{\"call\":\"search\",\"query\":\"");
    memset(to, 'x', len);
    memcpy(to + len, "\"}", 3);
    /* One word of 10 MB is a query like any other, or longer than a query may be. */
    kb_text *found = NULL;
    kb_status status = kb_call(file, writer, kb_str_from(text), NULL, NULL, &found, NULL);
    CHECK(status == KB_OK || status == KB_INVALID_ARGUMENT);
    kb_text_free(&found);
    to = text + sprintf(text, "{\"call\":\"add\",\"path\":\"long.txt\",\"text\":\"");
    for (size_t at = 0; at < len; at += 16) {
        memcpy(to + at, "sixteen letters ", 16);
    }
    memcpy(to + len, "\"}", 3);
    json_free(answer(text));
    json_free(answer("{\"call\":\"commit\"}"));
    free(text);
    close_sample();
}

static void a_key_that_stands_twice_is_no_crash(void) {
    open_sample();
    /* JSON leaves open which one counts; one of them does, or the request is refused. */
    kb_text *found = NULL;
    kb_str request = KB_STR("{\"call\":\"info\",\"call\":\"verify\",\"deep\":true,\"deep\":false}");
    kb_status status = kb_call(file, writer, request, NULL, NULL, &found, NULL);
    CHECK(status == KB_OK || status == KB_INVALID_ARGUMENT);
    kb_text_free(&found);
    close_sample();
}

static void handles_that_a_call_needs_must_be_there(void) {
    open_sample();
    kb_text *text = POISON;
    CHECK_STATUS(KB_INVALID_ARGUMENT, kb_call(NULL, writer, KB_STR("{\"call\":\"info\"}"), NULL, NULL, &text, &err));
    SAYS("file:");
    CHECK(text == NULL);
    CHECK_STATUS(KB_INVALID_ARGUMENT, kb_call(file, NULL, KB_STR("{\"call\":\"commit\"}"), NULL, NULL, &text, &err));
    SAYS("writer:");
    CHECK_STATUS(KB_OK, kb_call(NULL, NULL, KB_STR("{\"call\":\"help\"}"), NULL, NULL, &text, &err));
    kb_text_free(&text);
    CHECK_STATUS(KB_OK, kb_call(file, NULL, KB_STR("{\"call\":\"info\"}"), NULL, NULL, &text, &err));
    kb_text_free(&text);
    CHECK_STATUS(KB_OK, kb_call(NULL, writer, KB_STR("{\"call\":\"rollback\"}"), NULL, NULL, &text, &err));
    kb_text_free(&text);
    close_sample();
}

/* A good request for each call; its arguments stand in `arguments` where the test of wrong types must keep them. */
static const struct {
    const char *call, *arguments, *has;
} GOOD[] = {
    {"chunks", "\"document\":\"docs/tides.md\"", "chunks"},
    {"document", "\"document\":\"docs/tides.md\"", "title"},
    {"documents", "\"folder\":\"docs\",\"recursive\":true", "documents"},
    {"documents", "\"where\":\"size > 0\",\"recursive\":true", "documents"},
    {"fields", "\"name\":\"year\"", "fields"},
    {"info", "\"sizes\":true", "uuid"},
    {"outline", "\"document\":\"docs/tides.md\"", "sections"},
    {"pages", "\"document\":\"docs/tides.md\"", "pages"},
    {"parts", "\"document\":\"data/stations.csv\"", "parts"},
    {"regex", "\"pattern\":\"moon.*sea\"", "matches"},
    {"search", "\"query\":\"tides\",\"mode\":\"keyword\"", "hits"},
    {"sheet", "\"document\":\"data/stations.csv\"", "rows"},
    {"skipped", "\"max_tokens\":1000", "skipped"},
    {"symbols", "\"name\":\"*\"", "symbols"},
    {"text", "\"document\":\"docs/tides.md\",\"lines\":\"5-7\"", "text"},
    {"verify", "\"deep\":true", NULL},
    {"add", "\"path\":\"new.md\",\"text\":\"# New\\n\\nA text.\\n\",\"tags\":[\"fresh\"],\"metadata\":{\"a\":\"b\"}", "added"},
    {"tag", "\"document\":\"new.md\",\"add\":[\"more\"],\"remove\":[\"fresh\"]", "tags"},
    {"meta", "\"document\":\"new.md\",\"set\":{\"year\":2024,\"a\":null}", "metadata"},
    {"rollback", "", "forgotten"},
    {"add", "\"path\":\"new.md\",\"text\":\"# New\\n\\nA text.\\n\"", "added"},
    {"commit", "", "committed"},
    {"import_vectors", "\"name\":\"own\",\"rows\":[{\"document\":\"new.md\",\"chunk\":0,\"vector\":[0.6,-0.8]}]", "rows"},
    {"remove", "\"document\":\"new.md\"", NULL},
    {"index", "\"paths\":\"%s\",\"hidden\":true,\"follow\":false,\"include\":\"*.md\",\"exclude\":[]", "added"},
    {"merge", "\"sources\":[\"%s/../a.kb\"],\"on_conflict\":\"keep-first\",\"tags\":[\"sample\"]", "added"},
    {"seal", "\"vectors\":\"i4\"", "content_root"},
};

static void every_call_of_help_answers(void) {
    open_sample();
    make_folder(temp_path("folder"));
    write_file(temp_path("folder/a.md"), "# A\n\nwords\n", 11);
    json *help = answer("{\"call\":\"help\"}");
    const json *calls = json_get(help, "calls");
    CHECK_NUMBER(26, json_len(calls));
    bool is_tried[64] = {false};
    for (size_t at = 0; at < COUNT(GOOD); at++) {
        char arguments[2048], request[4096];
        snprintf(arguments, sizeof arguments, GOOD[at].arguments, temp_path("folder"));
        snprintf(request, sizeof request, "{\"call\":\"%s\"%s%s}", GOOD[at].call, arguments[0] ? "," : "", arguments);
        json *found = answer(request);
        if (GOOD[at].has && !CHECK(!json_is_null(json_get(found, GOOD[at].has)))) {
            fprintf(stderr, "  %s has no %s\n", request, GOOD[at].has);
        }
        for (size_t call = 0; call < json_len(calls); call++) {
            is_tried[call] |= strcmp(calls->keys[call], GOOD[at].call) == 0;
        }
        json_free(found);
    }
    json *corrected = answer("{\"call\":\"search\",\"query\":\"tidse ADR-086\",\"mode\":\"keyword\"}");
    CHECK_NUMBER(1, json_len(json_get(corrected, "corrections")));
    CHECK_NUMBER(1, json_len(json_get(corrected, "missing")));
    json_free(corrected);
    json *counted = answer("{\"call\":\"search\",\"query\":\"tides\",\"mode\":\"keyword\",\"sort\":\"-size\",\"group_by\":\"class\",\"facets\":\"type\"}");
    CHECK_NUMBER(1, json_len(json_get(counted, "facets")));
    json_free(counted);
    refused(KB_INVALID_ARGUMENT, KB_STR("{\"call\":\"search\",\"query\":\"tides\",\"sort\":\"szie\"}"));
    json *as_written = answer("{\"call\":\"search\",\"query\":\"tidse\",\"mode\":\"keyword\",\"exact\":true}");
    CHECK_NUMBER(0, json_len(json_get(as_written, "corrections")));
    json_free(as_written);
    /* The sample has no slides. */
    refused(KB_UNSUPPORTED_DOCUMENT_TYPE, KB_STR("{\"call\":\"slides\",\"document\":\"docs/tides.md\"}"));
    for (size_t call = 0; call < json_len(calls); call++) {
        if (!CHECK(is_tried[call] || strcmp(calls->keys[call], "slides") == 0)) {
            fprintf(stderr, "  not tried: %s\n", calls->keys[call]);
        }
    }
    json_free(help);
    /* What was written is there, with the documents of the sample that were merged. */
    uint64_t of_sample = documents_in(file);
    close_file(&file);
    file = opened(temp_path("w.kb"));
    CHECK_NUMBER(1 + of_sample, documents_in(file));
    close_sample();
}

static void fields_are_listed_and_choose_documents(void) {
    open_sample();
    json_free(answer("{\"call\":\"add\",\"path\":\"a.md\",\"text\":\"A text.\",\"metadata\":{\"year\":2024,\"by\":\"Kim\"}}"));
    json_free(answer("{\"call\":\"add\",\"path\":\"b/b.md\",\"text\":\"A text.\",\"metadata\":{\"year\":-7}}"));
    json_free(answer("{\"call\":\"commit\"}"));
    close_file(&file);
    file = opened(temp_path("w.kb"));
    json *all = answer("{\"call\":\"fields\"}");
    CHECK_NUMBER(2, json_len(json_get(all, "fields")));
    json_free(all);
    json *named = answer("{\"call\":\"fields\",\"name\":\" YEAR\"}");
    const json *year = json_at(json_get(named, "fields"), 0);
    CHECK(json_number(json_get(year, "min")) == -7 && json_number(json_get(year, "max")) == 2024);
    CHECK_NUMBER(2, json_len(json_get(year, "all")));
    json_free(named);
    json *late = answer("{\"call\":\"documents\",\"where\":\"year > 2000\",\"recursive\":true}");
    CHECK_NUMBER(1, json_len(json_get(late, "documents")));
    json_free(late);
    json *top = answer("{\"call\":\"documents\",\"where\":\"year < 3000\"}");
    CHECK_NUMBER(1, json_len(json_get(top, "documents")));
    json_free(top);
    REFUSED("{\"call\":\"documents\",\"where\":\"yaer > 2000\",\"recursive\":true}");
    SAYS("did you mean \"year\"");
    close_sample();
}

/* Requests of help with one argument of a kind that it does not take. Every argument refuses at least four of the kinds:
 * what an argument takes is a text, texts, a number, a flag or pairs. */
static void arguments_of_wrong_kinds_are_refused(void) {
    open_sample();
    add_text(writer, "new.md", "# New\n\nA text.\n");
    commit(writer);
    json *help = answer("{\"call\":\"help\"}");
    const json *calls = json_get(help, "calls");
    static const char *const VALUES[] = {"\"\\u0000\"", "-1", "1.5", "1e400", "123456789012345678901234567890", "true",
                                         "[1]", "[[]]", "{}", "{\"a\":1}", "[null]", "-9223372036854775809"};
    size_t tried = 0, accepted = 0;
    for (size_t call = 0; call < json_len(calls); call++) {
        const char *name = calls->keys[call], *good = "\"document\":\"docs/tides.md\"";
        for (size_t at = 0; at < COUNT(GOOD); at++) {
            if (strcmp(GOOD[at].call, name) == 0) {
                good = GOOD[at].arguments;
                break;
            }
        }
        if (strcmp(name, "index") == 0) {
            good = "\"paths\":\"/nowhere/at/all\"";
        }
        const json *arguments = json_get(calls, name);
        for (size_t argument = 0; argument < json_len(arguments); argument++) {
            kb_str field = json_text(json_at(arguments, argument));
            size_t refusals = 0;
            for (size_t value = 0; value < COUNT(VALUES); value++) {
                char request[1024];
                /* The last one of a key that stands twice counts. */
                snprintf(request, sizeof request, "{\"call\":\"%s\",%s%s\"%.*s\":%s}", name, good, good[0] ? "," : "",
                         (int)field.len, field.ptr, VALUES[value]);
                kb_text *text = NULL;
                kb_status status = kb_call(file, writer, kb_str_from(request), NULL, NULL, &text, &err);
                CHECK((status == KB_OK) == (text != NULL));
                CHECK((status == KB_OK) == (err == NULL));
                CHECK(status != KB_PANIC && status != KB_DAMAGED && status != KB_IO);
                if (status == KB_PANIC || status == KB_DAMAGED || status == KB_IO) {
                    kb_str message = kb_error_message(err);
                    fprintf(stderr, "  %s: %s: %.*s\n", request, kb_status_name(status), (int)message.len, message.ptr);
                }
                kb_error_free(&err);
                kb_text_free(&text);
                tried++;
                accepted += status == KB_OK;
                refusals += status == KB_INVALID_ARGUMENT;
            }
            if (!CHECK(refusals >= 4)) {
                fprintf(stderr, "  %s, %.*s: %zu refused\n", name, (int)field.len, field.ptr, refusals);
            }
        }
    }
    CHECK(tried > 1000 && accepted < tried / 3);
    json_free(help);
    close_sample();
}

/* Whether a search with these arguments ran both indexes at once. */
static bool ran_at_once(const char *arguments) {
    char request[256];
    snprintf(request, sizeof request, "{\"call\":\"search\",\"query\":\"neap tides\",\"explain\":true%s}", arguments);
    json *found = answer(request);
    const json *explanation = json_get(found, "explanation"), *steps = json_get(explanation, "steps");
    CHECK(json_len(steps) > 2);
    bool is_there = false;
    for (size_t at = 0; at < json_len(steps); at++) {
        kb_str name = json_text(json_get(json_at(steps, at), "step"));
        is_there |= contains(name, "keyword and vector");
    }
    json_free(found);
    return is_there;
}

static void a_search_may_use_more_threads(void) {
    open_sample();
    CHECK(!ran_at_once("") && !ran_at_once(",\"threads\":1"));
    CHECK(ran_at_once(",\"threads\":2") == ((kb_features() & KB_FEATURE_MODEL) != 0));
    REFUSED("{\"call\":\"search\",\"query\":\"tides\",\"threads\":0}");
    SAYS("threads");
    close_sample();
}

static void wrong_values_say_what_is_allowed(void) {
    open_sample();
    REFUSED("{\"call\":\"search\"}");
    SAYS("query:");
    REFUSED("{\"call\":\"search\",\"query\":\"\"}");
    REFUSED("{\"call\":\"search\",\"query\":\"a\",\"mode\":\"psychic\"}");
    SAYS("keyword");
    REFUSED("{\"call\":\"search\",\"query\":\"a\",\"k\":0}");
    REFUSED("{\"call\":\"search\",\"query\":\"a\",\"k\":99999999999}");
    REFUSED("{\"call\":\"search\",\"query\":\"a\",\"kind\":\"gadget\"}");
    SAYS("function");
    REFUSED("{\"call\":\"text\",\"document\":\"docs/tides.md\",\"lines\":\"x\"}");
    SAYS("10-20");
    REFUSED("{\"call\":\"text\",\"document\":\"docs/tides.md\",\"lines\":\"1,2\"}");
    REFUSED("{\"call\":\"text\",\"document\":\"docs/tides.md\",\"lines\":\"1\",\"section\":\"1\"}");
    refused(KB_INVALID_RANGE, KB_STR("{\"call\":\"text\",\"document\":\"docs/tides.md\",\"lines\":\"900-901\"}"));
    refused(KB_DOCUMENT_NOT_FOUND, KB_STR("{\"call\":\"text\",\"document\":\"none.md\"}"));
    refused(KB_SECTION_NOT_FOUND, KB_STR("{\"call\":\"text\",\"document\":\"docs/tides.md\",\"section\":\"nine\"}"));
    refused(KB_UNSUPPORTED_DOCUMENT_TYPE, KB_STR("{\"call\":\"sheet\",\"document\":\"docs/tides.md\",\"sheet\":\"x\"}"));
    refused(KB_CSV_NO_SHEETS, KB_STR("{\"call\":\"sheet\",\"document\":\"data/stations.csv\",\"sheet\":\"x\"}"));
    refused(KB_FOLDER_NOT_FOUND, KB_STR("{\"call\":\"documents\",\"folder\":\"nowhere\"}"));
    refused(KB_INVALID_REGEX, KB_STR("{\"call\":\"regex\",\"pattern\":\"(\"}"));
    refused(KB_INVALID_CONTINUATION_TOKEN, KB_STR("{\"call\":\"search\",\"query\":\"a\",\"continue\":\"x\"}"));
    refused(KB_DOCUMENT_NOT_FOUND, KB_STR("{\"call\":\"remove\",\"document\":\"none.md\"}"));
    REFUSED("{\"call\":\"add\",\"path\":\"../a.md\",\"text\":\"\"}");
    REFUSED("{\"call\":\"add\",\"path\":\"a.md\"}");
    REFUSED("{\"call\":\"index\",\"paths\":[]}");
    REFUSED("{\"call\":\"index\",\"paths\":\"\"}");
    REFUSED("{\"call\":\"index\",\"paths\":\"a\\u0000b\"}");
    REFUSED("{\"call\":\"merge\"}");
    REFUSED("{\"call\":\"merge\",\"sources\":[\"\"]}");
    REFUSED("{\"call\":\"merge\",\"sources\":\"a.kb\",\"on_conflict\":\"perhaps\"}");
    SAYS("keep-newest");
    refused(KB_PATH_NOT_FOUND, KB_STR("{\"call\":\"merge\",\"sources\":\"/nowhere/at/all.kb\"}"));
    REFUSED("{\"call\":\"seal\",\"output\":\"\"}");
    REFUSED("{\"call\":\"seal\",\"output\":\"a\\u0000b\"}");
    refused(KB_PATH_NOT_FOUND, KB_STR("{\"call\":\"index\",\"paths\":\"/nowhere/at/all\"}"));
    close_sample();
}

static void a_vector_is_imported_and_searched_by(void) {
    open_sample();
    add_text(writer, "a.md", "# A\n\nA text.\n");
    add_text(writer, "b.md", "# B\n\nA text.\n");
    commit(writer);
    /* Chunks in order, and by name. */
    json *imported = answer("{\"call\":\"import_vectors\",\"name\":\"own\",\"model\":\"mine\",\"default\":true,"
                            "\"rows\":[[1,0.1],{\"document\":\"b.md\",\"lines\":[1,3],\"vector\":[0.1,1]}]}");
    CHECK_NUMBER(2, (uint64_t)json_number(json_get(imported, "rows")));
    /* Too few vectors to measure it. */
    CHECK(json_is_null(json_get(imported, "recall")));
    json_free(imported);
    REFUSED("{\"call\":\"import_vectors\",\"name\":\"own\",\"rows\":[[1,0]]}");
    REFUSED("{\"call\":\"import_vectors\",\"name\":\"other\",\"rows\":[[1,0],[1]]}");
    SAYS("row 1");
    REFUSED("{\"call\":\"import_vectors\",\"name\":\"other\",\"rows\":[[1,0],{\"document\":\"c.md\",\"vector\":[1,1]}]}");
    SAYS("c.md");
    REFUSED("{\"call\":\"import_vectors\",\"name\":\"other\",\"rows\":[{\"document\":\"a.md\",\"chunk\":0,\"span\":[0,1],\"vector\":[1,1]}]}");
    SAYS("exclude");
    REFUSED("{\"call\":\"import_vectors\",\"name\":\"other\",\"rows\":[{\"vector\":[1,1]}]}");
    REFUSED("{\"call\":\"import_vectors\",\"name\":\"other\",\"rows\":[7]}");
    REFUSED("{\"call\":\"import_vectors\",\"name\":\"other\",\"rows\":[]}");
    REFUSED("{\"call\":\"import_vectors\",\"name\":\"other\"}");
    SAYS("rows:");
    close_file(&file);
    file = opened(temp_path("w.kb"));
    json *found = answer("{\"call\":\"search\",\"vector\":[0.2,1],\"vector_column\":\"own\",\"k\":1}");
    CHECK_TEXT("b.md", json_text(json_get(json_at(json_get(found, "hits"), 0), "document")));
    json_free(found);
    found = answer("{\"call\":\"search\",\"query\":\"text\",\"vector\":[1,0.2]}");
    CHECK_TEXT("a.md", json_text(json_get(json_at(json_get(found, "hits"), 0), "document")));
    json_free(found);
    REFUSED("{\"call\":\"search\",\"vector\":[1]}");
    REFUSED("{\"call\":\"search\",\"vector\":[0,0]}");
    REFUSED("{\"call\":\"search\",\"vector\":[1e300,0]}");
    REFUSED("{\"call\":\"search\",\"vector\":[1,\"0\"]}");
    REFUSED("{\"call\":\"search\",\"vector\":[1,0],\"vector_column\":\"owl\"}");
    SAYS("owl");
    close_sample();
}

static void statuses_have_the_names_of_all_fronts(void) {
    static const struct {
        kb_status status;
        const char *name;
    } NAMES[] = {
        {KB_PATH_NOT_FOUND, "PATH_NOT_FOUND"}, {KB_PATH_NOT_ALLOWED, "PATH_NOT_ALLOWED"}, {KB_IO, "IO"},
        {KB_STORAGE, "STORAGE"}, {KB_NOT_A_KB, "NOT_A_KB"}, {KB_FORMAT_UNSUPPORTED, "FORMAT_UNSUPPORTED"},
        {KB_DAMAGED, "DAMAGED"}, {KB_INDEX_LOCKED, "INDEX_LOCKED"}, {KB_FILE_REPLACED, "FILE_REPLACED"},
        {KB_NOT_REPLACEABLE, "NOT_REPLACEABLE"}, {KB_OUTPUT_EXISTS, "OUTPUT_EXISTS"},
        {KB_FORKED_WRITER, "FORKED_WRITER"}, {KB_SNAPSHOT_EXPIRED, "SNAPSHOT_EXPIRED"},
        {KB_WRITER_FAILED, "WRITER_FAILED"}, {KB_INVALID_ARGUMENT, "INVALID_ARGUMENT"},
        {KB_INVALID_REGEX, "INVALID_REGEX"}, {KB_DOCUMENT_NOT_FOUND, "DOCUMENT_NOT_FOUND"},
        {KB_AMBIGUOUS_DOCUMENT, "AMBIGUOUS_DOCUMENT"}, {KB_SECTION_NOT_FOUND, "SECTION_NOT_FOUND"},
        {KB_SHEET_NOT_FOUND, "SHEET_NOT_FOUND"}, {KB_CSV_NO_SHEETS, "CSV_NO_SHEETS"},
        {KB_UNSUPPORTED_DOCUMENT_TYPE, "UNSUPPORTED_DOCUMENT_TYPE"}, {KB_FOLDER_NOT_FOUND, "FOLDER_NOT_FOUND"},
        {KB_DOCUMENT_EXISTS, "DOCUMENT_EXISTS"}, {KB_INVALID_RANGE, "INVALID_RANGE"},
        {KB_INVALID_CONTINUATION_TOKEN, "INVALID_CONTINUATION_TOKEN"}, {KB_CONTINUATION_STALE, "CONTINUATION_STALE"},
        {KB_EMBEDDING_MODEL_UNAVAILABLE, "EMBEDDING_MODEL_UNAVAILABLE"}, {KB_ROOT_VANISHED, "ROOT_VANISHED"},
        {KB_FILE_TOO_LARGE, "FILE_TOO_LARGE"}, {KB_ENCRYPTED, "ENCRYPTED"}, {KB_EXTRACTION_LIMIT, "EXTRACTION_LIMIT"},
        {KB_EXTRACTION_FAILED, "EXTRACTION_FAILED"}, {KB_NO_EXTRACTION_WORKER, "NO_EXTRACTION_WORKER"},
        {KB_CANCELLED, "CANCELLED"}, {KB_PANIC, "PANIC"}, {KB_IN_USE, "IN_USE"}, {KB_NOT_BUILT, "NOT_BUILT"},
    };
    size_t named = 0;
    for (size_t at = 0; at < COUNT(NAMES); at++) {
        CHECK_TEXT(NAMES[at].name, kb_str_from(kb_status_name(NAMES[at].status)));
    }
    for (int32_t status = -1000; status <= 1000; status++) {
        named += status != KB_OK && kb_status_name(status)[0] != '\0';
    }
    CHECK_NUMBER(COUNT(NAMES), named);
}

static const test_case TESTS[] = {
    TEST(what_is_no_request_is_refused),
    TEST(deep_and_long_requests_neither_crash_nor_hang),
    TEST(a_key_that_stands_twice_is_no_crash),
    TEST(handles_that_a_call_needs_must_be_there),
    TEST(every_call_of_help_answers),
    TEST(fields_are_listed_and_choose_documents),
    TEST(arguments_of_wrong_kinds_are_refused),
    TEST(a_search_may_use_more_threads),
    TEST(wrong_values_say_what_is_allowed),
    TEST(a_vector_is_imported_and_searched_by),
    TEST(statuses_have_the_names_of_all_fronts),
};

int main(int argc, char **argv) {
    return RUN(TESTS);
}
