import Yams

/// One node of a recipe's YAML, and how it may be read; every mistake names line and column.
struct RecipeNode {
    let node: Node
    let path: String

    var position: RecipePosition {
        RecipePosition(line: node.mark?.line ?? 1, column: node.mark?.column ?? 1)
    }

    func error(_ message: String) -> RecipeError {
        RecipeError(path: path, position: position, message)
    }

    var isScalar: Bool { node.scalar != nil }
    var isList: Bool { node.sequence != nil }
    var isMapping: Bool { node.mapping != nil }

    /// The text of a scalar, quoted or not.
    func text() throws(RecipeError) -> String {
        guard let scalar = node.scalar else { throw error("a text or number is expected here") }
        return scalar.string
    }

    /// True for an absent value: `null`, `~` or nothing, not in quotes.
    var isNull: Bool {
        guard let scalar = node.scalar, scalar.style == .plain || scalar.style == .any else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(scalar.string)
    }

    func boolean() throws(RecipeError) -> Bool {
        switch try text() {
        case "true", "yes": return true
        case "false", "no": return false
        default: throw error("'true' or 'false' is expected here")
        }
    }

    func integer(in range: ClosedRange<Int64> = .min ... .max) throws(RecipeError) -> Int64 {
        let digits = try text().replacing("_", with: "")
        guard let number = Int64(digits) else { throw error("a whole number is expected here") }
        guard range.contains(number) else {
            throw error("a number from \(range.lowerBound) to \(range.upperBound) is expected here")
        }
        return number
    }

    /// One word of a closed list.
    func word<Word: RawRepresentable & CaseIterable>(
        _ type: Word.Type
    ) throws(RecipeError) -> Word where Word.RawValue == String {
        let text = try text()
        if let word = Word(rawValue: text) { return word }
        throw error("'\(text)' is not known here; expected is one of \(Word.allCases.map(\.rawValue))")
    }

    func list() throws(RecipeError) -> [RecipeNode] {
        guard let sequence = node.sequence else { throw error("a list is expected here") }
        return sequence.map { RecipeNode(node: $0, path: path) }
    }

    func texts() throws(RecipeError) -> [String] {
        var texts: [String] = []
        for node in try list() { texts.append(try node.text()) }
        return texts
    }

    func mapping() throws(RecipeError) -> RecipeMapping {
        guard let mapping = node.mapping else { throw error("a mapping (key: value) is expected here") }
        return try RecipeMapping(mapping, at: self)
    }
}
