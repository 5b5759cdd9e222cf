import FoundationEssentials
import ManagedObjects
import StoreAccess
import StoreFormat
import StoreStrategies
import StoreVerification

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

/// The content of a context as a value that can be compared with another context's.
struct ProbePicture: Sendable, Equatable {
    /// One object's values and destinations.
    struct Object: Sendable, Equatable {
        let attributes: [String: AttributeValue]
        let destinations: [String: [ManagedObjectID]]

        init(_ object: ManagedObject) throws {
            var (attributes, destinations): ([String: AttributeValue], [String: [ManagedObjectID]]) = ([:], [:])
            for attribute in object.shape.attributes where !attribute.isTransient {
                attributes[attribute.name] = try object.rawValue(forKey: attribute.name)
            }
            for relationship in object.shape.toOnes + object.shape.toManys where !relationship.isTransient {
                let ids = try object.objectIDs(forRelationshipNamed: relationship.name)
                destinations[relationship.name] = relationship.isOrdered ? ids : ids.sorted()
            }
            (self.attributes, self.destinations) = (attributes, destinations)
        }

        /// The names of the properties that differ, in byte order.
        func differences(from other: Object) -> [String] {
            let attributes = attributes.filter { other.attributes[$0.key] != $0.value }.keys
            let relationships = destinations.filter { other.destinations[$0.key] != $0.value }.keys
            return (Array(attributes) + Array(relationships)).sorted(by: ManagedObjectModel.inByteOrder)
        }
    }

    /// The objects of each list in their order, by the list's name.
    private(set) var lists: [String: [ManagedObjectID]] = [:]
    private(set) var objects: [ManagedObjectID: Object] = [:]

    /// Creates the picture of these lists and their objects.
    init(_ lists: [String: [ManagedObject]]) throws {
        for (name, list) in lists {
            self.lists[name] = list.map(\.objectID)
            for object in list where objects[object.objectID] == nil { objects[object.objectID] = try Object(object) }
        }
    }
}

/// A value that marks an object as changed by a probe, different for each number.
enum ProbeMark {
    /// Above the values of most rows, and within 16 bits.
    private static let base = 20_000

    /// The types that a mark can be made for, the most suitable first.
    static let types: [AttributeDescription.AttributeType] = [
        .string, .integer64, .integer32, .integer16, .double, .float, .decimal, .date,
    ]

    /// A value of a type; nil for a type whose values cannot be generated.
    static func value(_ number: Int, of type: AttributeDescription.AttributeType) -> AttributeValue? {
        let number = base + number % 10_000
        return switch type {
        case .string: .string("store-migrate \(number)")
        case .integer16, .integer32, .integer64: .integer(Int64(number))
        case .double, .float: .real(Double(number))
        case .decimal: .decimal(Decimal(number))
        case .date: .date(Date(timeIntervalSinceReferenceDate: Double(number) * 86_400))
        case .boolean: .boolean(number % 2 == 0)
        case .binaryData: .data(Data("\(number)".utf8))
        case .uuid: .uuid(uuid(number))
        case .uri: .uri("x-store-migrate:\(number)")
        case .undefined, .transformable, .objectID, .composite: nil
        }
    }

    private static func uuid(_ number: Int) -> UUID {
        let (high, low) = (UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number))
        return UUID(uuid: (0, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, high, low))
    }
}
