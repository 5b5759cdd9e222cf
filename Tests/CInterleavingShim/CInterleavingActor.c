#define _GNU_SOURCE
#include "CInterleavingActor.h"

#include "CInterleavingShim.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static InterleavingControl *control;
static InterleavingSlot *slot;
static pid_t scheduled_process;
static uint32_t own_run;
static uint64_t random_state;
static bool has_stream;
static char root[PATH_MAX];
static size_t root_length;

static pthread_mutex_t turn_mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int threads_at_points;

/* The number of the process that was forked for a run. */
static const char process_variable[] = "INTERLEAVING_PROCESS";

enum { LockPause = 1000000, ServerPatience = 500 };

static _Thread_local bool passes;

void actor_suspend_points(bool areSuspended) { passes = areSuspended; }

bool actor_is_scheduled(void) { return slot != NULL && scheduled_process == getpid(); }

bool actor_has_stream(void) { return has_stream || actor_is_scheduled(); }

static void announce(uint32_t state) {
    interleaving_store(&slot->state, state);
    interleaving_increment(&control->changes);
    interleaving_wake(&control->changes);
}

/* Waits for the turn. The scheduler reads the description while the program waits. */
static void await_turn(InterleavingKind kind, const char *function, const char *path, const char *other, int64_t wakes) {
    int kept = errno;
    if (atomic_fetch_add(&threads_at_points, 1) > 0) interleaving_increment(&slot->races);
    pthread_mutex_lock(&turn_mutex);
    slot->kind = kind;
    slot->wakes_at = wakes;
    snprintf(slot->function, sizeof slot->function, "%s", function);
    snprintf(slot->path, sizeof slot->path, "%.*s", InterleavingPathSize - 1, path);
    snprintf(slot->other_path, sizeof slot->other_path, "%.*s", InterleavingPathSize - 1, other);
    uint32_t turn = interleaving_load(&slot->turn);
    announce(InterleavingStateWaiting);
    while (interleaving_load(&slot->turn) == turn) {
        interleaving_sleep(&slot->turn, turn, 1000);
        if (interleaving_load(&slot->turn) == turn && kill(control->scheduler, 0) == -1 && errno == ESRCH) _exit(96);
    }
    if (interleaving_load(&control->aborted_run) == own_run) _exit(99);
    atomic_fetch_sub(&threads_at_points, 1);
    pthread_mutex_unlock(&turn_mutex);
    errno = kept;
}

/* The part of a path below the root; null for a path elsewhere. */
static const char *below_root(const char *path) {
    if (strncmp(path, root, root_length) != 0) return NULL;
    return path[root_length] == '/' ? path + root_length + 1 : path[root_length] == '\0' ? "." : NULL;
}

void actor_point_path(InterleavingKind kind, const char *function, const char *path) {
    if (passes || !actor_is_scheduled()) return;
    const char *shown = below_root(path);
    if (shown != NULL) await_turn(kind, function, shown, "", 0);
}

static bool path_of_descriptor(int descriptor, char *path) {
    char link[64];
    if (descriptor == AT_FDCWD) return getcwd(path, PATH_MAX) != NULL;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t count = readlink(link, path, PATH_MAX - 1);
    if (count <= 0) return false;
    path[count] = '\0';
    return path[0] == '/';
}

static bool path_of_name(int directory, const char *name, char *path) {
    if (name == NULL) return false;
    if (name[0] == '/') {
        /* SQLite's VFS of the tool opens a file by its descriptor. */
        int descriptor;
        if (sscanf(name, "/proc/self/fd/%d", &descriptor) == 1) return path_of_descriptor(descriptor, path);
        snprintf(path, PATH_MAX, "%s", name);
        return true;
    }
    if (!path_of_descriptor(directory, path)) return false;
    if (name[0] == '\0' || strcmp(name, ".") == 0) return true;
    size_t length = strlen(path);
    snprintf(path + length, PATH_MAX - length, "/%s", name);
    return true;
}

void actor_point_descriptor(InterleavingKind kind, const char *function, int descriptor) {
    if (passes || !actor_is_scheduled()) return;
    int kept = errno;
    char path[PATH_MAX];
    if (path_of_descriptor(descriptor, path)) actor_point_path(kind, function, path);
    errno = kept;
}

void actor_point_name(InterleavingKind kind, const char *function, int directory, const char *name) {
    if (passes || !actor_is_scheduled()) return;
    int kept = errno;
    char path[PATH_MAX];
    if (path_of_name(directory, name, path)) actor_point_path(kind, function, path);
    errno = kept;
}

void actor_point_names(const char *function, int directory, const char *name, int other_directory, const char *other) {
    if (!actor_is_scheduled()) return;
    int kept = errno;
    char path[PATH_MAX], other_path[PATH_MAX];
    if (path_of_name(directory, name, path) && path_of_name(other_directory, other, other_path)) {
        const char *shown = below_root(path), *other_shown = below_root(other_path);
        if (shown != NULL || other_shown != NULL)
            await_turn(InterleavingKindChange, function, shown == NULL ? "" : shown, other_shown == NULL ? "" : other_shown,
                       0);
    }
    errno = kept;
}

