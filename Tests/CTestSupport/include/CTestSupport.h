#ifndef CTESTSUPPORT_H
#define CTESTSUPPORT_H

#include <stdint.h>

/*
 * What tests need of Linux and Swift cannot call. Some of it changes who a single thread is; the C library's own
 * functions change the whole process, and with it every test that runs at the same time.
 */

/* Makes the calling thread this user and group, without any other group. Root only; there is no way back. */
int ctest_become_user(uint32_t user, uint32_t group);

/* pipe2(2), with ends that no other program inherits: the first to read. */
int ctest_pipe(int *ends);

/* posix_spawn_file_actions_addclosefrom_np(3): the child gets no descriptor from the lowest on. */
int ctest_close_from(void *actions, int lowest);

/* pidfd_open(2): a descriptor that is readable once the process has ended. */
int ctest_open_process(int32_t process);

/* ppoll(2): waits until the descriptor is readable, for so many nanoseconds at most; 1 if it is. */
int ctest_wait(int descriptor, int64_t nanoseconds);

/*
 * Mounts a file system in an image file through a loop device with sectors of so many bytes. The device belongs to the
 * mount alone and goes with it. If told so, it is another device than the first that is free. Root only.
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

#endif
