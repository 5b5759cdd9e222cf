import ManagedObjects

/// The class of the things, as the plugin GenerateManagedObjects writes it.
final class Thing: ManagedObject, TypedObject {
    static var entityName: String { "Thing" }
    override class var plainClass: ManagedObject.Type { Thing.self }
    static var properties: [TypedProperty] {
        [
            TypedProperty(attribute: "number", \Thing.number, \Thing?.?.number),
            TypedProperty(attribute: "name", \Thing.name, \Thing?.?.name),
            TypedProperty(attribute: "isEven", \Thing.isEven, \Thing?.?.isEven),
            TypedProperty(attribute: "weight", \Thing.weight, \Thing?.?.weight),
        ]
    }

    var number: Int64? {
        get { self[attribute: "number"] }
        set { self[attribute: "number"] = newValue }
    }

    var name: String? {
        get { self[attribute: "name"] }
        set { self[attribute: "name"] = newValue }
    }

    var isEven: Bool? {
        get { self[attribute: "isEven"] }
        set { self[attribute: "isEven"] = newValue }
    }

    var weight: Double? {
        get { self[attribute: "weight"] }
        set { self[attribute: "weight"] = newValue }
    }
}
