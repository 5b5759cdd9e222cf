/// Checks the subset of Mermaid class diagrams that the tool prints; Mermaid's parser accepts all of it.
///
/// An identifier begins with a capital or an underscore: Mermaid reads some lowercase words, and a leading `o`, as
/// keywords.
enum MermaidSubset {
    struct Violation: Error, CustomStringConvertible {
        let description: String
    }

    static func check(_ text: String) throws {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard lines.first == "classDiagram", lines.last == "" else {
            throw Violation(description: "the text does not begin or end like a diagram")
        }
        var isInClass = false
        var names: Set<Substring> = []
        for line in lines.dropFirst().dropLast() {
            if isInClass {
                let isMember = line.wholeMatch(of: member) != nil
                isInClass = isMember
                guard isMember || line == "    }" else { throw Violation(description: "no member: \(line)") }
            } else if let match = line.wholeMatch(of: classHead) {
                names.insert(match.1)
                isInClass = match.3 != nil
            } else if let match = line.wholeMatch(of: inheritance) {
                try require([match.1, match.2], among: names)
            } else if let match = line.wholeMatch(of: relationship) {
                try require([match.1, match.3], among: names)
            } else {
                throw Violation(description: "no line of a class diagram: \(line)")
            }
        }
        if isInClass { throw Violation(description: "the last class has no end") }
    }

    private static var member: Regex<(Substring, Substring)> {
        /\x20{8}(<<abstract>>|[a-zA-Z0-9]+\?? [\p{L}\p{N}\p{M}_]+)/
    }

    private static var classHead: Regex<(Substring, Substring, Substring?, Substring?)> {
        /\x20{4}class ([A-Z_]\w*)(\["[^"\s]+"\])?( {)?/
    }

    private static var inheritance: Regex<(Substring, Substring, Substring)> {
        /\x20{4}([A-Z_]\w*) <\|-- ([A-Z_]\w*)/
    }

    private static var relationship: Regex<(Substring, Substring, Substring, Substring)> {
        /\x20{4}([A-Z_]\w*)( "[0-9.*]+" --| -->) "[0-9.*]+" ([A-Z_]\w*) : [^:;\n]+/
    }

    private static func require(_ used: [Substring], among names: Set<Substring>) throws {
        for name in used where !names.contains(name) { throw Violation(description: "no class is called \(name)") }
    }
}
