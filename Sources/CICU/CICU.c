#include "CICU.h"

#include <unicode/unorm2.h>
#include <unicode/uregex.h>
#include <unicode/ustring.h>
#include <unicode/utf16.h>

/* In units of about a millisecond. */
static const int32_t time_limit = 10 * 1000;

cicu_expression *cicu_expression_open(const uint16_t *pattern, int32_t length, bool is_case_insensitive) {
    UErrorCode status = U_ZERO_ERROR;
    uint32_t flags = is_case_insensitive ? UREGEX_CASE_INSENSITIVE : 0;
    URegularExpression *expression = uregex_open(pattern, length, flags, NULL, &status);
    if (U_SUCCESS(status)) uregex_setTimeLimit(expression, time_limit, &status);
    if (U_SUCCESS(status)) return (cicu_expression *)expression;
    if (expression != NULL) uregex_close(expression);
    return NULL;
}

void cicu_expression_close(cicu_expression *expression) { uregex_close((URegularExpression *)expression); }

cicu_result cicu_expression_matches(cicu_expression *expression, const uint16_t *text, int32_t length) {
    UErrorCode status = U_ZERO_ERROR;
    URegularExpression *compiled = (URegularExpression *)expression;
    uregex_setText(compiled, text, length, &status);
    bool matches = uregex_matches(compiled, 0, &status);
    if (U_FAILURE(status)) return CICU_ABANDONED;
    return matches ? CICU_MATCH : CICU_NO_MATCH;
}

int32_t cicu_fold_case(const uint16_t *text, int32_t length, uint16_t *folded, int32_t capacity) {
    UErrorCode status = U_ZERO_ERROR;
    int32_t needed = u_strFoldCase(folded, capacity, text, length, U_FOLD_CASE_DEFAULT, &status);
    return U_SUCCESS(status) || status == U_BUFFER_OVERFLOW_ERROR ? needed : -1;
}

uint32_t cicu_base(uint32_t character) {
    UErrorCode status = U_ZERO_ERROR;
    const UNormalizer2 *normalizer = unorm2_getNFDInstance(&status);
    if (U_FAILURE(status)) return character;
    UChar decomposition[32];
    int32_t length = unorm2_getDecomposition(normalizer, (UChar32)character, decomposition, 32, &status);
    if (U_FAILURE(status) || length <= 0) return character;
    int32_t index = 0;
    UChar32 base;
    U16_NEXT(decomposition, index, length, base);
    return (uint32_t)base;
}
