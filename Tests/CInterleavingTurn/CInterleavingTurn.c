#define _GNU_SOURCE
#include "CInterleavingTurn.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

uint32_t interleaving_load(const uint32_t *word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }
void interleaving_store(uint32_t *word, uint32_t value) { __atomic_store_n(word, value, __ATOMIC_RELEASE); }
void interleaving_increment(uint32_t *word) { __atomic_fetch_add(word, 1, __ATOMIC_ACQ_REL); }

void interleaving_sleep(uint32_t *word, uint32_t value, int milliseconds) {
    struct timespec limit = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000L};
    syscall(SYS_futex, word, FUTEX_WAIT, value, &limit, NULL, 0);
}

void interleaving_wake(uint32_t *word) { syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0); }

InterleavingControl *interleaving_map(const char *path) {
    int descriptor = open(path, O_RDWR | O_CLOEXEC);
    if (descriptor == -1) return NULL;
    void *memory = mmap(NULL, sizeof(InterleavingControl), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    close(descriptor);
    return memory == MAP_FAILED ? NULL : memory;
}

void interleaving_unmap(InterleavingControl *control) { munmap(control, sizeof *control); }

InterleavingSlot *interleaving_slot(InterleavingControl *control, int number) { return &control->slots[number]; }
const char *interleaving_function(const InterleavingSlot *slot) { return slot->function; }
const char *interleaving_path(const InterleavingSlot *slot) { return slot->path; }
const char *interleaving_other_path(const InterleavingSlot *slot) { return slot->other_path; }

void interleaving_begin(InterleavingControl *control, int count) {
    control->clock = 0;
    control->scheduler = getpid();
    for (int i = 0; i < InterleavingMostSlots; i++) {
        InterleavingSlot *slot = &control->slots[i];
        slot->races = 0;
        slot->status = 0;
        interleaving_store(&slot->state, i < count ? InterleavingStateRunning : InterleavingStateAbsent);
    }
    interleaving_increment(&control->run);
    interleaving_wake(&control->run);
}

static int64_t milliseconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

int interleaving_settle(InterleavingControl *control, int count, int milliseconds) {
    int64_t end = milliseconds_now() + milliseconds;
    for (;;) {
        uint32_t changes = interleaving_load(&control->changes);
        int running = 0;
        for (int i = 0; i < count; i++)
            running += interleaving_load(&control->slots[i].state) == InterleavingStateRunning;
        if (running == 0) return 0;
        int64_t left = end - milliseconds_now();
        if (left <= 0) return -1;
        interleaving_sleep(&control->changes, changes, (int)left);
    }
}

void interleaving_continue(InterleavingControl *control, int number) {
    InterleavingSlot *slot = &control->slots[number];
    interleaving_store(&slot->state, InterleavingStateRunning);
    interleaving_increment(&slot->turn);
    interleaving_wake(&slot->turn);
}

void interleaving_abort(InterleavingControl *control, int count) {
    interleaving_store(&control->aborted_run, interleaving_load(&control->run));
    for (int i = 0; i < count; i++)
        if (interleaving_load(&control->slots[i].state) == InterleavingStateWaiting) interleaving_continue(control, i);
}

void interleaving_move_to_processor(uint32_t number) {
    cpu_set_t processors;
    CPU_ZERO(&processors);
    CPU_SET(number, &processors);
    sched_setaffinity(0, sizeof processors, &processors);
}

uint32_t interleaving_processor(void) {
    int number = sched_getcpu();
    return number < 0 ? 0 : (uint32_t)number;
}

static _Thread_local cpu_set_t processors_before;

void interleaving_bind_thread(uint32_t number) {
    sched_getaffinity(0, sizeof processors_before, &processors_before);
    interleaving_move_to_processor(number);
}

void interleaving_unbind_thread(void) { sched_setaffinity(0, sizeof processors_before, &processors_before); }
