#ifndef CTESTSUPPORT_H
#define CTESTSUPPORT_H

#include <stdint.h>

/*
 * Linux functions that tests need and Swift cannot call. Some of them change the identity of a single thread; the C
 * library's own functions change the whole process, and with it every test that runs at the same time.
 */

/* Makes the calling thread this user and group, without any other group. Root only; it cannot be reverted. */
int ctest_become_user(uint32_t user, uint32_t group);

/*
 * Mounts a file system in an image file through a loop device with sectors of so many bytes. The device belongs to the
 * mount alone and goes with it. With `elsewhere`, the first free device is skipped. Root only.
 */
int ctest_mount_image(
    const char *image_path,
    const char *folder,
    const char *type,
    const char *options,
    uint32_t sector,
    int elsewhere
);

/* Mounts an empty file system in memory. Root only. */
int ctest_mount_memory(const char *folder);

/* umount2(2); lazily if nothing else helps. */
int ctest_unmount(const char *folder, int lazily);

/* A child of this process that starts no program and waits for a signal. */
int ctest_fork(void);

#endif
