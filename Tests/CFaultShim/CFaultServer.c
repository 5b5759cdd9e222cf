#define _GNU_SOURCE
#include "CFaultRecorder.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * A fork server: the program runs one command, and then forks a child for each request, which calls the main function
 * again. The kernel, the linker and the language runtime prepare the program only once.
 */

enum { StreamCount = 3 };

typedef int main_function(int, char **, char **);

static main_function *program_main;
static char **program_words;
static int word_capacity;
static int requests = -1;
static bool is_warming;
/* The signals before the warm-up, some of which the language runtime handles. */
static struct sigaction actions[NSIG];
static sigset_t mask;
static char request[FaultShimLongestRequest];

union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(StreamCount * sizeof(int))];
};

/* The child's parent is the parent of this process, which can wait for it. */
static pid_t fork_for_parent(void) {
    struct clone_args how = {.flags = CLONE_PARENT};
    pid_t *number = NULL;
    if (prctl(PR_GET_TID_ADDRESS, &number, 0, 0, 0) == 0) {
        /* The C library stores the thread ID there. */
        how.flags |= CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
        how.child_tid = (uintptr_t)number;
    }
    return (pid_t)syscall(SYS_clone3, &how, sizeof how);
}

static int count_entries(const char *path) {
    DIR *folder = opendir(path);
    int count = 0;
    if (folder == NULL) return -1;
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

/* True if a child gets nothing of the warm-up but memory: one thread, and as descriptors the streams, the socket, and the
 * folder that is counted. */
static bool is_clean(void) {
    return count_entries("/proc/self/task") == 1 && count_entries("/proc/self/fd") == StreamCount + 2;
}

static char *next_text(char **position, const char *end) {
    char *text = *position;
    if (text >= end) _exit(126);
    *position = text + strlen(text) + 1;
    return text;
}

/* Runs the program with the words, the environment and the streams of a request. */
static void begin(size_t length, const int *streams) {
    uint32_t counts[2];
    char *position = request + sizeof counts;
    const char *end = request + length;
    memcpy(counts, request, sizeof counts);
    char **environment = calloc(counts[1] + 1, sizeof *environment);
    if (environment == NULL || counts[0] > (uint32_t)word_capacity) _exit(126);
    /* In place: the Swift runtime kept the pointer to the words when it was loaded. */
    for (uint32_t i = 0; i < counts[0]; i++) program_words[i] = next_text(&position, end);
    program_words[counts[0]] = NULL;
    for (uint32_t i = 0; i < counts[1]; i++) environment[i] = next_text(&position, end);
    environ = environment;
    for (int i = 0; i < StreamCount; i++)
        if (dup2(streams[i], i) == -1) _exit(126);
    if (syscall(SYS_close_range, StreamCount, ~0U, 0) == -1) _exit(126);
    setpgid(0, 0);
    shim_prepare();
    exit(program_main((int)counts[0], program_words, environ));
}

static void answer(int32_t value) {
    if (send(requests, &value, sizeof value, MSG_NOSIGNAL) == -1) _exit(0);
}

/* Forks a child for each request until the other end of the socket is closed. */
static void serve(void) {
    for (;;) {
        union control control;
        struct iovec part = {request, sizeof request - 1};
        struct msghdr message = {
            .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
        ssize_t count = recvmsg(requests, &message, MSG_CMSG_CLOEXEC);
        if (count == -1 && errno == EINTR) continue;
        if (count <= 0) _exit(0);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        if (header == NULL || header->cmsg_len != CMSG_LEN(StreamCount * sizeof(int))) _exit(126);
        int streams[StreamCount];
        memcpy(streams, CMSG_DATA(header), sizeof streams);
        request[count] = '\0';
        pid_t child = fork_for_parent();
        if (child == 0) begin((size_t)count, streams);
        int32_t result = child == -1 ? -errno : child;
        for (int i = 0; i < StreamCount; i++) close(streams[i]);
        answer(result);
    }
}

static int run_or_serve(int count, char **words, char **environment) {
    const char *warming = getenv("FAULT_SHIM_SERVER");
    if (warming == NULL) return program_main(count, words, environment);
    int used = atoi(warming);
    requests = fcntl(0, F_DUPFD_CLOEXEC, StreamCount);
    if (requests == -1 || used >= count) _exit(126);
    program_words = words;
    word_capacity = count;
    words[used] = NULL;
    for (int number = 1; number < NSIG; number++) sigaction(number, NULL, &actions[number]);
    sigprocmask(SIG_SETMASK, NULL, &mask);
    is_warming = true;
    exit(program_main(used, words, environment));
}

/* At the end of the warm-up the program serves, from within this call: no frame of the warm-up is left half-run. */
void exit(int status) {
    void (*next)(int) = (__typeof__(next))dlsym(RTLD_NEXT, "exit");
    if (is_warming) {
        is_warming = false;
        fflush(NULL);
        for (int number = 1; number < NSIG; number++) sigaction(number, &actions[number], NULL);
        sigprocmask(SIG_SETMASK, &mask, NULL);
        answer(is_clean() ? status : -EBUSY);
        serve();
    }
    next(status);
    _exit(status);
}

int __libc_start_main(main_function *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);
int __libc_start_main(main_function *main, int count, char **words, void (*init)(void), void (*fini)(void),
                      void (*linker_fini)(void), void *stack_end) {
    __typeof__(&__libc_start_main) next = (__typeof__(next))dlsym(RTLD_NEXT, "__libc_start_main");
    program_main = main;
    return next(run_or_serve, count, words, init, fini, linker_fini, stack_end);
}

int32_t fault_shim_request(int socket, const void *bytes, size_t count, const int32_t *streams) {
    union control control;
    struct iovec part = {(void *)bytes, count};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    memset(&control, 0, sizeof control);
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(StreamCount * sizeof(int));
    memcpy(CMSG_DATA(&control.header), streams, StreamCount * sizeof(int));
    if (sendmsg(socket, &message, MSG_NOSIGNAL) == -1) return -errno;
    return fault_shim_answer(socket);
}

int32_t fault_shim_answer(int socket) {
    int32_t value = 0;
    ssize_t count;
    do count = recv(socket, &value, sizeof value, 0);
    while (count == -1 && errno == EINTR);
    if (count == -1) return -errno;
    return count == sizeof value ? value : -ECONNRESET;
}
