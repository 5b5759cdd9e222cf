#define _GNU_SOURCE
#include "CTestSupport.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <unistd.h>

int ctest_become_user(uint32_t user, uint32_t group) {
    if (syscall(SYS_setgroups, 0, NULL) == -1) return -1;
    if (syscall(SYS_setresgid, group, group, group) == -1) return -1;
    return (int)syscall(SYS_setresuid, user, user, user);
}

int ctest_pipe(int *ends) { return pipe2(ends, O_CLOEXEC); }

int ctest_close_from(void *actions, int lowest) {
    return posix_spawn_file_actions_addclosefrom_np(actions, lowest);
}

int ctest_open_process(int32_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }

int ctest_wait(int descriptor, int64_t nanoseconds) {
    struct pollfd entry = {.fd = descriptor, .events = POLLIN};
    struct timespec time = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    return ppoll(&entry, 1, &time, NULL);
}
