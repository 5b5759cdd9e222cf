extension SQLFragment {
    /// An upper estimate of the entries on SQLite's parser stack at the deepest point.
    ///
    /// Counts the open parentheses, the tokens before each, and the parsed part of a SELECT or CASE.
    var nesting: Int {
        var open: [Int] = []
        var sum = 0
        var deepest = 0
        var isQuoted = false
        var isAfterOpening = true
        var rest = Substring(sql).utf8
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""):
                isQuoted.toggle()
                isAfterOpening = false
            case _ where isQuoted, UInt8(ascii: " "), UInt8(ascii: "\n"): break
            case UInt8(ascii: "("):
                var words = isAfterOpening ? 1 : 3
                if rest.starts(with: "SELECT".utf8) { words += 5 }
                if rest.starts(with: "CASE".utf8) { words += 3 }
                open.append(words)
                sum += words
                deepest = max(deepest, sum)
                isAfterOpening = true
            case UInt8(ascii: ")"):
                sum -= open.popLast() ?? 0
                isAfterOpening = false
            default: isAfterOpening = false
            }
        }
        return deepest
    }
}
