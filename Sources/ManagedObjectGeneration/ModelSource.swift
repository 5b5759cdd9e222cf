import FoundationEssentials
import SafeFiles
import StoreAccess
import StoreFixtures
public import StoreFormat

/// A model in a file: a model file or folder, a recipe, or a store.
public struct ModelSource: Sendable {
    public let model: ManagedObjectModel
    public let annotations: ModelAnnotations

    /// Reads the model at a path; a store's without writing anything.
    public init(path: String) throws {
        if let source = try Self(modelFile: path) {
            self = source
            return
        }
        let location = StoreLocation(url: URL(filePath: path))
        switch try StoreInspector(depth: .layout).inspect(location) {
        case .store(let store):
            guard let model = store.model else {
                throw StoreError(.plainStore, path: path, "a plain SQLite store has no model")
            }
            (self.model, annotations) = (model, store.annotations)
        case .unreadable(let reason): throw reason
        case .absent, .emptyFile, .orphanSidecar:
            throw StoreError(.notFound, path: path, "there is neither a model nor a store")
        }
    }

    /// Reads a model file or folder, or a recipe, whose name ends in `.yaml` or `.yml`; nil for any other file.
    public init?(modelFile path: String) throws {
        if path.hasSuffix(".yaml") || path.hasSuffix(".yml") {
            guard let model = try RecipeBuilder.model(recipeFile: path) else {
                throw StoreError(.plainStore, path: path, "a recipe in SQL has no model")
            }
            (self.model, annotations) = (model, ModelAnnotations())
        } else {
            guard try Self.mayBeModel(path) else { return nil }
            let file = try ModelFile(path: path)
            (model, annotations) = (file.model, file.annotations)
        }
    }

    /// True for a folder, and for a file that begins as a compiled model or as a document.
    private static func mayBeModel(_ path: String) throws -> Bool {
        guard !StoreInspector.isFolder(path) else { return true }
        let location = StoreLocation(url: URL(filePath: path))
        guard let folder = try? Directory.open(path: location.folder),
            try folder.status(of: location.name)?.kind == .regular,
            let file = try? folder.openFile(location.name, for: .reading)
        else { return false }
        defer { try? file.close() }
        var start = [UInt8](repeating: 0, count: 8)
        let count = try start.withUnsafeMutableBytes { (buffer) throws(FileError) in try file.read(into: buffer, at: 0)
        }
        start.removeLast(start.count - count)
        let spaces: [UInt8] = [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF]
        return start.starts(with: "bplist".utf8) || start.first { !spaces.contains($0) } == UInt8(ascii: "<")
    }
}
