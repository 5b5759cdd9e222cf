public import StoreFormat

/// A value that objects are compared with.
public enum PredicateConstant: Hashable, Sendable {
    case value(AttributeValue)
    case object(ManagedObjectID)
    case collection([PredicateConstant])
}
