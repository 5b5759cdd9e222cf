/// Amounts of the same things in several stores, for comparison.
public struct ReportCounts: Hashable, Sendable {
    /// An amount and its label; an unknown amount has no value.
    public struct Amount: Hashable, Sendable {
        public var value: Int64?
        public var label: String

        public init(_ value: Int64?, label: String) {
            self.value = value
            self.label = label
        }
    }

    /// What is counted, and the amount in each place.
    public struct Row: Hashable, Sendable {
        public var name: String
        public var amounts: [Amount]

        public init(_ name: String, _ amounts: [Amount]) {
            self.name = name
            self.amounts = amounts
        }

        /// The greatest of its amounts.
        var greatest: Int64 { amounts.compactMap(\.value).max() ?? 0 }

        /// True when the amounts are not all the same.
        var differs: Bool { Set(amounts.map(\.value)).count > 1 }

        /// The amounts in one text; equal amounts appear once.
        var label: String { differs ? amounts.map(\.label).joined(separator: " → ") : amounts.first?.label ?? "" }
    }

    /// What is counted: `entity`, `table`.
    public var noun: String
    /// The places, in the order of the amounts.
    public var places: [String]
    public var rows: [Row]

    public init(of noun: String, in places: [String], rows: [Row]) {
        self.noun = noun
        self.places = places
        self.rows = rows
    }

    /// The greatest of all amounts.
    var greatest: Int64 { rows.map(\.greatest).max() ?? 0 }
}
