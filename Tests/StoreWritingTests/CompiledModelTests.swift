import SafeFiles
import StoreAccess
import StoreFormat
import StoreWriting
import TestSupport
import Testing

@Suite("Creating stores from compiled models")
struct CompiledModelTests {
    private static let model = ModelCacheWriterTests.models[1]

    /// A folder of compiled versions as Xcode creates it, with one hash for each entity.
    private static func writeModel(into scratch: ScratchFolder) throws -> [String: [UInt8]] {
        let folder = try scratch.directory.createDirectory("Habits.momd", mode: 0o755)
        let archive = try Inflate.inflate(ModelCacheWriter.bytes(of: model), limit: 1 << 20)
        let names = model.entitiesByName.keys.sorted()
        let hashes = Dictionary(
            uniqueKeysWithValues: names.enumerated().map { ($1, [UInt8](repeating: UInt8($0 + 1), count: 32)) }
        )
        let info: PropertyListValue = .dictionary([
            "NSManagedObjectModel_CurrentVersionName": .string("Habits 2"),
            "NSManagedObjectModel_VersionHashes": .dictionary([
                "Habits": .dictionary([:]), "Habits 2": .dictionary(hashes.mapValues { .data($0) }),
            ]),
        ])
        for (name, bytes) in [("Habits 2.mom", archive), ("VersionInfo.plist", PropertyListWriter.bytes(of: info))] {
            let file = try folder.createFile(name, mode: 0o644)
            try bytes.withUnsafeBytes { try file.write($0, at: 0) }
            try file.close()
        }
        return hashes
    }

    @Test("A compiled model is read in its current version, with the hashes that an app expects")
    func reading() throws {
        let scratch = try ScratchFolder()
        let hashes = try Self.writeModel(into: scratch)
        let file = try ModelFile(path: scratch.path + "/Habits.momd")
        #expect(
            file
                == ModelFile(
                    model: Self.model,
                    versionName: "Habits 2",
                    entityVersionHashes: hashes,
                    otherVersions: ["Habits": [:]]
                )
        )
        let alone = try ModelFile(path: scratch.path + "/Habits.momd/Habits 2.mom")
        #expect(alone == ModelFile(model: Self.model))
        let error = #expect(throws: StoreError.self) {
            try ModelFile(path: scratch.path + "/Habits.momd", version: "Habits")
        }
        #expect(error?.code == .notFound)
    }

    @Test(
        "A new store has the genuine hashes of its model, and stand-ins for unknown ones",
        arguments: [true, false]
    )
    func making(_ isGenuine: Bool) throws {
        let scratch = try ScratchFolder()
        let hashes = try Self.writeModel(into: scratch)
        let file = try ModelFile(path: scratch.path + (isGenuine ? "/Habits.momd" : "/Habits.momd/Habits 2.mom"))
        var options = StoreBuilder.Options()
        options.versionHashes = file.entityVersionHashes
        let builder = try StoreBuilder(file.model, uuid: "2E3E5F3E-1DB3-4B0E-8A6B-0F0A3D0C9A11", options: options)
        let connection = try builder.build(at: scratch.location("Habits.sqlite"), in: scratch.directory)
        let metadata = try #require(try StoreMetadata(reading: connection))
        #expect((metadata.entityVersionHashes == hashes) == isGenuine)
        #expect((metadata.values[MetadataWriter.syntheticHashesKey] == nil) == isGenuine)
        #expect(metadata.recordedModelDigest == metadata.modelDigest)
        #expect(try StoreLayout(reading: connection)?.model == file.model)
    }
}
