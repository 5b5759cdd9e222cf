import NearNames
import StoreFormat

/// A mapping in the YAML of a recipe or a scenario, whose keys are in the order in which they are written.
package struct RecipeMapping {
    package let owner: RecipeNode
    package let entries: [(key: RecipeNode, name: String, value: RecipeNode)]

    init(_ mapping: [(key: YAMLNode, value: YAMLNode)], at owner: RecipeNode) throws(RecipeError) {
        self.owner = owner
        var entries: [(key: RecipeNode, name: String, value: RecipeNode)] = []
        for (key, value) in mapping {
            let key = RecipeNode(node: key, path: owner.path)
            entries.append((key, try key.text(), RecipeNode(node: value, path: owner.path)))
        }
        self.entries = entries
    }

    package subscript(_ name: String) -> RecipeNode? {
        entries.first { $0.name == name }?.value
    }

    package func required(_ name: String) throws(RecipeError) -> RecipeNode {
        guard let value = self[name] else { throw owner.error("the key '\(name)' is missing here") }
        return value
    }

    /// Throws for the first unknown key, since a misspelt key must not be ignored.
    package func allow(_ known: [String]) throws(RecipeError) {
        for entry in entries where !known.contains(entry.name) {
            throw entry.key.error(
                "the key '\(entry.name)' is not known here; \(NearName.hint(entry.name, among: known, list: "known are"))"
            )
        }
    }
    /// The error of a mapping with none of the known keys: its first key is what `is` says, such as `no step`; `missing` is
    /// said without a key, and `list` begins the list of the known keys.
    package func without(_ known: [String], is word: String, missing: String, list: String) -> RecipeError {
        guard let entry = entries.first else {
            return owner.error("\(missing); \(list) \(known.joined(separator: ", "))")
        }
        return entry.key.error("'\(entry.name)' is \(word); \(NearName.hint(entry.name, among: known, list: list))")
    }
}
