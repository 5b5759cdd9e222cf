package import SafeFiles

/// Two programs that write to one store in WAL mode and checkpoint it, with SQLite alone.
///
/// The versions 3.7.0 to 3.51.2 of SQLite lose rows in some schedules ("the WAL-reset bug"): a checkpoint has copied the whole
/// log; a second one reads the log's header, and before it reads how much was copied, the other program commits, which begins
/// the log anew. The second checkpoint then records more frames as copied than the log has, and later commits that end at that
/// number are never copied.
package struct WalResetScenario: Scenario {
    package let name = "wal-reset"
    private let store: LogStore

    package init() throws { store = try LogStore(journalMode: "wal") }

    package func actors(_ root: String) -> [Actor] {
        (1...2)
            .map { writer in
                let insertions = (1...12).map { LogStore.insertion(writer: writer, pair: $0) }
                return LogStore.program(
                    "writer \(writer)",
                    on: root + "/Log.sqlite",
                    ["PRAGMA wal_autocheckpoint=1"] + insertions
                )
            }
    }

    package func prepare(_ root: Directory) throws { try store.write(to: root, as: "Log.sqlite") }

    package func objections(to run: Run, in root: Directory) throws -> [String] {
        let actors = actors(root.path)
        return LogStore.objections(to: actors, run)
            + LogStore.objections(
                to: root.path + "/Log.sqlite",
                "the store",
                holding: LogStore.acknowledgedRows(of: actors, run)
            )
    }
}
