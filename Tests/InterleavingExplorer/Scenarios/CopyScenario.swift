package import SafeFiles

/// A migrator of a few SQL statements beside a writer: it copies the rows, and makes the old store refuse writes.
///
/// With one lock for both it is correct; without, a row that is committed between the two is only in the old store. This is a
/// known mistake, which a harness must find.
package struct CopyScenario: Scenario {
    package let name: String
    private let holdsLock: Bool
    private let writers: Int
    private let pairs: Int
    private let store: LogStore

    package init(holdsLock: Bool, journalMode: String, writers: Int = 2, pairs: Int = 2) throws {
        // A recorded schedule names its scenario, so each has a name of its own.
        name = "copy-\(holdsLock ? "with" : "without")-lock-\(journalMode)-\(writers)-\(pairs)"
        self.holdsLock = holdsLock
        self.writers = writers
        self.pairs = pairs
        store = try LogStore(journalMode: journalMode)
    }

    package func actors(_ root: String) -> [Actor] {
        let writers = (1...writers)
            .map { writer in
                let insertions = (1...pairs).map { LogStore.insertion(writer: writer, pair: $0) }
                return LogStore.program("writer \(writer)", on: root + "/Log.sqlite", insertions)
            }
        let copy = [
            "CREATE TABLE new.log (id INTEGER PRIMARY KEY, text TEXT)", "INSERT INTO new.log SELECT * FROM main.log",
        ]
        let fence =
            "CREATE TRIGGER main.fence BEFORE INSERT ON log BEGIN SELECT RAISE(ABORT, 'the store was moved'); END"
        let work = holdsLock ? ["BEGIN IMMEDIATE"] + copy + [fence, "COMMIT"] : copy + [fence]
        let attached = ["ATTACH '\(root)/New.sqlite' AS new"] + work
        return writers + [LogStore.program("migrator", on: root + "/Log.sqlite", attached)]
    }

    package func prepare(_ root: Directory) throws { try store.write(to: root, as: "Log.sqlite") }

    package func objections(to run: Run, in root: Directory) throws -> [String] {
        let actors = actors(root.path)
        let general = LogStore.objections(to: actors, run)
        // A migrator that met a lock ends without a result, which is no rule of this scenario.
        guard let answers = run.outputs.last, answers.allSatisfy({ $0 == "ok" || $0.hasPrefix("value") }) else {
            return general
        }
        let acknowledged = LogStore.acknowledgedRows(of: actors, run)
        return general + LogStore.objections(to: root.path + "/New.sqlite", "the new store", holding: acknowledged)
    }
}
