#define _GNU_SOURCE
#include "CInterleavingActor.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* Clocks and pauses in virtual time, and random numbers from a fixed stream. */

static const int64_t second = 1000000000, poll_pause = 1000000;
/* When each run begins: a fixed time since the boot, and a fixed time of day. The latter is later than the times of files,
 * which are real: a clock that runs behind them is a case of its own. */
static const int64_t first_uptime = 1000 * 1000000000LL, first_day = 2000000000 * 1000000000LL;

static int64_t nanoseconds_of(const struct timespec *time) { return time->tv_sec * second + time->tv_nsec; }

int clock_gettime(clockid_t clock, struct timespec *time) {
    NEXT(clock_gettime);
    if (!actor_is_scheduled() || clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID)
        return next(clock, time);
    bool isDay = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
    int64_t now = actor_clock() + (isDay ? first_day : first_uptime);
    *time = (struct timespec){.tv_sec = now / second, .tv_nsec = now % second};
    return 0;
}

int gettimeofday(struct timeval *time, void *zone) {
    NEXT(gettimeofday);
    if (!actor_is_scheduled()) return next(time, zone);
    int64_t now = actor_clock() + first_day;
    *time = (struct timeval){.tv_sec = now / second, .tv_usec = now % second / 1000};
    return 0;
}

time_t time(time_t *result) {
    NEXT(time);
    if (!actor_is_scheduled()) return next(result);
    time_t now = (actor_clock() + first_day) / second;
    if (result != NULL) *result = now;
    return now;
}

int usleep(useconds_t microseconds) {
    NEXT(usleep);
    if (!actor_is_scheduled()) return next(microseconds);
    actor_pause("usleep", microseconds * 1000LL);
    return 0;
}

unsigned int sleep(unsigned int seconds) {
    NEXT(sleep);
    if (!actor_is_scheduled()) return next(seconds);
    actor_pause("sleep", seconds * second);
    return 0;
}

int nanosleep(const struct timespec *request, struct timespec *rest) {
    NEXT(nanosleep);
    if (!actor_is_scheduled()) return next(request, rest);
    actor_pause("nanosleep", nanoseconds_of(request));
    return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *request, struct timespec *rest) {
    NEXT(clock_nanosleep);
    if (!actor_is_scheduled()) return next(clock, flags, request, rest);
    int64_t pause = nanoseconds_of(request);
    if (flags & TIMER_ABSTIME) {
        struct timespec now;
        clock_gettime(clock, &now);
        pause -= nanoseconds_of(&now);
    }
    actor_pause("clock_nanosleep", pause < 0 ? 0 : pause);
    return 0;
}

/* Asks again at intervals, since the event may be due to another program. */
int poll(struct pollfd *entries, nfds_t count, int milliseconds) {
    NEXT(poll);
    if (!actor_is_scheduled()) return next(entries, count, milliseconds);
    int64_t end = milliseconds < 0 ? INT64_MAX : actor_clock() + milliseconds * 1000000LL;
    for (;;) {
        int result = next(entries, count, 0);
        int64_t left = end - actor_clock();
        if (result != 0 || left <= 0) return result;
        /* Without a descriptor there is nothing to ask. */
        actor_pause("poll", count == 0 || entries[0].fd < 0 || left < poll_pause ? left : poll_pause);
    }
}

int pselect(int count, fd_set *reading, fd_set *writing, fd_set *failing, const struct timespec *limit,
            const sigset_t *mask) {
    NEXT(pselect);
    if (!actor_is_scheduled() || count > 0 || limit == NULL) return next(count, reading, writing, failing, limit, mask);
    actor_pause("pselect", nanoseconds_of(limit));
    return 0;
}

ssize_t getrandom(void *bytes, size_t count, unsigned int flags) {
    NEXT(getrandom);
    if (!actor_has_stream()) return next(bytes, count, flags);
    actor_fill(bytes, count);
    return (ssize_t)count;
}

int getentropy(void *bytes, size_t count) {
    NEXT(getentropy);
    if (!actor_has_stream()) return next(bytes, count);
    actor_fill(bytes, count);
    return 0;
}

void arc4random_buf(void *bytes, size_t count) {
    NEXT(arc4random_buf);
    if (!actor_has_stream()) return next(bytes, count);
    actor_fill(bytes, count);
}

unsigned int arc4random(void) {
    unsigned int number;
    arc4random_buf(&number, sizeof number);
    return number;
}
