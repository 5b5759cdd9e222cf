#ifndef CARCHIVE_H
#define CARCHIVE_H

#include <archive.h>
#include <archive_entry.h>
#include <stdint.h>

/*
 * Parts of libarchive that Swift's importer cannot see, and functions that convert names. libarchive converts them by
 * the calling thread's locale, and a library must not set the process's locale. Names are UTF-8 on both sides.
 */

/* Describes a regular file with fixed rights, times and owners. */
void carchive_describe(struct archive_entry *entry, const char *name, int64_t size);

int carchive_write_header(struct archive *archive, struct archive_entry *entry);
int carchive_write_close(struct archive *archive);
int carchive_next_header(struct archive *archive, struct archive_entry **entry);

/* The entry's name as UTF-8; NULL if it is not valid UTF-8. */
const char *carchive_name(struct archive_entry *entry);

/* True for a plain regular file: no link of either kind, no device, no holes, no access list, no extended attribute,
 * no flags, no set-id bits and no encryption. */
int carchive_is_plain(struct archive_entry *entry);

/* The size in the header; negative if the header has none. */
int64_t carchive_size(struct archive_entry *entry);

#endif
