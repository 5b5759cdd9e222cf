import SafeFiles
import UpgradeRehearsal

/// A scenario, which is YAML: read, with the recipes that it names, but not run.
final class ScenarioTarget: FuzzTarget {
    static let name = "scenario"
    static let mostBytes = 8 << 10
    static let words = [
        "about:", "story:", "deadline:", "stores:", "files:", "steps:", "holds:", "at:", "recipe:", "file:", "make:",
        "write:", "save:", "start:", "stop:", "kill:", "check:", "mark:", "together:", "share:", "inspect:", "verify:",
        "backup:", "restore:", "retire:", "killed:", "interrupted:", "meanwhile:", "fails:", "environment:", "as:",
        "call:", "nth:", "with:", "in:", "is:", "sql:", "by:", "refused:", "insert:", "entity:", "values:", "repeat:",
        "process:", "opens:", "repeats:", "after:", "ends:", "status:", "outcome:", "finds:", "findsNot:", "says:",
        "summary:", "equal:", "sound:", "count:", "fenced:", "present:", "unchanged:", "since:", "mode:", "bytes:",
        "fill:", "move:", "hardLink:", "truncate:", "flip:", "{place}", "{n}", "nobody", "2+", "500ms", "\"0640\"",
        "EIO", "~", "&a", "*a", "<<:", "? ", "- ", "|", ">-", "---", "../", "\"\\0\"", "9223372036854775807",
    ]
    /// The path of the scenario.
    ///
    /// It is in `Fixtures`, so that the recipes that the seeds name are found. The file does not exist and is never written.
    private static let path = "Fixtures/Scenarios/fuzzed/scenario.yaml"

    init(in folder: Directory) throws {}

    static func seeds(from source: SeedSource) throws -> [[UInt8]] {
        // Steps of every kind, nested in other steps.
        let nested = """
            about: nested
            stores: {old: {at: a/old.sqlite, recipe: {seed: x, sql: [CREATE TABLE t (a)]}}, new: {at: b/new.sqlite}}
            steps:
              - share: [old, new]
                meanwhile: [{at: copying, steps: [{share: [old, new], meanwhile: [{at: proving, steps: [{mark: m}]}]}]}]
              - together: [{inspect: [old]}, {inspect: [new]}]
            holds: [{unchanged: a/old.sqlite, since: m}]
            """
        return [Array(nested.utf8)] + (try source.scenarios())
    }

    func run(_ bytes: [UInt8]) throws {
        guard let text = String(validating: bytes, as: UTF8.self) else { return }
        do {
            _ = try Scenario(yaml: text, name: "fuzzed", path: Self.path)
        } catch let error as ScenarioError {
            // An error about this text, not about a recipe in another file, must have a position.
            guard error.path == Self.path else { throw error }
            guard (error.line ?? 1) > 0, (error.column ?? 1) > 0, (error.line == nil) == (error.column == nil) else {
                Fuzzing.fail("a mistake is reported without a position: \(error)")
            }
            throw error
        } catch {
            // Errors of recipes and files are documented for other targets, but not for this reader.
            Fuzzing.fail("a scenario is refused with \(type(of: error)): \(error)")
        }
    }
}
