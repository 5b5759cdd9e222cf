#ifndef CARCHIVE_H
#define CARCHIVE_H

#include <archive.h>
#include <archive_entry.h>
#include <stdint.h>

/*
 * What Swift's importer cannot see of libarchive, and calls that convert names: libarchive does that by the calling
 * thread's locale, and a library of ours never sets that of the process. Names are UTF-8 on both sides.
 */

/* Describes a regular file with fixed rights, times and owners. */
void carchive_describe(struct archive_entry *entry, const char *name, int64_t size);

int carchive_write_header(struct archive *archive, struct archive_entry *entry);
int carchive_write_close(struct archive *archive);
int carchive_next_header(struct archive *archive, struct archive_entry **entry);

/* The entry's name as UTF-8; NULL when it is none. */
const char *carchive_name(struct archive_entry *entry);

/* True for a plain regular file: no link of either kind, no device, no holes, no access list, no extended attribute, no
 * flags, none of the set-id bits and nothing encrypted. */
int carchive_is_plain(struct archive_entry *entry);

/* The size that the header tells; negative when it tells none. */
int64_t carchive_size(struct archive_entry *entry);

#endif
