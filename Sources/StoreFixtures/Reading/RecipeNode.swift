import NearNames

/// One node of the YAML of a recipe or a scenario, with typed readers; every mistake is reported with line and column.
package struct RecipeNode {
    let node: YAMLNode
    package let path: String

    package var position: RecipePosition { node.position }

    /// Parses a text; errors name the file `path` and the kind of text `what`.
    package init(yaml text: String, path: String, what: String) throws(RecipeError) {
        let root: YAMLNode?
        do throws(YAMLError) {
            root = try YAMLNode.root(of: text)
        } catch {
            throw RecipeError(path: path, position: error.position, error.message)
        }
        guard let root else {
            throw RecipeError(path: path, position: RecipePosition(line: 1, column: 1), "the \(what) is empty")
        }
        self.init(node: root, path: path)
    }

    init(node: YAMLNode, path: String) {
        self.node = node
        self.path = path
    }

    package func error(_ message: String) -> RecipeError {
        RecipeError(path: path, position: position, message)
    }

    package var isScalar: Bool { node.scalar != nil }
    package var isList: Bool { node.list != nil }
    package var isMapping: Bool { node.mapping != nil }

    /// The text of a scalar, quoted or not.
    package func text() throws(RecipeError) -> String {
        guard let text = node.scalar else { throw error("a text or number is expected here") }
        return text
    }

    /// True for an absent value: `null`, `~` or nothing, not in quotes.
    package var isNull: Bool {
        guard case .scalar(let text, isQuoted: false) = node.content else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(text)
    }

    package func boolean() throws(RecipeError) -> Bool {
        switch try text() {
        case "true", "yes": return true
        case "false", "no": return false
        default: throw error("'true' or 'false' is expected here")
        }
    }

    package func integer(in range: ClosedRange<Int64> = .min ... .max) throws(RecipeError) -> Int64 {
        let digits = try text().replacing("_", with: "")
        guard let number = Int64(digits) else { throw error("a whole number is expected here") }
        guard range.contains(number) else {
            throw error("a number from \(range.lowerBound) to \(range.upperBound) is expected here")
        }
        return number
    }

    /// One word of a closed list.
    package func word<Word: RawRepresentable & CaseIterable>(
        _ type: Word.Type
    ) throws(RecipeError) -> Word where Word.RawValue == String {
        let text = try text()
        if let word = Word(rawValue: text) { return word }
        let hint = NearName.hint(text, among: Word.allCases.map(\.rawValue), list: "expected is one of")
        throw error("'\(text)' is not known here; \(hint)")
    }

    package func list() throws(RecipeError) -> [RecipeNode] {
        guard let list = node.list else { throw error("a list is expected here") }
        return list.map { RecipeNode(node: $0, path: path) }
    }

    package func texts() throws(RecipeError) -> [String] {
        var texts: [String] = []
        for node in try list() { texts.append(try node.text()) }
        return texts
    }

    package func mapping() throws(RecipeError) -> RecipeMapping {
        guard let mapping = node.mapping else { throw error("a mapping (key: value) is expected here") }
        return try RecipeMapping(mapping, at: self)
    }
}

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
