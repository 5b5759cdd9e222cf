package import StoreFormat

/// `Z_MAX` of a root entity is at least the greatest key in its table; else the next insert collides.
struct KeyMaximumRule: CoreDataRule {
    func check(_ store: CoreDataStore, _ findings: inout FindingList) throws {
        for root in store.roots {
            let greatest = try store.count("SELECT max(Z_PK) FROM \(SQLName.quoted(root.table))")
            guard greatest > root.entry.max else { continue }
            findings.report(
                .keyMaximumBehind,
                .error,
                "the last assigned key (Z_MAX) is less than the greatest key of the table: the next object would collide",
                entity: root.entry.name,
                table: root.table
            )
        }
    }
}

extension Finding.Code {
    /// The next object would get the key of an object that exists.
    package static let keyMaximumBehind = Self(rawValue: "keyMaximumBehind")
}
