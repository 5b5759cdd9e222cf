#ifndef CTESTSUPPORT_H
#define CTESTSUPPORT_H

#include <stdint.h>

/*
 * What tests need of Linux and Swift cannot call. Some of it changes who a single thread is; the C library's own
 * functions change the whole process, and with it every test that runs at the same time.
 */

/* Makes the calling thread this user and group, without any other group. Root only; there is no way back. */
int ctest_become_user(uint32_t user, uint32_t group);

/* Gives the calling thread a file mode mask of its own. */
int ctest_set_own_mask(uint32_t mask);

/* pidfd_open(2): a descriptor that is readable once the process has ended. */
int ctest_open_process(int32_t process);

/* ppoll(2): waits until the descriptor is readable, for so many nanoseconds at most; 1 if it is. */
int ctest_wait(int descriptor, int64_t nanoseconds);

#endif
