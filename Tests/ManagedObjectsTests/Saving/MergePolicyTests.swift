import ChangeMerging
import ManagedObjects
import StoreAccess
import Testing

/// The tables of `ThreeWayMerge` and `UniquenessMerge`, each cell tested with two contexts and checked in the store.
@Suite("Merge policies")
struct MergePolicyTests {
    /// One cell of the table: both sides act on an author named A of age 40.
    struct Cell: CustomTestStringConvertible, Sendable {
        let policy: MergePolicy
        let column: Column
        /// The stored name and age afterwards; nil without an author.
        let stored: String?
        let fails: Bool

        var testDescription: String { "\(policy), \(column.rawValue)" }
    }

    enum Column: String, CaseIterable, Sendable {
        case here = "changed here only"
        case there = "changed in the store only"
        case both = "changed in both"
        case deletedThere = "deleted there, changed here"
        case deletedHere = "deleted here, changed there"
    }

    static let cells: [Cell] = {
        // "name age"; with changes on both sides, here to B and 50, there to C and 60.
        let table: [(MergePolicy, [String?])] = [
            (.error, ["A 60", "C 40", "A 60", nil, "C 40"]),
            (.mergeByPropertyStoreTrump, ["B 60", "C 50", "A 60", nil, "C 40"]),
            (.mergeByPropertyObjectTrump, ["B 60", "C 50", "A 50", "B 40", nil]),
            (.overwrite, ["B 40", "A 50", "A 50", "B 40", nil]),
            (.rollback, ["A 60", "C 40", "A 60", nil, "C 40"]),
        ]
        return table.flatMap { policy, stored in
            zip(Column.allCases, stored)
                .map { Cell(policy: policy, column: $0, stored: $1, fails: policy == .error) }
        }
    }()

    @Test("After a conflict the store contains the result in the policy table", arguments: cells)
    func cell(_ cell: Cell) throws {
        let stack = try SiblingStack(Library.model)
        let id = try stack.insertAuthors("A")[0]
        try stack.main.performAndWait { context in
            context.mergePolicy = cell.policy
            let mine = try context.existingObject(with: id)
            switch cell.column {
            case .here, .deletedThere: try mine.setValue("B", forKey: "name")
            case .there, .both: try mine.setValue(50, forKey: "age")
            case .deletedHere: try context.delete(mine)
            }
            try stack.background.performAndWait { background in
                let theirs = try background.existingObject(with: id)
                switch cell.column {
                case .here, .both: try theirs.setValue(60, forKey: "age")
                case .there, .deletedHere: try theirs.setValue("C", forKey: "name")
                case .deletedThere: try background.delete(theirs)
                }
                try background.save()
            }
            if cell.fails {
                let conflict = #expect(throws: SaveConflict.self) { try context.save() }
                #expect(conflict?.conflicts.map(\.object) == [id])
                #expect(conflict?.description.contains("Author.age") == (cell.column == .both))
                #expect(context.hasChanges == true)
                return
            }
            let notices = Notices()
            let observation = context.onDidSave { notices.append($0) }
            try context.save()
            observation.cancel()
            // The context equals the store, and a deleted object is not reported as updated.
            #expect(context.hasChanges == false)
            let authors = try context.fetch(FetchRequest(entityName: "Author"))
            #expect(try authors.map(Self.text).first == cell.stored)
            #expect(mine.isDeleted == (cell.stored == nil))
            if cell.stored == nil {
                #expect(context.registeredObject(for: id) == nil)
                #expect(notices.all.first?.updatedObjectIDs == [])
                #expect(notices.all.first?.deletedObjectIDs == [id])
            }
        }
        #expect(try stack.stored("SELECT ZNAME || ' ' || ZAGE FROM ZAUTHOR")?.text == cell.stored)
    }

    @Test("The policy table is complete")
    func complete() {
        #expect(Self.cells.count == MergePolicy.allCases.count * Column.allCases.count)
    }

    private static func text(_ author: ManagedObject) throws -> String {
        "\(try author.value(String.self, forKey: "name") ?? "-") \(try author.value(Int.self, forKey: "age") ?? -1)"
    }

    @Test(
        "A new object with a taken unique name is resolved by the merge policy",
        arguments: [
            (MergePolicy.error, "A 40 1"), (.mergeByPropertyStoreTrump, "A 40 1"), (.rollback, "A 40 1"),
            // It has no age: a merge by property keeps the stored age, an overwrite clears it.
            (.mergeByPropertyObjectTrump, "A 40 2"), (.overwrite, "A - 2"),
        ]
    )
    func newName(_ policy: MergePolicy, _ stored: String) throws {
        let stack = try SiblingStack(Library.model)
        let id = try stack.insertAuthors("A")[0]
        try stack.main.performAndWait { context in
            context.mergePolicy = policy
            let new = try context.insertNewObject(forEntityName: "Author")
            try new.setValue("A", forKey: "name")
            if policy == .error {
                let conflict = #expect(throws: SaveConstraintConflict.self) { try context.save() }
                #expect(conflict?.databaseObjectID == id)
            } else {
                try context.save()
                #expect(try context.fetch(FetchRequest(entityName: "Author")).map(\.objectID) == [id])
            }
        }
        let text = "SELECT ZNAME || ' ' || ifnull(ZAGE, '-') || ' ' || Z_OPT FROM ZAUTHOR"
        #expect(try stack.stored(text)?.text == stored)
    }

    @Test(
        "A changed object with a taken unique name is resolved by the merge policy",
        arguments: [
            (MergePolicy.error, "A 40,B 40"), (.mergeByPropertyStoreTrump, "A 40,B 50"), (.rollback, "A 40,B 40"),
            (.mergeByPropertyObjectTrump, "A 50"), (.overwrite, "A 50"),
        ]
    )
    func changedName(_ policy: MergePolicy, _ stored: String) throws {
        let stack = try SiblingStack(Library.model)
        let ids = try stack.insertAuthors("A", "B")
        try stack.main.performAndWait { context in
            context.mergePolicy = policy
            let mine = try context.existingObject(with: ids[1])
            try mine.setValue("A", forKey: "name")
            try mine.setValue(50, forKey: "age")
            if policy == .error {
                let conflict = #expect(throws: SaveConstraintConflict.self) { try context.save() }
                #expect(conflict?.databaseObjectID == ids[0])
            } else {
                try context.save()
                #expect(
                    try context.fetch(FetchRequest(entityName: "Author")).map(Self.text).joined(separator: ",")
                        == stored
                )
            }
        }
        let text = "SELECT group_concat(x) FROM (SELECT ZNAME || ' ' || ZAGE AS x FROM ZAUTHOR ORDER BY Z_PK)"
        #expect(try stack.stored(text)?.text == stored)
    }
}

extension SiblingStack {
    /// Inserts authors of age 40.
    func insertAuthors(_ names: String...) throws -> [ManagedObjectID] {
        try background.performAndWait { context in
            let authors = try names.map { name in
                let author = try context.insertNewObject(forEntityName: "Author")
                try author.setValue(name, forKey: "name")
                try author.setValue(40, forKey: "age")
                return author
            }
            try context.save()
            return authors.map(\.objectID)
        }
    }
}
