package import SafeFiles
package import StoreAccess
package import StoreFormat

/// One of the stores of a merge, opened for reading; the caller keeps its read transaction open.
package final class MergeSide {
    package let connection: StoreConnection
    package let layout: StoreLayout
    package let metadata: StoreMetadata
    package let numbers: EntityNumbers
    package let schema: StoreSchema
    /// All relations of the store's own model.
    package let ownRelations: [LinkRelation]
    /// The relations that all stores of the merge have, in the same order in each of them.
    package private(set) var relations: [LinkRelation]
    /// The folder of external large values.
    package let externalData: Directory?
    package let history: PersistentHistory?
    /// Translates the store's keys to those of the merge.
    package internal(set) var keys = KeyTranslation()

    /// Throws if the store is not a Core Data store, or has no model to read it by.
    package init(_ connection: StoreConnection, externalData: Directory?, model: ManagedObjectModel? = nil) throws {
        guard let metadata = try StoreMetadata(reading: connection),
            let numbers = try EntityNumbers(reading: connection),
            let layout = try StoreLayout(reading: connection, model: model)
        else {
            throw StoreError(
                .incompatible,
                path: connection.location.path,
                "the store contains no model, so its objects cannot be merged"
            )
        }
        self.connection = connection
        schema = try StoreSchema(reading: connection)
        // Columns that an application added to an entity's table are merged with the object.
        self.layout = layout.addingUnknownColumns(of: schema)
        self.metadata = metadata
        self.numbers = numbers
        self.externalData = externalData
        ownRelations = LinkRelation.all(in: layout)
        relations = ownRelations
        history = numbers.number(of: "TRANSACTION") == nil ? nil : PersistentHistory(schema: schema)
    }

    /// Restricts the relations to those that all stores have, in their order.
    func keepRelations(_ common: [LinkRelation]) {
        relations = common.enumerated()
            .compactMap { index, relation in ownRelations.first { $0.isSame(as: relation) }?.at(index) }
    }

    /// The names of the roots that have a table, in byte order.
    package var roots: [String] {
        Set(layout.entities.values.map(\.root)).sorted(by: ManagedObjectModel.inByteOrder)
    }

    /// The table of a root; nil if the store has none.
    package func table(of root: String) -> String? { layout.entities[root]?.table }

    /// True if there is an object of exactly this entity.
    func holdsObjects(of name: String) throws -> Bool {
        guard let entity = layout.entities[name], !entity.isAbstract else { return false }
        let sql = "SELECT 1 FROM \(SQLName.quoted(entity.table)) WHERE Z_ENT = ? LIMIT 1"
        return try connection.value(sql, [.integer(entity.number)]) != nil
    }

    /// The number of objects of exactly this entity.
    func objectCount(of name: String) throws -> Int {
        guard let entity = layout.entities[name], !entity.isAbstract else { return 0 }
        let sql = "SELECT count(*) FROM \(SQLName.quoted(entity.table)) WHERE Z_ENT = ?"
        return Int(try connection.value(sql, [.integer(entity.number)])?.integer ?? 0)
    }

    /// The greatest key that a root assigned, as far as the store records it.
    package func greatestKey(of root: String) throws -> Int64 {
        guard let table = table(of: root) else { return 0 }
        let present = try connection.value("SELECT max(Z_PK) FROM \(SQLName.quoted(table))")?.integer ?? 0
        return max(present, try recordedGreatestKey(of: root))
    }

    /// The greatest key of a root in the store's own records.
    package func recordedGreatestKey(of root: String) throws -> Int64 {
        // By number: Core Data may keep the number of a renamed entity under its former name.
        guard let number = layout.entities[root]?.number else { return 0 }
        return try connection.value("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?", [.integer(number)])?.integer ?? 0
    }

    /// Throws if an object has a key below 1: in a merge such keys denote objects that only the old store has.
    func requirePositiveKeys() throws {
        for root in roots {
            guard let table = table(of: root),
                let least = try connection.value("SELECT min(Z_PK) FROM \(SQLName.quoted(table))")?.integer, least < 1
            else { continue }
            throw StoreError(
                .damaged,
                path: connection.location.path,
                "an object of \(root) has the key \(least), and keys begin at 1"
            )
        }
    }

    /// The greatest number of a transaction or change in history.
    package func greatestHistoryNumber(of name: String) throws -> Int64 {
        guard history != nil else { return 0 }
        let present = try connection.value("SELECT max(Z_PK) FROM \(SQLName.quoted("A" + name))")?.integer ?? 0
        let recorded = "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = ? AND Z_ENT >= 16000"
        return max(present, try connection.value(recorded, [.text(name)])?.integer ?? 0)
    }

    /// The concrete entity of a row; nil if there is no such row.
    package func entity(of row: RowKey) throws -> StoreLayout.Entity? {
        try keys.own(row).flatMap(ownEntity)
    }

    /// The same by the store's own key.
    func ownEntity(of row: RowKey) throws -> StoreLayout.Entity? {
        guard let table = table(of: row.root) else { return nil }
        let number = try connection.value(
            "SELECT ifnull(Z_ENT, 0) FROM \(SQLName.quoted(table)) WHERE Z_PK = ?",
            [.integer(row.key)]
        )
        return number?.integer.flatMap { layout.entity(ofRowNumbered: $0, inTable: table) }
    }

    /// Reads attributes of an object as stored in its columns; nil if there is no such row.
    package func stored(_ names: some Sequence<String>, of entity: String, _ key: Int64) throws -> [String: SQLValue]? {
        guard let entity = layout.entities[entity], let own = keys.own(RowKey(root: entity.root, key: key)) else {
            return nil
        }
        let attributes = names.compactMap { entity.attribute($0) }
        let table = entity.table
        return try connection.referencing(table) { byReference in
            let columns = attributes.map { attribute in
                byReference && !attribute.description.allowsExternalBinaryDataStorage
                    ? connection.reference(to: attribute.column, of: table, rowID: "Z_PK")
                    : SQLName.quoted(attribute.column)
            }
            var result: [String: SQLValue]?
            try connection.forEachRow(
                "SELECT \((["Z_PK"] + columns).joined(separator: ", ")) FROM \(SQLName.quoted(table)) WHERE Z_PK = ?",
                [.integer(own.key)],
                keepingStatement: true
            ) { row in
                var values: [String: SQLValue] = [:]
                for (index, attribute) in attributes.enumerated() {
                    values[attribute.description.name] = connection.value(
                        of: row,
                        index + 1,
                        at: .cell(table: table, column: attribute.column, key: ["Z_PK"], [.integer(own.key)])
                    )
                }
                result = values
            }
            return result
        }
    }

    /// A stored value in the form that a writer expects: external large values as their bytes.
    package func plain(_ value: SQLValue, of attribute: AttributeDescription) throws -> SQLValue {
        guard attribute.allowsExternalBinaryDataStorage, case .blob(let bytes) = value else { return value }
        if bytes.first == 1 { return .blob(Array(bytes.dropFirst())) }
        guard let reference = AttributeValue(value, of: attribute), case .externalData(let file) = reference,
            let externalData
        else { throw missingFile }
        do {
            let contents = try externalData.openFile(file.fileName, for: .reading)
            let byteCount = Int(try contents.status().size)
            guard byteCount > LargeValue.greatestWhole else {
                return .blob(try externalData.contents(of: file.fileName, limit: byteCount))
            }
            var hash = SHA256()
            try contents.forEachPiece { piece in
                try connection.checkCancellation()
                hash.update(piece)
            }
            return .large(
                LargeValue(
                    isText: false,
                    byteCount: byteCount,
                    digest: hash.digest,
                    at: .file(file.fileName),
                    of: self
                )
            )
        } catch let error as StoreError where error.code == .cancelled {
            throw error
        } catch {
            throw missingFile
        }
    }

    /// True if a value equals another store's: each store has a file of its own for the same bytes.
    ///
    /// A value that cannot be read equals no other.
    func holds(_ value: SQLValue, sameAs other: SQLValue, of side: MergeSide, _ attribute: AttributeDescription) -> Bool
    {
        if value == other { return true }
        guard attribute.allowsExternalBinaryDataStorage, case .blob = value, case .blob = other,
            let mine = try? plain(value, of: attribute), let theirs = try? side.plain(other, of: attribute)
        else { return false }
        return mine == theirs
    }

    /// The names of the external files that values refer to.
    func externalFileNames(_ monitor: WorkMonitor) throws -> [String] {
        var names: [String] = []
        for entity in layout.entities.values {
            for attribute in entity.attributes where attribute.description.allowsExternalBinaryDataStorage {
                let column = SQLName.quoted(attribute.column)
                // The first byte of a reference to an external file is 2.
                let sql =
                    "SELECT \(column) FROM \(SQLName.quoted(entity.table)) WHERE Z_ENT = ? "
                    + "AND typeof(\(column)) = 'blob' AND substr(\(column), 1, 1) = x'02'"
                try connection.forEachRow(sql, [.integer(entity.number)]) { row in
                    try monitor.checkCancellation()
                    let value = AttributeValue(row.value(0), of: attribute.description)
                    if case .externalData(let file)? = value { names.append(file.fileName) }
                }
            }
        }
        return names
    }

    fileprivate var missingFile: StoreError {
        StoreError(.damaged, path: connection.location.path, "the file of a large value cannot be read")
    }

    /// The partners of an object, in the order that the relation keeps at this end, else by their keys.
    package func partners(_ relation: LinkRelation, at end: LinkRelation.Position, of key: Int64) throws -> [Int64] {
        guard let own = keys.own(RowKey(root: relation[end].root, key: key)) else { return [] }
        let other = relation[end.other].root
        return try ownPartners(relation, at: end, of: own.key).map { keys.common(RowKey(root: other, key: $0)).key }
    }

    /// The same by the store's own keys.
    func ownPartners(_ relation: LinkRelation, at end: LinkRelation.Position, of key: Int64) throws -> [Int64] {
        var found: [Int64] = []
        let sql: String
        switch relation.storage {
        case .column(let column, let table, let order, let holder):
            let (table, column) = (SQLName.quoted(table), SQLName.quoted(column))
            if relation.isSymmetric || holder == end {
                sql = "SELECT \(column) FROM \(table) WHERE Z_PK = ? AND \(column) IS NOT NULL"
            } else {
                let place = order.map { SQLName.quoted($0) + ", " } ?? ""
                sql = "SELECT Z_PK FROM \(table) WHERE \(column) = ? ORDER BY \(place)Z_PK"
            }
            try connection.forEachRow(sql, [.integer(key)], keepingStatement: true) { found.append($0.integer(0)) }
        case .join(let table, let first, let second):
            let (owner, other) = end == .first ? (first, second) : (second, first)
            let pairs = StoreLayout.JoinTable.pairs(table, owner, other) { "\($0) = ?1" }
            sql = "SELECT member FROM (\(pairs)) GROUP BY member ORDER BY min(place), member"
            try connection.forEachRow(sql, [.integer(key)], keepingStatement: true) { found.append($0.integer(0)) }
        }
        return found
    }

    /// All pairs that an object is part of.
    package func links(of row: RowKey, kindOf entity: String) throws -> [Link] {
        var found: [Link] = []
        for relation in relations {
            for end in LinkRelation.Position.allCases
            where relation[end].root == row.root && layout.model.isEntity(entity, kindOf: relation[end].entity) {
                for partner in try partners(relation, at: end, of: row.key) {
                    found.append(
                        end == .first
                            ? Link(relation, first: row.key, second: partner)
                            : Link(relation, first: partner, second: row.key)
                    )
                }
            }
        }
        return found
    }
}

