import SystemPackage

extension Directory {
    /// What says that a file here cannot have a second name there: a folder, or a file system or a policy without links.
    private static let withoutLinks: Set<Errno> = [
        .notPermitted, .permissionDenied, .notSupportedOnSocket, .noFunction, .tooManyLinks,
    ]

    /// Renames a file or folder to where nothing is in another folder, and brings the new name to the disk.
    ///
    /// A power cut in the middle of a rename from folder to folder may leave a file under neither name. Here it has the new
    /// one, durably, before it loses the old one. A move that was interrupted may leave it under both; asked for again, it
    /// goes on from there. Where no file can have two names it is renamed, as folders are.
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

    /// True when a name here and one in another folder lead to one file, as a move that was interrupted may leave it.
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
