import TestSupport

extension SeededGenerator {
    /// A number from 0 to one below `end`, which is positive.
    mutating func below(_ end: Int) -> Int { Int.random(in: 0..<max(end, 1), using: &self) }

    /// True once in `number` times.
    mutating func once(in number: Int) -> Bool { below(number) == 0 }
}
