import FoundationEssentials
import ManagedObjects
import StoreAccess
import StoreFormat
import StoreStrategies
import TestSupport
import Testing

/// The history that the runtime writes into genuine stores, compared with the history that Core Data wrote.
@Suite("History in genuine stores", .genuineStores)
struct GenuineHistoryTests {
    /// The stores with transactions and changes written by Core Data.
    private static let stores = Corpus.stores.filter { store in
        guard let scratch = try? ScratchFolder(), let location = try? Corpus.copy(store, into: scratch),
            let connection = try? StoreConnection(location, access: .liveReading),
            let count = try? connection.value("SELECT count(*) FROM ACHANGE")?.integer
        else { return false }
        return count > 0
    }

    @Test("The corpus contains genuine histories for comparison")
    func present() { #expect(!Self.stores.isEmpty) }

    @Test("Every history column has a storage class found in genuine rows of the same kind", arguments: Self.stores)
    func columns(_ store: String) throws {
        let scratch = try ScratchFolder()
        let location = try Corpus.copy(store, into: scratch)
        let connection = try StoreConnection(location, access: .liveReading)
        let before = try PlainReading(connection)
        try edit(location, before)
        let after = try PlainReading(connection)
        let new = before.tables.changes(to: after.tables)
        func own(_ table: String) -> [[String: SQLValue]] {
            new.filter { $0.table == table }.sorted { $0.rowID < $1.rowID }.compactMap(\.after)
        }
        func genuine(_ table: String) -> [[String: SQLValue]] { before.tables.rows(of: table).map(\.values) }

        let transactions = own("ATRANSACTION")
        #expect(transactions.count == 3)
        for column in before.tables.tables["ATRANSACTION"]?.columns ?? [] {
            var known = Set(genuine("ATRANSACTION").map { StorageClass(of: $0[column]) })
            // A save without author or context name writes none.
            if ["ZAUTHORTS", "ZCONTEXTNAMETS"].contains(column) { known.formUnion([.null, .integer]) }
            let written = Set(transactions.map { StorageClass(of: $0[column]) })
            #expect(written.isSubset(of: known), "ATRANSACTION.\(column)")
        }
        for column in before.tables.tables["ATRANSACTIONSTRING"]?.columns ?? [] {
            let known = Set(genuine("ATRANSACTIONSTRING").map { StorageClass(of: $0[column]) })
            let written = Set(own("ATRANSACTIONSTRING").map { StorageClass(of: $0[column]) })
            #expect(written.isSubset(of: known), "ATRANSACTIONSTRING.\(column)")
        }
        checkChanges(own("ACHANGE"), genuine("ACHANGE"), before, after)
        checkTransactions(transactions, genuine("ATRANSACTION"), after)
    }

    private func checkChanges(
        _ own: [[String: SQLValue]],
        _ genuine: [[String: SQLValue]],
        _ before: PlainReading,
        _ after: PlainReading
    ) {
        #expect(Set(own.compactMap { $0["ZCHANGETYPE"]?.integer }) == [0, 1, 2])
        for change in own {
            let kind = change["ZCHANGETYPE"]
            let alike = genuine.filter { $0["ZCHANGETYPE"] == kind }
            let sameEntity = alike.filter { $0["ZENTITY"] == change["ZENTITY"] }
            for (column, value) in change where !alike.isEmpty {
                if column.hasPrefix("ZTOMBSTONE") {
                    // The content of a tombstone depends on the entity.
                    guard kind != .integer(2) || !sameEntity.isEmpty else { continue }
                    let known = Set((kind == .integer(2) ? sameEntity : alike).map { StorageClass(of: $0[column]) })
                    #expect(known.union([.null]).contains(StorageClass(of: value)), "\(column)")
                } else {
                    let known = Set(alike.map { StorageClass(of: $0[column]) })
                    #expect(
                        known.contains(StorageClass(of: value)),
                        "ACHANGE.\(column) of kind \(String(describing: kind))"
                    )
                }
            }
            #expect(genuine.isEmpty || genuine.contains { $0["Z_ENT"] == change["Z_ENT"] })
            // An entity's bitmap has the length of Core Data's own.
            let lengths = Set(sameEntity.compactMap { $0["ZCOLUMNS"]?.blob?.count })
            if kind == .integer(1), !lengths.isEmpty {
                #expect(lengths.contains(change["ZCOLUMNS"]?.blob?.count ?? -1))
            }
        }
        let keys = own.compactMap { $0["Z_PK"]?.integer }
        let greatest = genuine.compactMap { $0["Z_PK"]?.integer }.max() ?? 0
        #expect(keys == Array((keys.first ?? 0)..<(keys.first ?? 0) + Int64(keys.count)))
        #expect(keys.allSatisfy { $0 > greatest })
    }

