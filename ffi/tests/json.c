#include "json.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *at, *end;
    bool is_wrong;
} reader;

static void read_value(reader *from, json *into, int depth);

static void blanks(reader *from) {
    while (from->at < from->end && strchr(" \t\r\n", *from->at)) {
        from->at++;
    }
}

static bool takes(reader *from, const char *word) {
    size_t len = strlen(word);
    if ((size_t)(from->end - from->at) < len || memcmp(from->at, word, len) != 0) {
        return false;
    }
    from->at += len;
    return true;
}

static uint32_t hexadecimal(reader *from) {
    char digits[5] = {0};
    if (from->end - from->at < 4) {
        from->is_wrong = true;
        return 0;
    }
    memcpy(digits, from->at, 4);
    from->at += 4;
    char *end;
    unsigned long code = strtoul(digits, &end, 16);
    from->is_wrong |= end != digits + 4;
    return (uint32_t)code;
}

static size_t encode(uint32_t code, char *to) {
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    size_t more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char FIRST[] = {0, 0xC0, 0xE0, 0xF0};
    to[0] = (char)(FIRST[more] | code >> (6 * more));
    for (size_t at = 1; at <= more; at++) {
        to[at] = (char)(0x80 | (code >> (6 * (more - at)) & 0x3F));
    }
    return more + 1;
}

static char *read_string(reader *from, size_t *len) {
    if (!takes(from, "\"")) {
        from->is_wrong = true;
        return NULL;
    }
    /* No longer than what is left: an escape is longer than what it stands for. */
    const char *end = from->at;
    while (end < from->end && *end != '"') {
        end += *end == '\\' ? 2 : 1;
    }
    if (end >= from->end) {
        from->is_wrong = true;
        return NULL;
    }
    char *text = malloc((size_t)(end - from->at) + 1), *to = text;
    while (*from->at != '"' && !from->is_wrong) {
        if (*from->at != '\\') {
            from->is_wrong |= (unsigned char)*from->at < 0x20;
            *to++ = *from->at++;
            continue;
        }
        char escape = from->at[1];
        from->at += 2;
        static const char LETTERS[] = "\"\\/bfnrt", MEANT[] = "\"\\/\b\f\n\r\t";
        const char *known = escape ? strchr(LETTERS, escape) : NULL;
        if (known) {
            *to++ = MEANT[known - LETTERS];
        } else if (escape == 'u') {
            uint32_t code = hexadecimal(from);
            if (code >= 0xD800 && code < 0xDC00 && takes(from, "\\u")) {
                code = 0x10000 + ((code - 0xD800) << 10) + (hexadecimal(from) - 0xDC00);
            }
            from->is_wrong |= (code >= 0xD800 && code < 0xE000) || code > 0x10FFFF;
            to += from->is_wrong ? 0 : encode(code, to);
        } else {
            from->is_wrong = true;
        }
    }
    from->at++;
    *to = '\0';
    *len = (size_t)(to - text);
    return text;
}

static void read_items(reader *from, json *into, int depth) {
    const char *close = into->kind == JSON_OBJECT ? "}" : "]";
    from->at++;
    blanks(from);
    if (takes(from, close)) {
        return;
    }
    size_t room = 0;
    do {
        if (into->len == room) {
            room = room ? room * 2 : 8;
            into->items = realloc(into->items, room * sizeof *into->items);
            into->keys = realloc(into->keys, room * sizeof *into->keys);
        }
        json *item = &into->items[into->len];
        memset(item, 0, sizeof *item);
        into->keys[into->len++] = NULL;
        if (into->kind == JSON_OBJECT) {
            size_t len;
            blanks(from);
            into->keys[into->len - 1] = read_string(from, &len);
            blanks(from);
            from->is_wrong |= !takes(from, ":");
        }
        if (!from->is_wrong) {
            read_value(from, item, depth + 1);
        }
        blanks(from);
    } while (!from->is_wrong && takes(from, ","));
    from->is_wrong |= !takes(from, close);
}

static void read_number(reader *from, json *into) {
    char digits[64];
    size_t len = 0;
    while (from->at < from->end && strchr("+-.0123456789eE", *from->at) && len + 1 < sizeof digits) {
        digits[len++] = *from->at++;
    }
    digits[len] = '\0';
    char *end;
    into->kind = JSON_NUMBER;
    into->number = strtod(digits, &end);
    from->is_wrong |= len == 0 || *end;
}

static void read_value(reader *from, json *into, int depth) {
    blanks(from);
    if (depth > 64 || from->at == from->end) {
        from->is_wrong = true;
    } else if (*from->at == '{' || *from->at == '[') {
        into->kind = *from->at == '{' ? JSON_OBJECT : JSON_ARRAY;
        read_items(from, into, depth);
    } else if (*from->at == '"') {
        into->kind = JSON_STRING;
        into->text = read_string(from, &into->text_len);
    } else if (takes(from, "true")) {
        into->kind = JSON_BOOL;
        into->number = 1;
    } else if (takes(from, "false")) {
        into->kind = JSON_BOOL;
    } else if (!takes(from, "null")) {
        read_number(from, into);
    }
}

static void free_parts(json *value) {
    for (size_t at = 0; at < value->len; at++) {
        free_parts(&value->items[at]);
        free(value->keys[at]);
    }
    free(value->items);
    free(value->keys);
    free(value->text);
}

json *json_parse(const char *text, size_t len) {
    reader from = {text, text + len, false};
    json *value = calloc(1, sizeof *value);
    read_value(&from, value, 0);
    blanks(&from);
    if (from.is_wrong || from.at != from.end) {
        json_free(value);
        return NULL;
    }
    return value;
}

void json_free(json *value) {
    if (value) {
        free_parts(value);
        free(value);
    }
}

const json *json_get(const json *object, const char *key) {
    for (size_t at = 0; object && object->kind == JSON_OBJECT && at < object->len; at++) {
        if (strcmp(object->keys[at], key) == 0) {
            return &object->items[at];
        }
    }
    return NULL;
}

const json *json_at(const json *array, size_t index) {
    return array && index < array->len ? &array->items[index] : NULL;
}

size_t json_len(const json *value) {
    return value ? value->len : 0;
}

double json_number(const json *value) {
    return value && (value->kind == JSON_NUMBER || value->kind == JSON_BOOL) ? value->number : -1;
}

kb_str json_text(const json *value) {
    kb_str text = {"", 0};
    if (value && value->kind == JSON_STRING) {
        text.ptr = value->text;
        text.len = value->text_len;
    }
    return text;
}

bool json_is_null(const json *value) {
    return !value || value->kind == JSON_NULL;
}
