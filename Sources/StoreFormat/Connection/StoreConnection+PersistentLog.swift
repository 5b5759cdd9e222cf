internal import CSQLite

extension StoreConnection {
    /// Keeps the write-ahead log on disk after the last connection is closed, for readers that cannot create one.
    package func keepLog() throws(StoreError) {
        var flag: Int32 = 1
        let code = sqlite3_file_control(try openHandle(), "main", SQLITE_FCNTL_PERSIST_WAL, &flag)
        guard code == SQLITE_OK else {
            throw StoreError(.failed, path: location.path, "cannot keep the write-ahead log on disk")
        }
    }

    /// True if the write-ahead log stays on disk after the last connection is closed.
    package func keepsLog() throws(StoreError) -> Bool {
        // A negative value only reads the setting.
        var flag: Int32 = -1
        let code = sqlite3_file_control(try openHandle(), "main", SQLITE_FCNTL_PERSIST_WAL, &flag)
        return code == SQLITE_OK && flag == 1
    }
}
