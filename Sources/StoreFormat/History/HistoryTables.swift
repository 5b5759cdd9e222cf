/// How far the tables of a persistent history are there; Core Data numbers their entities once tracking is switched on.
package struct HistoryTables: Hashable, Sendable {
    /// The names of all such tables.
    package static let all: Set<String> = ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"]

    /// Those that the store has.
    package let present: Set<String>
    /// True once tracking was switched on.
    package let areNumbered: Bool

    package init(present: Set<String> = [], areNumbered: Bool = false) {
        self.present = present
        self.areNumbered = areNumbered
    }
}
