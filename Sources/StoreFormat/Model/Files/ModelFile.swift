import SafeFiles
public import StoreAccess
import SystemPackage

/// A managed object model in a file or folder of its own, compiled or as a document.
///
/// Four forms are supported: a compiled model (`.mom`), the folder of its versions (`.momd`), a model document
/// (`.xcdatamodel`, or its `contents`), and the folder of its versions (`.xcdatamodeld`). The content decides, not the
/// name.
public struct ModelFile: Hashable, BlockingCalls {
    public let model: ManagedObjectModel
    /// The version's name; nil for a model without versions.
    public let versionName: String?
    /// The version hash of each entity, which only a folder of compiled versions contains; empty for every other form.
    ///
    /// An app with this model expects these hashes in a store. They cannot be computed here.
    public let entityVersionHashes: [String: [UInt8]]
    /// The same for the other versions in the folder, by their names.
    public let otherVersions: [String: [String: [UInt8]]]
    /// What the model says about its elements without an effect on a store.
    public let annotations: ModelAnnotations

    public init(
        model: ManagedObjectModel,
        versionName: String? = nil,
        entityVersionHashes: [String: [UInt8]] = [:],
        otherVersions: [String: [String: [UInt8]]] = [:],
        annotations: ModelAnnotations = ModelAnnotations()
    ) {
        self.model = model
        self.versionName = versionName
        self.entityVersionHashes = entityVersionHashes
        self.otherVersions = otherVersions
        self.annotations = annotations
    }

    /// Reads the model at a path; of a folder of versions the current one, unless `version` names another.
    public init(path: String, version: String? = nil) throws(StoreError) {
        do {
            self = try ModelFileReader(path: path).read(version: version)
        } catch let error as StoreError {
            throw error
        } catch let error as UndecodableData {
            throw StoreError(.incompatible, path: path, "the model cannot be read: \(error)")
        } catch let error as FileError {
            let code: StoreError.Code = error.errno == .noSuchFileOrDirectory ? .notFound : .unreadable
            throw StoreError(code, path: error.path, "the model cannot be read (\(error))")
        } catch {
            throw StoreError(.failed, path: path, "the model cannot be read: \(error)")
        }
    }
}
