#define _GNU_SOURCE
#include "CConfinement.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Constants that headers of older kernels lack; the numbers are part of the kernel's interface. */
#define READ_RIGHTS (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define RIGHTS_1 ((1ULL << 13) - 1)
#define RIGHT_REFER (1ULL << 13)
#define RIGHT_TRUNCATE (1ULL << 14)
#define RIGHT_IOCTL_DEVICE (1ULL << 15)
#define NETWORK_TCP 3ULL
#define SCOPES 3ULL

/* The attributes of the newest kernel known here; an older kernel gets a smaller size. */
struct ruleset_attributes {
    uint64_t files;
    uint64_t network;
    uint64_t scoped;
};

int cconfinement_landlock_version(void) {
    return (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

int cconfinement_filters_calls(void) {
    uint32_t action = SECCOMP_RET_ERRNO;
    return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

int cconfinement_landlock_ruleset(int version) {
    struct ruleset_attributes attributes = {.files = RIGHTS_1};
    size_t size = sizeof attributes.files;
    if (version >= 2) attributes.files |= RIGHT_REFER;
    if (version >= 3) attributes.files |= RIGHT_TRUNCATE;
    if (version >= 4) {
        attributes.network = NETWORK_TCP;
        size = 2 * sizeof(uint64_t);
    }
    if (version >= 5) attributes.files |= RIGHT_IOCTL_DEVICE;
    if (version >= 6) {
        attributes.scoped = SCOPES;
        size = sizeof attributes;
    }
    return (int)syscall(SYS_landlock_create_ruleset, &attributes, size, 0);
}

int cconfinement_landlock_allow(int ruleset, int descriptor, enum cconfinement_place place) {
    struct landlock_path_beneath_attr rule = {.parent_fd = descriptor, .allowed_access = READ_RIGHTS};
    if (place != CCONFINEMENT_FOLDER) rule.allowed_access &= ~LANDLOCK_ACCESS_FS_READ_DIR;
    if (place == CCONFINEMENT_SINK) rule.allowed_access |= LANDLOCK_ACCESS_FS_WRITE_FILE;
    return (int)syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

int cconfinement_adopt_orphans(int on) { return prctl(PR_SET_CHILD_SUBREAPER, on, 0, 0, 0); }

int cconfinement_end_with(pid_t parent) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == -1) return -1;
    /* The parent may have ended already. */
    if (getppid() != parent) _exit(126);
    return 0;
}

int cconfinement_open_process(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }

int cconfinement_end_group(pid_t group, int milliseconds, int *status) {
    /* A process that is being forked while this is sent gets the signal, too: the kernel restarts the fork. */
    kill(-group, SIGKILL);
    /* The leader was not awaited, so its number is still reserved. */
    struct pollfd leader = {.fd = cconfinement_open_process(group), .events = POLLIN};
    if (leader.fd != -1) {
        poll(&leader, 1, milliseconds);
        close(leader.fd);
    }
    for (;;) {
        int end = 0;
        pid_t ended = waitpid(-group, &end, WNOHANG);
        if (ended == -1 && errno != EINTR) return 1;
        if (ended == group && status != NULL) *status = end;
        if (ended != 0) continue;
        if (milliseconds-- <= 0) return 0;
        /* Reparented descendants have no pidfd here, so only polling shows their end. */
        poll(NULL, 0, 1);
    }
}

int cconfinement_adopts_orphans(void) {
    int on = 0;
    return prctl(PR_GET_CHILD_SUBREAPER, &on, 0, 0, 0) == 0 && on;
}

int cconfinement_open_path(const char *path) { return open(path, O_PATH | O_CLOEXEC); }

int cconfinement_pipe(int *ends) { return pipe2(ends, O_CLOEXEC); }

int cconfinement_sealed_input(const void *bytes, size_t count) {
    int file = memfd_create("input", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file == -1) return -1;
    const char *rest = bytes;
    while (count > 0) {
        ssize_t written = write(file, rest, count);
        if (written == -1 && errno == EINTR) continue;
        if (written <= 0) goto failed;
        rest += written;
        count -= (size_t)written;
    }
    if (lseek(file, 0, SEEK_SET) == -1) goto failed;
    if (fcntl(file, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == -1) goto failed;
    return file;
failed:;
    int failure = errno;
    close(file);
    errno = failure;
    return -1;
}

/*
 * System calls that no strategy needs: those that reach other processes or the network, leave the group, or change the
 * metadata of a file. Landlock protects the bytes of files, but not their modes, owners and times.
 *
 * The filter also compensates for the first version of Landlock. Later versions added these restrictions: truncating
 * readable files (3), TCP (4), device controls (5), abstract sockets and signals (6).
 */
#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "list this processor's system calls here first"
#endif

/* Numbers that are the same on every processor, for headers older than the kernel. */
#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif
#ifndef SYS_process_mrelease
#define SYS_process_mrelease 448
#endif
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_setxattrat
#define SYS_setxattrat 463
#endif
#ifndef SYS_removexattrat
#define SYS_removexattrat 466
#endif
#ifndef SYS_file_setattr
#define SYS_file_setattr 469
#endif

/* TCGETS2, used by newer C libraries. */
#define NEWER_TCGETS 0x802C542AU
/* CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
#define NEW_NAMESPACES 0x7E020000U
/* The low half of one of a call's arguments; both supported processors are little-endian. */
#define ARGUMENT(index) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + 8 * (index))
#define EQUALS(value, then, otherwise) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, then, otherwise)
#define ALLOWED BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define DENIED(number) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (number))

#define DENY(call) EQUALS(SYS_##call, 0, 1), DENIED(EPERM)
/* Returns ENOSYS as on an older kernel: the caller then uses an older call, whose arguments this filter can check. */
#define HIDE(call) EQUALS(SYS_##call, 0, 1), DENIED(ENOSYS)

/*
 * Opening neither to read nor to write, for device controls alone, passes Landlock before its version 5. Truncating a
 * file that is not opened to write passes Landlock before its version 3.
 */
#define OPENING(call, flags)                                                                                           \
    EQUALS(SYS_##call, 0, 9), ARGUMENT(flags), BPF_STMT(BPF_ST, 0), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, O_ACCMODE),    \
        EQUALS(O_ACCMODE, 3, 0), EQUALS(O_RDONLY, 0, 3), BPF_STMT(BPF_LD | BPF_MEM, 0),                                \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_TRUNC, 0, 1), DENIED(EPERM), ALLOWED

static const struct sock_filter filter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
    EQUALS(ARCHITECTURE, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
#if defined(__x86_64__)
    /* System call numbers of the x32 interface would bypass the list. */
    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
    DENIED(EPERM),
#endif
    DENY(socket),
    DENY(socketpair),
    DENY(connect),
    DENY(bind),
    DENY(setsid),
    DENY(setpgid),
    DENY(ptrace),
    DENY(process_vm_readv),
    DENY(process_vm_writev),
    DENY(pidfd_getfd),
    DENY(process_mrelease),
    DENY(kcmp),
    DENY(migrate_pages),
    DENY(move_pages),
    DENY(open_by_handle_at),
    DENY(io_uring_setup),
    DENY(bpf),
    DENY(perf_event_open),
    DENY(userfaultfd),
    DENY(keyctl),
    DENY(add_key),
    DENY(request_key),
    DENY(unshare),
    DENY(setns),
    DENY(mount),
    DENY(memfd_create),
    DENY(memfd_secret),
    DENY(shmget),
    DENY(shmat),
    DENY(shmctl),
    DENY(msgget),
    DENY(msgsnd),
    DENY(msgrcv),
    DENY(msgctl),
    DENY(semget),
    DENY(semop),
    DENY(semtimedop),
    DENY(semctl),
    DENY(mq_open),
    DENY(mq_unlink),
    DENY(kill),
    DENY(tkill),
    DENY(tgkill),
    DENY(rt_sigqueueinfo),
    DENY(rt_tgsigqueueinfo),
    DENY(pidfd_send_signal),
    DENY(setpriority),
    DENY(sched_setaffinity),
    DENY(sched_setscheduler),
    DENY(sched_setparam),
    DENY(sched_setattr),
    DENY(ioprio_set),
    DENY(truncate),
    DENY(fchmod),
    DENY(fchmodat),
    DENY(fchmodat2),
    DENY(fchown),
    DENY(fchownat),
    DENY(utimensat),
    DENY(setxattr),
    DENY(lsetxattr),
    DENY(fsetxattr),
    DENY(setxattrat),
    DENY(removexattr),
    DENY(lremovexattr),
    DENY(fremovexattr),
    DENY(removexattrat),
    DENY(file_setattr),
    DENY(inotify_init1),
    DENY(fanotify_init),
#if defined(__x86_64__)
    /* Older calls, which this processor still has. */
    DENY(chmod),
    DENY(chown),
    DENY(lchown),
    DENY(utime),
    DENY(utimes),
    DENY(futimesat),
    DENY(inotify_init),
#endif
#if defined(__x86_64__)
    OPENING(open, 1),
#endif
    OPENING(openat, 2),
    /* Only the controls that programs use on every descriptor: is it a terminal, how much is there to read. */
    EQUALS(SYS_ioctl, 0, 11),
    ARGUMENT(1),
    EQUALS(TCGETS, 8, 0),
    EQUALS(NEWER_TCGETS, 7, 0),
    EQUALS(TIOCGPGRP, 6, 0),
    EQUALS(TIOCGWINSZ, 5, 0),
    EQUALS(FIONREAD, 4, 0),
    EQUALS(FIONBIO, 3, 0),
    EQUALS(FIOCLEX, 2, 0),
    EQUALS(FIONCLEX, 1, 0),
    DENIED(ENOTTY),
    ALLOWED,
    /* The owner of a descriptor receives signals. */
    EQUALS(SYS_fcntl, 0, 6),
    ARGUMENT(1),
    EQUALS(F_SETOWN, 3, 0),
    EQUALS(F_SETOWN_EX, 2, 0),
    EQUALS(F_SETSIG, 1, 0),
    ALLOWED,
    DENIED(EPERM),
    /* A program can set its own limits, and those of no other process. */
    EQUALS(SYS_prlimit64, 0, 4),
    ARGUMENT(0),
    EQUALS(0, 0, 1),
    ALLOWED,
    DENIED(EPERM),
    EQUALS(SYS_clone, 0, 4),
    ARGUMENT(0),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NEW_NAMESPACES, 0, 1),
    DENIED(EPERM),
    ALLOWED,
    /* Their flags are in memory that this filter cannot read. */
    HIDE(clone3),
    HIDE(openat2),
    ALLOWED,
};

static int limit(int resource, uint64_t value) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) == -1) return -1;
    if (limit.rlim_max > value) limit.rlim_max = value;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(resource, &limit);
}

