/// A class for the objects of one entity, with a Swift property for each property of the model.
///
/// The plugin `GenerateManagedObjects` writes such classes. The first fetch or insertion of a class registers it with the
/// coordinator, together with the other classes of its model.
public protocol TypedObject: ManagedObject {
    /// The entity's name in the model.
    static var entityName: String { get }
    /// The classes of the whole model; only the class itself by default.
    static var modelClasses: [any TypedObject.Type] { get }
    /// The properties that requests can name, each with its key paths from an object of this class.
    static var properties: [TypedProperty] { get }
}

extension TypedObject {
    public static var modelClasses: [any TypedObject.Type] { [Self.self] }

    /// Reads a property; throws the error that the property itself only keeps for the next save.
    public func value<Value>(of property: KeyPath<Self, Value>) throws -> Value {
        try throwingFailure { self[keyPath: property] }
    }

    /// Sets a property; throws the error that the property itself only keeps for the next save.
    public func setValue<Value>(_ value: Value, of property: ReferenceWritableKeyPath<Self, Value>) throws {
        _ = try requireContext()
        try throwingFailure { self[keyPath: property] = value }
    }

    private func throwingFailure<Result>(_ body: () -> Result) throws -> Result {
        let earlier = graph?.takeFailure()
        let result = body()
        let failure = graph?.takeFailure()
        if let earlier { graph?.keepFailure(earlier) }
        if let failure { throw failure }
        return result
    }
}

extension ManagedObjectContext {
    /// Inserts a new object of a class.
    public func insertNewObject<Object: TypedObject>(_ type: Object.Type) throws -> Object {
        persistentStoreCoordinator.adopt(type)
        return try insertNewObject(type, forEntityName: Object.entityName)
    }

    /// Returns the object of a class with an ID and reads it if needed; throws if its row does not exist.
    public func existingObject<Object: TypedObject>(_ type: Object.Type, with id: ManagedObjectID) throws -> Object {
        persistentStoreCoordinator.adopt(type)
        return try ObjectGraph.typed([existingObject(with: id)])[0]
    }
}

extension ObjectGraph {
    /// The objects as objects of a class; throws for an object of another class.
    static func typed<Object: ManagedObject>(_ objects: [ManagedObject]) throws -> [Object] {
        if Object.self == ManagedObject.self, let same = objects as? [Object] { return same }
        var checked: ManagedObject.Type?
        for object in objects where type(of: object) != checked {
            try require(Object.self, type(of: object), of: object.shape.name)
            checked = type(of: object)
        }
        // Checked above: a cast of each object would take a third of the time of reading its properties.
        return objects.map { unsafeDowncast($0, to: Object.self) }
    }

    /// Throws unless the class of an entity's objects is `Object` or inherits from it.
    static func require<Object: ManagedObject>(
        _: Object.Type,
        _ type: ManagedObject.Type,
        of entity: String
    ) throws {
        guard type is Object.Type else {
            throw ManagedObjectError(
                .wrongType,
                "an object of \(entity) has the class \(type), not \(Object.self): fetch it only as \(Object.self), or "
                    + "register \(Object.self) with the coordinator before the first fetch"
            )
        }
    }
}
