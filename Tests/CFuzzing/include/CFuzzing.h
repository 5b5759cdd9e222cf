#ifndef CFUZZING_H
#define CFUZZING_H

#include <stddef.h>
#include <stdint.h>

/// libFuzzer's own mutation of `count` bytes in a buffer of `limit`; returns the new count.
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t count, size_t limit);

#endif
