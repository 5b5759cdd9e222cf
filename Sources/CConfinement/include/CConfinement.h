#ifndef CCONFINEMENT_H
#define CCONFINEMENT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Starts programs, trusted or confined. Between fork and exec only raw system calls are made, so that it works in a
 * multithreaded process; Swift cannot run there.
 */

/* The kernel's version of Landlock; 0 or less without Landlock. */
int cconfinement_landlock_version(void);

/* True on a kernel that supports system call filters. */
int cconfinement_filters_calls(void);

struct cconfinement_program {
    /* The program's path, and its arguments and environment, each ended by a null pointer. */
    const char *path;
    char *const *arguments;
    char *const *environment;
    /* The working folder; null for that of this process. */
    const char *folder;
    /* The descriptors that become 0, 1 and 2; no others are inherited. */
    int input;
    int output;
    int errors;
    /* True to have the kernel kill it when the thread that started it ends, however early that is. */
    int ends_with_thread;
};

/* The confinement of an untrusted program. */
struct cconfinement_terms {
    /* A Landlock rule set, or -1 for none. */
    int ruleset;
    /* True to filter the system calls that no strategy needs. */
    int filters_calls;
    /* A user and group to switch to, or -1 for no change. */
    int64_t user;
    int64_t group;
    /* Limits, each of them both the soft and the hard one; a lower limit of this process applies instead. */
    uint64_t cpu_seconds;
    uint64_t memory_bytes;
    uint64_t processes;
    uint64_t descriptors;
};

/*
 * Starts a program as the leader of a group of its own; terms may be null. Returns the process ID, or -1 and errno. A
 * failure in the child before its program runs is reported as if it had happened here.
 */
pid_t cconfinement_spawn(const struct cconfinement_program *program, const struct cconfinement_terms *terms);

/*
 * A rule set that forbids every access to files and, if the kernel supports it, TCP, abstract sockets and signals to
 * others; -1 and errno on failure.
 */
int cconfinement_landlock_ruleset(int version);

enum cconfinement_place {
    /* Everything below a folder can be read, listed and executed. */
    CCONFINEMENT_FOLDER,
    /* A file can be read and executed. */
    CCONFINEMENT_FILE,
    /* A file can also be written. */
    CCONFINEMENT_SINK,
};

/* Allows access to an open folder or file. */
int cconfinement_landlock_allow(int ruleset, int descriptor, enum cconfinement_place place);

/* Makes orphans of this process's descendants its own children, or stops that. */
int cconfinement_adopt_orphans(int on);

/* Has the kernel kill this process when the thread that started it ends; a later change of user clears that. */
int cconfinement_end_with(pid_t parent);

/* A descriptor that is readable once a process has ended; -1 and errno on failure. */
int cconfinement_open_process(pid_t process);

/*
 * Kills every process of a group, and waits until each child among them is gone; false if that takes longer, as for a
 * process blocked on disk I/O. The status of the leader is stored at the last argument, which may be null.
 */
int cconfinement_end_group(pid_t group, int milliseconds, int *status);

/* True when orphans of this process's descendants become its children. */
int cconfinement_adopts_orphans(void);

/* open(2) of the target of a path, neither to read nor to write. */
int cconfinement_open_path(const char *path);

/* pipe2(2), with ends that no program inherits: the first is for reading. */
int cconfinement_pipe(int *ends);

/* A descriptor that reads these bytes from the first to the last, and that no process can change; -1 and errno on
 * failure. */
int cconfinement_sealed_input(const void *bytes, size_t count);

#endif