int64_t actor_clock(void) { return __atomic_load_n(&control->clock, __ATOMIC_RELAXED); }

void actor_pause(const char *function, int64_t nanoseconds) {
    await_turn(InterleavingKindPause, function, "", "", actor_clock() + nanoseconds);
}

void actor_pause_for_lock(const char *function, int descriptor) {
    char path[PATH_MAX];
    const char *shown = path_of_descriptor(descriptor, path) ? below_root(path) : NULL;
    await_turn(InterleavingKindEndlessPause, function, shown == NULL ? "" : shown, "", actor_clock() + LockPause);
}

/* SplitMix64, by Sebastiano Vigna. */
static uint64_t next_number(void) {
    uint64_t value = __atomic_add_fetch(&random_state, 0x9E3779B97F4A7C15, __ATOMIC_RELAXED);
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
    return value ^ (value >> 31);
}

static void begin_stream(uint64_t number) { random_state = number << 32; }

void actor_fill(void *bytes, size_t count) {
    for (char *target = bytes; count > 0;) {
        uint64_t number = next_number();
        size_t part = count < sizeof number ? count : sizeof number;
        memcpy(target, &number, part);
        target += part;
        count -= part;
    }
}

/* Continues in the child as the program of a run. */
static void begin_run(uint32_t number, const char *output) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    own_run = number;
    begin_stream((uint64_t)(slot - control->slots));
    int descriptor = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (descriptor == -1 || dup2(descriptor, STDOUT_FILENO) == -1 || dup2(descriptor, STDERR_FILENO) == -1) _exit(98);
    close(descriptor);
    slot->process = scheduled_process = getpid();
    char process[16];
    snprintf(process, sizeof process, "%d", scheduled_process);
    setenv(process_variable, process, 1);
    await_turn(InterleavingKindBegin, "begin", ".", "", 0);
}

/* Waits until the program of the slot before has started: the order of the processes' numbers shows in what programs say. */
static void await_predecessor(void) {
    while (slot > control->slots) {
        uint32_t changes = interleaving_load(&control->changes);
        if (interleaving_load(&slot[-1].state) != InterleavingStateRunning) return;
        interleaving_sleep(&control->changes, changes, ServerPatience);
        if (kill(control->scheduler, 0) == -1 && errno == ESRCH) _exit(0);
    }
}

/* Forks a child for each run, until the scheduler has ended. */
static void serve(const char *output) {
    pid_t scheduler = getppid();
    uint32_t run = 0;
    for (;;) {
        while (interleaving_load(&control->run) == run) {
            interleaving_sleep(&control->run, run, ServerPatience);
            if (getppid() != scheduler) _exit(0);
        }
        run = interleaving_load(&control->run);
        if (interleaving_load(&slot->state) != InterleavingStateRunning) continue;
        await_predecessor();
        pid_t child = fork();
        if (child == 0) return begin_run(run, output);
        int status = 0;
        while (child > 0 && waitpid(child, &status, 0) == -1 && errno == EINTR) continue;
        slot->status = child == -1 ? 0x7F00 : status;
        announce(InterleavingStateEnded);
    }
}

__attribute__((constructor)) static void attach(void) {
    const char *path = getenv("INTERLEAVING_CONTROL"), *number = getenv("INTERLEAVING_SLOT");
    const char *root_path = getenv("INTERLEAVING_ROOT"), *output = getenv("INTERLEAVING_OUTPUT");
    const char *stream = getenv("INTERLEAVING_STREAM");
    if (stream != NULL) {
        has_stream = true;
        begin_stream(InterleavingMostSlots + strtoull(stream, NULL, 10));
    }
    if (path == NULL || number == NULL || root_path == NULL || output == NULL) return;
    snprintf(root, sizeof root, "%s", root_path);
    root_length = strlen(root);
    int own = atoi(number);
    control = interleaving_map(path);
    if (control == NULL || own < 0 || own >= InterleavingMostSlots) _exit(97);
    slot = &control->slots[own];
    const char *process = getenv(process_variable);
    /* Programs that a scheduled one starts are not scheduled; one that replaces it is. */
    if (process != NULL && atoi(process) != getpid()) return;
    actor_register_file_system();
    if (process != NULL) {
        own_run = interleaving_load(&control->run);
        scheduled_process = getpid();
    } else {
        interleaving_move_to_processor(control->processor);
        serve(output);
    }
}

/* The end of a process releases its locks. */
__attribute__((destructor)) static void detach(void) {
    if (actor_is_scheduled()) await_turn(InterleavingKindExit, "exit", ".", "", 0);
}
