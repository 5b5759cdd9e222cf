import ManagedObjects
import TestSupport

/// Random changes of dummies and owners in a context.
enum RandomChanges {
    static func change(
        _ context: isolated ManagedObjectContext,
        count: Int,
        _ generator: inout SeededGenerator
    ) throws {
        var dummies = try context.fetch(FetchRequest(entityName: "TestDummy"))
        var owners = try context.fetch(FetchRequest(entityName: "Owner"))
        for _ in 0..<count { try change(context, &dummies, &owners, &generator) }
    }

    private static func change(
        _ context: isolated ManagedObjectContext,
        _ dummies: inout [ManagedObject],
        _ owners: inout [ManagedObject],
        _ generator: inout SeededGenerator
    ) throws {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0..<3:
            let entity = generator.chance(30) ? "SpecialDummy" : "TestDummy"
            let dummy = try context.insertNewObject(forEntityName: entity)
            try set(dummy, owners, &generator)
            dummies.append(dummy)
        case 3..<7 where !dummies.isEmpty: try set(generator.pick(dummies), owners, &generator)
        case 7 where !dummies.isEmpty:
            try context.delete(dummies.remove(at: Int.random(in: dummies.indices, using: &generator)))
        case 8 where !owners.isEmpty:
            let index = Int.random(in: owners.indices, using: &generator)
            if generator.chance(20) {
                try context.delete(owners.remove(at: index))
            } else {
                try owners[index].setValue("o\(Int.random(in: 0..<3, using: &generator))", forKey: "name")
            }
        default:
            let owner = try context.insertNewObject(forEntityName: "Owner")
            try owner.setValue("o\(Int.random(in: 0..<3, using: &generator))", forKey: "name")
            owners.append(owner)
        }
    }

    private static func set(
        _ dummy: ManagedObject,
        _ owners: [ManagedObject],
        _ generator: inout SeededGenerator
    ) throws {
        if generator.chance(60) { try dummy.setValue(Int64.random(in: 0..<9, using: &generator), forKey: "id") }
        if generator.chance(50) { try dummy.setValue(generator.chance(50), forKey: "isEven") }
        if generator.chance(50) { try dummy.setValue(generator.pick(["a", "b", "c"]), forKey: "group") }
        if generator.chance(30) { try dummy.setValue("n\(generator.next() % 5)", forKey: "name") }
        if generator.chance(40), !owners.isEmpty { try dummy.setObject(generator.pick(owners), forKey: "owner") }
    }
}
