import SafeFiles
import StoreFixtures

/// A recipe, which is YAML: read, but not built, since building may take too long.
final class RecipeTarget: FuzzTarget {
    static let name = "recipe"
    static let mostBytes = 8 << 10
    static let words = [
        "about:", "seed:", "options:", "model:", "entities:", "attributes:", "relationships:", "saves:", "insert:",
        "update:", "delete:", "damage:", "sql:", "statement:", "repeat:", "values:", "start:", "step:", "cycle:",
        "fill:",
        "bytes:", "parent:", "abstract:", "true", "~", "&a", "*a", "<<:", "!!binary", "!!str", "? ", ": ", "- ", "|",
        ">-",
        "---", "...", "%YAML 1.1", "2026-03-01T00:00:00Z", "1_000", "0x7fffffffffffffff", "-9223372036854775808",
        "1e400",
    ]

    init(in folder: Directory) throws {}

    static func seeds(from source: SeedSource) throws -> [[UInt8]] {
        let alias = "seed: &a x\nsql: [*a, {statement: *a, repeat: 2}]\ndamage: []\n"
        return [Array(alias.utf8)] + (try source.recipes().map { Array($0.text.utf8) })
    }

    func run(_ bytes: [UInt8]) throws {
        guard let text = String(validating: bytes, as: UTF8.self) else { return }
        _ = try RecipeReader.recipe(from: text)
    }
}
