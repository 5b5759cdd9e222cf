package import ProtocolModel
import SafeFiles

/// Checks the guarantees of a merging command after any fault.
package struct MergeJudge: Judge {
    /// The command on two shared stores that were both written to.
    package enum Kind: String, CaseIterable, Sendable {
        /// The old store stays writable, and its late writes are merged.
        case lateWrites
        /// Late writes are merged, and the old store gets a fence.
        case lateWritesAndFence
        /// The new store's content is returned to the old store.
        case unshare
        /// The same for a fenced old store, which becomes writable when it has that content.
        case unshareFenced
        /// Two stores that were never shared are merged by themselves.
        case merge
    }

    package let kind: Kind
    package let template: StoreTemplate

    static let oldFolder = "old"
    static let newFolder = "group"
    private var share: ShareJudge {
        ShareJudge(template: template, policy: kind == .unshareFenced ? .fence : .capture)
    }
    var isReverseShare: Bool { [.unshare, .unshareFenced].contains(kind) }

    package init(kind: Kind, template: StoreTemplate) {
        self.kind = kind
        self.template = template
    }

    package var occupant: TraceReplay.Occupant { kind == .merge ? .other : .none }
    /// The model's withdrawal of the new store does not know every ending of an error yet.
    package var isModelled: Bool { !isReverseShare }

    package var name: String { "\(kind.rawValue), \(template)" }

    package func command(_ scratch: Scratch) -> Command {
        let places = [Self.oldFolder, Self.newFolder].map { "\(scratch.path)/\($0)/\(template.name)" }
        let arguments =
            switch kind {
            case .lateWrites: ["share"] + places + ["--old", "capture", "--level", "coredata"]
            case .lateWritesAndFence: ["share"] + places + ["--old", "fence", "--level", "coredata"]
            case .unshare, .unshareFenced: ["unshare"] + places + ["--level", "coredata"]
            case .merge: ["merge"] + places.reversed() + ["--base", "\(scratch.path)/base/\(template.name)", "--scan"]
            }
        return Command.tool(arguments)
    }

    /// Shares the store without a fault, and writes to both stores.
    package func prepare(_ scratch: Scratch) throws {
        if kind == .merge {
            for folder in ["base", Self.oldFolder, Self.newFolder] {
                try template.write(into: scratch.root.createDirectory(folder, mode: 0o700))
            }
        } else {
            try share.prepare(scratch)
            try share.carryOut(in: scratch)
        }
        // Writes without a history entry, so that the merge has to compare the stores.
        if kind != .unshareFenced {
            let changes = """
                UPDATE ZHABIT SET ZNAME = 'Stroll', Z_OPT = Z_OPT + 1 WHERE ZNAME = 'Run';
                UPDATE ZHABIT SET ZNAME = 'Scan', ZPICTURE = x'01aabb', Z_OPT = Z_OPT + 1 WHERE ZNAME = 'Read'
                """
            try write(changes, "Late", Self.oldFolder, scratch)
        }
        let change = "UPDATE ZHABIT SET ZNAME = 'Study', Z_OPT = Z_OPT + 1 WHERE ZNAME = 'Read'"
        try write(change, "New", Self.newFolder, scratch)
    }

    private func write(_ changes: String, _ name: String, _ folder: String, _ scratch: Scratch) throws {
        let store = try PlainStore("\(scratch.path)/\(folder)/\(template.name)")
        try store.execute(
            """
            BEGIN; \(changes);
            INSERT INTO ZHABIT (Z_PK, Z_ENT, Z_OPT, ZNAME, ZPICTURE)
                SELECT Z_MAX + 1, Z_ENT, 1, '\(name)', x'010203' FROM Z_PRIMARYKEY WHERE Z_NAME = 'Habit';
            UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1 WHERE Z_NAME = 'Habit';
            COMMIT;
            """
        )
    }

    /// Right after the fault: neither store has lost a row, and a claimed success is true.
    package func afterFault(_ scratch: Scratch, _ fault: Fault, _ ending: Command.Ending) throws -> [String] {
        var objections = try objectionsToStores(scratch) + objectionsToFences(scratch)
        objections += try self.objections(to: ending, fault) { try objectionsToEnd(scratch) }
        return objections
    }

    /// After running it again: the changes of both are in one store, once, and every remaining file is named in the output.
    package func afterRerun(_ scratch: Scratch, _ ending: Command.Ending) throws -> [String] {
        // A second unshare reports that nothing is shared any more.
        guard ending == .exited(0) || isReverseShare && ending == .exited(4) else {
            return ["it ended with \(ending)"]
        }
        return try objectionsToStores(scratch) + objectionsToFences(scratch) + objectionsToEnd(scratch)
            + objectionsToListing(scratch)
    }

    /// Each store has its initial content, or the merged content; then the loser is parked.
    private func objectionsToStores(_ scratch: Scratch) throws -> [String] {
        var objections: [String] = []
        let old = try objects(in: Self.oldFolder, template.name, scratch)
        var isMerged = isReverseShare && old == merged
        if old != oldBefore, !isMerged { objections.append("the old store holds \(old)") }
        for name in try mainFiles(scratch) {
            let new = try objects(in: Self.newFolder, name, scratch)
            if new == merged { isMerged = true }
            if new != newBefore, new != merged { objections.append("the new store holds \(new)") }
        }
        return try objections + (isMerged ? objectionsToParkedRows(scratch, isTidy: false) : [])
    }

    /// At no point does a store refuse writers without a reason.
    ///
    /// Between the fence of the new store and the commit at the old one, a killed unshare of a fenced store leaves both
    /// refusing until it is recovered. At no point do both take writes: no record would show which rows are late.
    private func objectionsToFences(_ scratch: Scratch) throws -> [String] {
        let old = try refusingTables(Self.oldFolder, template.name, scratch)
        let isThere = try mainFiles(scratch).contains(template.name)
        let new = try isThere ? refusingTables(Self.newFolder, template.name, scratch) : []
        var objections: [String] = []
        switch kind {
        case .lateWrites, .merge, .unshare:
            if !old.isEmpty { objections.append("the old store was to stay writable, and refuses \(old)") }
        case .lateWritesAndFence:
            // From the copy on its writers are refused, by all tables or by none.
            if !old.isEmpty { objections += template.objectionsToFence(old, of: "old") }
        case .unshareFenced:
            // The transaction that writes the content removes the fence.
            let isBack = try objects(in: Self.oldFolder, template.name, scratch) == merged
            if !isBack { objections += template.objectionsToFence(old, of: "old") }
            if isBack, !old.isEmpty { objections.append("the old store has its content back, and refuses \(old)") }
        }
        if !new.isEmpty {
            objections +=
                isReverseShare
                ? template.objectionsToFence(new, of: "new", mayBeBarred: true)
                : ["the new store refuses writes to \(new)"]
        }
        if kind == .unshareFenced {
            if isThere, old.isEmpty, new.isEmpty { objections.append("both stores take writes") }
        } else if isThere, !old.isEmpty, !new.isEmpty {
            objections.append("both stores refuse writes")
        }
        return objections
    }

    private func objectionsToEnd(_ scratch: Scratch) throws -> [String] {
        isReverseShare ? try objectionsToReturn(scratch) : try objectionsToMerge(scratch)
    }

    private func objectionsToMerge(_ scratch: Scratch) throws -> [String] {
        let new = try objects(in: Self.newFolder, template.name, scratch)
        var objections = new == merged ? [] : ["the merged store holds \(new)"]
        let merges = try query(
            """
            SELECT count(*) FROM ATRANSACTION t JOIN ATRANSACTIONSTRING s ON s.Z_PK = t.ZAUTHORTS
            WHERE s.ZNAME = 'store-migrate'
            """,
            in: Self.newFolder,
            scratch
        )
        if merges != ["i1"] { objections.append("the history contains \(merges) merges") }
        let keys = try query(
            "SELECT Z_MAX - (SELECT max(Z_PK) FROM ZHABIT) FROM Z_PRIMARYKEY WHERE Z_NAME = 'Habit'",
            in: Self.newFolder,
            scratch
        )
        if keys != ["i0"] { objections.append("the greatest key is \(keys) off") }
        let bases = try scratch.listing().filter { $0.contains(".store-migrate/") && $0.contains("/base-") }
        if bases.count != 2, kind != .merge { objections.append("\(bases.count) bases are kept") }
        if kind == .lateWritesAndFence {
            let refusing = try refusingTables(Self.oldFolder, template.name, scratch)
            objections += template.objectionsToFence(refusing, of: "old")
        }
        return try objections + objectionsToParkedRows(scratch, isTidy: true)
    }

    private func objectionsToReturn(_ scratch: Scratch) throws -> [String] {
        let old = try objects(in: Self.oldFolder, template.name, scratch)
        var objections = old == merged ? [] : ["the old store holds \(old)"]
        // Whether the old store is writable again is checked whenever it has its content.
        let names = try mainFiles(scratch)
        if names.count != 1 || names == [template.name] {
            objections.append(names.isEmpty ? "the new store is nowhere" : "the new store is still there: \(names)")
        }
        for name in names {
            // A program that still has it open gets the fence's error with the new path.
            objections += try template.objectionsToFence(
                refusingTables(Self.newFolder, name, scratch),
                of: "withdrawn",
                mayBeBarred: true
            )
        }
        return try objections + objectionsToAside(scratch) + objectionsToParkedRows(scratch, isTidy: true)
    }
}
