#ifndef CINTERLEAVINGTURN_H
#define CINTERLEAVINGTURN_H

#include <stdint.h>

/*
 * The memory that a scheduler shares with the programs it schedules. Each program has a slot. It stops before every file
 * call, describes the call in its slot, and continues when the scheduler increments the turn of the slot: one program runs
 * at a time.
 */

typedef enum InterleavingState {
    /* Not started in this run. */
    InterleavingStateAbsent,
    InterleavingStateRunning,
    /* Stopped before a point. */
    InterleavingStateWaiting,
    InterleavingStateEnded,
} InterleavingState;

typedef enum InterleavingKind {
    InterleavingKindBegin,
    InterleavingKindExit,
    /* Reads bytes, metadata or names. */
    InterleavingKindRead,
    /* Changes bytes, metadata, names or locks. */
    InterleavingKindChange,
    /* Reads or changes shared memory. */
    InterleavingKindMemory,
    /* A pause, until the clock reaches `wakes_at`. */
    InterleavingKindPause,
    /* A pause before a lock is requested again, without a deadline. */
    InterleavingKindEndlessPause,
} InterleavingKind;

enum { InterleavingMostSlots = 8, InterleavingPathSize = 512 };

typedef struct InterleavingSlot {
    /* A futex: the program waits for a change. */
    uint32_t turn;
    /* An InterleavingState. */
    uint32_t state;
    /* The InterleavingKind of the point before which the program stopped. */
    uint32_t kind;
    /* How often a second thread reached a point while the first waited: then the order of points is not determined. */
    uint32_t races;
    /* As wait(2) reports the end. */
    int32_t status;
    /* The program's process in this run. */
    int32_t process;
    int64_t wakes_at;
    char function[32];
    /* Paths below the root; the second one is the new name of a renamed file. */
    char path[InterleavingPathSize];
    char other_path[InterleavingPathSize];
} InterleavingSlot;

typedef struct InterleavingControl {
    /* A futex: incremented when a slot changes. */
    uint32_t changes;
    /* A futex: the number of the run. */
    uint32_t run;
    /* The number of a run whose programs end before their next point. */
    uint32_t aborted_run;
    uint32_t processor;
    /* The process of the scheduler, without which the programs end. */
    int32_t scheduler;
    uint32_t reserved;
    /* The virtual time in nanoseconds since the begin of the run. */
    int64_t clock;
    InterleavingSlot slots[InterleavingMostSlots];
} InterleavingControl;

/* Atomic access to a futex, and the system call, without an error if the value differs. */
uint32_t interleaving_load(const uint32_t *word);
void interleaving_store(uint32_t *word, uint32_t value);
void interleaving_increment(uint32_t *word);
void interleaving_sleep(uint32_t *word, uint32_t value, int milliseconds);
void interleaving_wake(uint32_t *word);

/* Maps a file of sizeof(InterleavingControl) bytes; null if that fails. */
InterleavingControl *interleaving_map(const char *path);
void interleaving_unmap(InterleavingControl *control);
InterleavingSlot *interleaving_slot(InterleavingControl *control, int number);
const char *interleaving_function(const InterleavingSlot *slot);
const char *interleaving_path(const InterleavingSlot *slot);
const char *interleaving_other_path(const InterleavingSlot *slot);

/* Starts a run of the first `count` slots. */
void interleaving_begin(InterleavingControl *control, int count);
/* Waits until no program of the first `count` slots runs; returns 0, or -1 at the deadline. */
int interleaving_settle(InterleavingControl *control, int count, int milliseconds);
/* Lets a program continue to its next point. */
void interleaving_continue(InterleavingControl *control, int number);
/* Ends the programs of this run at their points. */
void interleaving_abort(InterleavingControl *control, int count);

/* The number of the processor that the calling thread runs on. */
uint32_t interleaving_processor(void);
/* Binds the calling thread to the processor of the programs, where a change of turns is fastest, and frees it again. */
void interleaving_bind_thread(uint32_t number);
void interleaving_unbind_thread(void);
/* Binds the calling process to one processor. */
void interleaving_move_to_processor(uint32_t number);

#endif
