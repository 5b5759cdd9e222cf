#ifndef CFAULTSHIM_H
#define CFAULTSHIM_H

#include <stdint.h>

/*
 * A library to be preloaded into a program under test. It counts the file calls that the program makes below one folder,
 * and harms the n-th of them: the process is killed before or after it, or the call fails, or moves less than it should.
 *
 * It is controlled by environment variables:
 *
 *   FAULT_SHIM_ROOT    the folder; calls on anything else are neither counted nor harmed
 *   FAULT_SHIM_REPORT  a file of at least sizeof(FaultShimReport) bytes, outside of the folder, to report to
 *   FAULT_SHIM_AT      the number of the call to harm, from 0
 *   FAULT_SHIM_FAULT   what happens to it: a FaultShimFault
 *   FAULT_SHIM_KINDS   optional: a mask of kinds, as 1 << kind; then every call of these kinds from FAULT_SHIM_AT on is
 *                      harmed, as it is when a disk is full or broken and stays so
 *   FAULT_SHIM_ONCE    optional, with FAULT_SHIM_KINDS: of these calls the next one after a harmed one is left alone, so
 *                      that each is harmed once if whoever makes it tries again
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
} FaultShimFault;

/* The offset of `kinds` is here for Swift, which cannot see so long an array. */
enum { FaultShimReportCapacity = 60000, FaultShimReportKindsOffset = 1064 };

/* What a run left in the report file, whatever end it took. */
typedef struct FaultShimReport {
    /* How many calls were made; those beyond the capacity are counted and not described. */
    uint32_t count;
    /* How many calls were harmed. */
    uint32_t harmed;
    /* The name of the function and the path of the first call that was harmed, each ended by a zero. */
    char function[32];
    char path[1024];
    /* The kind of each call. */
    uint8_t kinds[FaultShimReportCapacity];
} FaultShimReport;

#endif
