#ifndef CFAULTRECORDER_H
#define CFAULTRECORDER_H

#include "CFaultShim.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

#pragma GCC visibility push(hidden)

/* A change that is about to be made: the former state, kept until the result of the call is known. */
struct note {
    bool is_active;
    FaultShimRecord record;
    char name[256];
    char other_name[256];
};

/* Reads the environment; `root` is the folder below which changes are recorded. */
void recorder_prepare(const char *root);

/* True if a program under test sees other inode numbers than its files have. */
bool recorder_translates(void);
void recorder_translate(struct stat *status);
struct statx;
void recorder_translate_statx(struct statx *status);

/* Reads the environment: once before main, and again in each child of the server. */
void shim_prepare(void);

/* Writes the path of a descriptor; false if it is unknown. */
bool path_of_descriptor(int descriptor, char *path);

/* Each acquires the lock that orders the changes of all threads and processes; its end releases the lock. */
struct note note_descriptor(FaultShimChange change, int descriptor);
struct note note_name(FaultShimChange change, int directory, const char *path);
struct note note_names(FaultShimChange change, int directory, const char *path, int other_directory, const char *other);
struct note note_opening(int flags, int directory, const char *path);

/* Each writes the record if the change was made. The changed file is inspected by its descriptor or by its name. */
void note_end_descriptor(struct note *note, bool is_made, int descriptor);
void note_end_name(struct note *note, bool is_made, int directory, const char *path);
void note_end_opening(struct note *note, int flags, int descriptor);
/* An offset of -1 denotes the bytes just before the descriptor's position. */
void note_end_write(struct note *note, int descriptor, const struct iovec *parts, ssize_t count, int64_t offset);
/* The bytes came from another file, and are read from there again. */
void note_end_copy(struct note *note, int descriptor, int64_t offset, int source, int64_t from, ssize_t count);

#pragma GCC visibility pop

#endif
