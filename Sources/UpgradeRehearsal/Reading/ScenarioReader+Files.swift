import StoreFixtures

extension ScenarioReader {
    private static let contents = [
        "text", "bytes", "from", "copy", "move", "link", "hardLink", "remove", "truncate", "flip",
    ]
    private static let largestFile: Int64 = 1 << 30

    /// The changes of files in a mapping from paths.
    func files(_ node: RecipeNode) throws(RecipeError) -> [FileChange] {
        var changes: [FileChange] = []
        for entry in try node.mapping().entries {
            changes.append(try change(entry.key, entry.name, entry.value))
        }
        return changes
    }

    private func change(_ key: RecipeNode, _ name: String, _ node: RecipeNode) throws(RecipeError) -> FileChange {
        let isFolder = name.hasSuffix("/")
        let path = try Self.place(key, name)
        let mapping = try node.mapping()
        try mapping.allow(Self.contents + ["fill", "mode", "owner"])
        let asked = mapping.entries.filter { Self.contents.contains($0.name) }
        if asked.count > 1 { throw asked[1].key.error("one path becomes one thing; '\(asked[0].name)' is there, too") }
        if let fill = mapping["fill"], mapping["bytes"] == nil { throw fill.error("'fill' goes with 'bytes'") }
        var content: FileChange.Content?
        if let entry = asked.first {
            content = try self.content(entry.name, entry.value, mapping)
            if isFolder, !["copy", "move", "remove", "link"].contains(entry.name) {
                throw entry.key.error("'\(name)' is a folder; '\(entry.name)' makes a file")
            }
        } else if mapping.entries.isEmpty || isFolder {
            content = isFolder ? .folder : .text("")
        }
        if let owner = mapping["owner"] {
            guard try owner.text() == "nobody" else { throw owner.error("files can be given to 'nobody' only") }
        }
        return FileChange(
            path: path,
            content: content,
            mode: try mapping["mode"].map { node throws(RecipeError) in try Self.mode(node) },
            isGivenAway: mapping["owner"] != nil,
            position: key.position
        )
    }

    private func content(
        _ name: String,
        _ value: RecipeNode,
        _ mapping: RecipeMapping
    ) throws(RecipeError) -> FileChange.Content {
        switch name {
        case "text": return .text(try value.text())
        case "bytes":
            let count = Int(try value.integer(in: 0...Self.largestFile))
            return .bytes(count, fill: try mapping["fill"]?.text() ?? "")
        case "from": return .from(outside(try value.text()))
        case "copy": return .copy(try Self.place(value))
        case "move": return .move(try Self.place(value))
        case "link": return .link(try Self.place(value))
        case "hardLink": return .hardLink(try Self.place(value))
        case "truncate": return .truncate(try value.integer(in: 0...Self.largestFile))
        case "flip": return .flip(try value.integer())
        default:
            guard try value.boolean() else { throw value.error("write 'remove: true', or leave it out") }
            return .remove
        }
    }
}
