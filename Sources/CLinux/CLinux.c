#define _GNU_SOURCE
#include "CLinux.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int clinux_openat2(int directory, const char *path, uint64_t flags, uint64_t mode, uint64_t resolve) {
    struct open_how how = {.flags = flags, .mode = mode, .resolve = resolve};
    return (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
}

int clinux_renameat2(int from_directory, const char *from, int to_directory, const char *to, unsigned int flags) {
    return renameat2(from_directory, from, to_directory, to, flags);
}

int clinux_clone(int destination, int source) { return ioctl(destination, FICLONE, source); }

int clinux_set_lease(int descriptor, int type) { return fcntl(descriptor, F_SETLEASE, type); }

int clinux_get_lease(int descriptor) { return fcntl(descriptor, F_GETLEASE); }
