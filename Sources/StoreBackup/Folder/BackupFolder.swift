public import FoundationEssentials
internal import SafeFiles
public import StoreAccess
import SystemPackage

/// A folder that holds backups, of one store or of many.
public struct BackupFolder: BlockingCalls {
    /// The result of pruning for each backup.
    public struct Pruning: Sendable {
        public let kept: [KeptBackup]
        public let removed: [KeptBackup]
        /// Files that are not readable backups, which are never removed.
        public let leftAlone: [KeptBackup]
    }

    public let url: URL
    private let monitor: WorkMonitor
    private var path: String { StoreLocation(url: url).path }

    public init(
        at url: URL,
        onProgress: (@Sendable (StoreProgress) -> Void)? = nil,
        isCancelled: (@Sendable () -> Bool)? = nil
    ) {
        self.init(at: url, monitor: WorkMonitor(onProgress: onProgress, isCancelled: isCancelled))
    }

    package init(at url: URL, monitor: WorkMonitor) {
        self.url = url
        self.monitor = monitor
    }

    /// Makes a backup in the folder, named after the store and the time.
    @discardableResult
    public func add(_ store: URL, options: BackupOptions = BackupOptions(), at date: Date = Date()) throws
        -> BackupReport
    {
        let location = StoreLocation(url: store)
        let time = Int64(date.timeIntervalSince1970)
        return try BackupMaker(of: location, options: options, monitor: monitor)
            .make(in: path) { number in
                location.name + "-" + BackupStamp(time: time, number: number).text + options.form.fileNameEnd
            }
    }

    /// Every archive in the folder, oldest first; only manifests are read.
    public func list() throws -> [KeptBackup] {
        let folder = try opened()
        return try folder.entries()
            .filter { BackupForm(fileName: $0) != nil && !$0.hasPrefix(".") }
            .compactMap { name in
                try monitor.checkCancellation()
                guard let status = try folder.status(of: name), status.kind == .regular else { return nil }
                return try backup(name, status, in: folder)
            }
            .sorted { $0.isOlder(than: $1) }
    }

    private func opened() throws -> Directory {
        do {
            return try Directory.open(path: path)
        } catch {
            guard error.errno == .noSuchFileOrDirectory else { throw error }
            throw BackupError(.absent, path: path, "there is no folder")
        }
    }

    private func backup(_ name: String, _ status: FileStatus, in folder: Directory) throws -> KeptBackup {
        var manifest: BackupManifest?
        let problem = try problemFound { manifest = try archive(name, in: folder).manifest() }
        return KeptBackup(
            name: name,
            bytes: status.size,
            manifest: manifest,
            problem: problem,
            stamp: BackupStamp(in: name) ?? BackupStamp(time: status.modified.seconds, number: 1),
            modified: status.modified
        )
    }

    /// Unpacks each archive in a scratch folder, compares the content with the manifest, and reports each with its problem.
    public func check(_ onVerdict: (KeptBackup) throws -> Void) throws {
        let folder = try opened()
        for backup in try list() {
            try monitor.checkCancellation()
            try onVerdict(backup.with(problem: problem(of: backup.name, in: folder)))
        }
    }

    /// The problem of an archive; nil for a good one.
    private func problem(of name: String, in folder: Directory) throws -> String? {
        try problemFound { try archive(name, in: folder).check() }
    }

    /// The problem of the archive that `work` reads; nil if there is none.
    private func problemFound(by work: () throws -> Void) throws -> String? {
        do {
            try work()
            return nil
        } catch let error as StoreError where error.code == .cancelled || error.code == .noSpace {
            // This error does not concern the archive.
            throw error
        } catch {
            return Self.text(error)
        }
    }

    /// Removes the backups that the policy does not keep, for each store separately, and never its last good backup.
    ///
    /// Before a store's first backup is removed, one of those that are kept is verified in full; if none is good, the newest
    /// good one of the others is kept as well. A backup dated more than a day after `now` is kept and does not count: the
    /// clock was wrong, then or now. With `isRehearsal` nothing is removed.
    public func prune(
        _ policy: RetentionPolicy,
        isRehearsal: Bool = false,
        at now: Date = Date()
    ) throws -> Pruning {
        let folder = try opened()
        let all = try list()
        var kept: [KeptBackup] = []
        var removed: [KeptBackup] = []
        let tomorrow = Int64(now.timeIntervalSince1970) + 86_400
        for (_, whole) in Dictionary(grouping: all.filter { $0.series != nil }, by: { $0.series ?? "" }) {
            kept += whole.filter { $0.time > tomorrow }
            let series = whole.filter { $0.time <= tomorrow }
            let places = policy.kept(of: series.map(\.time))
            var staying = series.indices.filter { places.contains($0) }
            var going = series.indices.filter { !places.contains($0) }
            if !going.isEmpty, try newestGood(staying, of: series, in: folder) == nil {
                guard let saved = try newestGood(going, of: series, in: folder) else {
                    kept += series
                    continue
                }
                going.removeAll { $0 == saved }
                staying.append(saved)
            }
            kept += staying.map { series[$0] }
            removed += going.map { series[$0] }
        }
        if !isRehearsal {
            for backup in removed { try folder.removeFile(backup.name) }
            if !removed.isEmpty { try folder.synchronize() }
        }
        return Pruning(
            kept: kept.sorted { $0.isOlder(than: $1) },
            removed: removed.sorted { $0.isOlder(than: $1) },
            leftAlone: all.filter { $0.series == nil }
        )
    }

