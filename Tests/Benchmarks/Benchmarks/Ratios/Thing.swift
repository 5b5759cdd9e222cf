import ManagedObjects

/// The class of the things, as the plugin GenerateManagedObjects writes it.
class Thing: ManagedObject, TypedObject {
    class var entityName: String { "Thing" }
    override class var plainClass: ManagedObject.Type { Thing.self }

    final var number: Int64? {
        get { self[attribute: "number"] }
        set { self[attribute: "number"] = newValue }
    }

    final var name: String? {
        get { self[attribute: "name"] }
        set { self[attribute: "name"] = newValue }
    }

    final var isEven: Bool? {
        get { self[attribute: "isEven"] }
        set { self[attribute: "isEven"] = newValue }
    }

    final var weight: Double? {
        get { self[attribute: "weight"] }
        set { self[attribute: "weight"] = newValue }
    }
}
