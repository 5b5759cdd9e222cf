import StoreFormat
import Synchronization
import Testing

@testable import ManagedObjects

/// Reads that begin before a change of the object, and arrive after it.
@Suite("Cached rows")
struct RowCacheTests {
    /// More than the cache remembers one by one.
    private static let many = 10_000

    private let stack: SiblingStack
    private var coordinator: PersistentStoreCoordinator { stack.container.persistentStoreCoordinator }

    init() throws { stack = try SiblingStack() }

    /// Inserts objects in a context that is released, and so does not keep their rows.
    private func insert(_ count: Int) throws -> [ManagedObjectID] {
        try edit { context in
            try context.insertDummies(count)
            try context.save()
            return try context.all("TestDummy").map(\.objectID)
        }
    }

    private func edit<R: Sendable>(_ work: @Sendable (isolated ManagedObjectContext) throws -> R) rethrows -> R {
        try ManagedObjectContext(.privateQueue, coordinator: coordinator).performAndWait(work)
    }

    private func rename(_ ids: [ManagedObjectID]) throws {
        try edit { context in
            for id in ids { try context.existingObject(with: id).setValue("new", forKey: "name") }
            try context.save()
        }
    }

    @Test("A row that was read before a save of the object is not kept, and one that was read afterwards is")
    func saved() throws {
        let ids = try insert(2)
        let early = try coordinator.rows(of: ids)
        try rename([ids[0]])
        coordinator.retain(early)
        #expect(coordinator.sharedRow(of: ids[0]) == nil)
        #expect(coordinator.sharedRow(of: ids[1])?.version == 1)
        #expect(try coordinator.row(of: ids[0], maximumAge: nil)?.version == 2)
        #expect(coordinator.sharedRow(of: ids[0])?.version == 2, "the read has filled the entry")
        for id in ids { coordinator.release(id) }
        coordinator.retain(try coordinator.rows(of: ids))
        #expect(ids.map { coordinator.sharedRow(of: $0)?.version } == [2, 1])
        for id in ids { coordinator.release(id) }
    }

    @Test("A row that was read before its object was deleted is not kept")
    func deleted() throws {
        let ids = try insert(1)
        let early = try coordinator.rows(of: ids)
        try edit { context in
            try context.delete(context.existingObject(with: ids[0]))
            try context.save()
        }
        coordinator.retain(early)
        #expect(coordinator.sharedRow(of: ids[0]) == nil)
        #expect(try coordinator.row(of: ids[0], maximumAge: nil) == nil)
        coordinator.release(ids[0])
    }

    @Test(
        "A row that was read before it was forgotten is not kept, whether or not it was cached",
        arguments: [true, false]
    )
    func forgotten(_ isCached: Bool) throws {
        let ids = try insert(1)
        let early = try coordinator.rows(of: ids)
        if isCached { coordinator.retain(early) }
        coordinator.forget(ids)
        #expect(coordinator.sharedRow(of: ids[0]) == nil)
        coordinator.retain(early)
        #expect(coordinator.sharedRow(of: ids[0]) == nil)
        coordinator.retain(try coordinator.rows(of: ids))
        #expect(coordinator.sharedRow(of: ids[0])?.version == 1)
        for _ in 0..<(isCached ? 3 : 2) { coordinator.release(ids[0]) }
    }

    @Test("After more changes than are remembered, a row that was read before them is read again")
    func manyChanges() throws {
        let ids = try insert(Self.many)
        let early = try coordinator.rows(of: ids)
        try rename(Array(ids.dropFirst()))
        coordinator.retain(early)
        // The unchanged row is read again, too.
        #expect(ids.allSatisfy { coordinator.sharedRow(of: $0) == nil })
        #expect(
            try coordinator.rows(of: ids, maximumAge: nil).map { $0?.version } == [1] + ids.dropFirst().map { _ in 2 }
        )
        for id in ids { coordinator.release(id) }
        #expect(coordinator.stores[0].cache.withLock { $0.count } == 0)
    }

    @Test("An object keeps the rows of its own save, however many there are")
    func ownSave() throws {
        let ids = try insert(Self.many)
        try stack.background.performAndWait { context in
            let objects = try ids.map { try context.existingObject(with: $0) }
            for object in objects { try object.setValue("new", forKey: "name") }
            try context.save()
            #expect(ids.allSatisfy { coordinator.sharedRow(of: $0)?.version == 2 })
        }
    }
}
