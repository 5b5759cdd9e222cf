import Glibc

/// The part of the tests that a run executes: `make test` runs what takes minutes, `make verify` runs all.
///
/// A suite without a mark belongs to ``test``. One marked `.verify` runs in ``verify`` alone, and one marked `.sampled` runs a
/// part in ``test``, drawn with the functions of this type, and all in ``verify``.
package enum Tier: String, CaseIterable, Sendable {
    case test
    case verify

    /// The environment variable that chooses, set by the Makefile; without it a plain `swift test` is ``test``.
    package static let variable = "STORE_MIGRATE_TIER"

    package static let current = getenv(variable).flatMap { Tier(rawValue: String(cString: $0)) } ?? .test

    /// All of the values in ``verify``, else one of each group, chosen by the seed.
    package static func sample<Value>(_ values: [Value], by group: (Value) -> String) -> [Value] {
        guard current == .test else { return values }
        return Dictionary(grouping: values, by: group).sorted { $0.key < $1.key }
            .map { $0.value[Int(Seed.current % UInt64($0.value.count))] }
    }

    /// All of the values in ``verify``, else one, chosen by the seed.
    package static func oneOrAll<Value>(_ values: [Value]) -> [Value] { sample(values) { _ in "" } }

    /// A size in ``test``, and the size in ``verify``.
    package static func sized<Value>(_ size: Value, inVerify all: Value) -> Value { current == .test ? size : all }
}
