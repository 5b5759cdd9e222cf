/// A point of a power cut, and the parts that were lost.
package struct CrashState: Hashable, Sendable, LosslessStringConvertible {
    /// The number of operations before the power cut.
    package let prefix: Int
    /// The lost ones of the parts that were not flushed, by their numbers.
    package let lost: [Int]

    /// Whether the disk has another device number afterwards, as half of them do.
    var isElsewhere: Bool { !(prefix + lost.count).isMultiple(of: 2) }

    package init(prefix: Int, lost: [Int]) {
        self.prefix = prefix
        self.lost = lost.sorted()
    }

    /// Parses the printed form: the number of operations, a colon, and the lost parts, with dashes for ranges.
    package init?(_ description: String) {
        let halves = description.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2, let prefix = Int(halves[0]), prefix >= 0 else { return nil }
        var lost: [Int] = []
        for range in halves[1].split(separator: ",") {
            let ends = range.split(separator: "-").compactMap { Int($0) }
            guard let first = ends.first, let last = ends.last, ends.count <= 2, first <= last else { return nil }
            lost += first...last
        }
        self.init(prefix: prefix, lost: lost)
    }

    package var description: String {
        var ranges: [ClosedRange<Int>] = []
        for number in lost {
            if let last = ranges.last, last.upperBound + 1 == number {
                ranges[ranges.count - 1] = last.lowerBound...number
            } else {
                ranges.append(number...number)
            }
        }
        let words = ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
        return "\(prefix):\(words.joined(separator: ","))"
    }
}
