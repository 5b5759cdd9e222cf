import FoundationEssentials

/// A folder with a store and documents of its model's versions.
struct ModelVersions {
    let scratch: Scratch
    let store: String

    /// Builds a store with two objects of the entity `Habit`, of which one has a large picture in a file.
    init(journalMode: String = "wal", leaves: String = "rows", in folder: String? = nil) async throws {
        let scratch = try Scratch()
        self.scratch = scratch
        let folder = try folder.map { try scratch.folder($0) } ?? scratch.path
        store = folder + "/Habits.sqlite"
        let recipe = try scratch.file("habits.yaml", Array(Self.recipe(journalMode, leaves).utf8))
        let run = try await Tool.run(["fixture", "build", recipe, store])
        guard run.status == 0 else { throw Tool.Failure(words: [recipe], status: "\(run.status)", errors: run.errors) }
        try FileManager.default.removeItem(atPath: recipe)
    }

    /// Writes a model document with these entities, and returns its path.
    func document(_ name: String, identifier: String = "", _ entities: String) throws -> String {
        let folder = try scratch.folder(name + ".xcdatamodel")
        let text = """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" \
            userDefinedModelVersionIdentifier="\(identifier)">
            \(entities)
            </model>
            """
        try scratch.file(name + ".xcdatamodel/contents", Array(text.utf8))
        return folder
    }

    /// The entity `Habit` of the store, with more attributes or other ones.
    static func habit(_ more: String = "", name: String = #"<attribute name="name" attributeType="String"/>"#) -> String
    {
        #"<entity name="Habit" representedClassName="Habit">"# + name
            + #"<attribute name="picture" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>"#
            + more + "</entity>"
    }

    /// A version with one more attribute, which has a default.
    func second() throws -> String {
        try document(
            "Second",
            Self.habit(#"<attribute name="goal" attributeType="Integer 64" defaultValueString="3"/>"#)
        )
    }

    private static func recipe(_ journalMode: String, _ leaves: String) -> String {
        """
        about: The first version of a model.
        seed: versions
        options:
          journalMode: \(journalMode)
          history: true
          leftInWriteAheadLog: \(journalMode == "wal" ? leaves : "nothing")
        model:
          entities:
            Habit:
              attributes:
                name: {type: string, optional: false}
                picture: {type: binaryData, externalStorage: true}
        saves:
          - at: 2026-03-01T09:00:00Z
            insert:
              - {entity: Habit, values: {name: Run, picture: {bytes: 120000, fill: "large "}}}
              - {entity: Habit, values: {name: Read}}
        """
    }
}
