import SafeFiles
package import StoreAccess

/// Checks the folder of a store's external binary data.
struct ExternalFolderCheck {
    /// The number of names that are reported for one folder.
    private static let limit = 20

    private let location: StoreLocation
    private let main: FileStatus

    init(_ location: StoreLocation, main: FileStatus) {
        self.location = location
        self.main = main
    }

    func findings(in folder: Directory) throws(FileError) -> [Finding] {
        let support = location.supportFolderName
        guard let status = try folder.status(of: support) else { return [] }
        guard status.kind == .directory else { return [finding(.notAFolder, .error, .notAFolder, support)] }
        let supportFolder = try folder.openDirectory(support)
        let name = StoreLocation.externalDataFolderName
        guard let inner = try supportFolder.status(of: name) else { return [] }
        guard inner.kind == .directory else {
            return [finding(.notAFolder, .error, .notAFolder, support + "/" + name)]
        }
        let external = try supportFolder.openDirectory(name)
        var findings: [Finding] = []
        for file in try external.names() {
            guard findings.count < Self.limit else { break }
            guard let status = try external.status(of: file) else { continue }
            let path = support + "/" + name + "/" + file
            if status.kind != .regular {
                findings.append(finding(.notARegularFile, .error, .notRegular(status.kind), path))
            } else if main.mode & 0o444 & ~status.mode != 0 {
                findings.append(finding(.unreadableMode, .warning, .fewerReaders, path))
            }
        }
        return findings
    }

    private func finding(
        _ code: Finding.Code,
        _ severity: Finding.Severity,
        _ message: String,
        _ name: String
    ) -> Finding {
        Finding(code, severity, level: .files, message, path: StoreLocation(folder: location.folder, name: name).path)
    }
}

extension Finding.Code {
    /// A path that should be a folder of the store is not a folder.
    package static let notAFolder = Self(rawValue: "notAFolder")
}

extension String {
    fileprivate static let notAFolder = "this should be a folder of the store, and is not a folder"
    fileprivate static let fewerReaders = "its permissions exclude users who may read the store"

    fileprivate static func notRegular(_ kind: FileStatus.Kind) -> Self {
        "an entry among the external files is not a regular file (\(kind.rawValue))"
    }
}
