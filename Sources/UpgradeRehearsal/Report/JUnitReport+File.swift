public import FoundationEssentials
import SafeFiles
import StoreFormat
import StoreMigration

extension JUnitReport {
    /// Throws where the XML could not be written, before scenarios run for it; a ``MigrationError`` for a missing folder.
    public static func requireWritable(_ url: URL) throws {
        let location = StoreLocation(url: url)
        do {
            let folder = try Directory.open(path: location.folder)
            let status = try folder.status(of: location.name)
            guard status == nil || status?.kind == .regular else {
                throw RehearsalFailure("the report cannot be written to \(location.path): it is no regular file")
            }
            guard try folder.allowsWriting() else {
                throw RehearsalFailure("the report cannot be written to \(location.path) by this user")
            }
        } catch let error as FileError {
            throw MigrationError(error)
        }
    }

    /// Writes the XML to a file, replacing an existing one; the folder must exist.
    public func write(to url: URL) throws {
        let location = StoreLocation(url: url)
        do {
            try Directory.open(path: location.folder).replace(location.name, with: Array(xml.utf8), mode: 0o644)
        } catch {
            throw RehearsalFailure("the report cannot be written to \(location.path) (\(error))")
        }
    }
}
