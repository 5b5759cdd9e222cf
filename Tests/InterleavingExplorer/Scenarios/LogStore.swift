import FaultSupport
import Foundation
package import SafeFiles
import TestSupport

/// The store of the scenarios: a table to which writers add pairs of rows.
///
/// One statement adds both rows of a pair, so that an odd number of rows is a torn state.
package struct LogStore: Sendable {
    package let journalMode: String
    private let bytes: [UInt8]

    /// Makes a store with one pair, closed and without sidecars.
    package init(journalMode: String) throws {
        self.journalMode = journalMode
        let temporary = try TemporaryDirectory(prefix: "interleavings")
        let path = temporary.directory.path + "/Log.sqlite"
        do {
            let store = try PlainStore(path)
            try store.execute(
                "PRAGMA journal_mode=\(journalMode); CREATE TABLE log (id INTEGER PRIMARY KEY, text TEXT);"
                    + Self.insertion(writer: 0, pair: 0)
            )
        }
        bytes = try temporary.directory.contents(of: "Log.sqlite", limit: 1 << 20)
    }

    /// Writes the store into a folder.
    package func write(to folder: Directory, as name: String) throws {
        let file = try folder.createFile(name, mode: 0o600)
        try bytes.withUnsafeBytes { try file.write($0, at: 0) }
        try file.close()
    }

    /// The rows that every schedule begins with.
    package static var firstRows: Set<Int64> { rows(writer: 0, pair: 0) }

    /// The rows of a pair.
    package static func rows(writer: Int, pair: Int) -> Set<Int64> {
        let first = Int64(writer * 1000 + pair * 2)
        return [first, first + 1]
    }

    /// The statement that adds a pair of rows.
    package static func insertion(writer: Int, pair: Int, into table: String = "log") -> String {
        let rows = rows(writer: writer, pair: pair).sorted()
        return "INSERT INTO \(table) VALUES (\(rows[0]), 'first'), (\(rows[1]), 'second')"
    }

    /// A program that executes statements on a store, one after the other.
    package static func program(_ name: String, on path: String, _ statements: [String]) -> Actor {
        Actor(name, Checkout.program("store-writer"), [path, "--statements"] + statements)
    }

    /// The answer that a program printed for each of its statements.
    static func answers(of actor: Actor, _ lines: [String]) -> [(statement: String, answer: String)] {
        Array(zip(actor.arguments.drop { $0 != "--statements" }.dropFirst(), lines))
    }

    /// The rows of all insertions that SQLite acknowledged.
    package static func acknowledgedRows(of actors: [Actor], _ run: Run) -> Set<Int64> {
        var rows = firstRows
        for (actor, lines) in zip(actors, run.outputs) {
            for (statement, answer) in answers(of: actor, lines) where answer == "ok" {
                rows.formUnion(insertedRows(statement))
            }
        }
        return rows
    }

    private static func insertedRows(_ statement: String) -> [Int64] {
        guard statement.hasPrefix("INSERT") else { return [] }
        return statement.matches(of: /\((\d+),/).compactMap { Int64($0.1) }
    }

    /// The rows of a store, read without its indexes.
    package static func rows(_ path: String) throws -> [Int64] {
        try PlainStore(path).rows("SELECT id FROM log NOT INDEXED").compactMap { Int64($0.dropFirst()) }
    }

    /// What is wrong with a store that must contain these rows, or these alone.
    package static func objections(
        to path: String,
        _ name: String,
        holding expected: Set<Int64>,
        alone: Bool = false
    ) -> [String] {
        do {
            let rows = try rows(path)
            let lost = expected.subtracting(rows).sorted()
            var objections: [String] = []
            if !lost.isEmpty { objections.append("\(name) lacks the acknowledged rows \(lost)") }
            if alone, !expected.isSuperset(of: rows) { objections.append("\(name) has rows that no program wrote") }
            if Set(rows).count < rows.count { objections.append("\(name) has a row twice") }
            if rows.count % 2 == 1 { objections.append("\(name) has half a transaction") }
            // The text ok, as PlainStore writes it.
            let check = try PlainStore(path).rows("PRAGMA integrity_check")
            if check != ["t6f,6b"] { objections.append("\(name) is damaged") }
            return objections
        } catch {
            return ["\(name) cannot be read: \(error)"]
        }
    }

    /// What is wrong with what the programs saw: half a transaction, an unexpected error, or a signal.
    package static func objections(to actors: [Actor], _ run: Run, permitting permitted: [Int] = [5, 19]) -> [String] {
        var objections: [String] = []
        for (number, actor) in actors.enumerated() {
            if case .killed(let signal) = run.endings[number] {
                objections.append("\(actor.name) ended by signal \(signal)")
            }
            for (statement, answer) in answers(of: actor, run.outputs[number]) {
                let words = answer.split(separator: " ")
                if words.first == "error", let code = words.dropFirst().first.flatMap({ Int($0) }),
                    !permitted.contains(code & 0xFF)
                {
                    objections.append("\(actor.name), \(statement): \(answer)")
                }
                if words.first == "value", statement.hasPrefix("SELECT count(*)"),
                    let count = words.dropFirst().first.flatMap({ Int($0) }), count % 2 == 1
                {
                    objections.append("\(actor.name) saw half a transaction: \(answer)")
                }
            }
        }
        return objections
    }
}