/* The child's own descriptors, which its program does not inherit. */
#define REPORT 3
#define RULESET 4
#define FIRST_FREE 10

/* Makes the child the leader of its own group, sets its streams, and resets signal handlers and the signal mask. */
static int begin(const struct cconfinement_program *program) {
    sigset_t none;
    sigemptyset(&none);
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (setpgid(0, 0) == -1) return -1;
    /* Move these first: any of them may have one of the target numbers. */
    int input = fcntl(program->input, F_DUPFD_CLOEXEC, FIRST_FREE);
    int output = fcntl(program->output, F_DUPFD_CLOEXEC, FIRST_FREE);
    int errors = fcntl(program->errors, F_DUPFD_CLOEXEC, FIRST_FREE);
    if (input == -1 || output == -1 || errors == -1) return -1;
    return dup2(input, 0) == -1 || dup2(output, 1) == -1 || dup2(errors, 2) == -1 ? -1 : 0;
}

/* Sets the program's limits and, last, its user. */
static int diminish(const struct cconfinement_terms *terms) {
    /* When memory runs out the kernel should kill this program, not its parent; failing that, the kernel's own score
     * decides. */
    int badness = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    ssize_t said = write(badness, "1000", 4);
    (void)said;
    close(badness);
    if (limit(RLIMIT_CORE, 0) == -1 || limit(RLIMIT_FSIZE, 0) == -1) return -1;
    if (limit(RLIMIT_CPU, terms->cpu_seconds) == -1 || limit(RLIMIT_AS, terms->memory_bytes) == -1) return -1;
    if (limit(RLIMIT_NPROC, terms->processes) == -1 || limit(RLIMIT_NOFILE, terms->descriptors) == -1) return -1;
    if (terms->user == -1) return 0;
    /* Raw system calls: the C library's functions would signal other threads, which do not exist here. */
    gid_t group = (gid_t)terms->group;
    uid_t user = (uid_t)terms->user;
    if (syscall(SYS_setgroups, 0, NULL) == -1 || syscall(SYS_setresgid, group, group, group) == -1) return -1;
    return (int)syscall(SYS_setresuid, user, user, user);
}

