/// How one role opens a store, and the strategies that decided it.
public struct RoleDescription: Hashable, Sendable, Codable {
    /// A strategy that applied.
    public struct Applied: Hashable, Sendable, Codable {
        public let strategy: String
        public let changes: DescriptionChanges
    }

    /// A strategy that did not apply to this role.
    public struct Skipped: Hashable, Sendable, Codable {
        public let strategy: String
        public let reason: String
    }

    public let role: StoreRole
    public internal(set) var description: PersistentStoreDescription
    public internal(set) var applied: [Applied] = []
    public internal(set) var skipped: [Skipped] = []

    package init(role: StoreRole, description: PersistentStoreDescription) {
        self.role = role
        self.description = description
    }
}
