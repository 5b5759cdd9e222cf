#define _GNU_SOURCE
#include "CFaultShim.h"

#include "CFaultRecorder.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

_Static_assert(offsetof(FaultShimReport, kinds) == FaultShimReportKindsOffset, "as the header says");

static char root[PATH_MAX];
static size_t root_length;
static uint32_t harm_at = UINT32_MAX;
static FaultShimFault fault;
static uint32_t lasting_kinds;
static bool harms_once;
static _Thread_local bool has_just_harmed;
static FaultShimReport *report;

/* The fault for one call. */
struct verdict {
    int error;
    bool shortens;
    bool kills;
};

static const struct verdict unharmed;

/* The function of this name that the program would call without this library, cached by the first caller. */
#define NEXT(name)                                                                                                     \
    static _Atomic(__typeof__(&name)) kept;                                                                            \
    if (atomic_load_explicit(&kept, memory_order_relaxed) == NULL)                                                     \
        atomic_store_explicit(&kept, (__typeof__(&name))dlsym(RTLD_NEXT, #name), memory_order_relaxed);                \
    __typeof__(&name) next = atomic_load_explicit(&kept, memory_order_relaxed)

__attribute__((constructor)) void shim_prepare(void) {
    const char *root_path = getenv("FAULT_SHIM_ROOT"), *report_path = getenv("FAULT_SHIM_REPORT");
    if (root_path == NULL || realpath(root_path, root) == NULL) return;
    void *memory = NULL;
    if (report_path != NULL) {
        int descriptor = open(report_path, O_RDWR | O_CLOEXEC);
        if (descriptor == -1) return;
        memory = mmap(NULL, sizeof(FaultShimReport), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
        close(descriptor);
        if (memory == MAP_FAILED) return;
    }
    const char *at = getenv("FAULT_SHIM_AT"), *kind = getenv("FAULT_SHIM_FAULT"), *kinds = getenv("FAULT_SHIM_KINDS");
    if (at != NULL && kind != NULL) {
        fault = (FaultShimFault)atoi(kind);
        lasting_kinds = kinds == NULL ? 0 : (uint32_t)strtoul(kinds, NULL, 10);
        harms_once = getenv("FAULT_SHIM_ONCE") != NULL;
        harm_at = (uint32_t)strtoul(at, NULL, 10);
    }
    root_length = strlen(root);
    recorder_prepare(root);
    report = memory;
}

static bool is_below_root(const char *path) {
    return strncmp(path, root, root_length) == 0 && (path[root_length] == '/' || path[root_length] == '\0');
}

static struct verdict judge(FaultShimKind kind, const char *function, const char *path) {
    if (!is_below_root(path)) return unharmed;
    uint32_t number = __atomic_fetch_add(&report->count, 1, __ATOMIC_SEQ_CST);
    if (number < FaultShimReportCapacity) report->kinds[number] = (uint8_t)kind;
    if (lasting_kinds == 0 ? number != harm_at : number < harm_at || !(lasting_kinds >> kind & 1)) return unharmed;
    if (harms_once && has_just_harmed) {
        has_just_harmed = false;
        return unharmed;
    }
    has_just_harmed = true;
    if (__atomic_fetch_add(&report->harmed, 1, __ATOMIC_SEQ_CST) == 0) {
        snprintf(report->function, sizeof report->function, "%s", function);
        snprintf(report->path, sizeof report->path, "%s", path + root_length);
    }
    switch (fault) {
    case FaultShimFaultKillBefore: raise(SIGKILL); return unharmed;
    case FaultShimFaultKillAfter: return (struct verdict){.kills = true};
    case FaultShimFaultInputOutputError: return (struct verdict){.error = EIO};
    case FaultShimFaultNoSpace: return (struct verdict){.error = ENOSPC};
    case FaultShimFaultInterrupted: return (struct verdict){.error = EINTR};
    case FaultShimFaultShortTransfer: return (struct verdict){.shortens = true};
    case FaultShimFaultStop: raise(SIGSTOP); return unharmed;
    }
    return unharmed;
}

static struct verdict judge_descriptor(FaultShimKind kind, const char *function, int descriptor) {
    int kept = errno;
    char path[PATH_MAX];
    struct verdict verdict = unharmed;
    if (report != NULL && path_of_descriptor(descriptor, path)) verdict = judge(kind, function, path);
    errno = verdict.error != 0 ? verdict.error : kept;
    return verdict;
}

static struct verdict judge_name(FaultShimKind kind, const char *function, int directory, const char *name) {
    int kept = errno;
    char path[PATH_MAX * 2];
    struct verdict verdict = unharmed;
    if (report != NULL && name != NULL) {
        if (name[0] == '/') {
            verdict = judge(kind, function, name);
        } else if (path_of_descriptor(directory, path)) {
            size_t length = strlen(path);
            snprintf(path + length, sizeof path - length, "/%s", name);
            verdict = judge(kind, function, path);
        }
    }
    errno = verdict.error != 0 ? verdict.error : kept;
    return verdict;
}

static size_t shortened(struct verdict verdict, size_t count) {
    return verdict.shortens && count > 1 ? count / 2 : count;
}

/* Makes the call unless it fails, and kills the process after it if that is the verdict. */
#define CALL(type, judgement, call)                                                                                    \
    struct verdict judged = judgement;                                                                                 \
    if (judged.error != 0) return -1;                                                                                  \
    type result = call;                                                                                                \
    if (judged.kills) raise(SIGKILL);                                                                                  \
    return result

/* The same for a call that changes something. */
#define CHANGE(type, judgement, begun, ended, call)                                                                    \
    struct verdict judged = judgement;                                                                                 \
    if (judged.error != 0) return -1;                                                                                  \
    struct note note = begun;                                                                                          \
    type result = call;                                                                                                \
    ended;                                                                                                             \
    if (judged.kills) raise(SIGKILL);                                                                                  \
    return result

static FaultShimKind kind_of_opening(int flags) {
    return flags & O_CREAT ? FaultShimKindCreate : FaultShimKindOpen;
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
        CHANGE(int, judge_name(kind_of_opening(flags), #name, AT_FDCWD, path), note_opening(flags, AT_FDCWD, path),    \
               note_end_opening(&note, flags, result), next(path, flags, mode));                                       \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                                                   \
    int name(int directory, const char *path, int flags, ...) {                                                        \
        MODE_OF_OPENING(flags)                                                                                         \
        NEXT(name);                                                                                                    \
        CHANGE(int, judge_name(kind_of_opening(flags), #name, directory, path), note_opening(flags, directory, path),  \
               note_end_opening(&note, flags, result), next(directory, path, flags, mode));                            \
    }
OPENAT(openat)
OPENAT(openat64)

#define CREAT(name)                                                                                                    \
    int name(const char *path, mode_t mode) {                                                                          \
        NEXT(name);                                                                                                    \
        CHANGE(int, judge_name(FaultShimKindCreate, #name, AT_FDCWD, path),                                            \
               note_opening(O_CREAT | O_TRUNC, AT_FDCWD, path), note_end_opening(&note, O_CREAT | O_TRUNC, result),     \
               next(path, mode));                                                                                      \
    }
CREAT(creat)
CREAT(creat64)

/* openat2 has no function of its own; all other calls pass. */
long syscall(long number, ...) {
    long a[6];
    va_list arguments;
    va_start(arguments, number);
    for (int i = 0; i < 6; i++) a[i] = va_arg(arguments, long);
    va_end(arguments);
    NEXT(syscall);
    if (number == SYS_openat2) {
        const struct open_how *how = (const struct open_how *)a[2];
        int flags = (int)how->flags;
        CHANGE(
            long, judge_name(kind_of_opening(flags), "openat2", (int)a[0], (const char *)a[1]),
            note_opening(flags, (int)a[0], (const char *)a[1]), note_end_opening(&note, flags, (int)result),
            next(number, a[0], a[1], a[2], a[3]));
    }
    return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

ssize_t read(int descriptor, void *bytes, size_t count) {
    NEXT(read);
    CALL(ssize_t, judge_descriptor(FaultShimKindRead, "read", descriptor),
         next(descriptor, bytes, shortened(judged, count)));
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
    NEXT(write);
    struct iovec part = {(void *)bytes, count};
    CHANGE(ssize_t, judge_descriptor(FaultShimKindWrite, "write", descriptor),
           note_descriptor(FaultShimChangeWrite, descriptor), note_end_write(&note, descriptor, &part, result, -1),
           next(descriptor, bytes, shortened(judged, count)));
}

#define PREAD(name, type)                                                                                              \
    ssize_t name(int descriptor, void *bytes, size_t count, type offset) {                                             \
        NEXT(name);                                                                                                    \
        CALL(ssize_t, judge_descriptor(FaultShimKindRead, #name, descriptor),                                          \
             next(descriptor, bytes, shortened(judged, count), offset));                                               \
    }
PREAD(pread, off_t)
PREAD(pread64, off64_t)

#define PWRITE(name, type)                                                                                             \
    ssize_t name(int descriptor, const void *bytes, size_t count, type offset) {                                       \
        NEXT(name);                                                                                                    \
        struct iovec part = {(void *)bytes, count};                                                                    \
        CHANGE(ssize_t, judge_descriptor(FaultShimKindWrite, #name, descriptor),                                       \
               note_descriptor(FaultShimChangeWrite, descriptor),                                                      \
               note_end_write(&note, descriptor, &part, result, offset),                                               \
               next(descriptor, bytes, shortened(judged, count), offset));                                             \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
    NEXT(writev);
    CHANGE(ssize_t, judge_descriptor(FaultShimKindWrite, "writev", descriptor),
           note_descriptor(FaultShimChangeWrite, descriptor), note_end_write(&note, descriptor, parts, result, -1),
           next(descriptor, parts, (int)shortened(judged, (size_t)count)));
}

ssize_t readv(int descriptor, const struct iovec *parts, int count) {
    NEXT(readv);
    CALL(ssize_t, judge_descriptor(FaultShimKindRead, "readv", descriptor),
         next(descriptor, parts, (int)shortened(judged, (size_t)count)));
}

ssize_t copy_file_range(int source, off64_t *from, int destination, off64_t *to, size_t count, unsigned int flags) {
    NEXT(copy_file_range);
    int64_t source_offset = from != NULL ? *from : lseek(source, 0, SEEK_CUR);
    int64_t offset = to != NULL ? *to : lseek(destination, 0, SEEK_CUR);
    CHANGE(ssize_t, judge_descriptor(FaultShimKindWrite, "copy_file_range", destination),
           note_descriptor(FaultShimChangeWrite, destination),
           note_end_copy(&note, destination, offset, source, source_offset, result),
           next(source, from, destination, to, shortened(judged, count), flags));
}

/* Functions on one descriptor that return 0 or -1. */
#define ON_DESCRIPTOR(kind, change, name, parameters, ...)                                                             \
    int name parameters {                                                                                              \
        NEXT(name);                                                                                                    \
        CHANGE(int, judge_descriptor(kind, #name, descriptor), note_descriptor(change, descriptor),                    \
               note_end_descriptor(&note, result == 0, descriptor), next(__VA_ARGS__));                                \
    }
ON_DESCRIPTOR(FaultShimKindSynchronize, FaultShimChangeSynchronize, fsync, (int descriptor), descriptor)
ON_DESCRIPTOR(FaultShimKindSynchronize, FaultShimChangeSynchronizeData, fdatasync, (int descriptor), descriptor)
ON_DESCRIPTOR(FaultShimKindSynchronize, FaultShimChangeSynchronizeAll, syncfs, (int descriptor), descriptor)
ON_DESCRIPTOR(FaultShimKindTruncate, FaultShimChangeResize, ftruncate, (int descriptor, off_t size), descriptor, size)
ON_DESCRIPTOR(FaultShimKindTruncate, FaultShimChangeResize, ftruncate64, (int descriptor, off64_t size), descriptor,
              size)
ON_DESCRIPTOR(FaultShimKindSetMode, FaultShimChangeSetMode, fchmod, (int descriptor, mode_t mode), descriptor, mode)
ON_DESCRIPTOR(FaultShimKindSetOwner, FaultShimChangeSetOwner, fchown, (int descriptor, uid_t user, gid_t group),
              descriptor, user, group)

int flock(int descriptor, int operation) {
    NEXT(flock);
    CALL(int, judge_descriptor(FaultShimKindLock, "flock", descriptor), next(descriptor, operation));
}

/* Functions that return a status, translated. Only two of them are harmed: SQLite treats a failure of stat, lstat and
 * access as a missing journal, and no caller can correct that. */
static int translated(int result, struct stat *status) {
    if (result == 0 && recorder_translates()) recorder_translate(status);
    return result;
}

int fstat(int descriptor, struct stat *status) {
    NEXT(fstat);
    CALL(int, judge_descriptor(FaultShimKindLook, "fstat", descriptor), translated(next(descriptor, status), status));
}

int fstatat(int at, const char *path, struct stat *status, int flags) {
    NEXT(fstatat);
    CALL(int, judge_name(FaultShimKindLook, "fstatat", at, path),
         translated(next(at, path, status, flags), status));
}

_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "one layout for both");

#define LOOK(name, type, parameters, ...)                                                                              \
    int name parameters {                                                                                              \
        NEXT(name);                                                                                                    \
        return translated(next(__VA_ARGS__), (struct stat *)status);                                                   \
    }
LOOK(stat, struct stat, (const char *path, struct stat *status), path, status)
LOOK(lstat, struct stat, (const char *path, struct stat *status), path, status)
LOOK(stat64, struct stat64, (const char *path, struct stat64 *status), path, status)
LOOK(lstat64, struct stat64, (const char *path, struct stat64 *status), path, status)
LOOK(fstat64, struct stat64, (int descriptor, struct stat64 *status), descriptor, status)
LOOK(fstatat64, struct stat64, (int at, const char *path, struct stat64 *status, int flags), at, path, status, flags)

int statx(int at, const char *path, int flags, unsigned int mask, struct statx *status) {
    NEXT(statx);
    int result = next(at, path, flags, mask, status);
    if (result == 0 && recorder_translates()) recorder_translate_statx(status);
    return result;
}

/* Functions on one name in a directory that return 0 or -1. */
#define ON_NAME(kind, change, name, parameters, directory, path, ...)                                                  \
    int name parameters {                                                                                              \
        NEXT(name);                                                                                                    \
        CHANGE(int, judge_name(kind, #name, directory, path), note_name(change, directory, path),                      \
               note_end_name(&note, result == 0, directory, change == FaultShimChangeRemove ? NULL : path),            \
               next(__VA_ARGS__));                                                                                     \
    }
ON_NAME(FaultShimKindMakeFolder, FaultShimChangeMakeFolder, mkdir, (const char *path, mode_t mode), AT_FDCWD, path,
        path, mode)
ON_NAME(FaultShimKindMakeFolder, FaultShimChangeMakeFolder, mkdirat, (int at, const char *path, mode_t mode), at, path,
        at, path, mode)
ON_NAME(FaultShimKindRemove, FaultShimChangeRemove, unlink, (const char *path), AT_FDCWD, path, path)
ON_NAME(FaultShimKindRemove, FaultShimChangeRemove, unlinkat, (int at, const char *path, int flags), at, path, at,
        path, flags)
ON_NAME(FaultShimKindRemove, FaultShimChangeRemove, rmdir, (const char *path), AT_FDCWD, path, path)
ON_NAME(FaultShimKindRemove, FaultShimChangeRemove, remove, (const char *path), AT_FDCWD, path, path)
ON_NAME(FaultShimKindLink, FaultShimChangeCreate, symlink, (const char *target, const char *path), AT_FDCWD, path,
        target, path)
ON_NAME(FaultShimKindLink, FaultShimChangeCreate, symlinkat, (const char *target, int at, const char *path), at, path,
        target, at, path)
ON_NAME(FaultShimKindSetMode, FaultShimChangeSetMode, chmod, (const char *path, mode_t mode), AT_FDCWD, path, path,
        mode)
ON_NAME(FaultShimKindSetMode, FaultShimChangeSetMode, fchmodat, (int at, const char *path, mode_t mode, int flags), at,
        path, at, path, mode, flags)
ON_NAME(FaultShimKindTruncate, FaultShimChangeResize, truncate, (const char *path, off_t size), AT_FDCWD, path, path,
        size)
ON_NAME(FaultShimKindTruncate, FaultShimChangeResize, truncate64, (const char *path, off64_t size), AT_FDCWD, path,
        path, size)

/* Functions that rename a file or add a name. */
#define ON_NAMES(kind, change, name, parameters, directory, path, to_directory, to, ...)                               \
    int name parameters {                                                                                              \
        NEXT(name);                                                                                                    \
        CHANGE(int, judge_name(kind, #name, to_directory, to),                                                         \
               note_names(change, directory, path, to_directory, to),                                                  \
               note_end_name(&note, result == 0, to_directory, to), next(__VA_ARGS__));                                \
    }
ON_NAMES(FaultShimKindRename, FaultShimChangeRename, rename, (const char *path, const char *to), AT_FDCWD, path,
         AT_FDCWD, to, path, to)
ON_NAMES(FaultShimKindRename, FaultShimChangeRename, renameat, (int at, const char *path, int to_at, const char *to), at,
         path, to_at, to, at, path, to_at, to)
ON_NAMES(FaultShimKindRename, FaultShimChangeRename, renameat2,
         (int at, const char *path, int to_at, const char *to, unsigned int flags), at, path, to_at, to, at, path,
         to_at, to, flags)
ON_NAMES(FaultShimKindLink, FaultShimChangeLink, link, (const char *path, const char *to), AT_FDCWD, path, AT_FDCWD, to,
         path, to)
ON_NAMES(FaultShimKindLink, FaultShimChangeLink, linkat,
         (int at, const char *path, int to_at, const char *to, int flags), at, path, to_at, to, at, path, to_at, to,
         flags)

/* close frees the descriptor even if it fails, so it fails only after the call. */
int close(int descriptor) {
    NEXT(close);
    struct verdict verdict = judge_descriptor(FaultShimKindClose, "close", descriptor);
    int result = next(descriptor);
    if (verdict.kills) raise(SIGKILL);
    if (verdict.error == 0) return result;
    errno = verdict.error;
    return -1;
}

struct dirent *readdir(DIR *stream) {
    NEXT(readdir);
    struct verdict verdict = judge_descriptor(FaultShimKindList, "readdir", dirfd(stream));
    if (verdict.error != 0) return NULL;
    struct dirent *entry = next(stream);
    if (verdict.kills) raise(SIGKILL);
    return entry;
}

static bool locks(int command) {
    switch (command) {
    case F_SETLK:
    case F_SETLKW:
    case F_GETLK:
    case F_OFD_SETLK:
    case F_OFD_SETLKW:
    case F_OFD_GETLK:
    case F_SETLEASE: return true;
    default: return false;
    }
}

#define FCNTL(name)                                                                                                    \
    int name(int descriptor, int command, ...) {                                                                       \
        va_list arguments;                                                                                             \
        va_start(arguments, command);                                                                                  \
        void *argument = va_arg(arguments, void *);                                                                    \
        va_end(arguments);                                                                                             \
        NEXT(name);                                                                                                    \
        if (!locks(command)) return next(descriptor, command, argument);                                               \
        CALL(int, judge_descriptor(FaultShimKindLock, #name, descriptor), next(descriptor, command, argument));        \
    }
FCNTL(fcntl)
FCNTL(fcntl64)

int ioctl(int descriptor, unsigned long request, ...) {
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    NEXT(ioctl);
    if (request != FICLONE) return next(descriptor, request, argument);
    int source = (int)(intptr_t)argument;
    CHANGE(int, judge_descriptor(FaultShimKindClone, "ioctl", descriptor),
           note_descriptor(FaultShimChangeWrite, descriptor),
           note_end_copy(&note, descriptor, 0, source, 0, result == 0 ? lseek(source, 0, SEEK_END) : 0),
           next(descriptor, request, argument));
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
