/// Which tables of a persistent history exist; Core Data numbers their entities once tracking is enabled.
package struct HistoryTables: Hashable, Sendable {
    /// The names of all such tables.
    package static let all: Set<String> = ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"]

    /// The tables that the store has.
    package let present: Set<String>
    /// True once tracking was enabled.
    package let areNumbered: Bool

    package init(present: Set<String> = [], areNumbered: Bool = false) {
        self.present = present
        self.areNumbered = areNumbered
    }
}
