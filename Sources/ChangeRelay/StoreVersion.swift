/// A value that changes with every commit of another process to a store, and never by this process's work.
public struct StoreVersion: Hashable, Sendable {
    private let values: [Int64]

    package init(_ values: Int64...) { self.values = values }
}
