import ManagedObjects
import StoreFormat
import StoreStrategies

/// Judges a merge of late writes: whether the new store contains them all, and its reader shows them.
struct LateWriteJudge {
    /// The saves of the late writer.
    let answers: [(operation: ProbeStep.Operation, answer: ProbeAnswer)]
    /// The attribute that was given a value, by entity.
    let marks: [String: String]
    /// The new addresses of objects that got another key.
    let addresses: [String: String]
    /// The entities with objects that were deleted late and kept, since the new store had changed them meanwhile.
    let survivors: Set<String>
    let delivery: ProbeDelivery
    let shown: ProbeObserver.Pictures
    let seen: ProbeObserver.Fresh
    /// The objects of the old store, and of the merged one, by address.
    let written: [String: ProbePicture.Object]
    let merged: [String: ProbePicture.Object]

    /// The findings; where one explains the others, only that one is reported.
    func findings() -> [Finding] {
        let lost = lateWritesLost()
        guard lost.isEmpty else { return lost }
        let references = referencesLost()
        guard references.isEmpty else { return references }
        let untold = Set(
            answers.flatMap(\.answer.changes).filter { !delivery.names(address($0.uri)) }.map(\.entity)
        )
        guard untold.isEmpty else { return untold.sorted().map { .mergeNotTold($0) } }
        guard shown != seen.pictures else { return [] }
        let differing = Set((Array(shown.everything.lists) + Array(seen.pictures.everything.lists)).map(\.key)).sorted()
            .filter {
                shown.everything.lists[$0] != seen.pictures.everything.lists[$0]
                    || shown.marked.lists[$0] != seen.pictures.marked.lists[$0]
            }
        return differing.isEmpty ? [.mergeNotShown(nil)] : differing.map { .mergeNotShown($0) }
    }

    private func address(_ uri: String) -> String { addresses[uri] ?? uri }

    /// Objects that the merged store lacks, has with other values, or has although they were deleted.
    private func lateWritesLost() -> [Finding] {
        var findings: [Finding] = []
        for (operation, answer) in answers {
            for change in answer.changes {
                let now = merged[address(change.uri)]
                let isRight: Bool
                switch (operation, written[change.uri]) {
                // Objects that a deletion cascades to are kept where the new store had changed the deleted object.
                case (.delete, _): isRight = now == nil || !survivors.isEmpty
                // It was deleted by a later step, with another object.
                case (_, nil): isRight = true
                case (_, let then?):
                    let mark = marks[change.entity]
                    isRight = mark.map { now?.attributes[$0] == then.attributes[$0] } ?? (now != nil)
                }
                if !isRight { findings.append(.lateWriteLost(operation, change.entity)) }
            }
        }
        return findings
    }

    private func referencesLost() -> [Finding] {
        var findings: [Finding] = []
        for change in answers.first(where: { $0.operation == .insert })?.answer.changes ?? [] {
            let found = seen.destinations[address(change.uri)] ?? [:]
            for (name, uris) in change.destinations.sorted(by: { $0.key < $1.key }) {
                // Relationships no longer contain objects that were deleted later.
                let expected = uris.filter { written[$0] != nil }.map(address)
                if !Set(expected).isSubset(of: found[name] ?? []) {
                    findings.append(.lateReferenceLost(change.entity, name))
                }
            }
        }
        return findings
    }

    /// All objects of some entities as a restarted program sees them.
    static func objects(
        of location: StoreLocation,
        _ entities: [ProbeEntity],
        _ description: PersistentStoreDescription,
        _ model: ManagedObjectModel
    ) throws -> [String: ProbePicture.Object] {
        let container = PersistentContainer(
            name: "judge",
            managedObjectModel: model,
            descriptions: [description],
            viewContextOn: .privateQueue
        )
        let store = try container.persistentStoreCoordinator.addPersistentStore(with: description)
        defer { container.persistentStoreCoordinator.remove(store) }
        return try container.viewContext.performAndWait { context in
            var found: [String: ProbePicture.Object] = [:]
            for entity in entities {
                var request = FetchRequest(entityName: entity.name)
                request.includesSubentities = false
                for object in try context.fetch(request) {
                    found[object.objectID.uriRepresentation()] = try ProbePicture.Object(object)
                }
            }
            return found
        }
    }
}
