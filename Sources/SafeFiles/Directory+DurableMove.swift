import SystemPackage

extension Directory {
    /// Errors that mean a hard link is impossible here: a folder, or a file system or a policy without links.
    private static let withoutLinks: Set<Errno> = [
        .notPermitted, .permissionDenied, .notSupportedOnSocket, .noFunction, .tooManyLinks,
    ]

    /// Renames a file or folder to a free name in another folder, and makes the new name durable.
    ///
    /// A power cut during a rename between folders may leave a file under neither name. Here the new name is durable
    /// before the old one is removed. An interrupted move may leave both names; a repeated call continues from there. A
    /// folder, or a file that cannot have two names, is simply renamed.
    package func moveDurably(
        _ name: String,
        to newName: String,
        in destination: Directory
    ) throws(FileError) {
        guard try isLinked(name, to: newName, in: destination) else {
            try move(name, to: newName, in: destination)
            return try destination.synchronize()
        }
        try destination.synchronize()
        guard try isSameFile(name, as: newName, in: destination) else {
            throw FileError(operation: "move", path: pathForMessage(name), errno: .staleNFSFileHandle)
        }
        try removeFile(name)
    }

    /// True if a name here and one in another folder refer to the same file, as after an interrupted move.
    package func isSameFile(_ name: String, as other: String, in folder: Directory) throws(FileError) -> Bool {
        guard let status = try status(of: name), status.kind == .regular else { return false }
        return try folder.status(of: other)?.identity == status.identity
    }

    private func isLinked(
        _ name: String,
        to newName: String,
        in destination: Directory
    ) throws(FileError) -> Bool {
        guard try status(of: name)?.kind == .regular else { return false }
        if try isSameFile(name, as: newName, in: destination) { return true }
        try destination.validate(newName, for: "move to")
        return try perform("move", name) { number throws(Errno) in
            do throws(Errno) {
                try operations.link(name, in: number, to: newName, in: destination.descriptor.number)
                return true
            } catch {
                guard Self.withoutLinks.contains(error) else { throw error }
                return false
            }
        }
    }
}
