package import FoundationEssentials
import SafeFiles
import StoreFormat
import SystemPackage

extension ArchiveSource {
    /// Opens the archive at `url` to be read.
    package convenience init(at url: URL) throws {
        let place = StoreLocation(url: url)
        do {
            try self.init(Directory.open(path: place.folder).openFile(place.name, for: .reading))
        } catch {
            throw Self.told(error, place.path)
        }
    }

    /// The error with "archive" in its message where the path does not refer to a readable archive.
    private static func told(_ error: any Error, _ path: String) -> any Error {
        guard let error = error as? FileError else { return error }
        if error.errno == .noSuchFileOrDirectory { return BackupError(.absent, path: path, "there is no archive") }
        guard let refusal = error.refusal, case .wrongKind(let kind) = refusal else { return error }
        return switch kind {
        case .symbolicLink: BackupError(.notABackup, path: path, "this is a symbolic link; give the archive's own path")
        case .fifo: BackupError(.notABackup, path: path, "this is a FIFO; send it to standard input, and name that -")
        default: BackupError(.notABackup, path: path, "\(refusal), not an archive")
        }
    }
}
