public import StoreFormat

/// What a property with one value holds: an attribute's value, or where a to-one relationship leads.
public enum PropertyValue: Hashable, Sendable {
    case attribute(AttributeValue)
    case object(ManagedObjectID?)
}
