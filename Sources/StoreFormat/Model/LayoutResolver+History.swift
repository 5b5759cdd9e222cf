extension LayoutResolver {
    /// The meaning of a history bitmap's bits, in an entity with these ancestors.
    ///
    /// Foreign keys, their entity columns and their order columns come first, then attributes, then to-many
    /// relationships. In each group inherited properties come first, then byte order of the names.
    func historySlots(of lineage: [EntityDescription]) -> HistorySlots {
        let keys = lineage.flatMap { entity in
            (self.keys[entity.name] ?? []).sorted { ManagedObjectModel.inByteOrder($0.name, $1.name) }
        }
        let attributes = lineage.flatMap { entity in
            entity.attributes.filter { !$0.isTransient }.map(\.name).sorted(by: ManagedObjectModel.inByteOrder)
        }
        let toMany = lineage.flatMap(\.relationships).filter { $0.isToMany && !$0.isTransient }
        let isComplete = lineage.allSatisfy { entity in
            let toOne = entity.relationships.filter { !$0.isToMany && !$0.isTransient }
            return entity.attributes.filter { !$0.isTransient }.count == self.attributes[entity.name]?.count ?? 0
                && toOne.count == self.keys[entity.name]?.filter { !$0.isHidden }.count ?? 0
        }
        return HistorySlots(
            foreignKeys: keys.map { $0.isHidden ? nil : $0.name },
            entityColumns: keys.filter { $0.columns.entityColumn != nil }.map { $0.isHidden ? nil : $0.name },
            orderColumns: keys.filter { $0.columns.orderColumn != nil }.map { $0.isHidden ? nil : $0.name },
            attributes: attributes,
            oneToMany: toMany.filter { !isManyToMany($0) }.map(\.name),
            manyToMany: toMany.filter(isManyToMany).map(\.name),
            isComplete: isComplete
        )
    }

    /// The attributes whose last value history preserves, in the order of the columns `ZTOMBSTONE0…`.
    func tombstoneAttributes(of lineage: [EntityDescription]) -> [String] {
        let flagged = lineage.flatMap(\.attributes).filter(\.preservesValueInHistoryOnDeletion).map(\.name)
            .sorted(by: ManagedObjectModel.inByteOrder)
        if !flagged.isEmpty { return flagged }
        return lineage.last { !$0.legacyTombstoneAttributes.isEmpty }?.legacyTombstoneAttributes ?? []
    }
}
