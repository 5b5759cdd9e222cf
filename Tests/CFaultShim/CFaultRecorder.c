#define _GNU_SOURCE
#include "CFaultRecorder.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

_Static_assert(sizeof(FaultShimRecord) == FaultShimRecordSize, "as the header says");

static char root[PATH_MAX];
static size_t root_length;
static int log_descriptor = -1;
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;
static const FaultShimInode *inodes;
static size_t inode_count;
static dev_t device_shift;

/* Calls the next function directly, because the function with this name may be the caller. */
static int look(int directory, const char *path, int flags, struct stat *status) {
    static int (*next)(int, const char *, struct stat *, int);
    if (next == NULL) next = (__typeof__(next))dlsym(RTLD_NEXT, "fstatat");
    if (next(directory, path, status, flags) == -1) return -1;
    recorder_translate(status);
    return 0;
}

void recorder_prepare(const char *root_path) {
    const char *record_path = getenv("FAULT_SHIM_RECORD"), *inodes_path = getenv("FAULT_SHIM_INODES");
    snprintf(root, sizeof root, "%s", root_path);
    root_length = strlen(root);
    if (inodes_path != NULL) {
        int descriptor = open(inodes_path, O_RDONLY | O_CLOEXEC);
        off_t size = descriptor == -1 ? 0 : lseek(descriptor, 0, SEEK_END);
        if (size > 0) {
            void *memory = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, descriptor, 0);
            if (memory != MAP_FAILED) {
                inodes = memory;
                inode_count = (size_t)size / sizeof(FaultShimInode);
            }
        }
        if (descriptor != -1) close(descriptor);
    }
    const char *shift = getenv("FAULT_SHIM_DEVICE");
    if (shift != NULL) device_shift = (dev_t)strtoull(shift, NULL, 10);
    if (record_path != NULL) log_descriptor = open(record_path, O_WRONLY | O_APPEND | O_CLOEXEC);
}

bool recorder_translates(void) { return inode_count > 0 || device_shift != 0; }

static const FaultShimInode *translation(uint64_t real) {
    size_t low = 0, high = inode_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (inodes[middle].real < real) low = middle + 1;
        else high = middle;
    }
    return low < inode_count && inodes[low].real == real ? &inodes[low] : NULL;
}

/* Times are those from before the crash as long as the file was not changed after it. */
static bool is_untouched(const FaultShimInode *inode, int64_t seconds, int64_t nanoseconds) {
    return inode->real_changed[0] == seconds && inode->real_changed[1] == nanoseconds;
}

void recorder_translate(struct stat *status) {
    status->st_dev += device_shift;
    const FaultShimInode *inode = translation(status->st_ino);
    if (inode == NULL) return;
    status->st_ino = inode->shown;
    if (!is_untouched(inode, status->st_ctim.tv_sec, status->st_ctim.tv_nsec)) return;
    status->st_mtim = (struct timespec){.tv_sec = inode->modified[0], .tv_nsec = inode->modified[1]};
    status->st_ctim = (struct timespec){.tv_sec = inode->changed[0], .tv_nsec = inode->changed[1]};
}

void recorder_translate_statx(struct statx *status) {
    status->stx_dev_minor += (uint32_t)device_shift;
    const FaultShimInode *inode = translation(status->stx_ino);
    if (inode == NULL) return;
    status->stx_ino = inode->shown;
    /* The file is a copy of the one before the crash, whose time of creation is not known. */
    status->stx_mask &= ~(unsigned int)STATX_BTIME;
    if (!is_untouched(inode, status->stx_ctime.tv_sec, status->stx_ctime.tv_nsec)) return;
    status->stx_mtime.tv_sec = inode->modified[0];
    status->stx_mtime.tv_nsec = (uint32_t)inode->modified[1];
    status->stx_ctime.tv_sec = inode->changed[0];
    status->stx_ctime.tv_nsec = (uint32_t)inode->changed[1];
}

/* The shared memory of a log has no meaning after a crash. */
static bool is_shared_memory(const char *path) {
    size_t length = strlen(path);
    static const char deleted[] = " (deleted)";
    size_t tail = sizeof deleted - 1;
    if (length > tail && strcmp(path + length - tail, deleted) == 0) length -= tail;
    return length >= 4 && strncmp(path + length - 4, "-shm", 4) == 0;
}

static bool is_wanted(const char *path) {
    return strncmp(path, root, root_length) == 0 && (path[root_length] == '/' || path[root_length] == '\0')
        && !is_shared_memory(path);
}

bool path_of_descriptor(int descriptor, char *path) {
    char link[64];
    if (descriptor == AT_FDCWD) return getcwd(path, PATH_MAX) != NULL;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length == -1) return false;
    path[length] = '\0';
    return true;
}

static void begin(struct note *note) {
    note->is_active = true;
    pthread_mutex_lock(&order);
    syscall(SYS_flock, log_descriptor, LOCK_EX);
}

