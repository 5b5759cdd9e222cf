import ManagedObjects
import StoreFormat
import StoreStrategies
import StoreVerification

/// One direction of a merge probe: a role writes, another reads, step by step.
struct ProbeRun {
    /// The mark of the objects on the last screen; marks of other changes are greater.
    private static let matchMark = 0

    let entities: [ProbeEntity]
    let reader: StoreRole
    let writer: StoreRole
    let observer: ProbeObserver
    let session: any ProbeSession
    let isOver: () -> Bool

    init(
        _ entities: [ProbeEntity],
        model: ManagedObjectModel?,
        reader: (role: StoreRole, description: PersistentStoreDescription),
        writer: (role: StoreRole, session: any ProbeSession),
        behaviour: FetchedResultsController.Behaviour,
        receiver: (PersistentStoreCoordinator, PersistentStore) throws -> any ProbeReceiver,
        isOver: @escaping () -> Bool
    ) throws {
        self.entities = entities
        self.reader = reader.role
        self.writer = writer.role
        observer = try ProbeObserver(
            reader.description,
            model: model,
            entities: entities,
            mark: Self.matchMark,
            behaviour: behaviour,
            receiver: receiver
        )
        session = writer.session
        self.isOver = isOver
    }

    /// Executes the steps up to the first with a finding, since later steps would repeat it.
    func carryOut(into report: inout MergeProbeReport) throws {
        defer { observer.close() }
        var inserted: [String: String] = [:]
        for operation in ProbeStep.Operation.allCases {
            // At least one step is always executed: without one nothing is proved.
            if isOver(), operation != ProbeStep.Operation.allCases.first {
                report.isPartial = true
                return
            }
            let step = step(operation, inserted: inserted, &report)
            let answer = try session.carryOut(step)
            if let reason = answer.openingFailure {
                report.findings.append(.roleCannotOpen(writer, reason: reason))
                return
            }
            if let reason = answer.readOnlyReason {
                report.findings.append(.silentlyReadOnly(writer, reason: reason))
                return
            }
            for refusal in answer.refusals { report.note(refusal.reason, operation, of: refusal.entity) }
            if operation == .insert {
                for change in answer.changes { inserted[change.entity] = change.uri }
            }
            let delivery = try observer.receive()
            let shown = try observer.pictures()
            let seen = try observer.fresh(operation == .insert ? answer.changes.map(\.uri) : [])
            let judge = ProbeJudge(step: step, answer: answer, delivery: delivery, shown: shown, seen: seen)
            let findings = judge.findings(reader: reader, writer: writer)
            if !findings.isEmpty {
                report.findings += findings
                return
            }
            for entity in Set(answer.changes.map(\.entity)) { report.note(operation, of: entity) }
            _ = try observer.receive(repeating: true)
            if try observer.pictures() != shown {
                report.findings.append(.repetitionHarms(operation, reader))
                return
            }
        }
    }

    private func step(
        _ operation: ProbeStep.Operation,
        inserted: [String: String],
        _ report: inout MergeProbeReport
    ) -> ProbeStep {
        var edits: [ProbeStep.Edit] = []
        for (index, entity) in entities.enumerated() {
            guard entity.order != nil else {
                report.note("it has no attribute to sort a list by", operation, of: entity.name)
                continue
            }
            let object: String?
            switch operation {
            case .insert: object = entity.objects.first
            case .update: object = entity.objects.first ?? inserted[entity.name]
            case .match: object = entity.objects.last ?? inserted[entity.name]
            case .delete: object = inserted[entity.name] ?? entity.objects.last
            }
            if operation != .insert, object == nil {
                report.note("there is no object of this entity", operation, of: entity.name)
                continue
            }
            if operation == .update || operation == .match, entity.mark == nil {
                report.note("it has no attribute that a probe can set", operation, of: entity.name)
                continue
            }
            edits.append(
                .init(
                    entity: entity.name,
                    object: object,
                    attribute: entity.mark?.name,
                    mark: operation == .match ? Self.matchMark : 1 + index * 4 + (operation == .update ? 1 : 0)
                )
            )
        }
        return ProbeStep(operation, edits)
    }
}

extension MergeProbeReport {
    fileprivate mutating func note(_ operation: ProbeStep.Operation, of entity: String) {
        if let last = directions.indices.last, !directions[last].operations.contains(operation) {
            directions[last].operations.append(operation)
        }
        guard let index = coverage.firstIndex(where: { $0.entity == entity }),
            !coverage[index].operations.contains(operation)
        else { return }
        coverage[index].operations.append(operation)
    }

    fileprivate mutating func note(_ reason: String, _ operation: ProbeStep.Operation, of entity: String) {
        guard let index = coverage.firstIndex(where: { $0.entity == entity }) else { return }
        coverage[index].omitted[operation.rawValue] = reason
    }
}
