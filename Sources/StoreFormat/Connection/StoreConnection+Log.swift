extension StoreConnection {
    /// Folds the write-ahead log into the main file and leaves rollback-journal mode behind, without a sidecar.
    ///
    /// Only for a store of which this connection is the sole opener: a checkpoint under other writers is not safe with
    /// the SQLite releases before 3.51.3.
    package func foldLogIn() throws {
        guard try value("PRAGMA journal_mode=DELETE")?.text == "delete" else {
            throw StoreError(.busy, path: location.path, "another process has the store open")
        }
    }
}
