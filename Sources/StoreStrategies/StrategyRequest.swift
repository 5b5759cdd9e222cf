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
