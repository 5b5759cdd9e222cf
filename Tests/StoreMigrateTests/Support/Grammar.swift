import FoundationEssentials

/// The grammar of `--json`, read from its page, to check lines of output against.
struct Grammar {
    /// One member: its name, the types it may have, and whether it may be left out.
    struct Member: Equatable {
        let name: String
        let types: [String]
        let isOptional: Bool
    }

    /// A line that breaks the grammar.
    struct Violation: Error, CustomStringConvertible {
        let description: String
    }

    let objects: [String: [Member]]
    /// The names of objects that are lines; other objects are parts of lines.
    private let lines: Set<String>
    private static let lastLine = "summary"

    /// Reads the page's block.
    init() throws { try self.init(try ReferencePage.exitStatusesAndJSON.block("grammar"), lastLine: Self.lastLine) }

    /// Reads a grammar; the objects up to `lastLine` are lines of output.
    init(_ block: [String], lastLine: String) throws {
        var objects: [String: [Member]] = [:]
        var current: String?
        var lines: Set<String> = []
        for line in block {
            var words = line.split(separator: " ").map(String.init)
            if !line.hasPrefix(" ") { current = words.removeFirst() }
            guard let current else { continue }
            if current == lastLine || !lines.contains(lastLine) { lines.insert(current) }
            objects[current, default: []] += try words.map(Self.member)
        }
        self.objects = objects
        self.lines = lines
    }

    private static func member(_ word: String) throws -> Member {
        let parts = word.split(separator: ":").map(String.init)
        guard parts.count == 2 else { throw Violation(description: "'\(word)' is not a member") }
        let isOptional = parts[0].hasSuffix("?")
        return Member(
            name: isOptional ? String(parts[0].dropLast()) : parts[0],
            types: parts[1].split(separator: "|").map(String.init),
            isOptional: isOptional
        )
    }

    /// Checks all lines of a run: each is an object of a known type, and only the last is a summary.
    @discardableResult
    func check(_ run: Tool.Run) throws -> [JSONTree] {
        let lines = try run.lines.map { try JSONTree($0) }
        for line in lines {
            guard let type = line["type"]?.string else { throw Violation(description: "a line has no type: \(line)") }
            guard self.lines.contains(type) else { throw Violation(description: "'\(type)' is not the type of a line") }
            try check(line, as: type, isLine: true)
        }
        let summaries = lines.indices.filter { lines[$0]["type"]?.string == "summary" }
        guard summaries == [lines.count - 1] else {
            throw Violation(description: "summaries at \(summaries) of \(lines.count) lines; errors: \(run.errors)")
        }
        guard lines.last?["exit"]?.integer == Int64(run.status) else {
            throw Violation(description: "the summary's exit is not \(run.status)")
        }
        let findings = lines.filter { $0["type"]?.string == "finding" }.count
        guard lines.last?["findings"]?.integer == Int64(findings) else {
            throw Violation(description: "the summary does not count \(findings) findings")
        }
        return lines
    }

    /// Checks one value against the rule of a name.
    func check(_ value: JSONTree, as name: String, isLine: Bool = false) throws {
        guard let members = objects[name] else { throw Violation(description: "no object is called '\(name)'") }
        guard case .object(let found) = value else { throw Violation(description: "'\(name)' is not an object") }
        let known = Set(members.map(\.name) + (isLine ? ["type"] : []))
        let strange = Set(found.keys).subtracting(known)
        guard strange.isEmpty else { throw Violation(description: "'\(name)' has \(strange.sorted())") }
        for member in members {
            guard let value = found[member.name] else {
                guard member.isOptional else { throw Violation(description: "'\(name)' lacks '\(member.name)'") }
                continue
            }
            try check(value, member, of: name)
        }
    }

    private func check(_ value: JSONTree, _ member: Member, of name: String) throws {
        for type in member.types where try matches(value, type) { return }
        throw Violation(
            description: "'\(name).\(member.name)' is \(value), not \(member.types.joined(separator: " or "))"
        )
    }

    private func matches(_ value: JSONTree, _ type: String) throws -> Bool {
        switch (type, value) {
        case ("null", .null), ("boolean", .bool), ("string", .string), ("integer", .integer): return true
        case ("number", .integer), ("number", .number), ("map", .object): return true
        case ("null", _), ("boolean", _), ("string", _), ("integer", _), ("number", _), ("map", _): return false
        case (_, .array(let values)) where type.hasPrefix("["):
            let element = String(type.dropFirst().dropLast())
            return try values.allSatisfy { try matches($0, element) }
        case (_, .object) where !type.hasPrefix("["):
            try check(value, as: type)
            return true
        default: return false
        }
    }
}
