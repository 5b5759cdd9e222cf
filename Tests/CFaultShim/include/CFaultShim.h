#ifndef CFAULTSHIM_H
#define CFAULTSHIM_H

#include <stddef.h>
#include <stdint.h>

/*
 * A library to be preloaded into a program under test. It counts the file calls that the program makes below one folder,
 * and harms the n-th of them: the process is killed before or after it, or the call fails, or moves less than it should.
 *
 * It is controlled by environment variables:
 *
 *   FAULT_SHIM_ROOT    the folder; calls on other files are neither counted nor harmed
 *   FAULT_SHIM_REPORT  a file of at least sizeof(FaultShimReport) bytes, outside of the folder, to report to; without it, calls
 *                      are neither counted nor harmed
 *   FAULT_SHIM_AT      the number of the call to harm, from 0
 *   FAULT_SHIM_FAULT   what happens to it: a FaultShimFault
 *   FAULT_SHIM_KINDS   optional: a mask of kinds, as 1 << kind; then every call of these kinds from FAULT_SHIM_AT on is
 *                      harmed, as it is when a disk is full or broken and stays so
 *   FAULT_SHIM_ONCE    optional, with FAULT_SHIM_KINDS: of these calls the next one after a harmed one is left alone, so
 *                      that each is harmed once if the caller retries
 *
 * It also records what the program changes, and makes recreated files look like those that were lost in a crash:
 *
 *   FAULT_SHIM_RECORD  an existing file, outside of the folder, to append a FaultShimRecord to for every change
 *   FAULT_SHIM_INODES  a file of FaultShimInode, ordered by `real`: the metadata that the program sees
 *   FAULT_SHIM_DEVICE  optional: a small number to be added to that of every device, as after a mount
 */

typedef enum FaultShimKind {
    FaultShimKindOpen,
    FaultShimKindCreate,
    FaultShimKindRead,
    FaultShimKindLook,
    FaultShimKindList,
    FaultShimKindWrite,
    FaultShimKindSynchronize,
    FaultShimKindTruncate,
    FaultShimKindRename,
    FaultShimKindLink,
    FaultShimKindRemove,
    FaultShimKindMakeFolder,
    FaultShimKindSetMode,
    FaultShimKindSetOwner,
    FaultShimKindClose,
    FaultShimKindLock,
    FaultShimKindClone,
} FaultShimKind;

typedef enum FaultShimFault {
    FaultShimFaultKillBefore,
    FaultShimFaultKillAfter,
    FaultShimFaultInputOutputError,
    FaultShimFaultNoSpace,
    FaultShimFaultInterrupted,
    FaultShimFaultShortTransfer,
    /* The process stops before the call, until it gets SIGCONT. */
    FaultShimFaultStop,
} FaultShimFault;

typedef enum FaultShimChange {
    FaultShimChangeCreate,
    FaultShimChangeMakeFolder,
    FaultShimChangeLink,
    FaultShimChangeRename,
    FaultShimChangeRemove,
    FaultShimChangeWrite,
    FaultShimChangeResize,
    FaultShimChangeSynchronize,
    FaultShimChangeSynchronizeData,
    FaultShimChangeSynchronizeAll,
    FaultShimChangeSetMode,
    FaultShimChangeSetOwner,
} FaultShimChange;

enum { FaultShimRecordSize = 104 };

/* One change, and the file's metadata after it. Names and written bytes follow. */
typedef struct FaultShimRecord {
    /* A FaultShimChange. */
    uint32_t change;
    uint32_t mode;
    uint32_t user;
    uint32_t group;
    /* The file that was changed, created, renamed or removed. */
    uint64_t inode;
    /* The folder of its name, and of the new name if it was renamed or linked. */
    uint64_t parent;
    uint64_t other_parent;
    int64_t offset;
    int64_t size;
    /* Seconds and nanoseconds. */
    int64_t modified[2];
    int64_t changed[2];
    uint64_t byte_count;
    uint32_t name_length;
    uint32_t other_name_length;
} FaultShimRecord;

/* Replaces the inode number of a file, and its times as long as the file is not changed. */
typedef struct FaultShimInode {
    uint64_t real;
    uint64_t shown;
    int64_t real_changed[2];
    int64_t modified[2];
    int64_t changed[2];
} FaultShimInode;

/* The offset of `kinds`, for Swift, which cannot import so long an array. */
enum { FaultShimReportCapacity = 60000, FaultShimReportKindsOffset = 1064 };

/* The report of a run, also of one that was killed. */
typedef struct FaultShimReport {
    /* The number of calls; those beyond the capacity are counted but not described. */
    uint32_t count;
    /* The number of harmed calls. */
    uint32_t harmed;
    /* The name of the function and the path of the first harmed call, each ended by a zero. */
    char function[32];
    char path[1024];
    /* The kind of each call. */
    uint8_t kinds[FaultShimReportCapacity];
} FaultShimReport;

/*
 * FAULT_SHIM_SERVER makes the program a fork server. Its value is the number of words of a command that the program runs
 * first, to warm up. The remaining words reserve space for those of the children. Then the server forks a child for each
 * request on the socket that is its standard input. The parent of a child is the parent of the server.
 *
 * A request is one message: two 32-bit numbers, the counts of words and variables, then these texts, each with a zero at
 * its end. The three standard streams go with it. Each child reads the variables above anew.
 */
enum { FaultShimLongestRequest = 131072 };

/* Sends a request and returns the child's number, or a negative error number. */
int32_t fault_shim_request(int socket, const void *bytes, size_t count, const int32_t *streams);
/*
 * Waits until the server is ready, and returns the exit status of the warm-up or a negative error number: EBUSY if the
 * warm-up left another thread or an open descriptor.
 */
int32_t fault_shim_answer(int socket);

#endif
