public import FoundationEssentials
import SafeFiles
import StoreFormat

extension JUnitReport {
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
