/* The header alone, twice: it needs nothing before it and minds nothing behind it. */

#include "kb.h"
#include "kb.h"

static kb_str empty(void) {
    return KB_STR("");
}

size_t header_compiles(void);

size_t header_compiles(void) {
    kb_hit hit = KB_HIT_INIT;
    return hit.struct_size + empty().len;
}
