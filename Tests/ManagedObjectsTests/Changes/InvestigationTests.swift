import ManagedObjects
import Testing

/// Findings of the fetched-results investigation that need no controller.
@Suite("Change sets and save notices for inserts, updates and deletes")
struct InvestigationTests {
    @Test("After a save both contexts register the inserted objects under the same permanent IDs")
    func insert() throws {
        let stack = try SiblingStack()
        let observation = stack.mergeIntoMain()
        let (inBackground, after) = try stack.background.performAndWait { context in
            context.retainsRegisteredObjects = true
            try context.insertDummies(4)
            #expect(context.insertedObjects == context.registeredObjects)
            #expect(context.insertedObjects.count == 4)
            try context.save()
            #expect(context.insertedObjects.isEmpty)
            #expect(context.hasChanges == false)
            return (Set(context.registeredObjects.map(\.objectID)), try context.all("TestDummy").count)
        }
        #expect(after == 4)
        let inMain = stack.main.performAndWait { Set($0.registeredObjects.map(\.objectID)) }
        #expect(inMain == inBackground)
        #expect(inMain.allSatisfy { !$0.isTemporaryID })
        observation.cancel()
    }

    @Test("An object inserted and updated before the save is reported as inserted only")
    func insertAndUpdate() throws {
        let stack = try SiblingStack()
        let notices = Notices()
        let observation = stack.background.onDidSave { notices.append($0) }
        try stack.background.performAndWait { context in
            let dummies = try context.insertDummies(4)
            try context.processPendingChanges()
            #expect(context.updatedObjects.isEmpty)
            try dummies[0].setValue(true, forKey: "isEven")
            try dummies[2].setValue(true, forKey: "isEven")
            #expect(context.updatedObjects.isEmpty == false)
            try context.processPendingChanges()
            #expect(context.updatedObjects.isEmpty)
            try context.save()
        }
        let notice = try #require(notices.all.first)
        #expect(notice.insertedObjectIDs.count == 4)
        #expect(notice.updatedObjectIDs.isEmpty)
        observation.cancel()
    }

    @Test("An object updated after its first save is reported as updated")
    func insertThenUpdate() throws {
        let stack = try SiblingStack()
        let notices = Notices()
        let observation = stack.background.onDidSave { notices.append($0) }
        let updated = try stack.background.performAndWait { context in
            let dummies = try context.insertDummies(4)
            try context.save()
            try dummies[0].setValue(true, forKey: "isEven")
            try dummies[2].setValue(true, forKey: "isEven")
            #expect(context.updatedObjects == [dummies[0], dummies[2]])
            try context.save()
            return Set([dummies[0].objectID, dummies[2].objectID])
        }
        #expect(notices.all.count == 2)
        #expect(notices.all.last?.updatedObjectIDs == updated)
        #expect(notices.all.last?.insertedObjectIDs.isEmpty == true)
        observation.cancel()
    }

    @Test("An object deleted before its first save is not reported")
    func insertAndDelete() throws {
        let stack = try SiblingStack()
        let notices = Notices()
        let observation = stack.background.onDidSave { notices.append($0) }
        try stack.background.performAndWait { context in
            let dummies = try context.insertDummies(4)
            try context.delete(dummies[1])
            #expect(context.deletedObjects.isEmpty)
            #expect(context.insertedObjects == [dummies[0], dummies[2], dummies[3]])
            try context.save()
            #expect(try context.all("TestDummy").count == 3)
        }
        #expect(notices.all.first?.insertedObjectIDs.count == 3)
        #expect(notices.all.first?.deletedObjectIDs.isEmpty == true)
        observation.cancel()
    }

    @Test("An object deleted after its first save is reported as deleted and leaves the main context")
    func insertThenDelete() throws {
        let stack = try SiblingStack()
        let notices = Notices()
        let merging = stack.mergeIntoMain()
        let observation = stack.background.onDidSave { notices.append($0) }
        let gone = try stack.background.performAndWait { context in
            let dummies = try context.insertDummies(4)
            try context.save()
            try context.delete(dummies[1])
            #expect(context.deletedObjects == [dummies[1]])
            try context.save()
            #expect(context.deletedObjects.isEmpty)
            return dummies[1].objectID
        }
        #expect(notices.all.last?.deletedObjectIDs == [gone])
        stack.main.performAndWait { context in
            #expect(context.registeredObjects.count == 3)
            #expect(context.registeredObject(for: gone) == nil)
        }
        merging.cancel()
        observation.cancel()
    }

    @Test("An update in another context refreshes only objects that this context has read")
    func updateToMatch() throws {
        let stack = try SiblingStack()
        let ids = try stack.background.performAndWait { context in
            let dummies = try context.insertDummies(4)
            try context.save()
            return dummies.map(\.objectID)
        }
        let notices = Notices()
        let observation = stack.background.onDidSave { notices.append($0) }
        try stack.background.performAndWait { context in
            try context.object(with: ids[2]).setValue(true, forKey: "isEven")
            try context.save()
        }
        let notice = try #require(notices.all.first)
        try stack.main.performAndWait { context in
            let seen = Seen()
            _ = context.addObserver { seen.add($0) }
            try context.mergeChanges(fromContextDidSave: notice)
            #expect(seen.refreshed.isEmpty && seen.updated.isEmpty)
            #expect(context.registeredObject(for: ids[2]) == nil)
            #expect(seen.merged == [ids[2]])
            let dummy = try context.object(with: ids[2])
            try dummy.willAccessValue(forKey: nil)
            try context.mergeChanges(fromContextDidSave: notice)
            #expect(seen.refreshed == [ids[2]])
        }
        observation.cancel()
    }
}
