import ManagedObjects
import StoreFormat
public import StoreStrategies

/// A probe writer in this process, with its own coordinator and connections.
public struct CoordinatorProbeWriter: ProbeWriter {
    public init() {}

    public var name: String { "a second coordinator" }

    public func begin(with description: PersistentStoreDescription) throws -> any ProbeSession {
        try Session(description)
    }

    private final class Session: ProbeSession {
        private let container: PersistentContainer
        private let store: PersistentStore

        init(_ description: PersistentStoreDescription) throws {
            container = PersistentContainer(name: "writer", descriptions: [description], viewContextOn: .privateQueue)
            store = try container.persistentStoreCoordinator.addPersistentStore(with: description)
        }

        func carryOut(_ step: ProbeStep) throws -> ProbeAnswer {
            if let reason = store.readOnlyReason { return ProbeAnswer(readOnlyReason: reason) }
            // One save for all; where it fails, single saves show which object is at fault.
            if let changes = try? save(step.operation, step.edits) { return ProbeAnswer(changes: changes) }
            var (changes, refusals): ([ProbeAnswer.Change], [ProbeAnswer.Refusal]) = ([], [])
            for edit in step.edits {
                do {
                    changes += try save(step.operation, [edit])
                } catch {
                    refusals.append(.init(entity: edit.entity, reason: ProbeReason.text(of: error)))
                }
            }
            return ProbeAnswer(changes: changes, refusals: refusals)
        }

        func end() throws { container.persistentStoreCoordinator.remove(store) }

        private func save(_ operation: ProbeStep.Operation, _ edits: [ProbeStep.Edit]) throws -> [ProbeAnswer.Change] {
            try container.newBackgroundContext(name: "probe")
                .performAndWait { context in
                    var objects: [ManagedObject] = []
                    for edit in edits { objects.append(try ProbeEditor.carryOut(edit, operation, in: context)) }
                    let deleted = operation == .delete ? objects.map { $0.objectID.uriRepresentation() } : []
                    try context.save()
                    return try zip(edits.indices, objects)
                        .map { index, object in
                            ProbeAnswer.Change(
                                entity: edits[index].entity,
                                uri: operation == .delete ? deleted[index] : object.objectID.uriRepresentation(),
                                destinations: operation == .insert ? try ProbeEditor.destinations(of: object) : [:]
                            )
                        }
                }
        }
    }
}
