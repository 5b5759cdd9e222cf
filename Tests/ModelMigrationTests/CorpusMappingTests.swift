import ModelMigration
import SafeFiles
import StoreFormat
import TestSupport
import Testing

/// Every family of the corpus: each version to each later one, and each store to the versions of its family.
@Suite("Mappings between genuine model versions", .genuineStores)
struct CorpusMappingTests {
    static let families: [String] = {
        guard let folder = Corpus.folder, let models = try? Directory.open(path: folder + "/models") else { return [] }
        return ((try? models.entries()) ?? []).sorted().map { folder + "/models/" + $0 }
    }()

    @Test("Each version maps to each later version of its family", arguments: families)
    func laterVersions(_ folder: String) throws {
        let models = try GenuinePair.versions(in: folder).map { try ModelFile(path: folder, version: $0).model }
        #expect(models.count > 1)
        for (index, source) in models.enumerated() {
            for target in models[index...] {
                let mapping = try InferredMapping(from: source, to: target)
                #expect(mapping.target == target)
                #expect(mapping.isIdentity == (source.entitiesByName == target.entitiesByName))
            }
        }
    }

    @Test("Each version that others renamed or numbered refuses to go back", arguments: families)
    func earlierVersions(_ folder: String) throws {
        let models = try GenuinePair.versions(in: folder).map { try ModelFile(path: folder, version: $0).model }
        for (index, source) in models.enumerated() {
            for target in models[..<index] {
                do {
                    _ = try InferredMapping(from: source, to: target)
                } catch {
                    // A downgrade also breaks other rules where a version made a relationship to-many.
                    #expect(Set(error.refusals.map(\.rule)).isSubset(of: [.olderVersion, .toManyToToOne]))
                }
            }
        }
    }

    @Test("Any store's model to any other's is a mapping or a refusal with a code and a remedy")
    func stores() throws {
        let models = try Corpus.stores.compactMap { try Corpus.withCopy($0) { try ManagedObjectModel(cachedIn: $0) } }
        #expect(models.count > 10)
        var mapped = 0
        for source in models {
            for target in models {
                do {
                    let mapping = try InferredMapping(from: source, to: target)
                    #expect(source != target || mapping.isIdentity)
                    mapped += 1
                } catch {
                    for refusal in error.refusals {
                        #expect(!refusal.remedy.isEmpty)
                        #expect(refusal.rule == .olderVersion || refusal.rule.coreDataErrorCode != nil)
                    }
                }
            }
        }
        #expect(mapped >= models.count)
    }
}
