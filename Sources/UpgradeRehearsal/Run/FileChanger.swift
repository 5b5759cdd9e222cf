import FoundationEssentials
import SafeFiles
import StoreAccess

/// Changes files in a scratch folder that only this process uses.
struct FileChanger {
    let place: RehearsalPlace

    func carryOut(_ changes: [FileChange]) throws {
        for change in changes {
            do {
                try carryOut(change)
            } catch {
                throw RehearsalFailure("\(change.path) cannot be changed (\(error))")
            }
        }
    }

    /// Makes the folders above a path.
    func makeFolders(above path: String) throws {
        guard let slash = path.lastIndex(of: "/") else { return }
        try FileManager.default.createDirectory(
            atPath: place.absolute(String(path[..<slash])),
            withIntermediateDirectories: true
        )
    }

    /// Copies those of a store's files that exist.
    func copyStore(from path: String, to destination: String) throws {
        try makeFolders(above: destination)
        let target = place.absolute(destination)
        for suffix in ["", "-wal", "-shm", "-journal"] where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: target + suffix)
        }
        let (source, copy) = (Self.supportFolder(of: path), Self.supportFolder(of: target))
        if FileManager.default.fileExists(atPath: source) {
            try FileManager.default.copyItem(atPath: source, toPath: copy)
        }
    }

    private static func supportFolder(of path: String) -> String {
        let location = StoreLocation(path: path)
        return location.folder + "/" + location.supportFolderName
    }

    private func carryOut(_ change: FileChange) throws {
        let path = place.absolute(change.path)
        let files = FileManager.default
        try makeFolders(above: change.path)
        switch change.content {
        case nil: break
        case .folder: try files.createDirectory(atPath: path, withIntermediateDirectories: true)
        case .text(let text): try Data(text.utf8).write(to: URL(filePath: path))
        case .bytes(let count, let fill):
            let pattern = fill.isEmpty ? [0] : Array(fill.utf8)
            try Data((0..<count).map { pattern[$0 % pattern.count] }).write(to: URL(filePath: path))
        case .from(let source): try Data(contentsOf: URL(filePath: source)).write(to: URL(filePath: path))
        case .copy(let source): try files.copyItem(atPath: place.absolute(source), toPath: path)
        case .move(let source): try files.moveItem(atPath: place.absolute(source), toPath: path)
        case .link(let target):
            try files.createSymbolicLink(atPath: path, withDestinationPath: place.absolute(target))
        case .hardLink(let target): try files.linkItem(atPath: place.absolute(target), toPath: path)
        case .remove: try files.removeItem(atPath: path)
        case .truncate(let size): try withFile(path) { try $0.truncate(to: size) }
        case .flip(let offset): try withFile(path) { try Self.flip($0, offset) }
        }
        if change.isGivenAway { try giveAway(path) }
        if let mode = change.mode {
            try files.setAttributes([.posixPermissions: Int(mode)], ofItemAtPath: path)
        }
    }

    private func withFile(_ path: String, _ body: (DurableFile) throws -> Void) throws {
        let location = StoreLocation(path: path)
        let file = try Directory.open(path: location.folder).openFile(location.name, for: .writing)
        try body(file)
        try file.close()
    }

    private static func flip(_ file: DurableFile, _ offset: Int64) throws {
        let size = try file.status().size
        let position = offset < 0 ? size + offset : offset
        guard (0..<size).contains(position) else { throw RehearsalFailure("there is no byte at \(offset)") }
        var byte: [UInt8] = [0]
        _ = try byte.withUnsafeMutableBytes { try file.read(into: $0, at: position) }
        byte[0] ^= 0xFF
        try byte.withUnsafeBytes { try file.write($0, at: position) }
    }

    /// Gives a path and all below it to the user nobody, where this process is permitted to.
    private func giveAway(_ path: String) throws {
        guard ProcessIdentity.effectiveUser == 0 else { return }
        let files = FileManager.default
        let below = (try? files.subpathsOfDirectory(atPath: path)) ?? []
        for path in [path] + below.map({ path + "/" + $0 }) {
            let user = Int(RehearsedRun.nobody)
            try files.setAttributes([.ownerAccountID: user, .groupOwnerAccountID: user], ofItemAtPath: path)
        }
    }
}
