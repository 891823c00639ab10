/* A reader of JSON for the tests: of answers of the library and of tests/golden/expected.json. */

#ifndef JSON_H
#define JSON_H

#include "kb.h"

#include <stdbool.h>

typedef enum { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT } json_kind;

typedef struct json {
    json_kind kind;
    /* Of a number; of a bool 0 or 1. */
    double number;
    /* Of a string, ended by NUL; it may hold NUL. */
    char *text;
    size_t text_len;
    /* Of arrays and objects; an object has a key for each item. */
    struct json *items;
    char **keys;
    size_t len;
} json;

/* NULL where it is no JSON, or where anything follows it. The caller frees it. */
json *json_parse(const char *text, size_t len);
void json_free(json *value);

/* All of these take NULL, so that a path through a value needs one check, at its end. */
const json *json_get(const json *object, const char *key);
const json *json_at(const json *array, size_t index);
size_t json_len(const json *value);
double json_number(const json *value);
/* Of null, and of what is no string: a text without bytes. */
kb_str json_text(const json *value);
bool json_is_null(const json *value);

#endif
