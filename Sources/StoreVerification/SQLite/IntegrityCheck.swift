package import StoreAccess

/// SQLite's own checks of one database, as findings.
struct IntegrityCheck {
    /// The number of lines that are reported for one check.
    private static let limit = 20
    /// The number of lines after which SQLite ends a check of one table.
    private static let limitOfSQLite = 100

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
        let nulls = ReportedNulls(connection)
        let (findings, refuted, lines) = try read(statement, table, nulls)
        guard refuted, !findings.contains(where: { $0.code == .pageDamage }),
            lines >= (table == nil ? Self.limit : Self.limitOfSQLite)
        else { return findings }
        // Refuted lines count against SQLite's limit and may hide others. A check of one table takes no limit.
        return try read("\(statement.prefix { $0 != "(" })(\(Int32.max))", nil, nulls).findings
    }

    /// The findings of one check, true if a line was refuted, and the number of SQLite's lines.
    private func read(
        _ statement: String,
        _ table: String?,
        _ nulls: ReportedNulls
    ) throws -> (findings: [Finding], refuted: Bool, lines: Int) {
        var (findings, refuted, lines): ([Finding], Bool, Int) = ([], false, 0)
        do {
            try connection.forEachRow(statement) { row in
                guard let line = row.text(0), line != "ok", findings.count < Self.limit else { return }
                lines += 1
                if try nulls.areRefuted(line) {
                    refuted = true
                } else {
                    findings.append(
                        Finding(Self.code(for: line), .error, level: .sqlite, Self.sentence(line), table: table)
                    )
                }
            }
        } catch let error as StoreError where error.code == .damaged {
            findings.append(Finding(.pageDamage, .error, level: .sqlite, error.message, table: table))
        }
        return (findings, refuted, lines)
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

/// The lines in which SQLite reports NULL in a column that must have a value.
///
/// SQLite 3.40 reports NULL in sound `WITHOUT ROWID` tables: it looks for a column at its place in the declaration, not
/// at its place in the record. A query finds the column, and so confirms or refutes such a line.
private final class ReportedNulls {
    private let connection: StoreConnection
    private var columns: [String: [(table: StoreSchema.Table, column: String)]]?
    private var answers: [String: Bool] = [:]

    init(_ connection: StoreConnection) {
        self.connection = connection
    }

    /// True if the line reports a NULL that no row has.
    func areRefuted(_ line: String) throws -> Bool {
        guard line.hasPrefix("NULL value in ") else { return false }
        if let known = answers[line] { return known }
        let candidates = try columnsByLine()[line] ?? []
        let answer =
            try !candidates.isEmpty
            && candidates.allSatisfy { table, column in
                // `typeof`, because SQLite assumes that IS NULL is false for a column declared NOT NULL.
                try table.isWithoutRowID
                    && connection.value(
                        "SELECT 1 FROM \(SQLName.quoted(table.name)) "
                            + "WHERE typeof(\(SQLName.quoted(column))) = 'null' LIMIT 1"
                    ) == nil
            }
        answers[line] = answer
        return answer
    }

    /// The columns that each line may mean: names that contain a dot make a line ambiguous.
    private func columnsByLine() throws -> [String: [(table: StoreSchema.Table, column: String)]] {
        if let columns { return columns }
        var found: [String: [(table: StoreSchema.Table, column: String)]] = [:]
        for table in try StoreSchema(reading: connection).tables {
            for column in table.columns {
                found["NULL value in \(table.name).\(column.name)", default: []].append((table, column.name))
            }
        }
        columns = found
        return found
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
