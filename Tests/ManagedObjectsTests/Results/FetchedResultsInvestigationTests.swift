import FoundationEssentials
import ManagedObjects
import Testing

/// Flow 4, the fetched-results investigation, with ten objects; each comment is the published finding.
///
/// "A read-only main context and a read-write background context on one coordinator; saves of the background context are
/// merged into the main one. Two fetched results controllers, one per context".
@Suite("Flow 4: the fetched results investigation")
struct FetchedResultsInvestigationTests {
    private static let all = (0..<10).map { "dummy\($0)" }
    /// What a fresh fetch with the predicate returns after ``updateToMatch(_:)``.
    private static let matching = ["updated0", "updated1", "updated2", "updated3", "dummy4", "dummy6", "dummy8"]

    private static func inserts(_ names: [String], at rows: [Int]) -> [String] {
        zip(names, rows).map { "insert \($0) - 0.\($1)" }
    }

    // MARK: Change sets

    @Test("Case a: after a save both contexts register the inserted objects, and both controllers show them")
    func insertion() async throws {
        let stack = try Investigation()
        try await stack.observe(stack.main)
        try await stack.observe(stack.background)
        try await stack.background.perform { context in
            try Investigation.insert(0..<10, into: context)
            // "before the save insertedObjects = registeredObjects".
            #expect(context.insertedObjects == context.registeredObjects)
            #expect(context.insertedObjects.count == 10)
            try context.save()
            // "insertedObjects empty".
            #expect(context.insertedObjects.isEmpty)
        }
        // "after it both contexts register the same objects".
        let ids = await stack.main.perform { Set($0.registeredObjects.map(\.objectID)) }
        #expect(ids.count == 10)
        #expect(await stack.background.perform { Set($0.registeredObjects.map(\.objectID)) } == ids)
        // "the background controller's objects equal its registeredObjects".
        #expect(try await stack.shown(stack.background) == ids)
        #expect(try await stack.names(stack.main) == Self.all)
        // "the main context's registered objects are those that its controller shows".
        #expect(try await stack.shown(stack.main) == ids)
        // "a read-only main context": a merge leaves nothing to save in it.
        #expect(await stack.main.perform { !$0.hasChanges && $0.insertedObjects.isEmpty && $0.updatedObjects.isEmpty })
        // The delegate receives the insertions.
        let inserts = Self.inserts(Self.all, at: Array(0..<10))
        #expect(try await stack.events(stack.main) == ["will"] + inserts + ["did"])
        #expect(try await stack.events(stack.background).filter { $0.hasPrefix("insert") } == inserts)
    }

