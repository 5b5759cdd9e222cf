import FoundationEssentials
import StoreMigration

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
