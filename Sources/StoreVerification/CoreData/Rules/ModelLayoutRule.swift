package import StoreFormat

/// Everything that the model describes exists in the tables; the other rules cannot check what is missing.
struct ModelLayoutRule: CoreDataRule {
    func check(_ store: CoreDataStore, _ findings: inout FindingList) throws {
        for unresolved in store.unresolved {
            guard !isTableMissing(unresolved, store) else {
                findings.report(
                    .missingTable,
                    .error,
                    "\(unresolved.reason): fetching objects of the entity fails",
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

    /// True for an entity of the store's own model that the store has numbered.
    private func isTableMissing(_ unresolved: StoreLayout.Unresolved, _ store: CoreDataStore) -> Bool {
        unresolved.property == nil && store.model != nil
            && store.entityNumbers.number(of: unresolved.entity) != nil
    }
}

extension Finding.Code {
    /// The store has no table for an entity of its model.
    package static let missingTable = Self(rawValue: "missingTable")
}
