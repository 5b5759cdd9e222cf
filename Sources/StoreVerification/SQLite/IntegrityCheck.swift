package import StoreFormat

/// SQLite's own checks of one database, as findings.
struct IntegrityCheck {
    /// The number of lines that are reported for one check.
    private static let limit = 20

    private let connection: StoreConnection

    init(_ connection: StoreConnection) {
        self.connection = connection
    }

    /// Checks pages, records and constraints of the whole database, but not the content of indexes.
    func quickFindings() throws -> [Finding] {
        do {
            return try findings("PRAGMA quick_check(\(Self.limit))", table: nil)
        } catch let error as StoreError where error.code == .lacksDefinition {
            // A table that cannot be checked must not prevent the check of the others.
            return try StoreSchema(reading: connection).tables.filter(\.holdsRows)
                .flatMap { table in
                    try unlessDefinitionIsMissing(table.name) {
                        try findings("PRAGMA quick_check(\(SQLName.quoted(table.name)))", table: table.name)
                    }
                }
        }
    }

    private func unlessDefinitionIsMissing(_ table: String, _ check: () throws -> [Finding]) throws -> [Finding] {
        do {
            return try check()
        } catch let error as StoreError where error.code == .lacksDefinition {
            return [
                Finding(
                    .notProved,
                    .info,
                    level: .sqlite,
                    "the table and its indexes are not proved: \(error.message)",
                    table: table
                )
            ]
        }
    }

    /// Checks one table with all its indexes.
    func findings(of table: String) throws -> [Finding] {
        try unlessDefinitionIsMissing(table) {
            try findings("PRAGMA integrity_check(\(SQLName.quoted(table)))", table: table)
        }
    }

    private func findings(_ statement: String, table: String?) throws -> [Finding] {
        var findings: [Finding] = []
        do {
            try connection.forEachRow(statement) { row in
                guard let line = row.text(0), line != "ok", findings.count < Self.limit else { return }
                findings.append(
                    Finding(Self.code(for: line), .error, level: .sqlite, Self.sentence(line), table: table)
                )
            }
        } catch let error as StoreError where error.code == .damaged {
            findings.append(Finding(.pageDamage, .error, level: .sqlite, error.message, table: table))
        }
        return findings
    }

    /// The code of a line: SQLite's lines about rows and indexes name them, all others concern pages.
    private static func code(for line: String) -> Finding.Code {
        if line.contains(" missing from index ") || line.contains("entries in index") { return .indexDiffers }
        if line.contains("non-unique entry in index") { return .uniqueIndexRepeatsKey }
        if line.contains("NULL value in") || line.contains("CHECK constraint failed") || line.contains("value in ") {
            return .constraintBroken
        }
        return .pageDamage
    }

    private static func sentence(_ line: String) -> String {
        "SQLite reports: " + line.split(whereSeparator: \.isNewline).joined(separator: "; ")
    }
}

extension Finding.Code {
    /// A page, a record or the list of free pages is damaged.
    package static let pageDamage = Self(rawValue: "pageDamage")
    /// A row breaks a constraint that its own table declares.
    package static let constraintBroken = Self(rawValue: "constraintBroken")

    /// True for damage that a copy must never have, not even when its source has it.
    var isDamage: Bool { self == .pageDamage || self == .fileTooShort }
}
