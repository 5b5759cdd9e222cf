import NearNames

extension RecipeReader {
    /// A mapping with one key, the kind of damage.
    func damage(_ node: RecipeNode) throws(RecipeError) -> RecipeDamage {
        let mapping = try node.mapping()
        guard mapping.entries.count == 1, let entry = mapping.entries.first else {
            throw node.error("one kind of damage is expected here, such as 'deleteExternalFile: true'")
        }
        return RecipeDamage(kind: try kind(entry.name, entry.value, entry.key), position: node.position)
    }

    private func kind(
        _ name: String,
        _ value: RecipeNode,
        _ key: RecipeNode
    ) throws(RecipeError) -> RecipeDamage.Kind {
        switch name {
        case "statement": return .statement(try value.text())
        case "greatestKey":
            let keys = try fields(value, ["entity", "value"])
            return .greatestKey(
                entity: try keys.required("entity").text(),
                value: try keys.required("value").integer()
            )
        case "danglingRelationship":
            let keys = try fields(value, ["object", "relationship"])
            return .danglingRelationship(
                object: try keys.required("object").text(),
                relationship: try keys.required("relationship").text()
            )
        case "wrongEntity":
            let keys = try fields(value, ["object", "number"])
            return .wrongEntity(
                object: try keys.required("object").text(),
                number: try keys.required("number").integer()
            )
        case "missingIndexEntry":
            let keys = try fields(value, ["index", "row"])
            return .missingIndexEntry(
                index: try keys.required("index").text(),
                row: try keys.required("row").integer()
            )
        case "hotJournal": return .hotJournal(statements: try value.texts())
        default: return try fileKind(name, value, key)
        }
    }

    private func fileKind(
        _ name: String,
        _ value: RecipeNode,
        _ key: RecipeNode
    ) throws(RecipeError) -> RecipeDamage.Kind {
        switch name {
        case "deleteExternalFile":
            guard try value.boolean() else { throw value.error("'true' is expected here") }
            return .deleteExternalFile
        case "orphanExternalFile": return .orphanExternalFile(bytes: try bytes(value))
        case "truncateExternalFile": return .truncateExternalFile(bytes: Int64(try bytes(value)))
        case "truncate":
            let keys = try fields(value, ["file", "bytes"])
            return .truncate(try file(keys), bytes: Int64(try bytes(keys.required("bytes"))))
        case "flipByte":
            let keys = try fields(value, ["file", "offset"])
            return .flipByte(try file(keys), offset: try keys.required("offset").integer())
        case "remove": return .remove(try value.word(RecipeDamage.File.self))
        case "overwrite":
            let keys = try fields(value, ["file", "text"])
            return .overwrite(try file(keys), text: try keys.required("text").text())
        case "foreignWriteAheadLog": return .foreignWriteAheadLog(recipe: try value.text())
        case "staleSharedMemory": return .staleSharedMemory(bytes: try bytes(value))
        default:
            let hint = NearName.hint(name, among: Self.damageNames, list: "known are")
            throw key.error("the damage '\(name)' is not known here; \(hint)")
        }
    }

    private static let damageNames = [
        "statement", "greatestKey", "danglingRelationship", "wrongEntity", "missingIndexEntry", "hotJournal",
        "deleteExternalFile", "orphanExternalFile", "truncateExternalFile", "truncate", "flipByte", "remove",
        "overwrite", "foreignWriteAheadLog", "staleSharedMemory",
    ]

    private func fields(_ node: RecipeNode, _ names: [String]) throws(RecipeError) -> RecipeMapping {
        let mapping = try node.mapping()
        try mapping.allow(names)
        return mapping
    }

    private func file(_ mapping: RecipeMapping) throws(RecipeError) -> RecipeDamage.File {
        try mapping.required("file").word(RecipeDamage.File.self)
    }

    private func bytes(_ node: RecipeNode) throws(RecipeError) -> Int {
        Int(try node.integer(in: 0...Self.largestCount))
    }
}
