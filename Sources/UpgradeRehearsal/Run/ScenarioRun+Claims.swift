import FoundationEssentials
import ManagedObjects
import SafeFiles
import StoreAccess
import StoreFormat
import StoreVerification

extension ScenarioRun {
    private static let patience = Duration.seconds(5)

    /// Records a failure where an expectation is not met.
    func check(_ expectation: Expectation) {
        do {
            guard let (expected, found) = try discrepancy(expectation.claim) else { return }
            fail(expectation.title, expectation.position, expected: expected, found: found)
        } catch {
            fail(expectation.title, expectation.position, expected: "it can be checked", found: "\(error)")
        }
    }

    /// The expected and the actual result; nil when they are equal.
    private func discrepancy(_ claim: Expectation.Claim) throws -> (expected: String, found: String)? {
        switch claim {
        case .equal(let left, let right):
            return try digest(of: left) == digest(of: right) ? nil : ("equal content", "their contents differ")
        case .different(let left, let right):
            return try digest(of: left) != digest(of: right) ? nil : ("different content", "their contents are equal")
        case .sound(let store, let level, let finds): return try soundness(store, level, finds)
        case .count(let entity, let store, let predicate, let wanted):
            let wanted = replaced(wanted)
            let count = try count(of: entity, predicate, in: store)
            return "\(count)" == wanted ? nil : (wanted, "\(count)")
        case .values(let sql, let store, let wanted, let isList):
            let wanted = wanted.map { $0.map(replaced) ?? "null" }
            let values = try values(of: replaced(sql), in: store, onlyFirst: !isList)
            return values == wanted ? nil : (Self.text(wanted), Self.text(values))
        case .kind(let store, let wanted):
            let kind = try Self.kind(of: condition(of: store))
            return kind == wanted ? nil : (wanted.rawValue, kind.rawValue)
        case .fenced(let store, let wanted):
            let isFenced = try condition(of: store).inspection?.fence != nil
            return isFenced == wanted ? nil : (wanted ? "a fence" : "no fence", isFenced ? "a fence" : "no fence")
        case .present(let path): return try names(matching: path).isEmpty ? ("something", "nothing") : nil
        case .absent(let path):
            let names = try names(matching: path)
            return names.isEmpty ? nil : ("nothing", names.joined(separator: ", "))
        case .unchanged(let path, let mark):
            guard let before = mark.map({ marks[$0] }) ?? beginning else { return ("a mark", "it was not set") }
            let now = try PlaceSnapshot(of: place.directory)
            guard before.holds(path) else { return ("something was there before", "nothing was") }
            return now.difference(at: path, from: before).map { ("as before", "\($0) is not") }
        case .mode(let path, let wanted):
            let location = StoreLocation(path: place.absolute(path))
            let mode = try Directory.open(path: location.folder).status(of: location.name)?.mode
            let expected = String(wanted, radix: 8)
            return mode == wanted ? nil : (expected, mode.map { String($0, radix: 8) } ?? "nothing")
        }
    }

    // MARK: Stores

    private func digest(of store: String) throws -> String {
        try StoreReader(lockTimeout: Self.patience)
            .read(location(of: store)) { view in
                try StoreDigest(of: view.connection, externalData: view.externalData, monitor: .silent).value
            }
    }

    private func condition(of store: String) throws -> StoreCondition {
        try StoreInspector(depth: .layout, lockTimeout: Self.patience).inspect(location(of: store))
    }

    private static func kind(of condition: StoreCondition) -> Expectation.Kind {
        switch condition {
        case .absent: .absent
        case .emptyFile: .emptyFile
        case .orphanSidecar: .orphanSidecar
        case .unreadable: .unreadable
        case .store: .store
        }
    }

    private func soundness(
        _ store: String,
        _ level: VerificationLevel,
        _ wanted: [String]
    ) throws -> (expected: String, found: String)? {
        let report = try StoreVerifier(lockTimeout: Self.patience).verify(location(of: store), level: level)
        let codes = report.findings.map(\.code.rawValue)
        if let missing = wanted.first(where: { !codes.contains($0) }) {
            return ("the finding \(missing)", codes.isEmpty ? "none" : codes.joined(separator: ", "))
        }
        guard wanted.isEmpty else { return nil }
        let wrong = report.findings.filter { $0.severity >= .warning }
        guard let first = wrong.first else { return report.passed ? nil : ("a proof", "it is not passed") }
        return ("nothing wrong", "\(first.message) [\(first.code)]" + (wrong.count > 1 ? ", and more" : ""))
    }

    private func count(of entity: String, _ predicate: String?, in store: String) throws -> Int {
        var request = FetchRequest(entityName: entity)
        request.predicate = try predicate.map { try FetchPredicate(format: $0) }
        var count = 0
        try ObjectReader(lockTimeout: Self.patience)
            .forEachObject(request, in: location(of: store), describedBy: { _ in "" }, { _ in count += 1 })
        return count
    }

    private func values(of sql: String, in store: String, onlyFirst: Bool) throws -> [String] {
        try StoreReader(lockTimeout: Self.patience)
            .read(location(of: store)) { view in
                var values: [String] = []
                try view.connection.forEachRow(sql) { row in
                    if !onlyFirst || values.isEmpty { values.append(Self.text(row.value(0))) }
                }
                return values
            }
    }

    private static func text(_ value: SQLValue) -> String {
        switch value {
        case .null: "null"
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .text(let text): text.description
        case .blob(let bytes): bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        case .large(let value): "\(value.byteCount) bytes"
        }
    }

    private static func text(_ values: [String]) -> String {
        values.isEmpty ? "no row" : values.joined(separator: ", ")
    }

    /// A text in which the rounds of processes replace their names.
    private func replaced(_ text: String) -> String {
        Placeholders.replaced(in: text) { name in
            (processes[name]?.rounds ?? rounds[name]).map { "\($0)" }
        }
    }

    // MARK: Names

    /// The existing paths that match a pattern.
    private func names(matching pattern: String) throws -> [String] {
        var found = [""]
        for part in pattern.split(separator: "/") {
            found = try found.flatMap { folder in
                let path = folder.isEmpty ? place.path : place.absolute(folder)
                guard let directory = try? Directory.open(path: path) else { return [String]() }
                return try directory.entries { Self.matches($0[...], part) }.sorted()
                    .map { folder.isEmpty ? $0 : folder + "/" + $0 }
            }
        }
        return found
    }

    private static func matches(_ name: Substring, _ pattern: Substring) -> Bool {
        guard let first = pattern.first else { return name.isEmpty }
        if first == "*" {
            return matches(name, pattern.dropFirst()) || !name.isEmpty && matches(name.dropFirst(), pattern)
        }
        return name.first == first && matches(name.dropFirst(), pattern.dropFirst())
    }
}
