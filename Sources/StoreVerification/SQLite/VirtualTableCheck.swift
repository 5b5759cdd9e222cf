package import StoreAccess

/// The checks of virtual tables for the trees in their shadow tables.
struct VirtualTableCheck {
    private static let textModules = ["fts3", "fts4", "fts5"]

    private let connection: StoreConnection

    init(_ connection: StoreConnection) {
        self.connection = connection
    }

    func findings(of table: String, module: String) throws -> [Finding] {
        switch module.lowercased() {
        case "rtree", "rtree_i32", "geopoly": try spatialFindings(of: table)
        case let module where Self.textModules.contains(module): try textFindings(of: table)
        default: [unproved(table, "its module \(module) has no check")]
        }
    }

    /// True unless the tables are known to include no full-text index, which is checked only in a copy.
    static func mayNeedCopy(_ connection: StoreConnection) -> Bool {
        guard let schema = try? StoreSchema(reading: connection) else { return true }
        return schema.tables.contains { table in
            if case .virtual(let module) = table.kind { textModules.contains(module.lowercased()) } else { false }
        }
    }

    private func spatialFindings(of table: String) throws -> [Finding] {
        let verdict: SQLValue?
        do {
            verdict = try connection.value("SELECT rtreecheck('main', ?)", [.text(table)])
        } catch let error as StoreError where [.failed, .lacksDefinition].contains(error.code) {
            return [unproved(table, "this SQLite lacks its module")]
        }
        guard let lines = verdict?.text, lines != "ok" else { return [] }
        let sentence = lines.split(whereSeparator: \.isNewline).prefix(5).joined(separator: "; ")
        return [
            Finding(
                .virtualTableDamaged,
                .error,
                level: .sqlite,
                "the spatial index is wrong: \(sentence)",
                table: table
            )
        ]
    }

    /// The check of a full-text index is a statement that writes, so it is never run on a live store.
    private func textFindings(of table: String) throws -> [Finding] {
        guard connection.access.isPrivate else {
            return [unproved(table, "a full-text index is only checked on a copy")]
        }
        let name = SQLName.quoted(table)
        let statement = "INSERT INTO \(name)(\(name)) VALUES('integrity-check')"
        do {
            try connection.execute("SAVEPOINT proof")
            let outcome = Result { () throws(StoreError) in try connection.execute(statement) }
            try connection.execute("ROLLBACK TO proof; RELEASE proof")
            try outcome.get()
        } catch {
            guard error.code == .damaged else {
                guard [.failed, .lacksDefinition].contains(error.code) else { throw error }
                return [unproved(table, "this SQLite lacks its module")]
            }
            return [
                Finding(
                    .virtualTableDamaged,
                    .error,
                    level: .sqlite,
                    "the full-text index does not match its table",
                    table: table
                )
            ]
        }
        return []
    }

    private func unproved(_ table: String, _ reason: String) -> Finding {
        Finding(.notProved, .info, level: .sqlite, "the virtual table was not checked: \(reason)", table: table)
    }
}

extension StoreReader {
    private struct NeedsCopy: Error {}

    /// Calls `body` with a view in which all levels up to `level` can be proved; `body` must have no effect but its result.
    ///
    /// As ``read(_:_:)``, but a store with a log and a full-text index, which the level `sqlite` checks, is read from a private
    /// copy.
    package func readForProof<R>(
        _ location: StoreLocation,
        upTo level: VerificationLevel,
        _ body: (StoreView) throws -> R
    ) throws -> R {
        do {
            return try read(location) { view in
                if level >= .sqlite, view.kind == .unlocked, VirtualTableCheck.mayNeedCopy(view.connection) {
                    throw NeedsCopy()
                }
                return try body(view)
            }
        } catch is NeedsCopy {
            return try withView(of: location, body)
        }
    }
}

extension Finding.Code {
    /// The tree in a virtual table's shadow tables is damaged.
    package static let virtualTableDamaged = Self(rawValue: "virtualTableDamaged")
    /// A part of the store could not be checked.
    package static let notProved = Self(rawValue: "notProved")
}
