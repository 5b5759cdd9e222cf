import ManagedObjects

/// The class of the laboratory's objects, written by hand: it counts its fired faults in the user info of its context.
final class TestDummy: ManagedObject, TypedObject {
    static var entityName: String { "TestDummy" }
    static var properties: [TypedProperty] {
        [
            TypedProperty(attribute: "id", \TestDummy.id, \TestDummy?.?.id),
            TypedProperty(attribute: "name", \TestDummy.name, \TestDummy?.?.name),
            TypedProperty(attribute: "isEven", \TestDummy.isEven, \TestDummy?.?.isEven),
        ]
    }

    var id: Int64? {
        get { self[attribute: "id"] }
        set { self[attribute: "id"] = newValue }
    }

    var name: String? {
        get { self[attribute: "name"] }
        set { self[attribute: "name"] = newValue }
    }

    var isEven: Bool? {
        get { self[attribute: "isEven"] }
        set { self[attribute: "isEven"] = newValue }
    }

    override func awakeFromFetch() {
        managedObjectContext?
            .assumeIsolated { context in
                context.userInfo["faults"] = (context.userInfo["faults"] as? Int ?? 0) + 1
            }
    }
}
