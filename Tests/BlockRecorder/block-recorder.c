/*
 * block-recorder IMAGE LOG FOLDER: a disk that records its writes and flushes.
 *
 * Mounts a file system at FOLDER that holds two files. `disk` is the image, to be attached to a loop device: each write
 * and each flush that arrives goes into LOG before it is answered, in the order of arrival. What is written to `mark` goes
 * into LOG as well, between the others. Ends when FOLDER is unmounted.
 *
 * A record of LOG: kind and length of what follows (32 bits each), offset on the disk (64 bits), the bytes; all numbers
 * in the machine's own order. It goes to the background as soon as FOLDER is mounted, so that its caller only has to wait
 * for the exit of the process that it started.
 */
#define _GNU_SOURCE
#define FUSE_USE_VERSION 31

#include <errno.h>
#include <fcntl.h>
#include <fuse3/fuse.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { RECORD_WRITE = 1, RECORD_FLUSH = 2, RECORD_MARK = 3 };

typedef struct {
    uint32_t kind, length;
    uint64_t offset;
} Record;

static const char disk_path[] = "/disk", mark_path[] = "/mark";
static int image = -1, record_log = -1;
static off_t image_size;

/* Writes a whole record, or fails all later writes: half a record would make all following ones unreadable. */
static int append(uint32_t kind, uint64_t offset, const char *bytes, size_t length) {
    Record record = {.kind = kind, .length = (uint32_t)length, .offset = offset};
    struct iovec parts[] = {{&record, sizeof record}, {(void *)bytes, length}};
    ssize_t written = writev(record_log, parts, length == 0 ? 1 : 2);
    if (written == (ssize_t)(sizeof record + length)) return 0;
    close(record_log);
    record_log = -1;
    return -EIO;
}

static int disk_getattr(const char *path, struct stat *status, struct fuse_file_info *info) {
    (void)info;
    memset(status, 0, sizeof *status);
    status->st_nlink = 1;
    if (strcmp(path, "/") == 0) {
        status->st_mode = S_IFDIR | 0700;
        status->st_nlink = 2;
        return 0;
    }
    status->st_mode = S_IFREG | 0600;
    if (strcmp(path, mark_path) == 0) return 0;
    if (strcmp(path, disk_path) != 0) return -ENOENT;
    status->st_size = image_size;
    return 0;
}

static int disk_open(const char *path, struct fuse_file_info *info) {
    if (strcmp(path, disk_path) != 0 && strcmp(path, mark_path) != 0) return -ENOENT;
    /* No caching by the kernel: every write that was answered is in the log. */
    info->direct_io = 1;
    return 0;
}

static int disk_read(const char *path, char *bytes, size_t length, off_t offset, struct fuse_file_info *info) {
    (void)info;
    if (strcmp(path, disk_path) != 0) return 0;
    ssize_t count = pread(image, bytes, length, offset);
    return count < 0 ? -errno : (int)count;
}

static int disk_write(const char *path, const char *bytes, size_t length, off_t offset, struct fuse_file_info *info) {
    (void)info;
    if (strcmp(path, mark_path) == 0) return append(RECORD_MARK, 0, bytes, length) == 0 ? (int)length : -EIO;
    if (offset < 0 || offset + (off_t)length > image_size) return -ENOSPC;
    if (append(RECORD_WRITE, (uint64_t)offset, bytes, length) != 0) return -EIO;
    ssize_t count = pwrite(image, bytes, length, offset);
    return count == (ssize_t)length ? (int)length : -EIO;
}

static int disk_synchronize(const char *path, int data_only, struct fuse_file_info *info) {
    (void)data_only;
    (void)info;
    return strcmp(path, disk_path) == 0 ? append(RECORD_FLUSH, 0, NULL, 0) : 0;
}

static const struct fuse_operations operations = {
    .getattr = disk_getattr,
    .open = disk_open,
    .read = disk_read,
    .write = disk_write,
    .fsync = disk_synchronize,
};

int main(int count, char *arguments[]) {
    if (count != 4) {
        fprintf(stderr, "usage: block-recorder IMAGE LOG FOLDER\n");
        return 2;
    }
    image = open(arguments[1], O_RDWR | O_CLOEXEC);
    record_log = open(arguments[2], O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    struct stat status;
    if (image == -1 || record_log == -1 || fstat(image, &status) == -1) {
        perror("block-recorder");
        return 1;
    }
    image_size = status.st_size;
    /* One thread, so that the log has one order. */
    char *mounting[] = {arguments[0], "-s", arguments[3], NULL};
    return fuse_main(3, mounting, &operations, NULL);
}
