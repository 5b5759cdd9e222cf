/// How one role opens a store, and which strategies made it so.
public struct RoleDescription: Hashable, Sendable, Codable {
    /// A strategy that had something to say.
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
