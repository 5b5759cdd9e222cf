#ifndef CLINUX_H
#define CLINUX_H

#ifndef __linux__
#error "store-migrate works on Linux only"
#endif

#include <stdint.h>
#include <sys/types.h>

/*
 * System calls of Linux that the C library has no function for, or that Swift's importer cannot see (variadic fcntl).
 * Every function returns the result of the system call: -1 and errno on failure.
 */

#define CLINUX_RESOLVE_NO_SYMLINKS 0x04
#define CLINUX_RESOLVE_BENEATH 0x08
#define CLINUX_RENAME_NOREPLACE 0x01
#define CLINUX_RENAME_EXCHANGE 0x02

/* openat2(2). */
int clinux_openat2(int directory, const char *path, uint64_t flags, uint64_t mode, uint64_t resolve);

/* renameat2(2). */
int clinux_renameat2(int from_directory, const char *from, int to_directory, const char *to, unsigned int flags);

/* ioctl(FICLONE). */
int clinux_clone(int destination, int source);

/*
 * fcntl(F_SETLEASE): type is F_RDLCK, F_WRLCK or F_UNLCK. First disables the signal that would announce a lease break,
 * because it would end a process that does not handle it.
 */
int clinux_set_lease(int descriptor, int type);

/* fcntl(F_GETLEASE). */
int clinux_get_lease(int descriptor);

/* 1 if chattr(1) made a name append-only or immutable; 0 if not, or if the file system has no such flag. */
int clinux_is_restricted(int directory, const char *name);

/* 1 and the time at which a name's file was created; 0 if the file system does not record it. */
int clinux_birth_time(int directory, const char *name, int64_t *seconds, int64_t *nanoseconds);

/* 1 if the open file has an access control list beyond its mode, or a default one; 0 if it has none. */
int clinux_has_access_list(int descriptor);

/* The magic number of the file system, from fstatfs(2). */
int clinux_file_system_type(int descriptor, uint64_t *type);

/*
 * Returns what body returns. Where the stack is limited to less than least bytes, as with ulimit -s 64, body runs in a thread
 * with a stack of size bytes, and so do later threads: the limit does not apply to the stacks of threads.
 */
int clinux_call_with_stack(size_t least, size_t size, int (*body)(void));

#endif
