import Foundation

/// A failing walk as a scenario of `store-migrate rehearse`, where its steps can be expressed as one.
package enum WalkScenario {
    private static let names = ["a", "b", "c"]

    /// The scenario; nil where the walk has kills at file calls, live writers, programs that decide or Core Data stores, or nothing to expect.
    package static func text(of result: Walk.Result) -> String? {
        guard let broken = result.violations.first, !result.setting.shape.isCoreData,
            let expectation = expectation(of: broken, in: result)
        else { return nil }
        var lines = [
            "about: A walk broke the rule \(broken.rule).", "stores:",
        ]
        for (name, path) in zip(names, result.setting.paths) { lines.append("  \(name): {at: \(path)}") }
        lines += ["files: {backups/: {}, d/: {}}", "steps:"]
        for record in result.records {
            guard let text = step(record, result.setting) else { return nil }
            lines.append("  - " + text)
        }
        return (lines + ["holds:", "  - " + expectation]).joined(separator: "\n")
    }

    private static func step(_ record: WalkWorld.Record, _ setting: WalkWorld.Setting) -> String? {
        switch record {
        case .made(let place):
            let statements = setting.shape.schema.components(separatedBy: ";\n").joined(separator: "; ")
            return "make: {store: \(names[place]), recipe: {about: a walk's store, seed: walk, options: "
                + "{journalMode: \(setting.journalMode == "wal" ? "wal" : "rollback")}, sql: [\(quoted(statements))]}}"
        case .wrote(let place, let sql): return "write: {in: \(names[place]), sql: \(quoted(sql))}"
        case .copied(let from, let to):
            return "files: {\(setting.paths[to]): {copy: \(setting.paths[from])}}"
        case .removedSnapshot: return "files: {\(WalkWorld.snapshotName): {remove: true}}"
        case .ran(let words, _) where words.contains { $0.contains("/bases") || $0.contains("/programs") }: return nil
        case .ran(let words, let status):
            return "\(words[0]): [\(words.dropFirst().map(quoted).joined(separator: ", "))]"
                + "\n    ends: {status: \(status)}"
        case .other: return nil
        }
    }

    /// The final claim as a query, where the rule concerns one row in one store.
    private static func expectation(of broken: WalkWorld.Violation, in result: Walk.Result) -> String? {
        let text = broken.text
        guard let token = text.firstMatch(of: /v[0-9]{6}/)?.output,
            let place = result.setting.paths.lastIndex(where: { text.contains($0) }),
            let table = result.table(of: String(token))
        else { return nil }
        let tokens = text.matches(of: /v[0-9]{6}/).map { "'\($0.output)'" }.joined(separator: ", ")
        return "{sql: \"SELECT count(*) FROM \(table) WHERE token IN (\(tokens))\", in: \(names[place]), is: 1}"
    }

    private static func quoted(_ text: String) -> String {
        let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: " ")
        return "\"" + escaped + "\""
    }
}
