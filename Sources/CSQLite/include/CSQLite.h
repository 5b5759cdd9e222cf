#ifndef CSQLITE_H
#define CSQLITE_H

/* Debian's library has the session extension; its header declares it only if this macro is defined. */
#ifndef SQLITE_ENABLE_SESSION
#define SQLITE_ENABLE_SESSION 1
#endif
#ifndef SQLITE_ENABLE_PREUPDATE_HOOK
#define SQLITE_ENABLE_PREUPDATE_HOOK 1
#endif

#include <sqlite3.h>
#include <stdint.h>

/*
 * Parts of SQLite that Swift's importer cannot see: variadic configuration calls, and reading and writing through
 * SQLite's own file handles. The latter opens and closes nothing, so no lock of SQLite's is released.
 */

/* A file of a connection. */
typedef enum CSQLiteFile {
    CSQLiteFileMain = 0,
    CSQLiteFileJournal = 1,
} CSQLiteFile;

/* The size in bytes, or a negative SQLite result code. */
int64_t csqlite_file_size(sqlite3 *connection, CSQLiteFile file);

/* Reads at most `count` bytes at `offset`; bytes beyond the end read as zero. Returns an SQLite result code;
 * SQLITE_IOERR_SHORT_READ if the file ended before. */
int csqlite_file_read(sqlite3 *connection, CSQLiteFile file, void *buffer, int count, int64_t offset);

/* Writes `count` bytes at `offset`. */
int csqlite_file_write(sqlite3 *connection, CSQLiteFile file, const void *buffer, int count, int64_t offset);

/* Flushes the file with fsync. */
int csqlite_file_sync(sqlite3 *connection, CSQLiteFile file);

/* True if the connection has a file of that kind open. */
int csqlite_file_is_open(sqlite3 *connection, CSQLiteFile file);

/* True if the name at which the main file was opened now refers to another file, or to none. */
int csqlite_has_moved(sqlite3 *connection);

/* The committed extent of the write-ahead log according to the WAL index: the number of frames that readers see, and
 * the log's salts. The file may contain later frames that are not in the index yet. Returns an SQLite result code;
 * SQLITE_BUSY if the index was being written, SQLITE_NOTFOUND if there is none. Source: "WAL-mode File Format",
 * section 2.1 "The WAL-Index Header", of SQLite's documentation. */
int csqlite_log_extent(sqlite3 *connection, uint32_t *frames, uint32_t salts[2]);

/* The WAL index's count of commits by all connections. It continues when the log restarts, and restarts when the index
 * is rebuilt. Results as above. */
int csqlite_log_commits(sqlite3 *connection, uint32_t *commits);

/* `sqlite3_db_config` of a Boolean setting: sets it (1, 0) or only reads it (-1), and returns its value; -1 if SQLite
 * does not have it. */
int csqlite_configure(sqlite3 *connection, int option, int value);

/* The name of the file system that every connection opens its files through. */
#define CSQLITE_FILE_SYSTEM "store-migrate"

/* The parameter of a URI for a connection that reads a store, including its write-ahead log, without a lock: `unlocked=1`.
 * It opens no file of the store for writing and has no `-shm`: its index of the log is in its own memory, and is made when
 * it begins to read. It shows one state for as long as no later commit overwrites frames of the log that existed then, and
 * no checkpoint writes frames of a later commit to the main file. Its caller must find out whether either happened. */
#define CSQLITE_UNLOCKED "unlocked"

/* Registers SQLite's own file system for Unix under that name, with two differences. CSQLITE_UNLOCKED is available. And a
 * file that a journal names as its super-journal is neither read nor deleted. SQLite would do both, and a user who may write
 * beside the store can name any file. A remaining super-journal is harmless: no journal refers to it any more, or its other
 * stores still need it.
 *
 * From then on SQLite also opens files for reading with O_NONBLOCK, and waits only for the holder of a lease. A FIFO in
 * place of a store opens at once and then fails, because it is not a file; regular files are not affected. This applies
 * to every connection of the process.
 *
 * Call it once. Returns an SQLite result code. Source: "OS Interface Object" of SQLite's documentation, and
 * `pager_delsuper` and `sqlite3PagerWalSupported` in SQLite's pager.c. */
int csqlite_register_file_system(void);

#endif
