import CSQLite
import Testing

@testable import StoreFormat

@Suite("What SQLite's results mean")
struct SQLiteResultTests {
    @Test(
        "A full disk is told as one, also by those who do not ask the kernel",
        arguments: [
            (SQLITE_FULL, StoreError.Code.noSpace), (SQLiteResult.sharedMemorySize, .noSpace),
            (SQLITE_IOERR, .inputOutput), (SQLiteResult.shortRead, .inputOutput),
        ]
    )
    func fullDisk(_ code: Int32, _ meaning: StoreError.Code) {
        #expect(SQLiteResult(code: code, detail: "").error(path: "/x").code == meaning)
    }
}
