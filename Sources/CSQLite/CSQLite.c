#define _GNU_SOURCE
#include "CSQLite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static sqlite3_file *csqlite_file(sqlite3 *connection, CSQLiteFile file) {
    sqlite3_file *pointer = 0;
    int operation = file == CSQLiteFileMain ? SQLITE_FCNTL_FILE_POINTER : SQLITE_FCNTL_JOURNAL_POINTER;
    if (sqlite3_file_control(connection, "main", operation, &pointer) != SQLITE_OK) return 0;
    if (pointer == 0 || pointer->pMethods == 0) return 0;
    return pointer;
}

int csqlite_file_is_open(sqlite3 *connection, CSQLiteFile file) { return csqlite_file(connection, file) != 0; }

int64_t csqlite_file_size(sqlite3 *connection, CSQLiteFile file) {
    sqlite3_file *pointer = csqlite_file(connection, file);
    if (pointer == 0) return -(int64_t)SQLITE_CANTOPEN;
    sqlite3_int64 size = 0;
    int result = pointer->pMethods->xFileSize(pointer, &size);
    return result == SQLITE_OK ? size : -(int64_t)result;
}

int csqlite_file_read(sqlite3 *connection, CSQLiteFile file, void *buffer, int count, int64_t offset) {
    sqlite3_file *pointer = csqlite_file(connection, file);
    if (pointer == 0) return SQLITE_CANTOPEN;
    return pointer->pMethods->xRead(pointer, buffer, count, offset);
}

int csqlite_file_write(sqlite3 *connection, CSQLiteFile file, const void *buffer, int count, int64_t offset) {
    sqlite3_file *pointer = csqlite_file(connection, file);
    if (pointer == 0) return SQLITE_CANTOPEN;
    return pointer->pMethods->xWrite(pointer, buffer, count, offset);
}

int csqlite_file_sync(sqlite3 *connection, CSQLiteFile file) {
    sqlite3_file *pointer = csqlite_file(connection, file);
    if (pointer == 0) return SQLITE_CANTOPEN;
    return pointer->pMethods->xSync(pointer, SQLITE_SYNC_NORMAL);
}

int csqlite_has_moved(sqlite3 *connection) {
    int moved = 1;
    if (sqlite3_file_control(connection, "main", SQLITE_FCNTL_HAS_MOVED, &moved) != SQLITE_OK) return 1;
    return moved;
}

/* Reads a whole header of the WAL index: 12 numbers. */
static int csqlite_log_header(sqlite3 *connection, uint32_t header[12]) {
    sqlite3_file *pointer = csqlite_file(connection, CSQLiteFileMain);
    if (pointer == 0 || pointer->pMethods->iVersion < 2) return SQLITE_NOTFOUND;
    void volatile *region = 0;
    int result = pointer->pMethods->xShmMap(pointer, 0, 32768, 0, &region);
    if (result != SQLITE_OK) return result;
    if (region == 0) return SQLITE_NOTFOUND;
    /* The header has two copies, written one after the other; equal copies are a whole header. */
    uint32_t second[12];
    memcpy(header, (const void *)region, sizeof second);
    pointer->pMethods->xShmBarrier(pointer);
    memcpy(second, (const char *)region + sizeof second, sizeof second);
    return memcmp(header, second, sizeof second) == 0 ? SQLITE_OK : SQLITE_BUSY;
}

int csqlite_log_extent(sqlite3 *connection, uint32_t *frames, uint32_t salts[2]) {
    uint32_t header[12];
    int result = csqlite_log_header(connection, header);
    if (result != SQLITE_OK) return result;
    *frames = header[4];
    /* Big-endian, as in the log. */
    salts[0] = __builtin_bswap32(header[8]);
    salts[1] = __builtin_bswap32(header[9]);
    return SQLITE_OK;
}

int csqlite_log_commits(sqlite3 *connection, uint32_t *commits) {
    uint32_t header[12];
    int result = csqlite_log_header(connection, header);
    if (result != SQLITE_OK) return result;
    *commits = header[2];
    return SQLITE_OK;
}

int csqlite_configure(sqlite3 *connection, int option, int value) {
    int current = -1;
    return sqlite3_db_config(connection, option, value, &current) == SQLITE_OK ? current : -1;
}

/* Opens a file on which another process holds a lease: waits for its release, but never for a FIFO. */
static int csqlite_open_leased(const char *path, int flags) {
    int place = open(path, O_PATH | O_CLOEXEC | (flags & O_NOFOLLOW));
    if (place < 0) return -1;
    struct stat status;
    int file = -1;
    if (fstat(place, &status) == 0) {
        if (S_ISREG(status.st_mode)) {
            char name[32];
            snprintf(name, sizeof name, "/proc/self/fd/%d", place);
            file = open(name, flags & ~O_NOFOLLOW);
        } else {
            errno = EAGAIN;
        }
    }
    int error = errno;
    close(place);
    errno = error;
    return file;
}