/* Splits a path into the folder's inode and the last name; false if it is not below the root. */
static bool find_parent(int directory, const char *path, uint64_t *parent, char *name) {
    char whole[PATH_MAX * 2], base[PATH_MAX];
    if (path == NULL) return false;
    if (path[0] == '/') {
        snprintf(whole, sizeof whole, "%s", path);
    } else {
        if (!path_of_descriptor(directory, base)) return false;
        snprintf(whole, sizeof whole, "%s/%s", base, path);
    }
    if (!is_wanted(whole)) return false;
    char *slash = strrchr(whole, '/');
    if (slash == NULL || slash == whole || strlen(slash + 1) >= 256) return false;
    strcpy(name, slash + 1);
    *slash = '\0';
    /* A relative name is resolved in the open folder, whose path may have changed. */
    struct stat status;
    bool is_component = path[0] != '/' && strchr(path, '/') == NULL && directory != AT_FDCWD;
    int result = is_component ? look(directory, "", AT_EMPTY_PATH, &status) : look(AT_FDCWD, whole, 0, &status);
    *parent = status.st_ino;
    return result == 0;
}

static void end(struct note *note) {
    syscall(SYS_flock, log_descriptor, LOCK_UN);
    note->is_active = false;
    pthread_mutex_unlock(&order);
}

static void write_record(struct note *note, const struct iovec *parts, int part_count, size_t byte_count) {
    note->record.name_length = (uint32_t)strlen(note->name);
    note->record.other_name_length = (uint32_t)strlen(note->other_name);
    note->record.byte_count = byte_count;
    struct iovec head[] = {
        {&note->record, sizeof note->record},
        {note->name, note->record.name_length},
        {note->other_name, note->record.other_name_length},
    };
    static ssize_t (*next)(int, const struct iovec *, int);
    if (next == NULL) next = (__typeof__(next))dlsym(RTLD_NEXT, "writev");
    next(log_descriptor, head, 3);
    for (int i = 0; i < part_count && byte_count > 0; i++) {
        struct iovec part = parts[i];
        if (part.iov_len > byte_count) part.iov_len = byte_count;
        next(log_descriptor, &part, 1);
        byte_count -= part.iov_len;
    }
}

/* Records the file's metadata after the change; an empty path denotes the descriptor itself. */
static void describe(struct note *note, int directory, const char *path) {
    struct stat status;
    if (look(directory, path, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, &status) == -1) return;
    note->record.inode = status.st_ino;
    note->record.mode = status.st_mode;
    note->record.user = status.st_uid;
    note->record.group = status.st_gid;
    note->record.size = status.st_size;
    note->record.modified[0] = status.st_mtim.tv_sec;
    note->record.modified[1] = status.st_mtim.tv_nsec;
    note->record.changed[0] = status.st_ctim.tv_sec;
    note->record.changed[1] = status.st_ctim.tv_nsec;
}

struct note note_descriptor(FaultShimChange change, int descriptor) {
    struct note note = {.record = {.change = change}};
    if (log_descriptor == -1) return note;
    int kept = errno;
    char path[PATH_MAX];
    if (path_of_descriptor(descriptor, path) && is_wanted(path)) begin(&note);
    errno = kept;
    return note;
}

struct note note_name(FaultShimChange change, int directory, const char *path) {
    struct note note = {.record = {.change = change}};
    if (log_descriptor == -1) return note;
    int kept = errno;
    begin(&note);
    struct stat status;
    if (!find_parent(directory, path, &note.record.parent, note.name)) {
        end(&note);
    } else if (look(directory, path, AT_SYMLINK_NOFOLLOW, &status) == 0) {
        note.record.inode = status.st_ino;
    }
    errno = kept;
    return note;
}

struct note note_names(FaultShimChange change, int directory, const char *path, int other_directory, const char *other) {
    struct note note = note_name(change, directory, path);
    if (!note.is_active) return note;
    int kept = errno;
    if (!find_parent(other_directory, other, &note.record.other_parent, note.other_name)) end(&note);
    errno = kept;
    return note;
}

struct note note_opening(int flags, int directory, const char *path) {
    if (flags & (O_CREAT | O_TRUNC)) return note_name(FaultShimChangeCreate, directory, path);
    return (struct note){.is_active = false};
}

void note_end_name(struct note *note, bool is_made, int directory, const char *path) {
    if (!note->is_active) return;
    int kept = errno;
    if (is_made) {
        if (path != NULL) describe(note, directory, path);
        write_record(note, NULL, 0, 0);
    }
    end(note);
    errno = kept;
}

void note_end_descriptor(struct note *note, bool is_made, int descriptor) {
    note_end_name(note, is_made, descriptor, "");
}

void note_end_opening(struct note *note, int flags, int descriptor) {
    bool is_new = note->record.inode == 0;
    if (!is_new) note->record.change = FaultShimChangeResize;
    note_end_descriptor(note, descriptor >= 0 && (is_new || flags & O_TRUNC), descriptor);
}

void note_end_write(struct note *note, int descriptor, const struct iovec *parts, ssize_t count, int64_t offset) {
    if (!note->is_active) return;
    int kept = errno;
    if (count > 0) {
        describe(note, descriptor, "");
        note->record.offset = offset >= 0 ? offset : lseek(descriptor, 0, SEEK_CUR) - count;
        write_record(note, parts, INT_MAX, (size_t)count);
    }
    end(note);
    errno = kept;
}

void note_end_copy(struct note *note, int descriptor, int64_t offset, int source, int64_t from, ssize_t count) {
    if (!note->is_active) return;
    struct iovec part = {.iov_base = count > 0 ? malloc((size_t)count) : NULL, .iov_len = count > 0 ? (size_t)count : 0};
    if (part.iov_base == NULL || syscall(SYS_pread64, source, part.iov_base, part.iov_len, from) != count) count = 0;
    note_end_write(note, descriptor, &part, count, offset);
    free(part.iov_base);
}
