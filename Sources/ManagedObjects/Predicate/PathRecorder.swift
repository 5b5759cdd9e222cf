internal import FoundationEssentials
internal import StoreFormat
internal import Synchronization

/// Records the properties that a key path reads from a probe: an object without a context, whose values are recognisable.
///
/// A key path does not reveal its properties' names, but each property passes its name to the object that it reads.
final class PathRecorder: Sendable {
    @TaskLocal private static var current: PathRecorder?

    private struct Steps {
        var names: [String] = []
        /// The hash of the value that the last property returned; nil if it cannot be recognised.
        var value: Int?
        /// True if the last property is a to-many relationship.
        var isToMany = false
    }

    private let steps = Mutex(Steps())
    /// Different values in each pass, so that a value computed from a property is not mistaken for the property.
    private let pass: Int

    private init(pass: Int) { self.pass = pass }

    /// The model's names of the properties of a key path.
    ///
    /// A key path that does not end at a property of the model, or of a destination, gives its description: a request with
    /// such a name fails when it is used.
    static func names<Root: ManagedObject, Value>(of path: KeyPath<Root, Value>) -> [String] {
        let passes = [0, 1].map { PathRecorder(pass: $0).names(of: path) }
        guard let names = passes[0], names == passes[1] else { return ["\(path)"] }
        return names
    }

    private func names<Root: ManagedObject, Value>(of path: KeyPath<Root, Value>) -> [String]? {
        let value = Self.$current.withValue(self) { Self.probe(Root.self)[keyPath: path] }
        let steps = steps.withLock { $0 }
        guard let expected = steps.value else { return steps.names }
        if Self.hash(value) == expected { return steps.names }
        return steps.isToMany && value as? Int == size ? steps.names + ["@count"] : nil
    }

    /// The number of objects of a to-many relationship of a probe.
    private var size: Int { 2 + pass }

    private static func probe<Object: ManagedObject>(_: Object.Type) -> Object {
        Object(ManagedObject.Registration.probe)
    }

    /// The hash of the value without the optionals around it.
    private static func hash(_ value: Any) -> Int? {
        let mirror = Mirror(reflecting: value)
        guard mirror.displayStyle == .optional else { return (value as? any Hashable)?.hashValue }
        return mirror.children.first.flatMap { hash($0.value) }
    }

    private func note(_ name: String, _ value: Int?, isToMany: Bool = false) {
        steps.withLock { steps in
            steps.names.append(name)
            steps.value = value
            steps.isToMany = isToMany
        }
    }

    // MARK: For the properties of probes

    static func attribute<Value: AttributeConvertible>(_ name: String) -> Value? {
        let pass = current?.pass ?? 0
        let number = Int64(10_007 + pass)
        let bytes = Array("Probe\(number)".utf8)
        let values: [AttributeValue] = [
            .integer(number), .string("Probe\(number)"), .boolean(pass == 0), .real(Double(number)),
            .data(.init(bytes)),
            .date(.init(timeIntervalSinceReferenceDate: Double(number))), .uuid(.init()), .uri("probe:\(number)"),
        ]
        let value = values.lazy.compactMap { Value(attributeValue: $0) }.first
        current?.note(name, value.flatMap(hash))
        return value
    }

    static func enumeration<Value>(_ name: String) -> Value? {
        current?.note(name, nil)
        return nil
    }

    static func toOne<Destination: ManagedObject>(_ name: String) -> Destination? {
        let object = probe(Destination.self)
        current?.note(name, object.hashValue)
        return object
    }

    static func toMany<Destination: ManagedObject, Objects: Hashable>(
        _ name: String,
        as collection: ([Destination]) -> Objects
    ) -> Objects {
        let objects = collection((0..<(current?.size ?? 0)).map { _ in probe(Destination.self) })
        current?.note(name, objects.hashValue, isToMany: true)
        return objects
    }
}

extension ManagedObject.Registration {
    /// The data of an object that only records which properties are read.
    fileprivate static var probe: ManagedObject.Registration {
        let entity = EntityDescription(name: "")
        let shape = ObjectShape(entity, in: ManagedObjectModel(entities: [entity]))
        return ManagedObject.Registration(
            id: ManagedObjectID(temporaryIn: shape.temporaryFamily),
            shape: shape,
            graph: nil,
            status: .probe
        )
    }
}
