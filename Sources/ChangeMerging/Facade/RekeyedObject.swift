public import StoreFormat

/// An object of the old side that the shared store has under another key.
public struct RekeyedObject: Hashable, Sendable, Codable {
    public let entity: String
    public let old: ObjectURI
    public let new: ObjectURI
    public let reason: RekeyingReason

    public init(entity: String, old: ObjectURI, new: ObjectURI, reason: RekeyingReason) {
        self.entity = entity
        self.old = old
        self.new = new
        self.reason = reason
    }
}