    private func newestGood(_ places: [Int], of series: [KeptBackup], in folder: Directory) throws -> Int? {
        for place in places.sorted(by: >) where try problem(of: series[place].name, in: folder) == nil {
            return place
        }
        return nil
    }

    private func archive(_ name: String, in folder: Directory) -> BackupArchive {
        BackupArchive(at: StoreLocation(folder: folder.path, name: name).url, monitor: monitor)
    }

    private static func text(_ error: any Error) -> String {
        switch error {
        case let error as BackupError: error.message
        case let error as StoreError: error.message
        default: "\(error)"
        }
    }
}

/// A backup in a folder of backups.
public struct KeptBackup: Sendable {
    /// The file's name.
    public let name: String
    public let bytes: Int64
    /// When it was made, in seconds since 1970: from its name where that contains the time, else the file's time.
    public var time: Int64 { stamp.time }
    /// The archive's manifest; nil when it cannot be read.
    public let manifest: BackupManifest?
    /// Why the backup is not good; nil when no problem is known.
    public let problem: String?
    /// When it was made, and its number among those of the same second.
    let stamp: BackupStamp
    /// When its file was last written, which orders backups that the stamp does not.
    let modified: FileStatus.Time

    /// A copy with this problem.
    func with(problem: String?) -> KeptBackup {
        KeptBackup(
            name: name,
            bytes: bytes,
            manifest: manifest,
            problem: problem,
            stamp: stamp,
            modified: modified
        )
    }

    /// True when this backup was made before the other.
    func isOlder(than other: KeptBackup) -> Bool {
        let (own, theirs) = (
            (stamp.time, stamp.number, modified), (other.stamp.time, other.stamp.number, other.modified)
        )
        // Swift's strings compare both encodings of é as equal.
        return own == theirs ? name.utf8.lexicographicallyPrecedes(other.name.utf8) : own < theirs
    }

    /// What backups of one store have in common.
    var series: String? { manifest.map { $0.store.uuid ?? $0.store.name } }
}

/// The second in the name of a backup that we named, and the backup's number among those of that second:
/// `<store>-20261121T220501Z.tar.zst`, `<store>-20261121T220501Z_02.tar.zst`.
struct BackupStamp: Hashable {
    private static let length = 16

    /// Seconds since 1970.
    let time: Int64
    /// 1 for the first backup of its second.
    let number: Int

    /// The stamp in the name of a backup, before its extensions; names of one second sort as their numbers do.
    var text: String {
        let suffix = number < 10 ? "_0\(number)" : "_\(number)"
        return Self.text(time) + (number == 1 ? "" : suffix)
    }

    /// The time in UTC.
    static func text(_ time: Int64) -> String {
        let date = Date(timeIntervalSince1970: Double(time))
        return date.formatted(Date.ISO8601FormatStyle().dateSeparator(.omitted).timeSeparator(.omitted))
    }

    init(time: Int64, number: Int) {
        self.time = time
        self.number = number
    }

    /// The stamp that a file's name ends with, before its extensions; nil when the name contains no time.
    init?(in name: String) {
        guard let form = BackupForm(fileName: name) else { return nil }
        var stem = name.dropLast(form.fileNameEnd.count)
        var number = 1
        // Versions before this one separated the number by a dot.
        if let mark = stem.lastIndex(where: { $0 == "_" || $0 == "." }),
            let found = Int(stem[stem.index(after: mark)...])
        {
            number = found
            stem = stem[..<mark]
        }
        let text = stem.suffix(Self.length)
        guard text.count == Self.length, stem.dropLast(Self.length).last == "-" else { return nil }
        let style = Date.ISO8601FormatStyle().dateSeparator(.omitted).timeSeparator(.omitted)
        guard let date = try? style.parse(String(text)) else { return nil }
        self.init(time: Int64(date.timeIntervalSince1970), number: number)
    }
}
