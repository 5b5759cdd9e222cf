package import StoreFixtures
package import StoreFormat

/// Something that must hold at one point of a scenario.
package struct Expectation: Sendable {
    /// What exists at a store's path.
    package enum Kind: String, Sendable, CaseIterable {
        case store
        case absent
        case emptyFile
        case orphanSidecar
        case unreadable
    }

    /// What must hold.
    package enum Claim: Sendable {
        case equal(String, String)
        case different(String, String)
        case sound(store: String, level: VerificationLevel, finds: [String])
        case count(entity: String, store: String, predicate: String?, is: String)
        /// The first values of the rows of a query.
        case values(sql: String, store: String, are: [String?], isList: Bool)
        case kind(store: String, Kind)
        case fenced(store: String, Bool)
        case present(String)
        case absent(String)
        case unchanged(String, since: String?)
        case mode(String, UInt32)
    }

    package let claim: Claim
    package let title: String
    package let position: RecipePosition
}
