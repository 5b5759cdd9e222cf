import ChangeMerging
import ChangeRelay
import ManagedObjects
import SafeFiles
public import StoreAccess
import StoreFormat
import StoreStrategies
import StoreVerification

/// Tests that late writes to the old store arrive in the contexts of the new one, on scratch copies of both.
///
/// A writer opens the old store before it is copied, as a running app does, and inserts, changes and deletes objects, while
/// the new store assigns the same keys to its own objects. Then the two are merged. A reader that has the new store open
/// throughout must show what a restarted program shows, every late write included.
struct LateWriteProbe {
    /// The mark of the objects on the reader's last screen.
    private static let matchMark = 0

    /// The scratch copy of the old store.
    let sample: ProbeSample
    let folder: Directory
    let entities: [ProbeEntity]
    let model: ManagedObjectModel
    /// How an app opens the store.
    let description: PersistentStoreDescription
    /// The program that writes late.
    let writer: any ProbeWriter
    let instruments: MergeProbe.Instruments

    private var old: StoreLocation { sample.location }
    private var new: StoreLocation { StoreLocation(folder: folder.path, name: "new-" + old.name) }
    private var base: StoreLocation { StoreLocation(folder: folder.path, name: "base-" + old.name) }

    /// Runs the probe; returns the operations of which late writes were saved, and the findings.
    func result() throws -> (operations: [ProbeStep.Operation], findings: [Finding]) {
        let late = try writer.begin(with: description.at(old))
        defer { try? late.end() }
        // A step without changes opens the store.
        try requireWriting(late.carryOut(ProbeStep(.insert, [])))
        // The copy is made after the writer opened the store, so that the writer does not know it.
        try ProbeSample.copy(old, to: new, in: folder)
        try ProbeSample.copy(old, to: base, in: folder)
        let observer = try ProbeObserver(
            description.at(new),
            model: model,
            entities: entities,
            mark: Self.matchMark,
            behaviour: instruments.behaviour,
            receiver: instruments.receiver ?? { try MergeProbe.receiver($0, $1) }
        )
        defer { observer.close() }
        let resident = try writer.begin(with: description.at(new))
        try requireWriting(resident.carryOut(ProbeStep(.insert, edits(.insert, marks: 3))))
        try resident.end()
        _ = try observer.receive()

        var answers: [(ProbeStep.Operation, ProbeAnswer)] = []
        for operation in ProbeStep.Operation.allCases {
            answers.append((operation, try late.carryOut(ProbeStep(operation, edits(operation, marks: 5)))))
        }
        let operations = answers.filter { !$0.1.changes.isEmpty }.map(\.0)
        let (moved, survivors) = try merge()
        let addresses = Dictionary(
            moved.map { ($0.old.description, $0.new.description) },
            uniquingKeysWith: { first, _ in first }
        )
        let delivery = try observer.receive()
        let shown = try observer.pictures()
        let inserted = answers.first { $0.0 == .insert }?.1.changes ?? []
        let seen = try observer.fresh(inserted.map { addresses[$0.uri] ?? $0.uri })
        let judge = LateWriteJudge(
            answers: answers,
            marks: Dictionary(
                entities.compactMap { entity in entity.mark.map { (entity.name, $0.name) } },
                uniquingKeysWith: { first, _ in first }
            ),
            addresses: addresses,
            survivors: survivors,
            delivery: delivery,
            shown: shown,
            seen: seen,
            written: try LateWriteJudge.objects(of: old, entities, description.at(old), model),
            merged: try LateWriteJudge.objects(of: new, entities, description.at(new), model)
        )
        return (operations, try judge.findings() + keyMaxima() + repetition(moved))
    }

    /// Throws if the writer cannot write to the store.
    private func requireWriting(_ answer: ProbeAnswer) throws {
        guard let reason = answer.openingFailure ?? answer.readOnlyReason else { return }
        throw StoreError(.failed, path: old.path, "the late writer cannot write: \(reason)")
    }

    /// The objects of each entity for an operation; no two operations share an object.
    private func edits(_ operation: ProbeStep.Operation, marks: Int) -> [ProbeStep.Edit] {
        entities.enumerated().filter { $0.element.order != nil }
            .compactMap { index, entity in
                let object: String?
                switch operation {
                case .insert: object = entity.objects.first
                case .update: object = entity.objects.first
                case .match: object = entity.objects.count > 1 ? entity.objects[1] : nil
                case .delete: object = entity.objects.count > 2 ? entity.objects[2] : nil
                }
                if operation != .insert, object == nil { return nil }
                if operation == .update || operation == .match, entity.mark == nil { return nil }
                return ProbeStep.Edit(
                    entity: entity.name,
                    object: object,
                    attribute: entity.mark?.name,
                    mark: operation == .match
                        ? Self.matchMark : marks * 1_000 + index * 2 + (operation == .insert ? 1 : 2)
                )
            }
    }

    // MARK: Stores

    /// Merges the late writes; returns the objects that got another key, and the entities with objects that were deleted late
    /// and kept, since the new store had changed them meanwhile.
    private func merge() throws -> (moved: [RekeyedObject], survivors: Set<String>) {
        try withMerger(base) { merger, shared in
            let planned = try merger.plan()
            if let refusal = planned.summary.refusals.first {
                throw StoreError(.incompatible, path: old.path, "late writes could not be merged: \(refusal)")
            }
            var moved: [RekeyedObject] = []
            try planned.forEachRekeyedObject { moved.append($0) }
            _ = try planned.carryOut(MergeRun(epoch: "probe", deadline: Deadline(after: .seconds(10))))
            try instruments.afterMerge?(shared)
            // Without history, programs learn of a merge through the relay.
            try RelayQueue.existing(beside: new)?
                .post(ChangeNotice(key: .init(writer: "probe", number: 1), content: .everything))
            let kept = planned.summary.notes.filter { $0.kind == .editSurvivedDeletion }.map(\.entity)
            return (moved, Set(kept))
        }
    }

