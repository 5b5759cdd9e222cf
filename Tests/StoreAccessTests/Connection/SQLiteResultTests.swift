import CSQLite
import Glibc
import Testing

@testable import StoreAccess

@Suite("Errors for SQLite's result codes")
struct SQLiteResultTests {
    @Test(
        "Result codes of a full disk are reported as noSpace without the kernel's error",
        arguments: [
            (SQLITE_FULL, StoreError.Code.noSpace), (SQLiteResult.sharedMemorySize, .noSpace),
            (SQLiteResult.sharedMemoryOpening, .noSpace),
            (SQLITE_IOERR, .inputOutput), (SQLiteResult.shortRead, .inputOutput),
        ]
    )
    func fullDisk(_ code: Int32, _ meaning: StoreError.Code) {
        errno = 0
        #expect(SQLiteResult(code: code, detail: "").error(path: "/x").code == meaning)
    }

    @Test(
        "The kernel's last error decides if SQLite did not record it",
        arguments: [
            (SQLITE_IOERR | (4 << 8), ENOSPC, StoreError.Code.noSpace), (SQLITE_IOERR | (4 << 8), EIO, .inputOutput),
        ]
            + [
                (SQLITE_CANTOPEN, EDQUOT, .noSpace), (SQLITE_CANTOPEN, ENOENT, .unreadable),
                (SQLITE_BUSY, ENOSPC, .busy), (SQLITE_CANTOPEN, EMFILE, .tooManyOpenFiles),
                (SQLITE_CANTOPEN, ENFILE, .tooManyOpenFiles), (SQLITE_IOERR | (3 << 8), EPERM, .notWritable),
                (SQLITE_IOERR | (4 << 8), EROFS, .notWritable), (SQLiteResult.shortRead, EPERM, .inputOutput),
            ]
    )
    func kernelsWord(_ code: Int32, _ word: Int32, _ meaning: StoreError.Code) {
        errno = word
        let result = SQLiteResult(code: code, of: nil)
        #expect(result.error(path: "/x").code == meaning)
        errno = word
        let fileResult = SQLiteResult(code: code, detail: "")
        #expect(fileResult.error(path: "/x").code == meaning)
    }
}
