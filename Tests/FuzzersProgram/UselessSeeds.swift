/// Seeds with which a target cannot start.
struct UselessSeeds: Error, CustomStringConvertible {
    let target: String
    let problem: String

    var description: String { "the seeds of \(target) cannot be used: \(problem)" }
}
