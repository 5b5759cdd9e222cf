#ifndef CCONFINEMENT_H
#define CCONFINEMENT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Starts programs, trusted or confined. Between fork and exec only plain system calls are made, so that it works in a
 * process of many threads; Swift cannot run there.
 */

/* The version of Landlock that the kernel has; 0 or less when it has none. */
int cconfinement_landlock_version(void);

/* True on a kernel that can filter the calls of a program. */
int cconfinement_filters_calls(void);

struct cconfinement_program {
    /* Where the program is, and its arguments and environment, each ended by a null pointer. */
    const char *path;
    char *const *arguments;
    char *const *environment;
    /* Where it runs; null for where this process is. */
    const char *folder;
    /* The descriptors that become 0, 1 and 2; no other one is inherited. */
    int input;
    int output;
    int errors;
    /* True to have the kernel kill it when the thread that starts it ends, however early that is. */
    int ends_with_thread;
};

/* What confines a program that is not trusted. */
struct cconfinement_terms {
    /* A Landlock rule set, or -1 for none. */
    int ruleset;
    /* True to take from the program the calls that no strategy needs. */
    int filters_calls;
    /* A user and group to become, or -1 to stay. */
    int64_t user;
    int64_t group;
    /* Limits, each of them both the soft and the hard one; where this process has less, the program gets that. */
    uint64_t cpu_seconds;
    uint64_t memory_bytes;
    uint64_t processes;
    uint64_t descriptors;
};

/*
 * Starts a program, which leads a group of its own; terms may be null. Returns the process, or -1 and errno. What fails in
 * the child before its program runs is reported as if it had failed here.
 */
pid_t cconfinement_spawn(const struct cconfinement_program *program, const struct cconfinement_terms *terms);

/*
 * A rule set that forbids every access to files and, where the kernel can, TCP, abstract sockets and signals to others;
 * -1 and errno when it cannot be made.
 */
int cconfinement_landlock_ruleset(int version);

enum cconfinement_place {
    /* Everything below a folder may be read, listed and executed. */
    CCONFINEMENT_FOLDER,
    /* A file may be read and executed. */
    CCONFINEMENT_FILE,
    /* A file may be written, too. */
    CCONFINEMENT_SINK,
};

/* Allows what may be done with an open folder or file. */
int cconfinement_landlock_allow(int ruleset, int descriptor, enum cconfinement_place place);

/* Makes orphans of this process's descendants its own children, or no longer. */
int cconfinement_adopt_orphans(int on);

/* Has the kernel kill this process when the thread that started it ends; a later change of user undoes it. */
int cconfinement_end_with(pid_t parent);

/* A descriptor that is readable once a process ended; -1 and errno. */
int cconfinement_open_process(pid_t process);

/*
 * Ends every process of a group, and waits until each child among them is gone; false when that takes longer, as for a
 * process that waits for a disk. The status of the leader is put where the last argument points, which may be null.
 */
int cconfinement_end_group(pid_t group, int milliseconds, int *status);

/* True when orphans of this process's descendants become its children. */
int cconfinement_adopts_orphans(void);

/* open(2) of whatever a path leads to, neither to read nor to write. */
int cconfinement_open_path(const char *path);

/* pipe2(2), with ends that no program inherits: the first to read. */
int cconfinement_pipe(int *ends);

/* A descriptor that reads these bytes from the first to the last, and that nobody can change; -1 and errno. */
int cconfinement_sealed_input(const void *bytes, size_t count);

#endif
