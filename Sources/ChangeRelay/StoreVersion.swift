/// Something that changes whenever somebody else commits to a store, and never by what this process does.
public struct StoreVersion: Hashable, Sendable {
    private let values: [Int64]

    package init(_ values: Int64...) { self.values = values }
}
