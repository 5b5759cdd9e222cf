/// A point of a power cut, and the writes since the last flush that were lost.
package struct BlockState: Hashable, Sendable, LosslessStringConvertible {
    /// A torn write, of which only some sectors reached the disk.
    package struct Tear: Hashable, Sendable {
        /// Its number among the entries.
        package let write: Int
        /// The sectors that reached the disk.
        package let sectors: Range<Int>

        package init(write: Int, sectors: Range<Int>) {
            self.write = write
            self.sectors = sectors
        }
    }

    /// The number of entries before the power cut.
    package var prefix: Int { cut.prefix }
    /// The writes that were lost, by their numbers among the entries.
    package var lost: [Int] { cut.lost }
    package let tear: Tear?
    /// Whether the disk has another device number afterwards.
    var isElsewhere: Bool { cut.isElsewhere }
    private let cut: CrashState

    package init(prefix: Int, lost: [Int], tear: Tear? = nil) {
        cut = CrashState(prefix: prefix, lost: lost)
        self.tear = tear
    }

    /// Parses the printed form: that of `CrashState`, a tilde, the torn write and its sectors that arrived.
    package init?(_ description: String) {
        let halves = description.split(separator: "~", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = halves.first, let cut = CrashState(String(first)) else { return nil }
        self.cut = cut
        guard halves.count == 2 else {
            tear = nil
            return
        }
        let numbers = halves[1].split(whereSeparator: { $0 == "." || $0 == "-" }).compactMap { Int($0) }
        guard numbers.count == 3, numbers[1] < numbers[2] else { return nil }
        tear = Tear(write: numbers[0], sectors: numbers[1]..<numbers[2])
    }

    package var description: String {
        guard let tear else { return cut.description }
        return "\(cut)~\(tear.write).\(tear.sectors.lowerBound)-\(tear.sectors.upperBound)"
    }
}