extension MergeSide: LargeValueSource {
    package func forEachPiece(of value: LargeValue, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard case .file(let name) = value.place, let file = try externalData?.openFile(name, for: .reading) else {
            throw missingFile
        }
        try file.forEachPiece { piece in
            try connection.checkCancellation()
            try body(piece)
        }
    }
}

extension DurableFile {
    /// Calls `body` with the bytes in order, in pieces of at most ``LargeValue/greatestWhole``.
    fileprivate func forEachPiece(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: LargeValue.greatestWhole, alignment: 16)
        defer { piece.deallocate() }
        var offset: Int64 = 0
        while true {
            let count = try read(into: piece, at: offset)
            if count > 0 { try body(UnsafeRawBufferPointer(rebasing: piece[..<count])) }
            offset += Int64(count)
            if count < piece.count { return }
        }
    }
}

/// The stores of a merge: the base, and the two that descend from it.
package struct MergeSides {
    /// Nil if no base was kept: then objects are matched by identity only.
    package let base: MergeSide?
    /// The side whose changes are merged; it is only read.
    package let old: MergeSide
    /// The side that receives the changes, and whose keys stay.
    package let shared: MergeSide

    package init(base: MergeSide?, old: MergeSide, shared: MergeSide) {
        self.base = base
        self.old = old
        self.shared = shared
        let others = [base, old].compactMap { $0 }
        let common = shared.ownRelations.filter { relation in
            others.allSatisfy { $0.ownRelations.contains { $0.isSame(as: relation) } }
        }
        for side in others + [shared] { side.keepRelations(common) }
    }

    package var all: [MergeSide] { [base, old, shared].compactMap { $0 } }

    /// The sources of all large values of the stores.
    var sources: [any LargeValueSource] { all.map(\.connection) as [any LargeValueSource] + all }

    /// Runs `body`, in which all large values of the stores can be written.
    func lending<R>(_ body: () throws -> R) rethrows -> R {
        try StoreConnection.lending(sources, to: all.map(\.connection), body)
    }
}