/* Like `open`, but opening for reading does not wait for the writer of a FIFO. */
static int csqlite_open(const char *path, int flags, int mode) {
    if ((flags & O_ACCMODE) != O_RDONLY) return open(path, flags, mode);
    int file = open(path, flags | O_NONBLOCK, mode);
    if (file < 0 && errno == EAGAIN) return csqlite_open_leased(path, flags);
    return file;
}

static sqlite3_vfs *csqlite_unix;
static sqlite3_vfs csqlite_file_system;

/* The super-journal that SQLite reads on this thread because a journal names it; 0 otherwise. */
static _Thread_local const char *csqlite_named_file;

/* The methods of a main file that is read without locks; they follow SQLite's own structure in the memory of the file. */
struct csqlite_unlocked {
    sqlite3_io_methods methods;
    const sqlite3_io_methods *base;
};

static int csqlite_unlocked_offset(void) { return (csqlite_unix->szOsFile + 15) & ~15; }

static struct csqlite_unlocked *csqlite_unlocked(sqlite3_file *file) {
    return (struct csqlite_unlocked *)((char *)file + csqlite_unlocked_offset());
}

static int csqlite_unlocked_lock(sqlite3_file *file, int level) {
    (void)file;
    (void)level;
    return SQLITE_OK;
}

static int csqlite_unlocked_reserved(sqlite3_file *file, int *isReserved) {
    (void)file;
    *isReserved = 0;
    return SQLITE_OK;
}

/* Of a main file without pages SQLite would delete the log. */
static int csqlite_unlocked_size(sqlite3_file *file, sqlite3_int64 *size) {
    int code = csqlite_unlocked(file)->base->xFileSize(file, size);
    return code == SQLITE_OK && *size == 0 ? SQLITE_IOERR_FSTAT : code;
}

/* A file system that SQLite's own one was replaced by may identify its files by their methods. */
static int csqlite_unlocked_close(sqlite3_file *file) {
    file->pMethods = csqlite_unlocked(file)->base;
    return file->pMethods->xClose(file);
}

/* Version 1 has no shared memory: SQLite then reads a log with an index in its own memory, or not at all. */
static void csqlite_begin_unlocked(sqlite3_file *file) {
    struct csqlite_unlocked *own = csqlite_unlocked(file);
    own->base = file->pMethods;
    own->methods = *file->pMethods;
    own->methods.iVersion = 1;
    own->methods.xClose = csqlite_unlocked_close;
    own->methods.xLock = csqlite_unlocked_lock;
    own->methods.xUnlock = csqlite_unlocked_lock;
    own->methods.xCheckReservedLock = csqlite_unlocked_reserved;
    own->methods.xFileSize = csqlite_unlocked_size;
    file->pMethods = &own->methods;
}

/* Presents a super-journal that a journal names as an empty file, which lists no other journals. */
static int csqlite_vfs_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *result) {
    if (flags & SQLITE_OPEN_SUPER_JOURNAL) {
        csqlite_named_file = flags & SQLITE_OPEN_READONLY ? path : 0;
        if (csqlite_named_file != 0) path = "/dev/null";
    }
    int isMain = (flags & SQLITE_OPEN_MAIN_DB) != 0, isLog = (flags & SQLITE_OPEN_WAL) != 0;
    int isUnlocked = (isMain || isLog) && path != 0
        && sqlite3_uri_boolean(isLog ? sqlite3_filename_database(path) : path, CSQLITE_UNLOCKED, 0);
    if (isUnlocked) flags = (flags & ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)) | SQLITE_OPEN_READONLY;
    /* For root, SQLite would give a log the owner of the main file, which changes the log's times in any case. */
    if (isUnlocked && isLog) flags ^= SQLITE_OPEN_WAL | SQLITE_OPEN_SUPER_JOURNAL;
    int code = csqlite_unix->xOpen(vfs, path, file, flags, result);
    if (code == SQLITE_OK && isUnlocked && isMain) csqlite_begin_unlocked(file);
    return code;
}

/* SQLite passes the string that it opened. */
static int csqlite_vfs_delete(sqlite3_vfs *vfs, const char *path, int syncsFolder) {
    const char *named = csqlite_named_file;
    csqlite_named_file = 0;
    return named != 0 && named == path ? SQLITE_OK : csqlite_unix->xDelete(vfs, path, syncsFolder);
}

int csqlite_register_file_system(void) {
    sqlite3_vfs *vfs = sqlite3_vfs_find("unix");
    if (vfs == 0 || vfs->iVersion < 3 || vfs->xSetSystemCall == 0) return SQLITE_NOTFOUND;
    int result = vfs->xSetSystemCall(vfs, "open", (sqlite3_syscall_ptr)csqlite_open);
    if (result != SQLITE_OK) return result;
    csqlite_unix = vfs;
    csqlite_file_system = *vfs;
    csqlite_file_system.szOsFile = csqlite_unlocked_offset() + (int)sizeof(struct csqlite_unlocked);
    csqlite_file_system.zName = CSQLITE_FILE_SYSTEM;
    csqlite_file_system.xOpen = csqlite_vfs_open;
    csqlite_file_system.xDelete = csqlite_vfs_delete;
    return sqlite3_vfs_register(&csqlite_file_system, 0);
}
