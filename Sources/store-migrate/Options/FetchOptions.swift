import ArgumentParser
import ManagedObjects

/// Which objects of an entity to fetch, and in which order.
struct FetchOptions: ParsableArguments {
    @Option(
        name: .customLong("where"),
        help: ArgumentHelp("Which objects to show. (default: all)", valueName: "predicate"),
        transform: Self.predicate
    )
    var predicate: FetchPredicate?

    @Option(
        help: ArgumentHelp("Sort by key paths: name,age:desc.", valueName: "keys"),
        transform: Self.descriptors
    )
    var sort: [FetchRequest<ManagedObject>.SortDescriptor] = []

    @Option(help: ArgumentHelp("How many at most.", valueName: "count"), transform: Self.limit)
    var limit: Int?

    @Flag(name: .customLong("no-subentities"), help: "Leave out objects of entities that inherit from this one.")
    var excludesSubentities = false

    func request(for entity: String) -> FetchRequest<ManagedObject> {
        var request = FetchRequest(entityName: entity, predicate: predicate, sortDescriptors: sort)
        request.fetchLimit = limit ?? 0
        request.includesSubentities = !excludesSubentities
        return request
    }

    private static func predicate(_ text: String) throws -> FetchPredicate {
        do {
            return try FetchPredicate(format: text)
        } catch {
            throw ValidationError("\(error)")
        }
    }

    private static func descriptors(_ text: String) throws -> [FetchRequest<ManagedObject>.SortDescriptor] {
        try text.split(separator: ",", omittingEmptySubsequences: false)
            .map { key in
                let parts = key.split(separator: ":", omittingEmptySubsequences: false)
                let direction = parts.count == 1 ? "asc" : parts[1]
                guard parts.count <= 2, !parts[0].isEmpty, direction == "asc" || direction == "desc" else {
                    throw ValidationError("write key paths, each with an optional :asc or :desc, such as name,age:desc")
                }
                return FetchRequest<ManagedObject>
                    .SortDescriptor(keyPath: String(parts[0]), ascending: direction == "asc")
            }
    }

    private static func limit(_ text: String) throws -> Int {
        guard let limit = Int(text), limit > 0 else { throw ValidationError("write a number from 1 on") }
        return limit
    }
}
