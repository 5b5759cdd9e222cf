#define _GNU_SOURCE
#include "CFaultRecorder.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * A fork server: the program stops before its main function and forks a child for each request, which continues from there.
 * The kernel, the linker and the language runtime prepare the program only once.
 */

enum { StreamCount = 3 };

typedef int main_function(int, char **, char **);

static main_function *program_main;
static char **program_words;
static int word_capacity;
static jmp_buf warmed;
static bool is_warming;
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

static bool has_one_thread(void) {
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;
    if (tasks == NULL) return false;
    for (struct dirent *task = readdir(tasks); task != NULL; task = readdir(tasks)) count += task->d_name[0] != '.';
    closedir(tasks);
    return count == 1;
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
    if (environment == NULL || counts[0] >= (uint32_t)word_capacity) _exit(126);
    /* In place: the Swift runtime kept the pointer to the words when it was loaded. */
    for (uint32_t i = 0; i < counts[0]; i++) program_words[i] = next_text(&position, end);
    program_words[counts[0]] = NULL;
    for (uint32_t i = 0; i < counts[1]; i++) environment[i] = next_text(&position, end);
    environ = environment;
    for (int i = 0; i < StreamCount; i++)
        if (dup2(streams[i], i) == -1) _exit(126);
    if (syscall(SYS_close_range, StreamCount, ~0U, 0) == -1) _exit(126);
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    setpgid(0, 0);
    shim_prepare();
    exit(program_main((int)counts[0], program_words, environ));
}

static void answer(int socket, int32_t value) {
    if (send(socket, &value, sizeof value, MSG_NOSIGNAL) == -1) _exit(0);
}

static void serve(int socket) {
    for (;;) {
        union control control;
        struct iovec part = {request, sizeof request - 1};
        struct msghdr message = {
            .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
        ssize_t count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
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
        answer(socket, result);
    }
}

static int run_or_serve(int count, char **words, char **environment) {
    const char *warming = getenv("FAULT_SHIM_SERVER");
    if (warming == NULL) return program_main(count, words, environment);
    int socket = fcntl(0, F_DUPFD_CLOEXEC, 10), used = atoi(warming);
    if (socket == -1 || used >= count) _exit(126);
    program_words = words;
    word_capacity = count;
    words[used] = NULL;
    is_warming = used > 1;
    if (is_warming && setjmp(warmed) == 0) exit(program_main(used, words, environment));
    fflush(NULL);
    answer(socket, has_one_thread() ? 0 : -EBUSY);
    serve(socket);
    return 0;
}

/* Returns to the server at the end of the warm-up run. */
void exit(int status) {
    if (is_warming) {
        is_warming = false;
        longjmp(warmed, 1);
    }
    void (*next)(int) = (__typeof__(next))dlsym(RTLD_NEXT, "exit");
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
