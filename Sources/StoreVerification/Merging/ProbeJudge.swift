import ManagedObjects
import StoreFormat
import StoreStrategies

/// Judges one step of a probe: whether the reading side shows the store's content, and if not, why.
struct ProbeJudge {
    let step: ProbeStep
    let answer: ProbeAnswer
    let delivery: ProbeDelivery
    /// The data that the reading side shows.
    let shown: ProbeObserver.Pictures
    /// The data that a restarted program sees.
    let seen: ProbeObserver.Fresh

    /// The findings; empty when the reader shows what a restarted program sees.
    ///
    /// Where one finding explains the others, only that one is reported.
    func findings(reader: StoreRole, writer: StoreRole) -> [Finding] {
        let lost = lostChanges(seen.destinations, writer)
        guard lost.isEmpty else { return lost }
        let fresh = seen.pictures
        let undelivered = answer.changes.filter { !delivery.names($0.uri) }
        guard undelivered.isEmpty else {
            if delivery.isPositionMoved { return [.relayPositionMoved(reader)] }
            if !delivery.otherStores.isEmpty { return [.otherStoreNamed(writer, reader)] }
            return Set(undelivered.map(\.entity)).sorted()
                .map { .notDelivered(step.operation, $0, from: writer, to: reader) }
        }
        guard shown != fresh else { return [] }
        var findings: [Finding] = []
        let stale = staleValues(shown.everything, fresh.everything)
            .merging(staleValues(shown.marked, fresh.marked)) { $0.union($1) }
        for (entity, names) in stale.sorted(by: { $0.key < $1.key }) {
            findings.append(.staleValues(step.operation, entity, names.sorted(), reader))
        }
        // A list of objects with old values cannot be right; the values are the cause.
        findings += listDifferences(shown.everything, fresh.everything, besides: stale, reader)
        findings += listDifferences(shown.marked, fresh.marked, besides: stale, reader)
        return findings
    }

    /// Saved changes that the store does not contain.
    private func lostChanges(_ found: [String: [String: [String]]], _ writer: StoreRole) -> [Finding] {
        guard step.operation == .insert else { return [] }
        var findings: [Finding] = []
        for change in answer.changes {
            guard let destinations = found[change.uri] else {
                findings.append(.lostObject(change.entity, writer))
                continue
            }
            for (name, uris) in change.destinations.sorted(by: { $0.key < $1.key })
            where !Set(uris).isSubset(of: destinations[name] ?? []) {
                findings.append(.lostRelationship(change.entity, name, writer))
            }
        }
        return findings
    }

    /// The properties with values that are not in the store, by entity.
    private func staleValues(_ shown: ProbePicture, _ fresh: ProbePicture) -> [String: Set<String>] {
        var stale: [String: Set<String>] = [:]
        for (id, object) in fresh.objects {
            guard let own = shown.objects[id], own != object else { continue }
            stale[id.entityName, default: []].formUnion(own.differences(from: object))
        }
        return stale
    }

    private func listDifferences(
        _ shown: ProbePicture,
        _ fresh: ProbePicture,
        besides stale: [String: Set<String>],
        _ reader: StoreRole
    ) -> [Finding] {
        var findings: [Finding] = []
        for (entity, expected) in fresh.lists.sorted(by: { $0.key < $1.key }) where stale[entity] == nil {
            let list = shown.lists[entity] ?? []
            if Set(list) != Set(expected) {
                findings.append(.listDiffers(step.operation, entity, reader))
            } else if list != expected {
                findings.append(.orderDiffers(step.operation, entity, reader))
            }
        }
        return findings
    }
}
