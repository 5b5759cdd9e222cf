#define _GNU_SOURCE
#include "CInterleavingActor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

/* The file calls of the C library: each waits for the turn, and is then made. */

static InterleavingKind kind_of_opening(int flags) {
    return flags & (O_CREAT | O_TRUNC) ? InterleavingKindChange : InterleavingKindRead;
}

#define MODE_OF_OPENING(flags)                                                                                         \
    mode_t mode = 0;                                                                                                   \
    if (((flags) & O_CREAT) || ((flags) & O_TMPFILE) == O_TMPFILE) {                                                   \
        va_list arguments;                                                                                             \
        va_start(arguments, flags);                                                                                    \
        mode = va_arg(arguments, mode_t);                                                                              \
        va_end(arguments);                                                                                             \
    }

#define OPEN(name)                                                                                                     \
    int name(const char *path, int flags, ...) {                                                                       \
        MODE_OF_OPENING(flags)                                                                                         \
        NEXT(name);                                                                                                    \
        actor_point_name(kind_of_opening(flags), "open", AT_FDCWD, path);                                              \
        return next(path, flags, mode);                                                                                \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                                                   \
    int name(int directory, const char *path, int flags, ...) {                                                        \
        MODE_OF_OPENING(flags)                                                                                         \
        NEXT(name);                                                                                                    \
        actor_point_name(kind_of_opening(flags), "open", directory, path);                                             \
        return next(directory, path, flags, mode);                                                                     \
    }
OPENAT(openat)
OPENAT(openat64)

/* openat2 has no function of its own, and Swift calls getrandom this way. */
long syscall(long number, ...) {
    long a[6];
    va_list arguments;
    va_start(arguments, number);
    for (int i = 0; i < 6; i++) a[i] = va_arg(arguments, long);
    va_end(arguments);
    NEXT(syscall);
    if (number == SYS_openat2) {
        const struct open_how *how = (const struct open_how *)a[2];
        actor_point_name(kind_of_opening((int)how->flags), "open", (int)a[0], (const char *)a[1]);
    }
    if (number == SYS_getrandom && actor_has_stream()) {
        actor_fill((void *)a[0], (size_t)a[1]);
        return a[1];
    }
    return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

#define ON_DESCRIPTOR(kind, type, name, parameters, ...)                                                               \
    type name parameters {                                                                                             \
        NEXT(name);                                                                                                    \
        actor_point_descriptor(kind, #name, descriptor);                                                               \
        return next(__VA_ARGS__);                                                                                      \
    }
#define READ(type, name, parameters, ...) ON_DESCRIPTOR(InterleavingKindRead, type, name, parameters, __VA_ARGS__)
#define CHANGE(type, name, parameters, ...) ON_DESCRIPTOR(InterleavingKindChange, type, name, parameters, __VA_ARGS__)

READ(ssize_t, read, (int descriptor, void *bytes, size_t count), descriptor, bytes, count)
READ(ssize_t, readv, (int descriptor, const struct iovec *parts, int count), descriptor, parts, count)
READ(ssize_t, pread, (int descriptor, void *bytes, size_t count, off_t at), descriptor, bytes, count, at)
READ(ssize_t, pread64, (int descriptor, void *bytes, size_t count, off64_t at), descriptor, bytes, count, at)
CHANGE(ssize_t, write, (int descriptor, const void *bytes, size_t count), descriptor, bytes, count)
CHANGE(ssize_t, writev, (int descriptor, const struct iovec *parts, int count), descriptor, parts, count)
CHANGE(ssize_t, pwrite, (int descriptor, const void *bytes, size_t count, off_t at), descriptor, bytes, count, at)
CHANGE(ssize_t, pwrite64, (int descriptor, const void *bytes, size_t count, off64_t at), descriptor, bytes, count, at)
CHANGE(int, fsync, (int descriptor), descriptor)
CHANGE(int, fdatasync, (int descriptor), descriptor)
CHANGE(int, syncfs, (int descriptor), descriptor)
CHANGE(int, ftruncate, (int descriptor, off_t size), descriptor, size)
CHANGE(int, ftruncate64, (int descriptor, off64_t size), descriptor, size)
CHANGE(int, fallocate, (int descriptor, int mode, off_t at, off_t size), descriptor, mode, at, size)
CHANGE(int, fchmod, (int descriptor, mode_t mode), descriptor, mode)
CHANGE(int, fchown, (int descriptor, uid_t user, gid_t group), descriptor, user, group)
/* Closing any descriptor of a file releases the record locks of the process on it. */
CHANGE(int, close, (int descriptor), descriptor)
READ(int, fstat, (int descriptor, struct stat *status), descriptor, status)
READ(int, fstat64, (int descriptor, struct stat64 *status), descriptor, status)

ssize_t copy_file_range(int source, off64_t *from, int descriptor, off64_t *to, size_t count, unsigned int flags) {
    NEXT(copy_file_range);
    actor_point_descriptor(InterleavingKindRead, "copy_file_range", source);
    actor_point_descriptor(InterleavingKindChange, "copy_file_range", descriptor);
    return next(source, from, descriptor, to, count, flags);
}

#define ON_NAME(kind, name, parameters, directory, path, ...)                                                          \
    int name parameters {                                                                                              \
        NEXT(name);                                                                                                    \
        actor_point_name(kind, #name, directory, path);                                                                \
        return next(__VA_ARGS__);                                                                                      \
    }
#define LOOK(name, parameters, directory, path, ...)                                                                   \
    ON_NAME(InterleavingKindRead, name, parameters, directory, path, __VA_ARGS__)
#define ALTER(name, parameters, directory, path, ...)                                                                  \
    ON_NAME(InterleavingKindChange, name, parameters, directory, path, __VA_ARGS__)

LOOK(stat, (const char *path, struct stat *status), AT_FDCWD, path, path, status)
LOOK(lstat, (const char *path, struct stat *status), AT_FDCWD, path, path, status)
LOOK(stat64, (const char *path, struct stat64 *status), AT_FDCWD, path, path, status)
LOOK(lstat64, (const char *path, struct stat64 *status), AT_FDCWD, path, path, status)
LOOK(fstatat, (int at, const char *path, struct stat *status, int flags), at, path, at, path, status, flags)
LOOK(fstatat64, (int at, const char *path, struct stat64 *status, int flags), at, path, at, path, status, flags)
LOOK(statx, (int at, const char *path, int flags, unsigned int mask, struct statx *status), at, path, at, path, flags,
     mask, status)
LOOK(access, (const char *path, int mode), AT_FDCWD, path, path, mode)
LOOK(faccessat, (int at, const char *path, int mode, int flags), at, path, at, path, mode, flags)
ALTER(mkdir, (const char *path, mode_t mode), AT_FDCWD, path, path, mode)
ALTER(mkdirat, (int at, const char *path, mode_t mode), at, path, at, path, mode)
ALTER(unlink, (const char *path), AT_FDCWD, path, path)
ALTER(unlinkat, (int at, const char *path, int flags), at, path, at, path, flags)
ALTER(rmdir, (const char *path), AT_FDCWD, path, path)
ALTER(chmod, (const char *path, mode_t mode), AT_FDCWD, path, path, mode)
ALTER(fchmodat, (int at, const char *path, mode_t mode, int flags), at, path, at, path, mode, flags)
ALTER(symlink, (const char *target, const char *path), AT_FDCWD, path, target, path)
ALTER(symlinkat, (const char *target, int at, const char *path), at, path, target, at, path)
ALTER(truncate, (const char *path, off_t size), AT_FDCWD, path, path, size)
ALTER(truncate64, (const char *path, off64_t size), AT_FDCWD, path, path, size)

#define ON_NAMES(name, parameters, directory, path, to_directory, to, ...)                                             \
    int name parameters {                                                                                              \
        NEXT(name);                                                                                                    \
        actor_point_names(#name, directory, path, to_directory, to);                                                   \
        return next(__VA_ARGS__);                                                                                      \
    }
ON_NAMES(rename, (const char *path, const char *to), AT_FDCWD, path, AT_FDCWD, to, path, to)
ON_NAMES(renameat, (int at, const char *path, int to_at, const char *to), at, path, to_at, to, at, path, to_at, to)
ON_NAMES(renameat2, (int at, const char *path, int to_at, const char *to, unsigned int flags), at, path, to_at, to, at,
         path, to_at, to, flags)
ON_NAMES(link, (const char *path, const char *to), AT_FDCWD, path, AT_FDCWD, to, path, to)
ON_NAMES(linkat, (int at, const char *path, int to_at, const char *to, int flags), at, path, to_at, to, at, path, to_at,
         to, flags)

/* A listing is read when the first entry is. */
struct dirent *readdir(DIR *stream) {
    NEXT(readdir);
    if (telldir(stream) == 0) actor_point_descriptor(InterleavingKindRead, "readdir", dirfd(stream));
    return next(stream);
}

/* A request that would wait for a lock becomes requests that do not, with pauses between them. */
static int immediate(int command) {
    return command == F_SETLKW ? F_SETLK : command == F_OFD_SETLKW ? F_OFD_SETLK : command;
}

static const char *name_of_locking(int command, const void *argument) {
    switch (command) {
    case F_SETLK:
    case F_SETLKW: return ((const struct flock *)argument)->l_type == F_UNLCK ? "unlock" : "lock";
    case F_OFD_SETLK:
    case F_OFD_SETLKW: return ((const struct flock *)argument)->l_type == F_UNLCK ? "unlock-ofd" : "lock-ofd";
    case F_GETLK:
    case F_OFD_GETLK: return "ask-lock";
    case F_SETLEASE: return "lease";
    default: return NULL;
    }
}

#define FCNTL(name)                                                                                                    \
    int name(int descriptor, int command, ...) {                                                                       \
        va_list arguments;                                                                                             \
        va_start(arguments, command);                                                                                  \
        void *argument = va_arg(arguments, void *);                                                                    \
        va_end(arguments);                                                                                             \
        NEXT(name);                                                                                                    \
        const char *function = name_of_locking(command, argument);                                                     \
        if (function == NULL || !actor_is_scheduled()) return next(descriptor, command, argument);                     \
        for (;;) {                                                                                                     \
            actor_point_descriptor(InterleavingKindChange, function, descriptor);                                      \
            int result = next(descriptor, immediate(command), argument);                                               \
            if (result != -1 || command == immediate(command) || (errno != EAGAIN && errno != EACCES)) return result;  \
            actor_pause_for_lock(function, descriptor);                                                                \
        }                                                                                                              \
    }
FCNTL(fcntl)
FCNTL(fcntl64)

int flock(int descriptor, int operation) {
    NEXT(flock);
    if (!actor_is_scheduled()) return next(descriptor, operation);
    const char *function = operation & LOCK_UN ? "unflock" : "flock";
    for (;;) {
        actor_point_descriptor(InterleavingKindChange, function, descriptor);
        int result = next(descriptor, operation | LOCK_NB);
        if (result != -1 || operation & LOCK_NB || errno != EWOULDBLOCK) return result;
        actor_pause_for_lock(function, descriptor);
    }
}

int ioctl(int descriptor, unsigned long request, ...) {
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    NEXT(ioctl);
    if (request == FICLONE) {
        actor_point_descriptor(InterleavingKindRead, "clone", (int)(intptr_t)argument);
        actor_point_descriptor(InterleavingKindChange, "clone", descriptor);
    }
    return next(descriptor, request, argument);
}

/* Functions that programs built with _FORTIFY_SOURCE call instead; the compiler has checked the size of the buffer. */
#define FORTIFIED(type, name, parameters, ...)                                                                         \
    type __##name##_chk parameters;                                                                                    \
    type __##name##_chk parameters { return name(__VA_ARGS__); }
FORTIFIED(ssize_t, read, (int descriptor, void *bytes, size_t count, size_t size), descriptor, bytes,
          count < size ? count : size)
FORTIFIED(ssize_t, pread, (int descriptor, void *bytes, size_t count, off_t offset, size_t size), descriptor, bytes,
          count < size ? count : size, offset)
FORTIFIED(ssize_t, pread64, (int descriptor, void *bytes, size_t count, off64_t offset, size_t size), descriptor, bytes,
          count < size ? count : size, offset)

#define FORTIFIED_OPEN(name)                                                                                           \
    int __##name##_2(const char *path, int flags);                                                                     \
    int __##name##_2(const char *path, int flags) { return name(path, flags); }
FORTIFIED_OPEN(open)
FORTIFIED_OPEN(open64)