    @Test("Cases b and c: an update before the first save is reported as an insertion, a later one as an update")
    func updates() async throws {
        let stack = try Investigation()
        try await stack.observe(stack.main)
        let notices = Notices()
        let observation = stack.background.onDidSave { notices.append($0) }
        try await stack.background.perform { context in
            try Investigation.insert(0..<10, into: context)
            try context.processPendingChanges()
            try Investigation.update([0, 2], in: context)
            // "(not empty right after the update)".
            #expect(context.updatedObjects.count == 2)
            try context.save()
        }
        // "reported as inserted only; updatedObjects is empty at notification time".
        #expect(notices.all.last?.insertedObjectIDs.count == 10)
        #expect(notices.all.last?.updatedObjectIDs == [])
        #expect(try await stack.events(stack.main).filter { $0.hasPrefix("update ") } == [])
        stack.countReports()
        try await stack.background.perform { context in
            try Investigation.update([1, 3], in: context)
            try context.save()
        }
        // c: "reported as updated".
        #expect(notices.all.last?.insertedObjectIDs == [])
        #expect(notices.all.last?.updatedObjectIDs.count == 2)
        #expect(
            try await stack.events(stack.main)
                == ["will", "update updated1 0.1 0.1", "update updated3 0.3 0.3", "did"]
        )
        #expect(try stack.reports == Investigation.Reports(updates: [1: 1, 3: 1]))
        observation.cancel()
    }

    @Test("Cases d and e: a deletion before the first save is not reported, a later one is, also in the main context")
    func deletions() async throws {
        let stack = try Investigation()
        try await stack.observe(stack.main)
        try await stack.background.perform { context in
            try Investigation.insert(0..<10, into: context)
            try context.delete(Investigation.dummy(1, in: context))
            // "not in deletedObjects; insertedObjects holds the net difference".
            #expect(context.deletedObjects.isEmpty && context.insertedObjects.count == 9)
            try context.save()
        }
        #expect(try await stack.names(stack.main) == Self.all.filter { $0 != "dummy1" })
        _ = try await stack.events(stack.main)
        stack.countReports()
        let notices = Notices()
        let observation = stack.background.onDidSave { notices.append($0) }
        let ids = try await stack.background.perform { context in
            Set(try [2, 5].map { try Investigation.dummy($0, in: context).objectID })
        }
        try await stack.background.perform { context in
            for number in [2, 5] { try context.delete(Investigation.dummy(number, in: context)) }
            // e: "in deletedObjects".
            #expect(context.deletedObjects.count == 2)
            try context.save()
            #expect(context.deletedObjects.isEmpty && context.registeredObjects.isEmpty)
        }
        // "in deletedObjects" at notification time, and in no other set.
        #expect(notices.all.last?.deletedObjectIDs == ids)
        #expect(notices.all.last?.updatedObjectIDs == [] && notices.all.last?.insertedObjectIDs == [])
        observation.cancel()
        // "main context and its controller follow; during the save registeredObjects and deletedObjects may be transient":
        // they are deleted objects while the merge is reported, and nothing is left to save.
        #expect(try stack.reports.deleted == [2, 2])
        await stack.main.perform { context in
            #expect(context.deletedObjects.isEmpty && !context.hasChanges)
            #expect(context.registeredObjects.count == 7)
        }
        #expect(try await stack.events(stack.main) == ["will", "delete dummy2 0.1 -", "delete dummy5 0.4 -", "did"])
    }

    @Test("Case f: without a delegate the result stays as first fetched")
    func noDelegate() async throws {
        let stack = try Investigation()
        try await stack.observe(stack.main, hasDelegate: false)
        try await stack.background.perform { context in
            try Investigation.insert(0..<10, into: context)
            try context.save()
        }
        // "fetchedObjects stays at the first fetch; no tracking".
        #expect(try await stack.names(stack.main) == [])
    }

    // MARK: With a predicate

    @Test(
        "Cases g and h: an object that matches the predicate at its first save is inserted",
        arguments: [FetchedResultsController.Behaviour.complete, .registeredOnly],
        [true, false]
    )
    func matching(behaviour: FetchedResultsController.Behaviour, isUpdated: Bool) async throws {
        let stack = try Investigation()
        try await stack.observe(stack.main, "isEven == YES", behaviour)
        try await stack.background.perform { context in
            try Investigation.insert(0..<10, isEven: !isUpdated, into: context)
            if isUpdated { try Investigation.update(Array(0..<10), in: context) }
            try context.save()
        }
        // g: "fetched"; h: "fetched (as inserted)".
        let names = isUpdated ? (0..<10).map { "updated\($0)" } : Self.all
        #expect(try await stack.names(stack.main) == names)
        #expect(
            try await stack.events(stack.main) == ["will"] + Self.inserts(names, at: Array(0..<10)) + ["did"]
        )
    }

    /// Ten objects, five of which match; then updates two that match and two that begin to.
    private static func updateToMatch(
        _ stack: Investigation,
        _ behaviour: FetchedResultsController.Behaviour = .registeredOnly
    ) async throws {
        try await stack.background.perform { context in
            for number in 0..<10 {
                try Investigation.insert(number..<number + 1, isEven: number % 2 == 0, into: context)
            }
            try context.save()
        }
        // A child's save has reached its parent only.
        try await stack.main.perform { try $0.save() }
        try await stack.observe(stack.main, "isEven == YES", behaviour)
        stack.countReports()
        try await stack.background.perform { context in
            try Investigation.update([0, 1, 2, 3], in: context)
            try context.save()
        }
        try await stack.main.perform { try $0.processPendingChanges() }
    }

    private static let inserted = ["insert updated1 - 0.1", "insert updated3 - 0.3"]
    private static let once: [Int64: Int] = [0: 1, 2: 1]

    @Test(
        "Case i: an object updated to match after its first save is missed by registeredOnly",
        arguments: [false, true]
    )
    func missed(isAutomatic: Bool) async throws {
        let stack = try Investigation(isAutomatic ? nil : .merge, isAutomatic: isAutomatic)
        try await Self.updateToMatch(stack)
        // "never fetched by the main controller: the object is not registered there, so the merge has nothing to refresh".
        #expect(try await stack.names(stack.main) == Self.matching.filter { !["updated1", "updated3"].contains($0) })
        #expect(try await stack.events(stack.main).count == 4)
        #expect(await stack.main.perform { $0.registeredObjects.count } == 5)
        #expect(try stack.reports == Investigation.Reports(updates: Self.once))
    }

    // MARK: Remedies

    @Test("Case j: with a child context registeredOnly finds the objects; IDs are temporary until the parent saves")
    func child() async throws {
        let stack = try Investigation(nil, isChild: true)
        try await Self.updateToMatch(stack)
        // "cured".
        #expect(try await stack.names(stack.main) == Self.matching)
        // "but every fetch and save passes through the main context, ids are temporary until saved".
        #expect(await stack.main.perform { $0.updatedObjects.count } == 4)
        let inserted = try await stack.background.perform { context in
            try Investigation.insert(10..<11, into: context)
            try context.save()
            return try Investigation.dummy(10, in: context).objectID.isTemporaryID
        }
        #expect(inserted)
        try await stack.main.perform { try $0.save() }
        #expect(try await stack.main.perform { try !Investigation.dummy(10, in: $0).objectID.isTemporaryID })
    }

    @Test("Cases k and l: a refresh of all updated objects cures, with further updates", arguments: [false, true])
    func refreshing(mergeChanges: Bool) async throws {
        let stack = try Investigation(.refreshUpdated(mergeChanges: mergeChanges))
        try await Self.updateToMatch(stack)
        // "cured".
        #expect(try await stack.names(stack.main) == Self.matching)
        let events = try await stack.events(stack.main)
        #expect(events.filter { $0.hasPrefix("insert") } == Self.inserted)
        // "registered ones twice in any case"; k: "at least three updates of every updated object the controller holds
        // (merge, refresh, fault firing)".
        #expect(events.filter { $0.hasPrefix("update") }.count == 4)
        let reports = try stack.reports
        #expect(reports.updates == [0: 2, 1: 1, 2: 2, 3: 1])
        // k: "references go stale": without mergeChanges the two registered objects become faults, which are read again.
        #expect(reports.faultsFired == (mergeChanges ? 2 : 4))
    }

    @Test("Cases m and n: processing only matching, unregistered objects updates each object once")
    func targeted() async throws {
        for processing in [SaveProcessing.refreshMatching, .accessMatching] {
            let stack = try Investigation(processing)
            try await Self.updateToMatch(stack)
            // "cured; one update each; nothing else touched"; n: "same cost as m when targeted".
            #expect(try await stack.names(stack.main) == Self.matching)
            let events = try await stack.events(stack.main)
            #expect(events.filter { $0.hasPrefix("insert") } == Self.inserted)
            #expect(events.filter { $0.hasPrefix("update") }.count == 2)
            #expect(
                try stack.reports == Investigation.Reports(updates: [0: 1, 1: 1, 2: 1, 3: 1], faultsFired: 2)
            )
            #expect(await stack.main.perform { $0.registeredObjects.count } == 7)
        }
    }

    @Test("Case m: a controller without a predicate does nothing, and subentities are included")
    func targetedExtent() async throws {
        // "a controller without predicate does nothing".
        let stack = try Investigation(.refreshMatching)
        try await stack.observe(stack.main)
        try await stack.background.perform { context in
            try Investigation.insert(0..<10, into: context)
            try context.save()
        }
        stack.countReports()
        let rows = stack.main.persistentStoreCoordinator.rowsRead
        try await stack.background.perform { context in
            for dummy in context.registeredObjects { try dummy.setValue("updated", forKey: "name") }
            for number in 0..<10 { try Investigation.update([number], in: context) }
            try context.save()
        }
        #expect(try stack.reports.updates == Dictionary(uniqueKeysWithValues: (0..<10).map { (Int64($0), 1) }))
        // The lookups of the background context alone.
        #expect(stack.main.persistentStoreCoordinator.rowsRead - rows == 10)
        // "ours includes subentities".
        let special = try Investigation(.refreshMatching)
        try await special.observe(special.main, "isEven == YES", .registeredOnly)
        try await special.background.perform { context in
            let dummy = try context.insertNewObject(forEntityName: "SpecialDummy")
            try dummy.setValue(Int64(1), forKey: "id")
            try dummy.setValue(false, forKey: "isEven")
            try context.save()
            try Investigation.update([1], in: context)
            try context.save()
        }
        #expect(try await special.names(special.main) == ["updated1"])
    }

    @Test(
        "Case o: fetching at every save gives the right result, and the delegate learns of it only by reloading",
        arguments: [false, true]
    )
    func fetchingAgain(reloadingDelegates: Bool) async throws {
        let stack = try Investigation(.fetchAgain(reloadingDelegates: reloadingDelegates))
        try await Self.updateToMatch(stack)
        // "fetchedObjects right", and the delegate does not learn of it.
        #expect(try await stack.names(stack.main) == Self.matching)
        let events = try await stack.events(stack.main)
        #expect(events.filter { $0.hasPrefix("insert") } == [])
        // The workaround: the app calls the delegate, which reloads its list.
        #expect(events.suffix(2) == (reloadingDelegates ? ["will", "did"] : [events[events.count - 2], "did"]))
        #expect(events.count == (reloadingDelegates ? 6 : 4))
    }

    // MARK: Over an unsaved edit

    @Test(
        "Cases k, l and m over an unsaved edit: a refresh that merges keeps it, a targeted one does not touch it",
        arguments: [
            (SaveProcessing.refreshUpdated(mergeChanges: false), false), (.refreshUpdated(mergeChanges: true), true),
            (.refreshMatching, true),
        ]
    )
    func unsavedEdit(processing: SaveProcessing, isKept: Bool) async throws {
        let stack = try Investigation(processing)
        try await stack.background.perform { context in
            try Investigation.insert(0..<10, isEven: true, into: context)
            try context.save()
        }
        try await stack.observe(stack.main, "isEven == YES", .registeredOnly)
        try await stack.main.perform { try Investigation.dummy(0, in: $0).setValue("edited", forKey: "name") }
        try await stack.background.perform { context in
            try Investigation.update([0], in: context)
            try Investigation.dummy(0, in: context).setValue("both", forKey: "group")
            try context.save()
        }
        try await stack.main.perform { context in
            let dummy = try Investigation.dummy(0, in: context)
            // l: "values reloaded from the store (published as overriding local changes; documented, and ours: pending local
            // changes are re-applied)"; k: they are lost.
            #expect(try dummy.value(String.self, forKey: "name") == (isKept ? "edited" : "updated0"))
            #expect(try dummy.value(String.self, forKey: "group") == "both")
            #expect(context.hasChanges == isKept)
        }
    }

    // MARK: Ours
    //
    // "changed destinations are mapped back through the inverse for key paths in predicate, sort and section":
    // FetchedResultsControllerTests.dependencies.

    @Test("A controller without a behaviour, and a merge without a remedy, equal a fetch: complete is the default")
    func byDefault() async throws {
        let stack = try Investigation()
        // "Ours must offer a correct default, .complete: a controller equals a fresh fetch after every merge".
        try await stack.main.perform { context in
            let request = FetchRequest(
                entityName: "TestDummy",
                predicate: try FetchPredicate(format: "isEven == YES"),
                sortDescriptors: [.init(keyPath: "id")]
            )
            let controller = FetchedResultsController(fetchRequest: request, managedObjectContext: context)
            #expect(controller.behaviour == .complete)
            let recorder = Recorder()
            controller.delegate = recorder
            context.userInfo["controller"] = controller
            context.userInfo["recorder"] = recorder
            try controller.performFetch()
        }
        try await stack.background.perform { context in
            try Investigation.insert(0..<10, into: context)
            try context.save()
            try Investigation.update([1, 3], in: context)
            try context.save()
        }
        #expect(try await stack.names(stack.main) == ["updated1", "updated3"])
        // "the plain behaviour stays selectable": case i above selects it.
        let inserts = Self.inserts(["updated1", "updated3"], at: [0, 1])
        #expect(try await stack.events(stack.main).filter { $0.hasPrefix("insert") } == inserts)
    }

    @Test("With a fetch limit complete re-evaluates the window when an object begins or ceases to match")
    func window() async throws {
        let stack = try Investigation()
        try await stack.background.perform { context in
            for number in 0..<10 {
                try Investigation.insert(number..<number + 1, isEven: number % 2 == 0, into: context)
            }
            try context.save()
        }
        try await stack.observe(stack.main, "isEven == YES") { $0.fetchLimit = 3 }
        #expect(try await stack.names(stack.main) == ["dummy0", "dummy2", "dummy4"])
        // "with a fetch limit or offset the window is re-evaluated".
        try await stack.background.perform { context in
            try Investigation.update([1], in: context)
            try context.save()
        }
        #expect(try await stack.names(stack.main) == ["dummy0", "updated1", "dummy2"])
        // "objects that stop matching leave".
        try await stack.background.perform { context in
            try Investigation.setEven([0, 1], false, in: context)
            try context.save()
        }
        #expect(try await stack.names(stack.main) == ["dummy2", "dummy4", "dummy6"])
    }

    @Test("Case i is cured by complete, which reports each object once and reads no other")
    func complete() async throws {
        let stack = try Investigation()
        try await Self.updateToMatch(stack, .complete)
        // "a controller equals a fresh fetch after every merge".
        #expect(try await stack.names(stack.main) == Self.matching)
        let events = try await stack.events(stack.main)
        #expect(events.filter { $0.hasPrefix("insert") } == Self.inserted)
        #expect(events.filter { $0.hasPrefix("update") }.count == 2 && events.count == 6)
        #expect(try stack.reports == Investigation.Reports(updates: Self.once, faultsFired: 2))
        #expect(await stack.main.perform { $0.registeredObjects.count } == 7)
        // "objects that stop matching leave".
        try await stack.background.perform { context in
            try Investigation.update([0], isEven: false, in: context)
            try context.save()
        }
        #expect(try await stack.names(stack.main) == Array(Self.matching.dropFirst()))
    }
}
