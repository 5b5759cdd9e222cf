import SafeFiles
import StoreFormat

/// Differences of two stores other than the objects and rows already reported.
struct ContentRest {
    let before: MergePlace
    let after: MergePlace
    let monitor: WorkMonitor

    /// The definitions and header fields that differ, by name.
    func definitions() throws -> [String] {
        let (then, now) = try (
            StoreDefinitions(reading: before.connection), StoreDefinitions(reading: after.connection)
        )
        let entries = Set(then.entries.keys).union(now.entries.keys)
            .filter { then.entries[$0]?.digest != now.entries[$0]?.digest }
            // The index of a constraint is reported with its table.
            .compactMap { now.entries[$0] ?? then.entries[$0] }.filter { $0.sql != nil }.map(\.name)
        return (entries + StoreDefinitions.headerFields.filter { then.header[$0] != now.header[$0] }).sorted()
    }

    /// The tables with differences but no reported row: Core Data's own tables, row numbers, versions of objects.
    ///
    /// `reported` contains the lower-case names of tables of which a row was reported.
    func tables(besides reported: Set<String>) throws -> [String] {
        let (then, now) = try (
            StoreSchema(reading: before.connection), StoreSchema(reading: after.connection)
        )
        var found: [String] = []
        for table in now.tables where StoreDigest.covers(table) {
            guard let former = then.table(named: table.name), former.holdsRows else { continue }
            let owner: String = if case .shadow(let owner) = table.kind { owner } else { table.name }
            guard !reported.contains(owner.lowercased()) else { continue }
            let digests = try (
                StoreDigest.digest(of: former, in: before.connection, monitor: monitor),
                StoreDigest.digest(of: table, in: after.connection, monitor: monitor)
            )
            if (digests.0.rows, digests.0.digest) != (digests.1.rows, digests.1.digest) { found.append(owner) }
        }
        let files = try [before, after]
            .map { place in
                try place.externalData.flatMap { try StoreDigest.digest(ofFilesIn: $0, monitor: monitor) }
            }
        if files[0] != files[1] { found.append("external files") }
        return Set(found).sorted()
    }
}
