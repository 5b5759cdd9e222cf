#ifndef CSQLITE_H
#define CSQLITE_H

/* The session extension is in Debian's library; its header shows it only to those who ask. */
#ifndef SQLITE_ENABLE_SESSION
#define SQLITE_ENABLE_SESSION 1
#endif
#ifndef SQLITE_ENABLE_PREUPDATE_HOOK
#define SQLITE_ENABLE_PREUPDATE_HOOK 1
#endif

#include <sqlite3.h>
#include <stdint.h>

/*
 * What Swift's importer cannot see of SQLite: its variadic configuration calls, and reading and writing through the
 * file handles that SQLite itself holds. The latter opens and closes nothing, so no lock of SQLite's is dropped.
 */

/* Which file of a connection is meant. */
typedef enum CSQLiteFile {
    CSQLiteFileMain = 0,
    CSQLiteFileJournal = 1,
} CSQLiteFile;

/* The size in bytes, or a negative SQLite result code. */
int64_t csqlite_file_size(sqlite3 *connection, CSQLiteFile file);

/* Reads at most `count` bytes at `offset`; bytes beyond the end read as zero. Returns an SQLite result code;
 * SQLITE_IOERR_SHORT_READ when the file ended before. */
int csqlite_file_read(sqlite3 *connection, CSQLiteFile file, void *buffer, int count, int64_t offset);

/* Writes `count` bytes at `offset`. */
int csqlite_file_write(sqlite3 *connection, CSQLiteFile file, const void *buffer, int count, int64_t offset);

/* Makes what was written durable. */
int csqlite_file_sync(sqlite3 *connection, CSQLiteFile file);

/* True when the connection holds an open file of that kind. */
int csqlite_file_is_open(sqlite3 *connection, CSQLiteFile file);

/* True when the name at which the main file was opened now names another file, or none. */
int csqlite_has_moved(sqlite3 *connection);

/* How far the shared index says the write-ahead log reaches: the number of frames that are committed for readers, and the
 * log's salts. Frames can lie in the file that the index does not speak of yet. Returns an SQLite result code;
 * SQLITE_BUSY when the index was being written, SQLITE_NOTFOUND when there is none.
 * Source: "WAL-mode File Format", section 2.1 "The WAL-Index Header", of SQLite's documentation. */
int csqlite_log_extent(sqlite3 *connection, uint32_t *frames, uint32_t salts[2]);

/* The shared index's count of commits to the log, by anybody; it goes on when the log begins anew, and begins anew itself
 * when the index does. Results as above. */
int csqlite_log_commits(sqlite3 *connection, uint32_t *commits);

/* `sqlite3_db_config` of a setting that is on or off: sets it (1, 0) or leaves it (-1), and returns what it is then; -1
 * when SQLite does not have it. */
int csqlite_configure(sqlite3 *connection, int option, int value);

/* From now on SQLite opens a file for reading without waiting for anybody but the holder of a lease: a FIFO that somebody
 * puts into a store's place opens at once, and then fails as what is no file. Nothing else changes, for a file nothing at
 * all. Holds for every connection of the process. Returns an SQLite result code.
 * Source: `xSetSystemCall` in "OS Interface Object" of SQLite's documentation. */
int csqlite_open_without_waiting(void);

#endif
