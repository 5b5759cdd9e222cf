import Testing

@testable import ManagedObjects

@Suite("FetchSpool")
struct FetchSpoolTests {
    @Test("A spool returns its texts in order, from memory and from its file", arguments: [0, 1, 50_000])
    func order(count: Int) throws {
        let spool = FetchSpool()
        func text(_ number: Int) -> String { String(repeating: "é", count: number % 97) + "\(number)\n" }
        for number in 0..<count { try spool.append(text(number)) }
        for _ in 0..<2 {
            var next = 0
            var isRight = true
            try spool.forEachText {
                isRight = isRight && $0 == text(next)
                next += 1
            }
            #expect(isRight)
            #expect(next == count)
        }
    }

    @Test("A spool returns a text longer than its memory buffer")
    func long() throws {
        let spool = FetchSpool()
        let long = String(repeating: "x", count: 3_000_000)
        for text in ["a", long, "", "b"] { try spool.append(text) }
        var found: [String] = []
        try spool.forEachText { found.append($0) }
        #expect(found == ["a", long, "", "b"])
    }
}
