import StoreAccess
import StoreFormat
import TestSupport
import Testing

@Suite("The history of a genuine store")
struct CorpusHistoryTests {
    @Test(
        "Genuine history gives the changed properties",
        .genuineStores("photos-13.5-empty")
    )
    func photos() throws {
        let scratch = try ScratchFolder()
        let location = try Corpus.copy("photos-13.5-empty/Photos.sqlite", into: scratch)
        let connection = try StoreConnection(location, access: .privateCopy)
        let schema = try StoreSchema(reading: connection)
        let cache = try #require(try connection.value("SELECT Z_CONTENT FROM Z_MODELCACHE")?.blob)
        let layout = StoreLayout(
            model: try ManagedObjectModel(modelCache: cache),
            schema: schema,
            entityNumbers: try #require(try EntityNumbers(reading: connection))
        )
        let history = try #require(PersistentHistory(schema: schema))
        #expect(
            try history.summary(reading: connection)
                == HistorySummary(transactions: 4, changes: 87, first: 1, last: 4)
        )
        // The second transaction is named "writeStashedLocationValues": it moves albums within their folder.
        var changed: [Int64: [String: Set<[String]>]] = [:]
        try history.forEachChange(reading: connection) { change in
            guard change.kind == .update else { return }
            let entity = try #require(change.entity.flatMap(layout.entity(numbered:)))
            let properties = try #require(change.properties(in: layout))
            #expect(properties.possibleToMany.isEmpty)
            changed[change.transaction ?? 0, default: [:]][entity.name, default: []].insert(properties.names)
        }
        #expect(
            changed == [
                2: [
                    "FetchingAlbum": [["parentFolder"]],
                    "Folder": [["parentFolder"], ["childCollections"]],
                ],
                4: ["Album": [["pendingItemsType"]]],
            ]
        )
        var processes: Set<String?> = []
        try history.forEachTransaction(reading: connection) { processes.insert($0.processID) }
        #expect(processes == ["photolibraryd"])
    }
}
