/// A type that says how a program of one role opens one store.
///
/// A strategy describes: it opens, reads and writes no file, and its caller acts on the answer. Its contract:
///
/// - It is pure: equal requests get equal answers, in any order, any number of times, and from any thread.
/// - It does no input or output, asks no clock, and keeps no state that answers depend on.
/// - Its answer sets only what its documentation says that it sets.
/// - ``describe(_:)`` is called only after ``evaluate(_:)`` said that it applies to the same request.
/// - Its name is letters, digits and hyphens, and does not change.
///
/// The product `StoreMigrationTesting` has a test that holds a strategy to all this in one line.
public protocol StoreStrategy: Sendable {
    /// The name by which it is chosen.
    var name: String { get }

    /// What it does, for people, and what it may set.
    var documentation: StrategyDocumentation { get }

    /// Says whether it applies; throws ``StrategyError`` for options that make no sense.
    func evaluate(_ request: StrategyRequest) throws -> Applicability

    /// Returns what it sets; throws ``StrategyError`` for options that make no sense.
    func describe(_ request: StrategyRequest) throws -> DescriptionChanges
}

/// A question to a strategy, about one store and one role.
public struct StrategyRequest: Hashable, Sendable, Codable {
    public var facts: StoreFacts
    public var role: StoreRole
    /// What the user gave; only names that the strategy documents.
    public var options: StrategyOptions
    /// The description as the strategies before this one left it.
    public var description: PersistentStoreDescription

    public init(
        facts: StoreFacts,
        role: StoreRole,
        options: StrategyOptions = StrategyOptions(),
        description: PersistentStoreDescription
    ) {
        self.facts = facts
        self.role = role
        self.options = options
        self.description = description
    }
}

/// Whether a strategy applies to a store and a role, and the reason where it does not.
public enum Applicability: Hashable, Sendable, Codable {
    case applicable
    /// `reason` is a lower-case fragment that can stand after "because".
    case notApplicable(reason: String)
}

/// A strategy whose program is not trusted, and runs in a sandbox as far as the kernel supports it.
package protocol ConfinedStrategy: StoreStrategy {
    /// A fragment that can follow "nothing keeps it from"; nil when the sandbox has no gaps.
    var unconfined: String? { get }
}

/// The names of strategies and of their options.
package enum StrategyName {
    private static let longest = 64

    /// True for letters, digits and hyphens, and not too many of them.
    package static func isValid(_ text: String) -> Bool {
        (1...longest).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                $0 == 0x2D || (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20)
            }
    }
}
