/// A property of a ``TypedObject`` for requests: its name in the model, and the key paths that lead to it.
///
/// The label is that of the subscript which the property reads. The second key path starts at an optional object, for
/// properties of destinations: `TypedProperty(attribute: "rank", \Habit.rank, \Habit?.?.rank)`. A to-many relationship also
/// has both key paths to the number of its destinations.
public struct TypedProperty: Sendable {
    typealias Path = AnyKeyPath & Sendable

    /// The name in the model.
    public let name: String
    let path: any Path
    let chained: any Path
    let kind: Kind

    enum Kind: Sendable {
        case attribute
        /// Leads to one object; `unwrap` is the key path from an optional object to the object.
        case toOne((any TypedObject.Type)?, unwrap: any Path)
        /// The key paths from an object, and from an optional object, to the number of destinations.
        case toMany(count: any Path, chainedCount: any Path)
    }

    /// An attribute that may lack a value.
    public init<Object: TypedObject, Value>(
        attribute name: String,
        _ path: any KeyPath<Object, Value?> & Sendable,
        _ chained: any KeyPath<Object?, Value?> & Sendable
    ) {
        self.init(name, path, chained, .attribute)
    }

    /// An attribute as a case of an enumeration.
    public init<Object: TypedObject, Value: RawRepresentable>(
        rawValue name: String,
        _ path: any KeyPath<Object, Value?> & Sendable,
        _ chained: any KeyPath<Object?, Value?> & Sendable
    ) {
        self.init(name, path, chained, .attribute)
    }

    /// An attribute that always has a value, as a case of an enumeration.
    public init<Object: TypedObject, Value: RawRepresentable>(
        mandatoryRawValue name: String,
        _ path: any KeyPath<Object, Value> & Sendable,
        _ chained: any KeyPath<Object?, Value?> & Sendable
    ) {
        self.init(name, path, chained, .attribute)
    }

    /// An attribute that always has a value.
    public init<Object: TypedObject, Value>(
        mandatory name: String,
        _ path: any KeyPath<Object, Value> & Sendable,
        _ chained: any KeyPath<Object?, Value?> & Sendable
    ) {
        self.init(name, path, chained, .attribute)
    }

    /// A to-one relationship.
    public init<Object: TypedObject, Destination: ManagedObject>(
        toOne name: String,
        _ path: any KeyPath<Object, Destination?> & Sendable,
        _ chained: any KeyPath<Object?, Destination?> & Sendable
    ) {
        let unwrap: any Path = \Destination?.!
        self.init(name, path, chained, .toOne(Destination.self as? any TypedObject.Type, unwrap: unwrap))
    }

    /// A to-many relationship without an order.
    public init<Object: TypedObject, Destination: ManagedObject>(
        toMany name: String,
        _ path: any KeyPath<Object, Set<Destination>> & Sendable,
        _ chained: any KeyPath<Object?, Set<Destination>?> & Sendable,
        count: any KeyPath<Object, Int> & Sendable,
        _ chainedCount: any KeyPath<Object?, Int?> & Sendable
    ) {
        self.init(name, path, chained, .toMany(count: count, chainedCount: chainedCount))
    }

    /// An ordered to-many relationship.
    public init<Object: TypedObject, Destination: ManagedObject>(
        ordered name: String,
        _ path: any KeyPath<Object, [Destination]> & Sendable,
        _ chained: any KeyPath<Object?, [Destination]?> & Sendable,
        count: any KeyPath<Object, Int> & Sendable,
        _ chainedCount: any KeyPath<Object?, Int?> & Sendable
    ) {
        self.init(name, path, chained, .toMany(count: count, chainedCount: chainedCount))
    }

    /// The key path from an object, or from an optional one.
    func keyPath(isChained: Bool) -> AnyKeyPath {
        if isChained { return chained as AnyKeyPath }
        return path as AnyKeyPath
    }

    /// The key path from an object, or from an optional one, to the number of destinations; nil unless there may be many.
    func count(isChained: Bool) -> AnyKeyPath? {
        guard case .toMany(let count, let chainedCount) = kind else { return nil }
        if isChained { return chainedCount as AnyKeyPath }
        return count as AnyKeyPath
    }

    private init(_ name: String, _ path: any Path, _ chained: any Path, _ kind: Kind) {
        (self.name, self.path, self.chained, self.kind) = (name, path, chained, kind)
    }
}
