import StoreFormat

/// What the model describes is found in the tables; what is not could not be checked by the other rules.
struct ModelLayoutRule: CoreDataRule {
    func check(_ store: CoreDataStore, _ findings: inout FindingList) throws {
        for unresolved in store.unresolved {
            let subject = unresolved.property.map { "property \($0)" } ?? "the entity"
            findings.report(
                .notProved,
                .info,
                "\(subject) was not checked: \(unresolved.reason)",
                entity: unresolved.entity
            )
        }
    }
}
