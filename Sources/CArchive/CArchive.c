#include "CArchive.h"

#include <locale.h>
#include <pthread.h>
#include <stddef.h>

static locale_t utf8;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_locale(void) { utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0); }

static locale_t enter(void) {
    pthread_once(&once, make_locale);
    return utf8 == (locale_t)0 ? (locale_t)0 : uselocale(utf8);
}

static void leave(locale_t former) {
    if (former != (locale_t)0) uselocale(former);
}

void carchive_describe(struct archive_entry *entry, const char *name, int64_t size) {
    locale_t former = enter();
    archive_entry_clear(entry);
    archive_entry_set_pathname(entry, name);
    archive_entry_set_size(entry, size);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0600);
    archive_entry_set_mtime(entry, 0, 0);
    archive_entry_set_uid(entry, 0);
    archive_entry_set_gid(entry, 0);
    leave(former);
}

int carchive_write_header(struct archive *archive, struct archive_entry *entry) {
    locale_t former = enter();
    int result = archive_write_header(archive, entry);
    leave(former);
    return result;
}

int carchive_write_close(struct archive *archive) {
    locale_t former = enter();
    int result = archive_write_close(archive);
    leave(former);
    return result;
}

int carchive_next_header(struct archive *archive, struct archive_entry **entry) {
    locale_t former = enter();
    int result = archive_read_next_header(archive, entry);
    leave(former);
    return result;
}

const char *carchive_name(struct archive_entry *entry) {
    locale_t former = enter();
    const char *name = archive_entry_pathname_utf8(entry);
    leave(former);
    return name;
}

int carchive_is_plain(struct archive_entry *entry) {
    locale_t former = enter();
    unsigned long set = 0, clear = 0;
    archive_entry_fflags(entry, &set, &clear);
    int result = archive_entry_filetype(entry) == AE_IFREG && archive_entry_hardlink(entry) == NULL
        && archive_entry_symlink(entry) == NULL && archive_entry_sparse_count(entry) == 0
        && archive_entry_acl_types(entry) == 0 && archive_entry_xattr_count(entry) == 0 && set == 0 && clear == 0
        && (archive_entry_perm(entry) & 07000) == 0 && !archive_entry_is_encrypted(entry);
    leave(former);
    return result;
}

int64_t carchive_size(struct archive_entry *entry) {
    return archive_entry_size_is_set(entry) ? archive_entry_size(entry) : -1;
}