/* Restricts what the program can access. */
static int enclose(const struct cconfinement_terms *terms, int ruleset) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1) return -1;
    if (ruleset != -1 && syscall(SYS_landlock_restrict_self, ruleset, 0) == -1) return -1;
    if (!terms->filters_calls) return 0;
    const struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = (struct sock_filter *)filter};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

/* Everything that happens in the child; returns only on failure. channel always points to an open descriptor. */
static void become(const struct cconfinement_program *program, const struct cconfinement_terms *terms, int *channel,
                   pid_t parent) {
    int ruleset = -1;
    /* If a rule set was created, it must be enforced, or the program is not run. */
    if (terms != NULL && terms->ruleset != -1) {
        ruleset = fcntl(terms->ruleset, F_DUPFD, FIRST_FREE);
        if (ruleset == -1) return;
    }
    if (begin(program) == -1) return;
    /* The two descriptors that are still needed are closed on exec. */
    if (dup3(*channel, REPORT, O_CLOEXEC) == -1) return;
    *channel = REPORT;
    if (ruleset != -1) {
        if (dup3(ruleset, RULESET, O_CLOEXEC) == -1) return;
        ruleset = RULESET;
    }
    if (syscall(SYS_close_range, ruleset == -1 ? RULESET : RULESET + 1, ~0U, 0) == -1) return;
    if (program->folder != NULL && chdir(program->folder) == -1) return;
    if (terms != NULL && diminish(terms) == -1) return;
    /* After the change of user, which would reset it. */
    if (program->ends_with_thread && cconfinement_end_with(parent) == -1) return;
    if (terms != NULL && enclose(terms, ruleset) == -1) return;
    execve(program->path, program->arguments, program->environment);
}

