import SafeFiles
import StoreAccess
import StoreFormat

/// A genuine store and another version of its model: that of another store, or of a model file.
///
/// The pairs are found in the corpus without any name: two models belong to one family if at least half of the entities
/// of the smaller one have the same identifiers.
package struct GenuinePair: Sendable, CustomStringConvertible {
    /// The store, as ``Corpus/stores`` lists it.
    package let source: String
    /// Another store, or the path of a model from the folder of the corpus.
    package let target: String
    /// The version in a folder of versions.
    package let version: String?
    package let isStore: Bool

    package var description: String { "\(source) to \(target) \(version ?? "")" }

    /// Every pair in the corpus, in both directions.
    package static let all: [GenuinePair] = {
        let stores = Corpus.stores.compactMap { store in
            (try? Corpus.withCopy(store) { try ManagedObjectModel(cachedIn: $0) }).map { (store, $0) }
        }
        return stores.flatMap { source, model in
            stores.compactMap { store, other in
                guard store != source, model != other, areRelated(model, other) else { return nil }
                return GenuinePair(source: source, target: store, version: nil, isStore: true)
            }
                + models.compactMap { path, version, other in
                    guard model != other, areRelated(model, other) else { return nil }
                    return GenuinePair(source: source, target: path, version: version, isStore: false)
                }
        }
    }()

    /// Every version of every model file.
    private static let models: [(path: String, version: String, model: ManagedObjectModel)] = {
        guard let folder = Corpus.folder, let root = try? Directory.open(path: folder + "/models") else { return [] }
        return ((try? root.entries()) ?? []).sorted()
            .flatMap { name in
                versions(in: folder + "/models/" + name)
                    .compactMap { version in
                        let path = folder + "/models/" + name
                        guard let model = try? ModelFile(path: path, version: version).model else { return nil }
                        return ("models/" + name, version, model)
                    }
            }
    }()

    /// The versions of a model in a folder of versions, the shorter names first.
    package static func versions(in folder: String) -> [String] {
        ((try? Directory.open(path: folder).entries()) ?? [])
            .compactMap { name in
                [".xcdatamodel", ".mom"].first { name.hasSuffix($0) }.map { String(name.dropLast($0.count)) }
            }
            .sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
    }

    private static func areRelated(_ one: ManagedObjectModel, _ other: ManagedObjectModel) -> Bool {
        func names(_ model: ManagedObjectModel) -> Set<String> { Set(model.entitiesByName.values.map(\.canonicalName)) }
        let common = names(one).intersection(names(other)).count
        return common > 0 && 2 * common >= min(names(one).count, names(other).count)
    }

    /// The path of the model, or of a copy of the store in `scratch`.
    package func targetPath(in scratch: ScratchFolder) throws -> String {
        isStore ? try Corpus.copy(target, into: scratch).path : (Corpus.folder ?? "") + "/" + target
    }
}
