/// Seeds that lead a target nowhere.
struct UselessSeeds: Error, CustomStringConvertible {
    let target: String
    let problem: String

    var description: String { "the seeds of \(target) are of no use: \(problem)" }
}
