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
