import ArgumentParser

/// How many notices of a relay a verb reads.
struct RelayExtent: ParsableArguments {
    @Option(
        help: ArgumentHelp("How many at most, from the earliest.", valueName: "count"),
        transform: Self.count
    )
    var limit: Int?

    static func count(_ text: String) throws -> Int {
        guard let count = Int(text), count > 0 else { throw ValidationError("write a number from 1 on") }
        return count
    }
}
