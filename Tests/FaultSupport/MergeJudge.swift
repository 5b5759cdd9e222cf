import SafeFiles

/// Says whether a command that merges kept its promises, whatever was done to it on the way.
package struct MergeJudge: Judge {
    /// What is done to two places that were shared and then both written to.
    package enum Kind: String, CaseIterable, Sendable {
        /// The old store stays writable, and its late writes are merged.
        case lateWrites
        /// The same, and it takes no more writes.
        case lateWritesAndFence
        /// The new store's content goes back.
        case unshare
        /// Two stores that were never shared are merged by themselves.
        case merge
    }

    package let kind: Kind
    package let template: StoreTemplate

    private static let oldFolder = "old"
    private static let newFolder = "group"
    private var share: ShareJudge { ShareJudge(template: template, policy: .capture) }

    package init(kind: Kind, template: StoreTemplate) {
        self.kind = kind
        self.template = template
    }

    package var name: String { "\(kind.rawValue), \(template)" }

    package func command(_ scratch: Scratch) -> Command {
        let places = [Self.oldFolder, Self.newFolder].map { "\(scratch.path)/\($0)/\(template.name)" }
        let arguments =
            switch kind {
            case .lateWrites: ["share"] + places + ["--old", "capture", "--level", "coredata"]
            case .lateWritesAndFence: ["share"] + places + ["--level", "coredata"]
            case .unshare: ["unshare"] + places + ["--level", "coredata"]
            case .merge: ["merge"] + places.reversed() + ["--base", "\(scratch.path)/base/\(template.name)", "--scan"]
            }
        return Command.tool(arguments)
    }

    /// Shares the store, unharmed, and writes to both places.
    package func prepare(_ scratch: Scratch) throws {
        if kind == .merge {
            for folder in ["base", Self.oldFolder, Self.newFolder] {
                try template.write(into: scratch.root.createDirectory(folder, mode: 0o700))
            }
        } else {
            try share.prepare(scratch)
            try share.carryOut(in: scratch)
        }
        // As a program that knows nothing of history: the stores are read to find it.
        let change = "UPDATE ZHABIT SET ZNAME = 'Stroll', Z_OPT = Z_OPT + 1 WHERE ZNAME = 'Run'"
        try write(change, "Late", Self.oldFolder, scratch)
        try write("", "New", Self.newFolder, scratch)
    }

    private func write(_ change: String, _ name: String, _ folder: String, _ scratch: Scratch) throws {
        let store = try PlainStore("\(scratch.path)/\(folder)/\(template.name)")
        try store.execute(
            """
            BEGIN; \(change);
            INSERT INTO ZHABIT (Z_PK, Z_ENT, Z_OPT, ZNAME, ZPICTURE)
                SELECT Z_MAX + 1, Z_ENT, 1, '\(name)', x'010203' FROM Z_PRIMARYKEY WHERE Z_NAME = 'Habit';
            UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1 WHERE Z_NAME = 'Habit';
            COMMIT;
            """
        )
    }

    /// Right after the fault: neither place has lost anything, and success was not claimed in vain.
    package func afterFault(_ scratch: Scratch, _ fault: Fault, _ ending: Command.Ending) throws -> [String] {
        var objections = try objectionsToStores(scratch)
        objections += try self.objections(to: ending, fault) { try objectionsToEnd(scratch) }
        return objections
    }

    /// After running it again: both places' changes are in one store, once.
    package func afterRerun(_ scratch: Scratch, _ ending: Command.Ending) throws -> [String] {
        // Who unshares again what is not shared any more is told so.
        guard ending == .exited(0) || kind == .unshare && ending == .exited(4) else {
            return ["it ended with \(ending)"]
        }
        return try objectionsToStores(scratch) + objectionsToEnd(scratch)
    }

    private func objectionsToStores(_ scratch: Scratch) throws -> [String] {
        var objections: [String] = []
        let old = try objects(in: Self.oldFolder, template.name, scratch)
        let late = ["Late", "Read", "Stroll"]
        if old != late, kind != .unshare || old != ["Late", "New", "Read", "Stroll"] {
            objections.append("the old store holds \(old)")
        }
        for name in try mainFiles(scratch) {
            let new = try objects(in: Self.newFolder, name, scratch)
            if new != ["New", "Read", "Run"], new != ["Late", "New", "Read", "Stroll"] {
                objections.append("the new store holds \(new)")
            }
        }
        return objections
    }

    private func objectionsToEnd(_ scratch: Scratch) throws -> [String] {
        let merged = ["Late", "New", "Read", "Stroll"]
        switch kind {
        case .lateWrites, .lateWritesAndFence, .merge:
            let new = try objects(in: Self.newFolder, template.name, scratch)
            var objections = new == merged ? [] : ["the merged store holds \(new)"]
            let merges = try query(
                """
                SELECT count(*) FROM ATRANSACTION t JOIN ATRANSACTIONSTRING s ON s.Z_PK = t.ZAUTHORTS
                WHERE s.ZNAME = 'store-migrate'
                """,
                in: Self.newFolder,
                template.name,
                scratch
            )
            if merges != ["i1"] { objections.append("history tells of \(merges) merges") }
            let keys = try query(
                "SELECT Z_MAX - (SELECT max(Z_PK) FROM ZHABIT) FROM Z_PRIMARYKEY WHERE Z_NAME = 'Habit'",
                in: Self.newFolder,
                template.name,
                scratch
            )
            if keys != ["i0"] { objections.append("the greatest key is \(keys) off") }
            let bases = try scratch.listing().filter { $0.contains(".store-migrate/") && $0.contains("/base-") }
            if bases.count != 2, kind != .merge { objections.append("\(bases.count) bases are kept") }
            return objections
        case .unshare:
            let old = try objects(in: Self.oldFolder, template.name, scratch)
            let names = try mainFiles(scratch)
            return (old == merged ? [] : ["the old store holds \(old)"])
                + (names.count == 1 && names != [template.name] ? [] : ["the new store is still there: \(names)"])
        }
    }

    func objects(in folder: String, _ name: String, _ scratch: Scratch) throws -> [String] {
        try objects(in: scratch.root.openDirectory(folder), name, scratch)
    }

    func objects(in folder: Directory, _ name: String, _ scratch: Scratch) throws -> [String] {
        try share.withCopy(of: name, in: folder, scratch) { try $0.rows("SELECT ZNAME FROM ZHABIT ORDER BY ZNAME") }
            .map { row in
                String(
                    decoding: row.dropFirst().split(separator: ",").compactMap { UInt8($0, radix: 16) },
                    as: UTF8.self
                )
            }
    }

    private func query(_ sql: String, in folder: String, _ name: String, _ scratch: Scratch) throws -> [String] {
        try share.withCopy(of: name, in: scratch.root.openDirectory(folder), scratch) { try $0.rows(sql) }
    }

    /// The new store's main file, under whatever name.
    private func mainFiles(_ scratch: Scratch) throws -> [String] {
        try scratch.root.openDirectory(Self.newFolder).entries()
            .filter { $0 == template.name || $0.hasPrefix(template.name + ".withdrawn-") }
    }
}
