#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

_Static_assert(CLINUX_RESOLVE_NO_SYMLINKS == RESOLVE_NO_SYMLINKS, "as in linux/openat2.h");
_Static_assert(CLINUX_RESOLVE_BENEATH == RESOLVE_BENEATH, "as in linux/openat2.h");
_Static_assert(CLINUX_RENAME_NOREPLACE == RENAME_NOREPLACE, "as in stdio.h");
_Static_assert(CLINUX_RENAME_EXCHANGE == RENAME_EXCHANGE, "as in stdio.h");

int clinux_openat2(int directory, const char *path, uint64_t flags, uint64_t mode, uint64_t resolve) {
    struct open_how how = {.flags = flags, .mode = mode, .resolve = resolve};
    return (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
}

int clinux_renameat2(int from_directory, const char *from, int to_directory, const char *to, unsigned int flags) {
    return renameat2(from_directory, from, to_directory, to, flags);
}

int clinux_clone(int destination, int source) { return ioctl(destination, FICLONE, source); }

int clinux_set_lease(int descriptor, int type) {
    /* SIGURG is ignored by default, unlike SIGIO; without an owner not even SIGURG is sent. */
    if (type != F_UNLCK && fcntl(descriptor, F_SETSIG, SIGURG) == -1) return -1;
    if (fcntl(descriptor, F_SETLEASE, type) == -1) return -1;
    return type == F_UNLCK ? 0 : fcntl(descriptor, F_SETOWN, 0);
}

int clinux_get_lease(int descriptor) { return fcntl(descriptor, F_GETLEASE); }

int clinux_is_restricted(int directory, const char *name) {
    struct statx information;
    if (statx(directory, name, AT_SYMLINK_NOFOLLOW, 0, &information) == -1) return -1;
    return (information.stx_attributes & (STATX_ATTR_APPEND | STATX_ATTR_IMMUTABLE)) != 0;
}

int clinux_has_access_list(int descriptor) {
    static const char *const names[] = {"system.posix_acl_access", "system.posix_acl_default"};
    for (int index = 0; index < 2; index++) {
        if (fgetxattr(descriptor, names[index], NULL, 0) > 0) return 1;
        if (errno != ENODATA && errno != ENOTSUP) return -1;
    }
    return 0;
}

int clinux_file_system_type(int descriptor, uint64_t *type) {
    struct statfs information;
    if (fstatfs(descriptor, &information) == -1) return -1;
    *type = (uint64_t)information.f_type;
    return 0;
}

int clinux_birth_time(int directory, const char *name, int64_t *seconds, int64_t *nanoseconds) {
    struct statx status;
    if (statx(directory, name, AT_SYMLINK_NOFOLLOW, STATX_BTIME, &status) != 0) return -1;
    if (!(status.stx_mask & STATX_BTIME)) return 0;
    *seconds = status.stx_btime.tv_sec;
    *nanoseconds = status.stx_btime.tv_nsec;
    return 1;
}

struct call {
    int (*body)(void);
    int result;
};

static void *perform(void *argument) {
    struct call *call = argument;
    call->result = call->body();
    return NULL;
}

int clinux_call_with_stack(size_t least, size_t size, int (*body)(void)) {
    struct rlimit limit;
    struct call call = {.body = body};
    pthread_attr_t attributes;
    pthread_t thread;
    // RLIM_INFINITY is the greatest number.
    if (getrlimit(RLIMIT_STACK, &limit) == -1 || limit.rlim_cur >= least) return body();
    // Without the thread, body has the stack that there is.
    if (pthread_attr_init(&attributes) != 0) return body();
    int failure = pthread_attr_setstacksize(&attributes, size);
    if (failure == 0) failure = pthread_setattr_default_np(&attributes);
    if (failure == 0) failure = pthread_create(&thread, &attributes, perform, &call);
    pthread_attr_destroy(&attributes);
    if (failure != 0) return body();
    pthread_join(thread, NULL);
    return call.result;
}
