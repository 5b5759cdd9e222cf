#include "CNettle.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#include <stdbool.h>

/* The constants of "Secure Hash Standard", FIPS 180-4, section 4.2.2. */
static const uint32_t constants[64] __attribute__((aligned(16))) = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
    0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
    0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
    0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

/*
 * Processes whole blocks. Each step of the loop is four rounds: the instructions keep the state as the pairs ABEF and
 * CDGH, and compute four words of the schedule from the sixteen before them.
 */
__attribute__((target("sha,sse4.1"))) static void take_blocks(uint32_t state[8], const uint8_t *bytes, size_t blocks) {
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
    __m128i first = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0xB1);
    __m128i second = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(state + 4)), 0x1B);
    __m128i abef = _mm_alignr_epi8(first, second, 8);
    __m128i cdgh = _mm_blend_epi16(second, first, 0xF0);
    for (; blocks > 0; blocks--, bytes += 64) {
        __m128i former_abef = abef, former_cdgh = cdgh, words[4];
        for (int part = 0; part < 4; part++) {
            words[part] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(bytes + 16 * part)), big_endian);
        }
#pragma clang loop unroll(full)
        for (int step = 0; step < 16; step++) {
            __m128i *now = &words[step & 3], last = words[(step + 3) & 3];
            __m128i added = _mm_add_epi32(*now, _mm_load_si128((const __m128i *)(constants + 4 * step)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, added);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(added, 0x0E));
            if (step >= 12) continue;
            __m128i next = _mm_sha256msg1_epu32(*now, words[(step + 1) & 3]);
            next = _mm_add_epi32(next, _mm_alignr_epi8(last, words[(step + 2) & 3], 4));
            *now = _mm_sha256msg2_epu32(next, last);
        }
        abef = _mm_add_epi32(abef, former_abef);
        cdgh = _mm_add_epi32(cdgh, former_cdgh);
    }
    first = _mm_shuffle_epi32(abef, 0x1B);
    second = _mm_shuffle_epi32(cdgh, 0xB1);
    _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(first, second, 0xF0));
    _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(second, first, 8));
}

/* True if the processor has SHA and SSE 4.1. */
static bool has_instructions(void) {
    unsigned a, b, c, d;
    bool has_sha = __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA);
    return has_sha && __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_1);
}

void cnettle_sha256_update(struct sha256_ctx *context, size_t count, const uint8_t *bytes) {
    static int has = -1;
    size_t begun = context->index == 0 ? 0 : SHA256_BLOCK_SIZE - context->index;
    if (count >= begun + SHA256_BLOCK_SIZE) {
        /* A race is harmless, because every thread computes the same result. */
        int known = __atomic_load_n(&has, __ATOMIC_RELAXED);
        if (known == -1) __atomic_store_n(&has, known = has_instructions(), __ATOMIC_RELAXED);
        if (known) {
            nettle_sha256_update(context, begun, bytes);
            size_t blocks = (count - begun) / SHA256_BLOCK_SIZE;
            take_blocks(context->state, bytes + begun, blocks);
            context->count += blocks;
            bytes += begun + blocks * SHA256_BLOCK_SIZE;
            count -= begun + blocks * SHA256_BLOCK_SIZE;
        }
    }
    nettle_sha256_update(context, count, bytes);
}
#else
void cnettle_sha256_update(struct sha256_ctx *context, size_t count, const uint8_t *bytes) {
    nettle_sha256_update(context, count, bytes);
}
#endif
