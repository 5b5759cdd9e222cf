#define _GNU_SOURCE
#include "CTestSupport.h"

#include <sys/syscall.h>
#include <unistd.h>

int ctest_become_user(uint32_t user, uint32_t group) {
    if (syscall(SYS_setgroups, 0, NULL) == -1) return -1;
    if (syscall(SYS_setresgid, group, group, group) == -1) return -1;
    return (int)syscall(SYS_setresuid, user, user, user);
}

int ctest_fork(void) {
    pid_t child = fork();
    while (child == 0) pause();
    return child;
}
