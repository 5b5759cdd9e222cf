import ChangeMerging
import FoundationEssentials
import ManagedObjects
import StoreFormat
import TestSupport
import Testing

/// Random work in two contexts and by one program that knows only SQLite, taken in by a third in any order.
@Suite("After every merge a complete controller equals a fresh fetch")
struct CompleteResultsTests {
    /// 10 000 rounds with `STORE_MIGRATE_SOAK`, fewer without; some of these seeds found something once.
    private static let seeds: [UInt64] =
        ProcessInfo.processInfo.environment["STORE_MIGRATE_SOAK"] == nil
        ? Array(1...10) + [160, 248, 357] : Array(1...400)
    private static let rounds = 25

    private static let requests: [(format: String?, keys: [String], section: String?, limit: Int)] = [
        (nil, ["id"], nil, 0), ("isEven == YES", ["name", "id"], nil, 0), ("id > 3", ["group", "id"], "group", 0),
        ("owner.name != 'o1'", ["owner.name", "id"], nil, 0), ("owner.dummies.@count > 1", ["id"], nil, 0),
        ("isEven == YES OR owner == nil", ["owner.name", "id"], "owner.name", 0), (nil, ["group", "id"], nil, 4),
        ("ANY owner.dummies.isEven == YES", ["id"], nil, 0),
    ]

    @Test("and what its delegate is told leads from the old list to the new one", arguments: seeds)
    func property(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let stack = try Investigation(isMerging: false)
        let other = ManagedObjectContext(.privateQueue, coordinator: stack.coordinator, name: "other")
        let chosen = Self.requests[Int(seed) % Self.requests.count]
        try await Self.work(stack.background, count: 12, &generator)
        try await Self.observe(stack.main, chosen)
        let inbox = LockedArray<ContextDidSave>()
        let observations = [stack.background, other].map { $0.onDidSave { inbox.append($0) } }
        for round in 0..<Self.rounds {
            for context in [stack.background, other] where generator.chance(70) {
                try await Self.work(context, count: Int.random(in: 1...4, using: &generator), &generator)
            }
            var foreign: Set<ManagedObjectID> = []
            if generator.chance(30) { foreign = try stack.updateBySQL(&generator) }
            for notice in inbox.take().shuffled(using: &generator) {
                try await stack.main.perform { try $0.mergeChanges(fromContextDidSave: notice) }
            }
            // The others learn of everything too, or their saves would only conflict.
            for context in [stack.background, other] { try await context.perform { try $0.refreshAllObjects() } }
            try await ManagedObjectContext.mergeChanges(
                fromRemoteContextSave: ObjectIDChanges(updated: foreign),
                into: [stack.main, stack.background, other]
            )
            if seed.isMultiple(of: 2) { try await Self.pend(stack.main, &generator) }
            let place: Comment = "seed \(seed), round \(round), \(chosen)"
            try await Self.check(stack.main, place)
        }
        for observation in observations { observation.cancel() }
    }

    private static func observe(
        _ context: ManagedObjectContext,
        _ chosen: (format: String?, keys: [String], section: String?, limit: Int)
    ) async throws {
        let predicate = try chosen.format.map { try FetchPredicate(format: $0) }
        try await context.perform { context in
            var request = FetchRequest(entityName: "TestDummy", predicate: predicate)
            request.sortDescriptors = chosen.keys.map { FetchRequest.SortDescriptor(keyPath: $0) }
            request.fetchLimit = chosen.limit
            let controller = FetchedResultsController(
                fetchRequest: request,
                managedObjectContext: context,
                sectionNameKeyPath: chosen.section
            )
            try controller.performFetch()
            let replay = ListReplay(controller)
            controller.delegate = replay
            context.userInfo = ["controller": controller, "replay": replay]
        }
    }

    private static func check(_ context: ManagedObjectContext, _ place: Comment) async throws {
        try await context.perform { context in
            let controller = try #require(context.userInfo["controller"] as? FetchedResultsController)
            let replay = try #require(context.userInfo["replay"] as? ListReplay)
            #expect(controller.updateError == nil, place)
            let fresh = try context.fetch(controller.fetchRequest).map(\.objectID)
            #expect(controller.fetchedObjects?.map(\.objectID) == fresh, place)
            #expect(replay.sections == ListReplay.sections(of: controller), place)
        }
    }

    // MARK: Work

    private static func work(
        _ context: ManagedObjectContext,
        count: Int,
        _ generator: inout SeededGenerator
    ) async throws {
        let seed = generator.next()
        try await context.perform { context in
            var generator = SeededGenerator(seed: seed)
            context.mergePolicy = .mergeByPropertyObjectTrump
            for _ in 0..<count { try change(context, &generator) }
            try context.save()
        }
    }

    /// Changes objects without saving, or saves or forgets what was changed before.
    private static func pend(_ context: ManagedObjectContext, _ generator: inout SeededGenerator) async throws {
        let seed = generator.next()
        try await context.perform { context in
            var generator = SeededGenerator(seed: seed)
            context.mergePolicy = .mergeByPropertyObjectTrump
            switch Int.random(in: 0..<6, using: &generator) {
            case 0..<3: for _ in 0..<2 { try change(context, &generator) }
            case 3:
                // What leads to an object that others deleted cannot be saved.
                do { try context.save() } catch is ManagedObjectError { try context.rollback() }
            case 4: try context.rollback()
            default: break
            }
        }
    }

    private static func change(
        _ context: isolated ManagedObjectContext,
        _ generator: inout SeededGenerator
    ) throws {
        let dummies = try context.fetch(FetchRequest(entityName: "TestDummy"))
        let owners = try context.fetch(FetchRequest(entityName: "Owner"))
        switch Int.random(in: 0..<10, using: &generator) {
        case 0..<3:
            let entity = generator.chance(30) ? "SpecialDummy" : "TestDummy"
            let dummy = try context.insertNewObject(forEntityName: entity)
            try set(dummy, owners, &generator)
        case 3..<7 where !dummies.isEmpty: try set(generator.pick(dummies), owners, &generator)
        case 7 where !dummies.isEmpty: try context.delete(generator.pick(dummies))
        case 8 where !owners.isEmpty:
            let owner = generator.pick(owners)
            if generator.chance(20) {
                try context.delete(owner)
            } else {
                try owner.setValue("o\(Int.random(in: 0..<3, using: &generator))", forKey: "name")
            }
        default:
            let owner = try context.insertNewObject(forEntityName: "Owner")
            try owner.setValue("o\(Int.random(in: 0..<3, using: &generator))", forKey: "name")
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
