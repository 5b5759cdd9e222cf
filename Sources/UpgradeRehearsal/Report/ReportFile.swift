public import FoundationEssentials
public import RunReports
import SafeFiles
public import StoreAccess
public import StoreMigration

/// The file that a report goes to: readable by its owner alone, since it may show values of rows, and written in one step.
public struct ReportFile: Sendable {
    private static let mode: UInt32 = 0o600
    /// The mark by which a report is recognised.
    static let mark = "<meta name=\"generator\" content=\"store-migrate\"/>"
    private static let markEnds = 512

    private let folder: Directory
    private let location: StoreLocation

    /// The absolute path.
    public var path: String { location.path }

    /// Finds the folder of the file, before the run, so that an unusable path fails before anything is written.
    ///
    /// An existing file is replaced only when it is a report or empty; a name that belongs to one of `stores` is refused.
    /// Throws a `MigrationError` for these, and where the folder is missing or not writable.
    public init(_ url: URL, besides stores: [StoreLocation]) throws {
        location = StoreLocation(url: url)
        do {
            folder = try Directory.open(path: location.folder)
            let here = try folder.status().identity
            let isTaken = stores.contains { [location] store in
                location.belongs(to: store) && (try? Directory.open(path: store.folder).status().identity) == here
            }
            guard !isTaken, try Self.isOursOrAbsent(location.name, in: folder) else { throw refusal }
            guard try folder.allowsWriting() else {
                throw MigrationError(.notWritable, "the report cannot be written by this user", path: location.path)
            }
        } catch let error as MigrationError {
            throw error
        } catch {
            throw MigrationError(error)
        }
    }

    private var refusal: MigrationError {
        MigrationError(
            .usage,
            "the path is a file that is not a report, or a name that a store may need",
            path: location.path,
            advice: "Name another file for the report."
        )
    }

    private static func isOursOrAbsent(_ name: String, in folder: Directory) throws -> Bool {
        guard let status = try folder.status(of: name) else { return true }
        guard status.kind == .regular, status.linkCount == 1 else { return false }
        guard status.size > 0 else { return true }
        var bytes = [UInt8](repeating: 0, count: markEnds)
        let file = try folder.openFile(name, for: .reading)
        let count = try bytes.withUnsafeMutableBytes { buffer in try file.read(into: buffer, at: 0) }
        try file.close()
        return String(decoding: bytes.prefix(count), as: UTF8.self).contains(mark)
    }

    /// Writes a page, flushes it and renames it to its path; another file that appeared there during the run is not replaced.
    public func write(_ page: ReportPage) throws(MigrationError) {
        do {
            guard try Self.isOursOrAbsent(location.name, in: folder) else { throw refusal }
            try folder.replace(location.name, with: Array(page.html.utf8), mode: Self.mode)
        } catch {
            throw MigrationError(error)
        }
    }
}
