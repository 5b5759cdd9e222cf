import ManagedObjects
import TestSupport

/// A random request: predicates and orders through to-one and to-many paths, subentities, sections, windows.
struct RandomRequest: CustomStringConvertible {
    private static let predicates: [String?] = [
        nil, "isEven == YES", "id > 3", "owner.name != 'o1'", "owner.dummies.@count > 1",
        "isEven == YES OR owner == nil", "ANY owner.dummies.isEven == YES", "NONE owner.dummies.id == 2",
        "name BEGINSWITH 'n' AND NOT group == 'b'", "owner.name IN {'o0', 'o2'}", "id BETWEEN {1, 6}",
        "ALL owner.dummies.id < 7 AND owner != nil", "isEven != YES", "owner.dummies.@sum.id > 9",
        "SUBQUERY(owner.dummies, $d, $d.isEven == YES AND $d != SELF).@count > 0",
    ]
    private static let keys = [
        "id", "name", "group", "isEven", "owner.name", "owner.dummies.@count", "owner.dummies.@max.id",
    ]
    private static let sections = ["group", "owner.name", "isEven"]

    let format: String?
    private(set) var sortKeys: [String]
    let section: String?
    let entity: String
    let includesSubentities: Bool
    let limit: Int
    let offset: Int

    init(_ generator: inout SeededGenerator) {
        format = generator.pick(Self.predicates)
        section = generator.chance(40) ? generator.pick(Self.sections) : nil
        sortKeys = Self.keys.shuffled(using: &generator).prefix(Int.random(in: 1...2, using: &generator))
            .map { $0 + (generator.chance(30) ? ":desc" : "") }
        if let section { sortKeys = [section] + sortKeys.filter { !$0.hasPrefix(section) } }
        entity = generator.chance(15) ? "SpecialDummy" : "TestDummy"
        includesSubentities = !generator.chance(15)
        limit = generator.chance(30) ? Int.random(in: 1...5, using: &generator) : 0
        offset = generator.chance(15) ? Int.random(in: 1...3, using: &generator) : 0
    }

    var fetchRequest: FetchRequest<ManagedObject> {
        get throws {
            var request = FetchRequest(entityName: entity, predicate: try format.map { try FetchPredicate(format: $0) })
            request.sortDescriptors = sortKeys.map { key in
                let parts = key.split(separator: ":").map(String.init)
                return FetchRequest<ManagedObject>.SortDescriptor(keyPath: parts[0], ascending: parts.count == 1)
            }
            request.includesSubentities = includesSubentities
            request.fetchLimit = limit
            request.fetchOffset = offset
            return request
        }
    }

    var description: String {
        "\(entity)\(includesSubentities ? "" : " alone") where \(format ?? "all") by \(sortKeys) in \(section ?? "-") "
            + "limit \(limit) offset \(offset)"
    }
}
