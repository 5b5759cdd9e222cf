import ChangeMerging
import ManagedObjects
import TestSupport
import Testing

/// Two contexts edit one store at random and merge each other's saves late, so that most saves conflict.
@Suite("Random editing with late merges")
struct RandomConflictTests {
    static let policies = MergePolicy.allCases.filter { $0 != .error }

    @Test(
        "Every save succeeds, and finally both contexts equal the store, which is sound",
        arguments: policies,
        Seed.several(25)
    )
    func converge(_ policy: MergePolicy, _ seed: UInt64) throws {
        let stack = try SiblingStack(Library.model, tracksHistory: true)
        let contexts = [stack.main, stack.background]
        let inboxes = [Notices(), Notices()]
        let observations = [
            contexts[0].onDidSave { inboxes[1].append($0) }, contexts[1].onDidSave { inboxes[0].append($0) },
        ]
        var merged = [0, 0]
        func merge(_ index: Int) throws {
            let news = inboxes[index].all.dropFirst(merged[index])
            merged[index] += news.count
            try contexts[index]
                .performAndWait { for notice in news { try $0.mergeChanges(fromContextDidSave: notice) } }
        }
        for context in contexts {
            context.performAndWait {
                $0.mergePolicy = policy
                $0.retainsRegisteredObjects = true
            }
        }
        var generator = SeededGenerator(seed: seed)
        for step in 0..<60 {
            let index = Int.random(in: 0...1, using: &generator)
            if Int.random(in: 0..<8, using: &generator) == 0 { try merge(index) }
            let choices = (0..<6).map { _ in Int.random(in: 0..<1000, using: &generator) }
            try contexts[index]
                .performAndWait { try RandomEdit(choices, serial: step).perform(in: $0) }
        }
        for index in [0, 1, 0, 1] {
            try contexts[index].performAndWait { try $0.save() }
            try merge(index)
        }
        try merge(0)
        let fresh = PersistentStoreCoordinator()
        try fresh.addPersistentStore(with: stack.container.persistentStoreDescriptions[0])
        let stored = try RandomEditingTests.everything(ManagedObjectContext(.privateQueue, coordinator: fresh))
        for context in contexts {
            let shown = try RandomEditingTests.everything(context)
            #expect(Set(shown.keys) == Set(stored.keys), "\(policy), seed \(seed)")
            for (id, reading) in stored { #expect(shown[id] == reading, "\(policy), seed \(seed)") }
        }
        #expect(try stack.location.findingsOfCoreData() == [], "\(policy), seed \(seed)")
        for observation in observations { observation.cancel() }
    }
}
