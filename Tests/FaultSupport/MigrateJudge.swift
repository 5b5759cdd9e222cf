package import ProtocolModel
import SafeFiles

/// Checks the guarantees of a migration in place after any fault.
package struct MigrateJudge: Judge {
    package let template: StoreTemplate
    /// True if the new version has no attribute for the external file of the store.
    package let removesPicture: Bool
    /// The content after a migration without a fault, without the times of history.
    let migrated: PlainStore.Content

    private static let folder = "group"
    package static let document = "Second.xcdatamodel"
    private static let asidePrefix = ".store-migrate-aside-"
    private static let values = "SELECT Z_PK, Z_ENT, Z_OPT, ZNAME FROM ZHABIT ORDER BY Z_PK"
    private var share: ShareJudge { ShareJudge(template: template) }

    package var occupant: TraceReplay.Occupant { .other }

    package var name: String { "migrate\(removesPicture ? ", copying" : ""), \(template)" }

    /// Migrates the store once without a fault, and compares its values with those before.
    package init(template: StoreTemplate, removesPicture: Bool = false) throws {
        (self.template, self.removesPicture) = (template, removesPicture)
        let scratch = try Scratch()
        try Self.prepare(scratch, template, removesPicture: removesPicture)
        let place = try scratch.root.openDirectory(Self.folder)
        let before = try scratch.withCopy(of: template.name, in: place) { try $0.rows(Self.values) }
        let command = Self.command(scratch, template)
        let ending = try scratch.run(command, shim: nil, point: nil, deadline: Deadline(after: .seconds(60)))
        let after = try scratch.withCopy(of: template.name, in: place) { try $0.rows(Self.values) }
        let share = ShareJudge(template: template)
        migrated = try Self.settled(share.content(of: template.name, in: place, scratch, withoutFence: false))
        guard ending == .exited(0), before == after, !before.isEmpty, migrated != Self.settled(template.content) else {
            throw UnharmedRunFailure(name: name, objections: ["it ended with \(ending)"], output: scratch.output)
        }
    }

    /// The content without what differs between two migrations.
    static func settled(_ content: PlainStore.Content) -> PlainStore.Content {
        var content = content
        // Each migration records its own time.
        if let transactions = content.rows["ATRANSACTION"] { content.rows["ATRANSACTION"] = ["\(transactions.count)"] }
        return content
    }

    package func command(_ scratch: Scratch) -> Command { Self.command(scratch, template) }

    private static func command(_ scratch: Scratch, _ template: StoreTemplate) -> Command {
        Command.tool([
            "migrate", "\(scratch.path)/\(folder)/\(template.name)", "--model", "\(scratch.path)/\(document)",
        ])
    }

    package func prepare(_ scratch: Scratch) throws {
        try Self.prepare(scratch, template, removesPicture: removesPicture)
    }

    private static func prepare(_ scratch: Scratch, _ template: StoreTemplate, removesPicture: Bool) throws {
        try template.write(into: scratch.root.createDirectory(folder, mode: 0o770))
        try writeModel(scratch, removesPicture: removesPicture)
    }

    /// Writes the new model version.
    package static func writeModel(_ scratch: Scratch, removesPicture: Bool) throws {
        let picture =
            #"<attribute name="picture" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>"#
        let text = """
            <model type="com.apple.IDECoreDataModeler.DataModel"><entity name="Habit">\
            <attribute name="name" attributeType="String"/>\(removesPicture ? "" : picture)\
            <attribute name="goal" attributeType="Integer 64" defaultValueString="3"/></entity></model>
            """
        let model = try scratch.root.createDirectory(document, mode: 0o700)
        let file = try model.createFile("contents", mode: 0o600)
        try Array(text.utf8).withUnsafeBytes { try file.write($0, at: 0) }
    }

    /// Right after the fault: the store is the former one, or the migrated one with the former one kept.
    package func afterFault(_ scratch: Scratch, _ fault: Fault, _ ending: Command.Ending) throws -> [String] {
        let place = try scratch.root.openDirectory(Self.folder)
        let isFormer = try share.content(of: template.name, in: place, scratch, withoutFence: false) == template.content
        var objections: [String]
        if isFormer {
            objections = try template.externalFilesLost(in: place).map { "an external file is missing: \($0)" }
        } else {
            objections = try objectionsToMigrated(scratch, place, isTidy: false)
        }
        objections += self.objections(to: ending, fault) {
            isFormer ? ["it claims success, and the store is not migrated"] : []
        }
        return objections
    }

    /// After running it again: the store is migrated, with nothing beside it but the former one.
    package func afterRerun(_ scratch: Scratch, _ ending: Command.Ending) throws -> [String] {
        guard ending == .exited(0) else { return ["it ended with \(ending)"] }
        let allowed = template.ownNames
        let surplus = try scratch.surplus(in: Self.folder) { allowed.contains($0) || $0.hasPrefix(Self.asidePrefix) }
        return try objectionsToMigrated(scratch, scratch.root.openDirectory(Self.folder), isTidy: true)
            + scratch.objections(toSurplus: surplus)
    }

    private func objectionsToMigrated(_ scratch: Scratch, _ place: Directory, isTidy: Bool) throws -> [String] {
        let content = try Self.settled(share.content(of: template.name, in: place, scratch, withoutFence: false))
        var objections = content == migrated ? [] : ["the store is neither the former nor the migrated one"]
        let lost = try template.externalFilesLost(in: place)
        if !removesPicture {
            objections += lost.map { "an external file is missing: \($0)" }
        } else if isTidy, lost.isEmpty {
            objections.append("an external file without a reference is left")
        }
        let isKept = try place.entries()
            .contains { name in
                guard name.hasPrefix(Self.asidePrefix) else { return false }
                let aside = try place.openDirectory(name)
                return try aside.status(of: template.name) != nil
                    && share.content(of: template.name, in: aside, scratch, withoutFence: false) == template.content
                    && template.externalFilesLost(in: aside).isEmpty
            }
        return objections + (isKept ? [] : ["the former store is nowhere"])
    }
}
