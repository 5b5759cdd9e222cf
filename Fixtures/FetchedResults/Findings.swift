import ManagedObjects

/// The investigation, finding by finding, with ten objects.
enum Findings {
    private static let isEven: @Sendable (Int) -> Bool = { $0 % 2 == 0 }
    private static let none: @Sendable (Int) -> Bool = { _ in false }

    /// Inserts ten dummies, the even ones of which match; the tenth is of a subentity.
    private static let ten: @Sendable (isolated ManagedObjectContext) throws -> Void = { context in
        try context.insertDummies(0..<9, isEven: isEven)
        try context.insertDummies(9..<10, entity: "SpecialDummy", isEven: isEven)
    }

    /// Updates two dummies that match, and two that begin to, one of them of the subentity.
    private static let toMatch: @Sendable (isolated ManagedObjectContext) throws -> Void = { context in
        try context.updateDummies([0, 2, 7, 9])
    }

    static func all() throws -> [Finding] { try sets() + predicates() + remedies() }

    /// The change sets, without a predicate.
    private static func sets() throws -> [Finding] {
        [
            try Finding("a", "insert 10, save", onlyEven: false, ten),
            try Finding("b", "insert 10, update 4, save", onlyEven: false) { context in
                try ten(context)
                try context.processPendingChanges()
                try toMatch(context)
            },
            try Finding("c", "insert 10, save; update 4, save", onlyEven: false, given: ten, toMatch),
            try Finding("d", "insert 10, delete 2, save", onlyEven: false) { context in
                try ten(context)
                for dummy in try context.dummies([0, 1]) { try context.delete(dummy) }
            },
            try Finding("e", "insert 10, save; delete 2, save", onlyEven: false, given: ten) { context in
                for dummy in try context.dummies([0, 1]) { try context.delete(dummy) }
            },
            try Finding("f", "insert 10, save; controller without delegate", onlyEven: false, hasDelegate: false, ten),
        ]
    }

    /// The controller with the predicate `isEven == YES`.
    private static func predicates() throws -> [Finding] {
        [
            try Finding("g", "insert 10, 5 match, save", ten),
            try Finding("h", "insert 10, update 4 to match, save") { context in
                try context.insertDummies(0..<10, isEven: none)
                try toMatch(context)
            },
            try Finding("i", "insert 10, save; update 4, 2 begin to match, save", given: ten, toMatch),
            try Finding("i", "the same, merged automatically", by: .automatic, given: ten, toMatch),
            try Finding("–", "the same with `.complete`, the default", behaviour: .complete, given: ten, toMatch),
        ]
    }

    /// The remedies for finding i.
    private static func remedies() throws -> [Finding] {
        [
            try Finding("j", "i, the writer is a child of the main context", by: .child, given: ten, toMatch),
            try Finding("k", "i, refresh all updated", by: .refresh, given: ten, toMatch),
            try Finding("k", "the same over an unsaved edit", by: .refresh, editing: 0, given: ten, toMatch),
            try Finding("l", "i, refresh all updated, merging", by: .refreshMerging, given: ten, toMatch),
            try Finding("l", "the same over an unsaved edit", by: .refreshMerging, editing: 0, given: ten, toMatch),
            try Finding("m", "i, refresh unregistered matches", by: .refreshMatching, given: ten, toMatch),
            try Finding("m", "the same over an unsaved edit", by: .refreshMatching, editing: 0, given: ten, toMatch),
            try Finding(
                "m",
                "the same without a predicate",
                by: .refreshMatching,
                onlyEven: false,
                given: ten,
                toMatch
            ),
            try Finding("n", "i, access unregistered matches, then merge", by: .accessMatching, given: ten, toMatch),
            try Finding("o", "i, fetch at every save", by: .fetch, given: ten, toMatch),
            try Finding("o", "the same, the delegate reloads", by: .fetchReloading, given: ten, toMatch),
        ]
    }

    // MARK: Costs

    /// The remedies' costs for one save of a fifth of `count` objects, half of which the controller shows already.
    static func costs(_ count: Int) throws -> [Finding] {
        let arrangements: [(String, Laboratory.Arrangement)] = [
            ("i", .merge), ("j", .child), ("k", .refresh), ("l", .refreshMerging), ("m", .refreshMatching),
            ("n", .accessMatching), ("o", .fetch),
        ]
        func cost(
            _ letter: String,
            _ arrangement: Laboratory.Arrangement,
            _ behaviour: FetchedResultsController.Behaviour
        ) throws -> Finding {
            try Finding(
                letter,
                arrangement.rawValue,
                by: arrangement,
                behaviour: behaviour,
                given: { try $0.insertDummies(0..<count, isEven: isEven) },
                { try $0.updateDummies(Array(stride(from: 0, to: count, by: 5))) }
            )
        }
        return try arrangements.map { try cost($0.0, $0.1, .registeredOnly) } + [cost("–", .merge, .complete)]
    }
}
