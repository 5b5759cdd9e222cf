#define _GNU_SOURCE
#include "CTestSupport.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <unistd.h>

/* Binds the image to a free device, which unbinds itself once no process has it open. */
static int attach(int control, int image, uint32_t sector, char name[32]) {
    struct loop_config configuration;
    memset(&configuration, 0, sizeof configuration);
    configuration.fd = (uint32_t)image;
    configuration.block_size = sector;
    configuration.info.lo_flags = LO_FLAGS_AUTOCLEAR;
    /* Another process may bind the device between the two calls. */
    for (int attempt = 0; attempt < 64; attempt++) {
        int number = ioctl(control, LOOP_CTL_GET_FREE);
        if (number == -1) return -1;
        snprintf(name, 32, "/dev/loop%d", number);
        int device = open(name, O_RDWR | O_CLOEXEC);
        if (device == -1) return -1;
        if (ioctl(device, LOOP_CONFIGURE, &configuration) == 0) return device;
        int error = errno;
        close(device);
        errno = error;
        if (error != EBUSY) return -1;
    }
    return -1;
}

int ctest_mount_image(
    const char *image_path,
    const char *folder,
    const char *type,
    const char *options,
    uint32_t sector,
    int elsewhere
) {
    int result = -1, spare = -1, device = -1;
    char name[32];
    int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
    int image = open(image_path, O_RDWR | O_CLOEXEC);
    if (control == -1 || image == -1) goto done;
    if (elsewhere) {
        spare = attach(control, image, sector, name);
        if (spare == -1) goto done;
    }
    device = attach(control, image, sector, name);
    if (device == -1) goto done;
    if (spare != -1) {
        close(spare);
        spare = -1;
    }
    result = mount(name, folder, type, MS_NOATIME, options);
done:;
    int error = errno;
    if (device != -1) close(device);
    if (spare != -1) close(spare);
    if (image != -1) close(image);
    if (control != -1) close(control);
    errno = error;
    return result;
}

int ctest_mount_memory(const char *folder) { return mount("tmpfs", folder, "tmpfs", 0, "mode=0755"); }

int ctest_unmount(const char *folder, int lazily) {
    return umount2(folder, UMOUNT_NOFOLLOW | (lazily ? MNT_DETACH : 0));
}
