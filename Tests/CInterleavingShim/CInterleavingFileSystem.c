#define _GNU_SOURCE
#include "CInterleavingActor.h"

#include <dlfcn.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * A VFS in front of SQLite's default one. Points before file calls do not suffice: programs with a WAL also communicate
 * through shared memory, and SQLite calls its VFS between some of these accesses without a file call.
 */

static sqlite3_vfs *unix_system;
static sqlite3_vfs own_system;

/* The methods of a file of the default VFS, and the same with points. */
struct methods {
    const sqlite3_io_methods *original;
    sqlite3_io_methods own;
};

enum { MostMethods = 16 };

static struct methods known[MostMethods];
static int known_count;

static const sqlite3_io_methods *original_of(sqlite3_file *file) {
    for (int i = 0; i < known_count; i++)
        if (&known[i].own == file->pMethods) return known[i].original;
    abort();
}

/* The place of the path in the default VFS's file is not public, so the VFS of this library keeps the paths. */
struct opened {
    sqlite3_file *file;
    char path[512];
};

enum { MostFiles = 256 };

static struct opened files[MostFiles];

static const char *path_of(sqlite3_file *file) {
    for (int i = 0; i < MostFiles; i++)
        if (files[i].file == file) return files[i].path;
    return "";
}

static int lock_shared(sqlite3_file *file, int offset, int count, int flags) {
    bool releases = flags & SQLITE_SHM_UNLOCK;
    char function[32];
    snprintf(function, sizeof function, "%s%s %d+%d", releases ? "shm-unlock" : "shm-lock",
             flags & SQLITE_SHM_SHARED ? "-shared" : "", offset, count);
    actor_point_path(InterleavingKindMemory, function, path_of(file));
    /* The call that follows is the same step. */
    actor_suspend_points(true);
    int result = original_of(file)->xShmLock(file, offset, count, flags);
    actor_suspend_points(false);
    /* What follows reads shared memory without the lock. */
    if (releases) actor_point_path(InterleavingKindMemory, "shm-unlocked", path_of(file));
    return result;
}

static void pass_barrier(sqlite3_file *file) {
    actor_point_path(InterleavingKindMemory, "shm-barrier", path_of(file));
    original_of(file)->xShmBarrier(file);
}

/* A checkpoint calls it between the header and the state of the log. */
static int unfetch(sqlite3_file *file, sqlite3_int64 offset, void *pointer) {
    if (pointer == NULL) actor_point_path(InterleavingKindMemory, "unfetch", path_of(file));
    return original_of(file)->xUnfetch(file, offset, pointer);
}

static int close_file(sqlite3_file *file) {
    const sqlite3_io_methods *original = original_of(file);
    for (int i = 0; i < MostFiles; i++)
        if (files[i].file == file) files[i].file = NULL;
    return original->xClose(file);
}

static void keep(sqlite3_file *file, const char *path) {
    for (int i = 0; i < MostFiles; i++) {
        if (files[i].file != NULL && files[i].file != file) continue;
        files[i].file = file;
        snprintf(files[i].path, sizeof files[i].path, "%s", path);
        return;
    }
}

static int open_file(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *result) {
    int code = unix_system->xOpen(vfs, path, file, flags, result);
    if (code != SQLITE_OK || file->pMethods == NULL || file->pMethods->iVersion < 2) return code;
    int i = 0;
    while (i < known_count && known[i].original != file->pMethods) i++;
    if (i == MostMethods) return code;
    if (i == known_count) {
        known_count++;
        known[i].original = file->pMethods;
        known[i].own = *file->pMethods;
        known[i].own.xClose = close_file;
        known[i].own.xShmLock = lock_shared;
        known[i].own.xShmBarrier = pass_barrier;
        if (file->pMethods->iVersion >= 3) known[i].own.xUnfetch = unfetch;
    }
    file->pMethods = &known[i].own;
    if (flags & SQLITE_OPEN_MAIN_DB) keep(file, path == NULL ? "" : path);
    return code;
}

static int make_randomness(sqlite3_vfs *vfs, int count, char *bytes) {
    (void)vfs;
    actor_fill(bytes, (size_t)count);
    return count;
}

void actor_register_file_system(void) {
    __typeof__(&sqlite3_vfs_find) find = (__typeof__(find))dlsym(RTLD_DEFAULT, "sqlite3_vfs_find");
    __typeof__(&sqlite3_vfs_register) add = (__typeof__(add))dlsym(RTLD_DEFAULT, "sqlite3_vfs_register");
    if (find == NULL || add == NULL) return;
    unix_system = find(NULL);
    if (unix_system == NULL) return;
    /* The name stays, so that programs that build upon the default VFS build upon this one. */
    own_system = *unix_system;
    own_system.xOpen = open_file;
    own_system.xRandomness = make_randomness;
    add(&own_system, 1);
}