pid_t cconfinement_spawn(const struct cconfinement_program *program, const struct cconfinement_terms *terms) {
    int report[2];
    if (pipe2(report, O_CLOEXEC) == -1) return -1;
    /* No handler of this process may run in the child. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    /* Neither call runs the fork handlers of pthread_atfork(3), which are for children that do not exec. */
    pid_t parent = getpid();
    /*
     * A trusted program starts without a copy of this process's memory, however large that is. A change of user needs
     * a copy: with shared memory it would also change this process's dumpable state.
     */
    pid_t child = terms == NULL ? vfork() : _Fork();
    if (child == 0) {
        int channel = fcntl(report[1], F_DUPFD_CLOEXEC, FIRST_FREE);
        if (channel == -1) _exit(126);
        become(program, terms, &channel, parent);
        int failure = errno;
        ssize_t written = write(channel, &failure, sizeof failure);
        _exit(written == -1 ? 126 : 127);
    }
    int failure = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(report[1]);
    if (child != -1) {
        failure = 0;
        ssize_t count;
        do count = read(report[0], &failure, sizeof failure);
        while (count == -1 && errno == EINTR);
        if (count > 0) {
            while (waitpid(child, NULL, 0) == -1 && errno == EINTR) {}
            child = -1;
        }
    }
    close(report[0]);
    if (child == -1) errno = failure;
    return child;
}
