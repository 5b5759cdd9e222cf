import Glibc

/// The seed of every test that draws samples: one number a run, so that successive commits try other samples.
///
/// The Makefile derives it from the commit and prints it; the variable repeats a run. A tree without git and a plain
/// `swift test` use 0.
package enum Seed {
    package static let variable = "STORE_MIGRATE_SEED"

    package static let current = number(variable) ?? 0

    /// `count` seeds that follow from the run's; runs with different seeds share none.
    package static func several(_ count: UInt64) -> [UInt64] { (0..<count).map { current &* 1_000_000 &+ $0 } }

    /// The seed as the signed number that fault sweeps take.
    package static var forFaults: Int { Int(truncatingIfNeeded: current) }

    /// A number from an environment variable.
    package static func number(_ variable: String) -> UInt64? {
        getenv(variable).flatMap { UInt64(String(cString: $0)) }
    }
}
