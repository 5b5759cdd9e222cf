import SafeFiles
import StoreAccess
import SystemPackage

/// Detects the form of the model at a path, and reads it.
struct ModelFileReader {
    /// The maximum file size; the compiled model of Photos has 300 kB.
    private static let sizeLimit = 64 << 20
    private static let versionInfo = "VersionInfo.plist"
    private static let currentVersion = ".xccurrentversion"
    private static let contents = "contents"

    private let path: String
    private let parent: Directory
    private let name: String

    init(path: String) throws {
        let filePath = FilePath(path).lexicallyNormalized()
        guard let name = filePath.lastComponent?.string else {
            throw StoreError(.notFound, path: path, "this is not the path of a model")
        }
        self.path = path
        self.name = name
        let folder = filePath.removingLastComponent().string
        parent = try Directory.open(path: folder.isEmpty ? "." : folder)
    }

    func read(version: String?) throws -> ModelFile {
        guard let status = try parent.status(of: name) else {
            throw StoreError(.notFound, path: path, "there is no model")
        }
        guard status.kind == .directory else {
            guard version == nil else {
                throw StoreError(.incompatible, path: path, "the model has no versions")
            }
            return try Self.modelFile(from: parent.contents(of: name, limit: Self.sizeLimit))
        }
        let folder = try parent.openDirectory(name)
        if try folder.status(of: Self.versionInfo) != nil { return try compiledVersion(version, in: folder) }
        if try folder.status(of: Self.contents) != nil {
            guard version == nil else {
                throw StoreError(.incompatible, path: path, "the model has no versions")
            }
            return try Self.modelFile(from: folder.contents(of: Self.contents, limit: Self.sizeLimit))
        }
        return try documentVersion(version, in: folder)
    }

    /// A compiled model, or the document of one.
    private static func modelFile(from bytes: [UInt8], version: String? = nil) throws -> ModelFile {
        if bytes.starts(with: BinaryPropertyListReader.signature) {
            let (model, annotations) = try ManagedObjectModel.annotated(archive: bytes)
            return ModelFile(model: model, versionName: version, annotations: annotations)
        }
        guard bytes.contains(UInt8(ascii: "<")) else { throw UndecodableData("it is neither compiled nor a document") }
        let decoder = try ModelDocumentDecoder(bytes)
        return ModelFile(model: try decoder.model(), versionName: version, annotations: decoder.annotations)
    }

    // MARK: Folders of versions

    private func compiledVersion(_ version: String?, in folder: Directory) throws -> ModelFile {
        let info = try PropertyListReader.value(from: folder.contents(of: Self.versionInfo, limit: Self.sizeLimit))
        guard case .dictionary(let values) = info,
            case .dictionary(let hashes)? = values["NSManagedObjectModel_VersionHashes"]
        else { throw UndecodableData("\(Self.versionInfo) lists no versions") }
        let current: String? =
            if case .string(let name)? = values["NSManagedObjectModel_CurrentVersionName"] { name } else { nil }
        let chosen = try choose(version, current: current, from: Array(hashes.keys))
        let bytes = try folder.contents(of: try Self.fileName(chosen, ".mom"), limit: Self.sizeLimit)
        var others = hashes.mapValues(Self.entityHashes)
        let own = others.removeValue(forKey: chosen)
        let (model, annotations) = try ManagedObjectModel.annotated(archive: bytes)
        return ModelFile(
            model: model,
            versionName: chosen,
            entityVersionHashes: own ?? [:],
            otherVersions: others,
            annotations: annotations
        )
    }

    private static func entityHashes(_ list: PropertyListValue) -> [String: [UInt8]] {
        guard case .dictionary(let hashes) = list else { return [:] }
        return hashes.compactMapValues { if case .data(let bytes) = $0 { bytes } else { nil } }
    }

    private func documentVersion(_ version: String?, in folder: Directory) throws -> ModelFile {
        let suffix = ".xcdatamodel"
        let versions = try folder.entries().filter { $0.hasSuffix(suffix) }.map { String($0.dropLast(suffix.count)) }
        var current: String?
        if try folder.status(of: Self.currentVersion) != nil,
            case .dictionary(let values) = try PropertyListReader.value(
                from: folder.contents(of: Self.currentVersion, limit: Self.sizeLimit)
            ),
            case .string(let name)? = values["_XCCurrentVersionName"]
        {
            current = name.hasSuffix(suffix) ? String(name.dropLast(suffix.count)) : name
        }
        let chosen = try choose(version, current: current, from: versions)
        let document = try folder.openDirectory(try Self.fileName(chosen, suffix))
        let bytes = try document.contents(of: Self.contents, limit: Self.sizeLimit)
        return try Self.modelFile(from: bytes, version: chosen)
    }

    /// The requested version, else the current one, else the only one.
    private func choose(_ version: String?, current: String?, from versions: [String]) throws -> String {
        guard !versions.isEmpty else {
            throw StoreError(.incompatible, path: path, "the folder contains no model")
        }
        let list = versions.sorted().joined(separator: ", ")
        if let chosen = version ?? current {
            guard versions.contains(chosen) else {
                throw StoreError(.incompatible, path: path, "there is no version \(chosen) of the model, but \(list)")
            }
            return chosen
        }
        guard versions.count == 1 else {
            throw StoreError(
                .incompatible,
                path: path,
                "no version of the model is the current one: name one of \(list)"
            )
        }
        return versions[0]
    }

    private static func fileName(_ version: String, _ suffix: String) throws -> String {
        guard !version.contains("/"), !version.isEmpty else { throw UndecodableData("a version has no usable name") }
        return version + suffix
    }
}
