package import StoreAccess

/// The checks of virtual tables for the trees in their shadow tables.
struct VirtualTableCheck {
    private let connection: StoreConnection

    init(_ connection: StoreConnection) {
        self.connection = connection
    }

    func findings(of table: String, module: String) throws -> [Finding] {
        switch module.lowercased() {
        case "rtree", "rtree_i32", "geopoly": try spatialFindings(of: table)
        case "fts3", "fts4", "fts5": try textFindings(of: table)
        default: [unproved(table, "its module \(module) has no check")]
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

extension Finding.Code {
    /// The tree in a virtual table's shadow tables is damaged.
    package static let virtualTableDamaged = Self(rawValue: "virtualTableDamaged")
    /// A part of the store could not be checked.
    package static let notProved = Self(rawValue: "notProved")
}
