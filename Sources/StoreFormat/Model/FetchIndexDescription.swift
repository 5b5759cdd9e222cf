/// A fetch index of an entity.
public struct FetchIndexDescription: Hashable, Sendable {
    public let name: String
    /// The names of the properties it is made of, in order.
    public let properties: [String]

    public init(name: String, properties: [String]) {
        self.name = name
        self.properties = properties
    }
}
