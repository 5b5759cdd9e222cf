import Foundation
import SafeFiles
import StoreAccess

extension MergeJudge {
    private static let asidePrefix = ".store-migrate-aside-"
    private static let withdrawnSuffix = ".withdrawn-"
    private static let isExternal: UInt8 = 2

    // MARK: Expected content

    /// The initial content of the old store; each object by its name and its picture.
    var oldBefore: [String] {
        kind == .unshareFenced ? ["Read -", "Run large"] : ["Late 1,2,3", "Scan 1,aa,bb", "Stroll large"]
    }

    /// The initial content of the new store.
    var newBefore: [String] { ["New 1,2,3", "Run large", "Study -"] }

    /// The merged content: of two names for one object that of the shared store won.
    var merged: [String] {
        kind == .unshareFenced ? newBefore : ["Late 1,2,3", "New 1,2,3", "Stroll large", "Study 1,aa,bb"]
    }

    /// The whole row that lost.
    private static let loser = """
        {
            "side": "old", "entity": "Habit", "reason": "bothChanged", "partners": {},
            "key": [{"integer": {"_0": 2}}], "target": [{"integer": {"_0": 2}}],
            "values": {"name": {"text": {"_0": "Scan"}}, "picture": {"bytes": {"_0": "qrs="}}}
        }
        """

    // MARK: Actual content

    func objects(in folder: String, _ name: String, _ scratch: Scratch) throws -> [String] {
        try objects(in: scratch.root.openDirectory(folder), name, scratch)
    }

    func objects(in folder: Directory, _ name: String, _ scratch: Scratch) throws -> [String] {
        guard try folder.status(of: name) != nil else { return ["nothing"] }
        let rows = try scratch.withCopy(of: name, in: folder) { try $0.rows("SELECT ZNAME, ZPICTURE FROM ZHABIT") }
        return
            try rows.map { row in
                let parts = row.split(separator: "|").map { $0.dropFirst() }
                guard let name = parts.first, let picture = parts.last, parts.count == 2 else { return row }
                return try Self.text(Self.bytes(name)) + " " + self.picture(picture, in: folder)
            }
            .sorted()
    }

    /// A picture as text: none, its bytes in hexadecimal, or whether its file equals the template's.
    private func picture(_ value: Substring, in folder: Directory) throws -> String {
        let bytes = Self.bytes(value)
        guard bytes.first == Self.isExternal else { return value.isEmpty ? "-" : String(value) }
        // The folder is named after the main file, which may have been renamed.
        let file = Self.text(bytes.dropFirst().filter { $0 != 0 })
        for support in try folder.entries().sorted() where support.hasSuffix("_SUPPORT") {
            let url = URL(fileURLWithPath: "\(folder.path)/\(support)/_EXTERNAL_DATA/\(file)")
            guard let found = try? Data(contentsOf: url) else { continue }
            return template.externalFiles.values.contains { Data($0) == found } ? "large" : "another large"
        }
        return "lost"
    }

    private static func bytes(_ hexadecimal: Substring) -> [UInt8] {
        hexadecimal.split(separator: ",").compactMap { UInt8($0, radix: 16) }
    }

    private static func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    func query(_ sql: String, in folder: String, _ scratch: Scratch) throws -> [String] {
        try scratch.withCopy(of: template.name, in: scratch.root.openDirectory(folder)) { try $0.rows(sql) }
    }

    func refusingTables(_ folder: String, _ name: String, _ scratch: Scratch) throws -> [String] {
        try template.refusingTables(of: name, in: scratch.root.openDirectory(folder), scratch)
    }

    /// The new store's main file, under its own name or the withdrawn one.
    func mainFiles(_ scratch: Scratch) throws -> [String] {
        try scratch.root.openDirectory(Self.newFolder).entries()
            .filter { $0 == template.name || $0.hasPrefix(template.name + Self.withdrawnSuffix) }
    }

    // MARK: Other files

    /// The loser of the conflict is parked with its whole row, once; an interrupted attempt may have left another file.
    func objectionsToParkedRows(_ scratch: Scratch, isTidy: Bool) throws -> [String] {
        guard kind != .unshareFenced else { return [] }
        let paths = try scratch.listing().filter { $0.contains("/.store-migrate/") && $0.hasSuffix(".parked.jsonl") }
        let expected = try Self.canonical(Data(Self.loser.utf8))
        let files = try paths.map { path in
            try Data(contentsOf: URL(fileURLWithPath: scratch.path + "/" + path)).split(separator: 10)
                .map { try? Self.canonical($0) }
        }
        if !files.contains([expected]) { return ["the loser is not parked: \(files)"] }
        return isTidy && files.count != 1 ? ["the loser is parked in \(files.count) files"] : []
    }

    /// A JSON object as text with sorted keys: whether two dictionaries of Foundation count as equal depends on the build.
    private static func canonical(_ data: Data) throws -> String {
        let object = try JSONSerialization.jsonObject(with: data)
        return String(decoding: try JSONSerialization.data(withJSONObject: object, options: .sortedKeys), as: UTF8.self)
    }

    /// The displaced old store is kept complete, once.
    func objectionsToAside(_ scratch: Scratch) throws -> [String] {
        let folder = try scratch.root.openDirectory(Self.oldFolder)
        let names = try folder.entries().filter { $0.hasPrefix(Self.asidePrefix) }
        guard names.count == 1, let name = names.first else { return ["\(names.count) folders of displaced files"] }
        let aside = try objects(in: folder.openDirectory(name), template.name, scratch)
        return aside == oldBefore ? [] : ["the displaced store holds \(aside)"]
    }

    /// The two folders contain only files that the output names.
    func objectionsToListing(_ scratch: Scratch) throws -> [String] {
        let allowed = template.ownNames.union([".store-migrate", ".\(template.name).store-migrate.json"])
        // The withdrawn store, its receipt, and its external files' folder.
        let withdrawn = try mainFiles(scratch)
            .flatMap { name in
                let location = StoreLocation(folder: "", name: name)
                return [name, ".\(name).store-migrate.json", location.supportFolderName]
            }
        let new = isReverseShare ? allowed.union(withdrawn) : allowed
        return try scratch.objections(
            toSurplus: scratch.surplus(in: Self.oldFolder) {
                allowed.contains($0) || isReverseShare && $0.hasPrefix(Self.asidePrefix)
            } + scratch.surplus(in: Self.newFolder, isAllowed: new.contains)
        )
    }
}
