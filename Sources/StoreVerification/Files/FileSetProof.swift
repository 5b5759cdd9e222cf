import SafeFiles
package import StoreAccess

/// Proves that the files of a store exist, have the right kind, and contain no foreign file.
///
/// It checks names and their status. It reads the header through SQLite's own handle, since closing another descriptor
/// would drop this process's locks.
struct FileSetProof {
    private let location: StoreLocation
    private let connection: StoreConnection

    init(_ location: StoreLocation, connection: StoreConnection) {
        self.location = location
        self.connection = connection
    }

    func findings() throws -> [Finding] {
        do {
            let folder = try Directory.open(path: location.folder)
            guard let main = try folder.status(of: location.name) else {
                throw StoreError(.notFound, path: location.path, "there is no store")
            }
            var findings = kindFindings(main, name: location.name, besides: nil)
            findings += try sidecarFindings(in: folder, main: main)
            findings += try ExternalFolderCheck(location, main: main).findings(in: folder)
            return findings
        } catch let error as FileError {
            throw StoreError(.unreadable, path: error.path, error.description)
        }
    }

    private func sidecarFindings(in folder: Directory, main: FileStatus) throws -> [Finding] {
        let names = [location.writeAheadLogName, location.sharedMemoryName, location.journalName]
        var findings: [Finding] = []
        var bytes: [String: Int64] = [:]
        for name in names {
            guard let status = try folder.status(of: name) else { continue }
            bytes[name] = status.size
            findings += kindFindings(status, name: name, besides: main)
        }
        let header = try readHeader()
        let log = bytes[location.writeAheadLogName] ?? 0
        let journal = bytes[location.journalName] ?? 0
        if log > 0, header?.journalMode == .rollback {
            findings.append(finding(.strayWriteAheadLog, .warning, .strayLog, location.writeAheadLogName))
        }
        if journal > 0 {
            findings.append(finding(.journalPresent, .info, .journal, location.journalName))
        }
        // With content in a log or journal the main file may have another size than its header says.
        if log == 0, journal == 0, let header { findings += sizeFindings(header, main: main) }
        return findings
    }

    private func sizeFindings(_ header: StoreHeader, main: FileStatus) -> [Finding] {
        guard let pages = header.pageCount else { return [] }
        let (expected, overflow) = pages.multipliedReportingOverflow(by: Int64(header.pageSize))
        guard !overflow, main.size >= expected else {
            return [finding(.fileTooShort, .error, .tooShort(main.size, pages, header.pageSize), location.name)]
        }
        guard main.size > expected else { return [] }
        return [finding(.fileTooLong, .warning, .tooLong(main.size, pages, header.pageSize), location.name)]
    }

    /// The header in the main file, without a newer one in the log.
    private func readHeader() throws -> StoreHeader? {
        try withUnsafeTemporaryAllocation(byteCount: StoreHeader.byteCount, alignment: 8) { buffer in
            try connection.read(.main, into: buffer, at: 0) ? StoreHeader(UnsafeRawBufferPointer(buffer)) : nil
        }
    }

    private func kindFindings(_ status: FileStatus, name: String, besides main: FileStatus?) -> [Finding] {
        guard status.kind == .regular else {
            return [finding(.notARegularFile, .error, .notRegular(status.kind), name)]
        }
        var findings: [Finding] = []
        if status.linkCount > 1 { findings.append(finding(.severalNames, .error, .links(status.linkCount), name)) }
        if status.mode & 0o444 == 0 { findings.append(finding(.unreadableMode, .error, .nobodyReads, name)) }
        if let main, main.mode & 0o444 & ~status.mode != 0 {
            findings.append(finding(.unreadableMode, .warning, .fewerReaders, name))
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
    /// Something that should be a file of the store is a folder, a link, a FIFO or a device.
    package static let notARegularFile = Self(rawValue: "notARegularFile")
    /// A file of the store has more than one name.
    package static let severalNames = Self(rawValue: "severalNames")
    /// Permissions exclude users who may read the store.
    package static let unreadableMode = Self(rawValue: "unreadableMode")
    /// A write-ahead log is beside a store in rollback-journal mode; SQLite would replay it.
    package static let strayWriteAheadLog = Self(rawValue: "strayWriteAheadLog")
    /// A rollback journal with content is beside the store.
    package static let journalPresent = Self(rawValue: "journalPresent")
    /// The main file is shorter than its header says.
    package static let fileTooShort = Self(rawValue: "fileTooShort")
    /// The main file is longer than its header says.
    package static let fileTooLong = Self(rawValue: "fileTooLong")
}

extension String {
    fileprivate static let strayLog = "a write-ahead log with content is beside a store in rollback-journal mode"
    fileprivate static let journal = "a rollback journal is beside the store: a writer is active or was interrupted"
    fileprivate static let nobodyReads = "its permissions allow no user to read it"
    fileprivate static let fewerReaders = "its permissions exclude users who may read the store"

    fileprivate static func notRegular(_ kind: FileStatus.Kind) -> Self {
        "this is not a regular file (\(kind.rawValue))"
    }
    fileprivate static func links(_ count: Int) -> Self { "the file has \(count) names (hard links)" }

    fileprivate static func tooShort(_ size: Int64, _ pages: Int64, _ pageSize: Int) -> Self {
        "the file has \(size) bytes, fewer than the \(pages) pages of \(pageSize) bytes that its header names"
    }

    fileprivate static func tooLong(_ size: Int64, _ pages: Int64, _ pageSize: Int) -> Self {
        "the file has \(size) bytes, more than the \(pages) pages of \(pageSize) bytes that its header names"
    }
}
