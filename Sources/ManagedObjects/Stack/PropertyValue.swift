public import StoreFormat

/// The value of an attribute, or the destination of a to-one relationship.
public enum PropertyValue: Hashable, Sendable {
    case attribute(AttributeValue)
    case object(ManagedObjectID?)
}
