#ifndef CICU_H
#define CICU_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The parts of ICU that string predicates use. ICU's headers rename each function after ICU's version by macros, which
 * Swift's importer cannot see. Text is UTF-16.
 */

typedef struct cicu_expression cicu_expression;

/* Compiles a regular expression; NULL if it is invalid. */
cicu_expression *cicu_expression_open(const uint16_t *pattern, int32_t length, bool is_case_insensitive);
void cicu_expression_close(cicu_expression *expression);

typedef enum {
    CICU_NO_MATCH,
    CICU_MATCH,
    /* The engine reached its limit of memory or time. */
    CICU_ABANDONED,
} cicu_result;

/* Whether the expression matches the whole text. */
cicu_result cicu_expression_matches(cicu_expression *expression, const uint16_t *text, int32_t length);

/* The text with full case folding; returns its length, which may exceed the capacity, or -1 for an error. */
int32_t cicu_fold_case(const uint16_t *text, int32_t length, uint16_t *folded, int32_t capacity);

/* The first character of the canonical decomposition of a character; the character itself if it has none. */
uint32_t cicu_base(uint32_t character);

#endif
