#ifndef CINTERLEAVINGACTOR_H
#define CINTERLEAVINGACTOR_H

#include "CInterleavingTurn.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* The function of this name that the program would call without this library, cached by the first caller. */
#define NEXT(name)                                                                                                     \
    static _Atomic(__typeof__(&name)) kept;                                                                            \
    if (atomic_load_explicit(&kept, memory_order_relaxed) == NULL)                                                     \
        atomic_store_explicit(&kept, (__typeof__(&name))dlsym(RTLD_NEXT, #name), memory_order_relaxed);                \
    __typeof__(&name) next = atomic_load_explicit(&kept, memory_order_relaxed)

/* True in a process that the scheduler controls; false in the programs that it starts. */
bool actor_is_scheduled(void);

/* True in a process whose random numbers are from a fixed stream. */
bool actor_has_stream(void);

/* While points are suspended, the calls of this thread pass. */
void actor_suspend_points(bool areSuspended);

/* Waits for the turn before a call on a descriptor or a name; calls outside of the root pass. */
void actor_point_descriptor(InterleavingKind kind, const char *function, int descriptor);
void actor_point_name(InterleavingKind kind, const char *function, int directory, const char *name);
void actor_point_names(const char *function, int directory, const char *name, int other_directory, const char *other);
/* The same for a whole path; the end of `function` may be a suffix that says more. */
void actor_point_path(InterleavingKind kind, const char *function, const char *path);

/* The virtual time since the begin of the run, in nanoseconds. */
int64_t actor_clock(void);
/* Waits until the virtual time has passed. */
void actor_pause(const char *function, int64_t nanoseconds);
/* Waits a moment before another try to acquire a lock that has no deadline. */
void actor_pause_for_lock(const char *function, int descriptor);

/* Fills a buffer from the stream of this process. */
void actor_fill(void *bytes, size_t count);

/* Makes the VFS of this library the default one of SQLite, if the program has SQLite. */
void actor_register_file_system(void);

#pragma GCC visibility pop

#endif