    private func checkTransactions(
        _ own: [[String: SQLValue]],
        _ genuine: [[String: SQLValue]],
        _ after: PlainReading
    ) {
        let strings = Dictionary(
            after.tables.rows(of: "ATRANSACTIONSTRING").map { ($0.rowID, $0.values["ZNAME"]?.text) }
        ) { first, _ in first }
        let last = genuine.compactMap { $0["ZTIMESTAMP"]?.number }.max() ?? 0
        for transaction in own {
            #expect(transaction["ZAUTHORTS"]?.integer.flatMap { strings[$0] } == "history tests")
            #expect(transaction["ZCONTEXTNAMETS"]?.integer.flatMap { strings[$0] } == "editor")
            // Apps read both as non-optional strings.
            for column in ["ZBUNDLEIDTS", "ZPROCESSIDTS"] {
                #expect(transaction[column]?.integer.flatMap { strings[$0] }??.isEmpty == false, "\(column)")
            }
            let time = transaction["ZTIMESTAMP"]?.number ?? 0
            #expect(time >= last)
            #expect(time == (time * 1_000_000).rounded() / 1_000_000)
        }
    }

    /// Inserts, changes and deletes an object of every suitable entity, in one save each; changes genuine objects if
    /// present.
    private func edit(_ location: StoreLocation, _ before: PlainReading) throws {
        var description = PersistentStoreDescription(url: location.url)
        description.isHistoryTrackingEnabled = true
        let coordinator = PersistentStoreCoordinator()
        try coordinator.addPersistentStore(with: description)
        let context = ManagedObjectContext(.privateQueue, coordinator: coordinator, name: "editor")
        let names = before.names
        let entities = names.model.entitiesByName.values.filter { !$0.isAbstract }.map(\.name).sorted()
            .filter { entity in
                // The entity must not require other objects, and a deletion must not cascade.
                names.relationships(entity).allSatisfy { ($0.isOptional || $0.isToMany) && $0.minCount == 0 }
            }
        try context.performAndWait { context in
            context.transactionAuthor = "history tests"
            context.retainsRegisteredObjects = true
            var new: [ManagedObject] = []
            for (serial, entity) in entities.enumerated() {
                let object = try context.insertNewObject(forEntityName: entity)
                try fill(object, serial)
                new.append(object)
            }
            try context.save()
            for (serial, entity) in entities.enumerated() {
                var request = FetchRequest(entityName: entity)
                request.includesSubentities = false
                request.fetchLimit = 1
                if let object = try context.fetch(request).first { try fill(object, 1000 + serial) }
            }
            try context.save()
            for object in new { try context.delete(object) }
            try context.save()
        }
    }

    private func fill(_ object: ManagedObject, _ number: Int) throws {
        for attribute in object.shape.attributes where !attribute.isDerived && !attribute.isTransient {
            let value: AttributeValue? =
                switch attribute.type {
                case .integer16, .integer32, .integer64: .integer(Int64(number))
                case .decimal: .decimal(Decimal(number))
                case .double, .float: .real(Double(number) + 0.5)
                case .string: .string("history \(number)")
                case .boolean: .boolean(number % 2 == 0)
                case .date: .date(Date(timeIntervalSinceReferenceDate: Double(number) + 0.5))
                case .binaryData, .transformable: .data(Data([UInt8(truncatingIfNeeded: number)]))
                case .uuid: .uuid(UUID())
                case .uri: .uri("https://example.com/\(number)")
                case .undefined, .objectID, .composite: nil
                }
            if let value { try object.setValue(value, forKey: attribute.name) }
        }
    }
}

/// The storage class of a value.
private enum StorageClass: Hashable {
    case null, integer, real, text, blob

    init(of value: SQLValue?) {
        self =
            switch value {
            case .integer: .integer
            case .real: .real
            case .text: .text
            case .blob, .large: .blob
            case .null, nil: .null
            }
    }
}
