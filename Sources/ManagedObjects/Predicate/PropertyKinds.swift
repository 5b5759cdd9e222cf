public import FoundationEssentials
public import StoreFormat

/// A type of properties that a predicate can compare with one value: attributes and to-one destinations.
public protocol EquatableProperty: PredicateArgument {}

/// A type whose values a request can sort by: numbers, texts, dates, booleans, UUIDs and URIs.
public protocol SortableAttribute: EquatableProperty {}

/// A type whose values a predicate can order: numbers, texts, dates and URIs.
public protocol OrderedAttribute: SortableAttribute {}

/// The text of an attribute.
public protocol TextAttribute: OrderedAttribute {}

extension Int: OrderedAttribute {}
extension Int16: OrderedAttribute {}
extension Int32: OrderedAttribute {}
extension Int64: OrderedAttribute {}
extension Double: OrderedAttribute {}
extension Float: OrderedAttribute {}
extension Decimal: OrderedAttribute {}
extension Date: OrderedAttribute {}
extension URL: OrderedAttribute {}
extension String: TextAttribute {}
extension Bool: SortableAttribute {}
extension UUID: SortableAttribute {}
extension Data: EquatableProperty {}
extension AttributeValue: EquatableProperty {}
extension ManagedObject: EquatableProperty {}
extension Optional: EquatableProperty where Wrapped: EquatableProperty {}
extension Optional: SortableAttribute where Wrapped: SortableAttribute {}
extension Optional: OrderedAttribute where Wrapped: OrderedAttribute {}
extension Optional: TextAttribute where Wrapped: TextAttribute {}

extension FetchRequest.SortDescriptor where Object: TypedObject {
    /// Sorts by an attribute, of the object itself or of a to-one destination, or by the count of a to-many relationship.
    public init<Value: SortableAttribute>(
        _ property: KeyPath<Object, Value>,
        ascending: Bool = true,
        comparison: SortComparison = .literal
    ) {
        self.init(
            keyPath: KeyPathNames.names(of: property).joined(separator: "."),
            ascending: ascending,
            comparison: comparison
        )
    }

    @available(*, unavailable, message: "objects cannot be sorted by a to-many relationship: sort by its count")
    public init<Objects: ToManyDestinations>(_ property: KeyPath<Object, Objects>, ascending: Bool = true) {
        self.init(keyPath: "")
    }

    @available(
        *,
        unavailable,
        message: "objects cannot be sorted by a to-one relationship: sort by one of its attributes"
    )
    public init<Destination: ManagedObject>(_ property: KeyPath<Object, Destination?>, ascending: Bool = true) {
        self.init(keyPath: "")
    }
}
