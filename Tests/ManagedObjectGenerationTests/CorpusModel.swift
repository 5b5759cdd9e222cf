import SafeFiles
import StoreAccess
import TestSupport

/// A model of the corpus: one of its stores, or a file of its folder `models`.
struct CorpusModel: CustomStringConvertible {
    let description: String
    let isStore: Bool

    static let all: [CorpusModel] = {
        guard let folder = Corpus.folder else { return [] }
        let models = (try? Directory.open(path: folder + "/models").entries()) ?? []
        return models.sorted().map { CorpusModel(description: "models/" + $0, isStore: false) }
            + Corpus.stores.map { CorpusModel(description: $0, isStore: true) }
    }()

    /// The name of the store's main file, or of the model.
    var fileName: String { String(description.split(separator: "/").last ?? "") }

    /// Lends the path of the model; of a store, that of a copy.
    func withPath<Result>(_ body: (String) throws -> Result) throws -> Result {
        guard isStore else { return try body((Corpus.folder ?? "") + "/" + description) }
        let scratch = try ScratchFolder()
        return try body(Corpus.copy(description, into: scratch).path)
    }
}