    /// A finding where planning the same merge again, as the next share does, is not empty.
    private func repetition(_ moved: [RekeyedObject]) throws -> [Finding] {
        let next = StoreLocation(folder: folder.path, name: "next-" + old.name)
        try ProbeSample.copy(old, to: next, in: folder)
        let isQuiet = try withMerger(next, moved) { merger, _ in try merger.plan().summary.changesNothing }
        return isQuiet ? [] : [.mergeRepeats()]
    }

    private func withMerger<R>(
        _ base: StoreLocation,
        _ moved: [RekeyedObject] = [],
        _ body: (StoreMerger, StoreConnection) throws -> R
    ) throws -> R {
        try StoreReader()
            .withView(of: old) { view in
                if view.kind != .live { try view.connection.beginReading() }
                let former = try StoreConnection(base, access: .immutable)
                try former.beginReading()
                let shared = try StoreConnection(new, access: .liveWriting, lockTimeout: .seconds(10))
                let merger = StoreMerger(
                    base: MergePlace(former, model: model),
                    old: MergePlace(view.connection, model: model),
                    shared: MergePlace(shared, model: model),
                    moved: moved,
                    settings: MergeSettings(source: .scan)
                )
                defer { try? shared.close() }
                return try body(merger, shared)
            }
    }

    /// Findings for entities of which an assigned key would be assigned again.
    private func keyMaxima() throws -> [Finding] {
        try StoreReader()
            .read(new) { view in
                guard let numbers = try EntityNumbers(reading: view.connection)?.named(by: sample.layout.model) else {
                    return []
                }
                var findings: [Finding] = []
                for root in numbers.roots where root.isOfModel {
                    guard let table = sample.layout.entities[root.name]?.table,
                        let last = try view.connection.value("SELECT max(Z_PK) FROM \(SQLName.quoted(table))")?.integer
                    else { continue }
                    if last > root.max { findings.append(.keyMaximumBehind(root.name)) }
                }
                return findings
            }
    }
}

extension PersistentStoreDescription {
    fileprivate func at(_ location: StoreLocation) -> PersistentStoreDescription {
        var copy = self
        copy.url = location.url
        copy.shouldMigrateStoreAutomatically = false
        return copy
    }
}

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

extension Finding.Code {
    /// A late write to the old store is not in the merged store.
    public static let lateWriteLost = Finding.Code(rawValue: "lateWriteLost")
    /// A relationship of an object that was inserted late is not the one in the old store.
    public static let lateReferenceLost = Finding.Code(rawValue: "lateReferenceLost")
    /// The history, or the relay, does not list an object that a merge changed.
    public static let mergeNotTold = Finding.Code(rawValue: "mergeNotTold")
    /// A program that had the store open during a merge shows other data than a restarted one.
    public static let mergeNotShown = Finding.Code(rawValue: "mergeNotShown")
    /// Repeating a merge would change the store again.
    public static let mergeRepeats = Finding.Code(rawValue: "mergeRepeats")
}

extension Finding {
    /// True for findings of the probe of late writes.
    package var isAboutLateWrites: Bool {
        [.lateWriteLost, .lateReferenceLost, .mergeNotTold, .mergeNotShown, .mergeRepeats].contains(code)
            || code == .keyMaximumBehind && level == .merging
    }

    /// The same finding, no more severe than this.
    package func lowered(to severity: Severity) -> Finding {
        var copy = self
        copy.severity = min(severity, self.severity)
        return copy
    }

    static func lateWritesNotTried(_ reason: String, at location: StoreLocation) -> Finding {
        Finding(
            .mergingNotTried,
            .warning,
            level: .merging,
            "the arrival of late writes to the old store could not be tested: \(reason)",
            path: location.path
        )
    }

    static func lateWriteLost(_ operation: ProbeStep.Operation, _ entity: String) -> Finding {
        late(.lateWriteLost, "an \(operation) of \(entity) in the old store did not reach the merged store", entity)
    }

    static func lateReferenceLost(_ entity: String, _ name: String) -> Finding {
        late(
            .lateReferenceLost,
            "a new \(entity) got another key in the merged store, and its \(name) was not updated",
            entity
        )
    }

    static func keyMaximumBehind(_ entity: String) -> Finding {
        late(.keyMaximumBehind, "the merged store would assign a key of \(entity) a second time", entity)
    }

    static func mergeNotTold(_ entity: String) -> Finding {
        late(.mergeNotTold, "the history of the merged store does not list the merge's changes of \(entity)", entity)
    }

    static func mergeNotShown(_ entity: String?) -> Finding {
        late(
            .mergeNotShown,
            "after a merge a program that had the store open shows other data than a restarted one"
                + (entity.map { " for \($0)" } ?? ""),
            entity
        )
    }

    static func mergeRepeats() -> Finding {
        late(.mergeRepeats, "repeating the merge would change the merged store again", nil)
    }

    private static func late(_ code: Code, _ message: String, _ entity: String?) -> Finding {
        Finding(code, .error, level: .merging, message, entity: entity)
    }
}
