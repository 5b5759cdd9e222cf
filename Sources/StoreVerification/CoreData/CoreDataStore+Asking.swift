import StoreFormat

/// Queries and parts of SQL that the rules share.
extension CoreDataStore {
    /// True when the table exists and has all these columns.
    func has(_ columns: [String], in name: String) -> Bool {
        guard let table = schema.table(named: name), table.holdsRows else { return false }
        return columns.allSatisfy { table.column(named: $0) != nil }
    }

    /// The number that a statement returns; 0 when it returns none.
    func count(_ sql: String) throws -> Int64 {
        try connection.value(sql)?.integer ?? 0
    }

    func isAbstract(_ entity: Int64) -> Bool { abstractEntities.contains(entity) }

    /// The numbers as the content of a list in SQL.
    func list(_ numbers: [Int64]) -> String {
        numbers.map(String.init).joined(separator: ", ")
    }

    /// The condition that a row of the table is an object of one of the entities, as SQL.
    ///
    /// It is always true where `entities` contains every entity of the table: another rule checks that rows have an entity
    /// of their table.
    func condition(for entities: [Int64], in table: String, alias: String = "") -> String {
        let all = roots.first { $0.table == table }.map { entityNumbers.subtree(of: $0.entry.number) } ?? []
        let isEvery = !all.isEmpty && Set(all.filter { !isAbstract($0) }).isSubset(of: entities)
        return isEvery ? "1" : "\(alias)Z_ENT IN (\(list(entities)))"
    }

    /// The path of an external file for messages.
    func externalPath(_ name: String) -> String {
        let folder = location.supportFolderName + "/" + StoreLocation.externalDataFolderName
        return StoreLocation(folder: location.folder, name: folder + "/" + name).path
    }

    /// Checks every rule; damage that a query meets is a finding too.
    func findings(monitor: WorkMonitor) throws -> [Finding] {
        let (location, externalData) = (location, externalData)
        let results = try ParallelReading(connection)
            .map(CoreDataRules.all) { own in
                try CoreDataStore(own, location: location, externalData: externalData)
            } _: { rule, store in
                try monitor.checkCancellation()
                return try store?.findings(of: rule) ?? []
            }
        return results.flatMap { $0 }
    }

    private func findings(of rule: any CoreDataRule) throws -> [Finding] {
        var findings = FindingList(level: .coredata)
        do {
            try rule.check(self, &findings)
        } catch let error as StoreError where error.code == .damaged {
            findings.report(.pageDamage, .error, error.message)
        }
        return findings.findings
    }
}
