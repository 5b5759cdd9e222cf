import FoundationEssentials
import StoreBackup
import StoreFormat
import StoreMigration
import StoreVerification

extension BackupManifest {
    /// `Habits.sqlite: 1,204 objects, 2 external files, 4.1 MB`.
    var text: String {
        let place = StoreFileNames(store.name)
        var figures = [Figures.count(store.objectCount, store.kind == .coreData ? "object" : "row")]
        let external = members.count { !place.contains($0.name) }
        if external > 0 { figures.append(Figures.count(Int64(external), "external file")) }
        figures.append(Figures.bytes(byteCount))
        return Escaped.text(store.name) + ": " + figures.joined(separator: ", ")
    }

    /// The names of the members that are not external files.
    private struct StoreFileNames {
        private let names: [String]

        init(_ name: String) { names = [name, ".\(name).relay.sqlite"] }

        func contains(_ name: String) -> Bool { names.contains(name) }
    }
}

extension BackupReport {
    /// The text after a backup.
    func text(_ style: Style, _ duration: Duration) -> String {
        """
        \(style.green("Backed up")) \(manifest.text) in \(Figures.seconds(duration))
          archive  \(Escaped.path(path))   \(Figures.bytes(bytes)), read back and unpacked
        """
    }
}

extension KeptBackup {
    /// One line about the archive.
    func text() -> String {
        let date = DateText.text(secondsSince1970: Int64(time)) ?? ""
        let what = manifest?.text ?? ""
        let why = problem.map { (what.isEmpty ? "" : "; ") + Escaped.text($0) } ?? ""
        return "\(date)  \(Escaped.text(name))  \(Figures.bytes(bytes))  \(what)\(why)"
    }
}

extension RestoreOutcome {
    /// The text after a restore.
    func text(_ style: Style, _ duration: Duration) -> String {
        guard transaction != nil else { return style.green("Restored") + ": " + Escaped.text(message) }
        var lines = [
            style.green("Restored") + " \(manifest.text) in \(Figures.seconds(duration))",
            "  store  \(Escaped.path(path))   proved: \(report?.passedLevels ?? "")",
        ]
        if let keptAside { lines.append("  former \(Escaped.text(keptAside))   kept aside") }
        return lines.joined(separator: "\n")
    }
}

extension PublishOutcome {
    /// The text after a publication.
    func text(_ style: Style, _ duration: Duration) -> String {
        let name = Escaped.text(path.split(separator: "/").last.map(String.init) ?? path)
        let formers =
            openFormerSnapshots == 0
            ? ""
            : "\n  kept      \(Figures.count(Int64(openFormerSnapshots), "former snapshot")), which readers may have open"
        guard outcome == .published else {
            return style.green("Already published") + ": the store has not changed\n"
                + "  snapshot  \(Escaped.path(path))" + formers
        }
        let files = externalFiles == 0 ? "" : Figures.count(Int64(externalFiles), "new external file") + ", "
        return style.green("Published") + " \(name): \(files)\(Figures.bytes(bytes)) in \(Figures.seconds(duration))\n"
            + "  snapshot  \(Escaped.path(path))   proved: \(report?.passedLevels ?? "")\n"
            + "  source    \(Escaped.path(source))" + leftOut + formers
    }

    /// What a selection leaves out.
    private var leftOut: String {
        guard !selection.isWhole else { return "" }
        let parts = [
            selection.only.isEmpty ? [] : ["all but " + selection.only.sorted().joined(separator: ", ")],
            selection.without.sorted(),
        ]
        return "\n  left out  \(Escaped.text(parts.joined().joined(separator: "; ")))"
            + " (\(Figures.count(objectsLeftOut, "object")))"
    }

    /// The result as an object.
    var record: JSONValue {
        .object([
            ("type", .string("publication")), ("path", .string(path)), ("due", .bool(false)),
            ("source", .string(source)), ("digest", .optional(digest)), ("bytes", .integer(bytes)),
            ("externalFiles", .integer(Int64(externalFiles))),
            ("only", .strings(selection.only.sorted())), ("without", .strings(selection.without.sorted())),
            ("objectsLeftOut", .integer(objectsLeftOut)),
            ("openFormerSnapshots", .integer(Int64(openFormerSnapshots))),
        ])
    }
}
