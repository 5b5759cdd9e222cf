// The mutants of these functions, and what becomes of each, are in Tests/Mutants/Sample/expected.

/// A test calls it at its boundary, so every mutant of the comparison is killed.
package func isAdult(_ age: Int) -> Bool {
    age >= 18
}

/// A test calls it far from its boundary, so the mutant of the boundary survives.
package func isCold(_ degrees: Int) -> Bool {
    degrees < 4
}

/// Nothing depends on the order of equal values: `<=` is equivalent.
package func smaller(_ one: Int, _ other: Int) -> Int {
    one < other ? one : other
}

/// Without its assignment, the loop does not end.
package func countdown(from start: Int) -> Int {
    var (rest, steps) = (start, 0)
    while rest > 0 {
        rest -= 1
        steps += 1
    }
    return steps
}

/// No test calls it.
package func unused(_ names: [String]) -> Int? {
    guard let first = names.first, first != "a && b" else { return nil }
    return first.count
}

/// The compiler rejects a swap of these arguments.
package func repeated(_ word: String, _ count: Int) -> String {
    var text = ""
    for _ in 0..<count { text.append(joined(word, count)) }
    return text
}

private func joined(_ word: String, _ count: Int) -> String { word + String(count) }
