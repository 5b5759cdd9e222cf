package import StoreFormat

/// What the model describes is found in the tables; what is not could not be checked by the other rules.
struct ModelLayoutRule: CoreDataRule {
    func check(_ store: CoreDataStore, _ findings: inout FindingList) throws {
        for unresolved in store.unresolved {
            guard !isTableMissing(unresolved, store) else {
                findings.report(
                    .missingTable,
                    .error,
                    "\(unresolved.reason): whoever asks for objects of the entity fails",
                    entity: unresolved.entity
                )
                continue
            }
            let subject = unresolved.property.map { "property \($0)" } ?? "the entity"
            findings.report(
                .notProved,
                .info,
                "\(subject) was not checked: \(unresolved.reason)",
                entity: unresolved.entity
            )
        }
    }

    /// True for an entity that the store's own copy of its model has, and to which the store gave a number.
    private func isTableMissing(_ unresolved: StoreLayout.Unresolved, _ store: CoreDataStore) -> Bool {
        unresolved.property == nil && store.model != nil
            && store.entityNumbers.number(of: unresolved.entity) != nil
    }
}

extension Finding.Code {
    /// The store keeps no table for an entity of its model.
    package static let missingTable = Self(rawValue: "missingTable")
}
