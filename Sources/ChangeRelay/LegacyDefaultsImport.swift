import FoundationEssentials
import SafeFiles
public import StoreAccess
import StoreFormat
import StoreWriting
import SystemPackage

extension Finding.Code {
    /// The named preferences file does not exist.
    public static let legacyFileAbsent = Finding.Code(rawValue: "legacyFileAbsent")
    /// The named key of a preferences file holds no pending changes.
    public static let legacyKeyAbsent = Finding.Code(rawValue: "legacyKeyAbsent")
    /// Pending changes name objects of other stores alone.
    public static let legacyOfAnotherStore = Finding.Code(rawValue: "legacyOfAnotherStore")
    /// A preferences file holds pending changes that an import would convert to notices.
    public static let legacyChangesPending = Finding.Code(rawValue: "legacyChangesPending")
}

extension Finding {
    /// True for a finding about a preferences file that the caller named.
    public var concernsLegacyChanges: Bool {
        [.legacyFileAbsent, .legacyKeyAbsent, .legacyOfAnotherStore, .legacyChangesPending].contains(code)
    }
}

/// Imports pending changes that apps without a relay archived in a preferences file.
///
/// A key of the group's user defaults contains an array of dictionaries, written by `NSKeyedArchiver`. Each dictionary
/// maps the name of a set to the addresses of its objects, and becomes one notice, in order. A payload is removed from
/// the file once every consumer of the queue has merged it. It is posted once while the file is unchanged. After a
/// rewrite the payloads may be a later save's, so they are posted again. A dictionary whose objects are all of other
/// stores is not imported, and keeps the array in the file.
public struct LegacyDefaultsImport: BlockingCalls {
    /// The outcome for the payloads.
    public struct Result: Sendable, Hashable {
        /// The notices that this run posted.
        public var posted = 0
        /// The payloads that were removed from the file because every consumer has merged them.
        public var removed = 0
        /// The payloads that stay in the file until every consumer has merged them.
        public var waiting = 0
        /// The content that could not be imported.
        public var findings: [Finding] = []

        public init() {}
    }

    private static let mostBytes = 64 << 20
    /// Begins the writer of every imported notice.
    static let writerPrefix = "legacy "

    /// The preferences file.
    public let file: StoreLocation
    public let key: String

    public init(file: StoreLocation, key: String) {
        self.file = file
        self.key = key
    }

    /// Posts payloads that were not posted yet, and removes payloads that every consumer has merged.
    ///
    /// Removes nothing while the queue has no consumer. A missing file or key counts as empty, with a finding.
    public func run(into queue: RelayQueue) throws(RelayError) -> Result {
        try namingFile { try take(into: queue) }
    }

    /// What an import beside the store `uuid` would find; writes nothing.
    ///
    /// Payloads count as pending until they are removed from the file, whether they were imported or not.
    package func preview(forStore uuid: String?) throws(RelayError) -> [Finding] {
        try namingFile {
            guard let folder = try Directory.openIfPresent(path: file.folder) else { return [fileAbsent] }
            let (content, findings) = try content(in: folder)
            guard let payloads = content?.payloads else { return findings }
            let foreign = Self.foreign(payloads, to: uuid)
            var result = foreign.isEmpty ? [] : [ofAnotherStore(foreign.map { payloads[$0] })]
            let count = payloads.count - foreign.count
            if count > 0 {
                let message =
                    "\(Self.saves(count)) under the key '\(key)' \(count == 1 ? "becomes a change notice" : "become change notices")"
                    + " when the store is shared, unless imported before"
                result.append(Finding(.legacyChangesPending, .info, level: .coredata, message, path: file.path))
            }
            return result
        }
    }

    private func namingFile<Value>(_ body: () throws -> Value) throws(RelayError) -> Value {
        do {
            return try body()
        } catch let error as UndecodableData {
            throw RelayError(
                code: .notALegacyPayload,
                path: file.path,
                message: "the pending changes under the key '\(key)' cannot be read: \(error)",
                advice: "Check that the file and the key are the app's. Nothing was changed."
            )
        } catch {
            throw RelayError(error, path: file.path)
        }
    }

    /// The preferences file as it was read, and the payloads under the key.
    private struct Content {
        let status: FileStatus
        let bytes: [UInt8]
        let preferences: [String: PropertyListValue]
        let payloads: [LegacyPayload]
    }

    /// Reads the file; without the file or the key there is no content, but the reason.
    private func content(in folder: Directory) throws -> (Content?, findings: [Finding]) {
        guard let status = try folder.status(of: file.name) else { return (nil, [fileAbsent]) }
        let bytes = try folder.contents(of: file.name, limit: Self.mostBytes)
        guard case .dictionary(let preferences) = try PropertyListReader.value(from: bytes) else {
            throw UndecodableData("the file is not a preferences file")
        }
        // Apps with the published code read one key and write another.
        var holding: [String] {
            preferences.filter { (try? LegacyPayload.all(in: $0.value))?.isEmpty == false }.keys.sorted()
        }
        guard let value = preferences[key] else {
            let holding = holding
            let list = holding.isEmpty ? "no key has any" : "they are under " + holding.joined(separator: ", ")
            let message = "the key '\(key)' has no pending changes; \(list)"
            return (nil, [absent(.legacyKeyAbsent, message, holding.isEmpty ? .info : .warning)])
        }
        let payloads: [LegacyPayload]
        do {
            payloads = try LegacyPayload.all(in: value)
        } catch let error as UndecodableData {
            guard !holding.isEmpty else { throw error }
            throw UndecodableData("\(error); pending changes are under \(holding.joined(separator: ", "))")
        }
        return (Content(status: status, bytes: bytes, preferences: preferences, payloads: payloads), [])
    }

    private func take(into queue: RelayQueue) throws -> Result {
        var result = Result()
        guard let folder = try Directory.openIfPresent(path: file.folder) else {
            result.findings = [fileAbsent]
            return result
        }
        let source = folder.path + "/" + file.name + "\n" + key
        let (content, findings) = try content(in: folder)
        guard let content else {
            // Another program removed the key: the same changes count as new when they return.
            try queue.forgetImport(from: source)
            result.findings = findings
            return result
        }
        let payloads = content.payloads
        let foreign = payloads.isEmpty ? [] : Self.foreign(payloads, to: try queue.storeUUID())
        if !foreign.isEmpty { result.findings.append(ofAnotherStore(foreign.map { payloads[$0] })) }
        let digests = Self.digests(payloads, from: source)
        let state = Self.state(content.status)
        // A rewritten array, for example by a later save, counts as new as a whole.
        let known = try queue.imported(from: source)
            .flatMap { mark in try Self.holds(mark, digests, state, queue) ? mark : nil }
        let done = known?.entries ?? 0
        var first = known?.first
        var last = known?.sequence ?? 0
        for (index, payload) in payloads.enumerated().dropFirst(done) where !foreign.contains(index) {
            result.findings += payload.unknownKeys.map { finding("unknownLegacyKey", "the set '\($0)' is unknown") }
            if payload.rubbish > 0 {
                result.findings.append(
                    finding("malformedLegacyAddress", "\(payload.rubbish) of its object addresses could not be read")
                )
            }
            // Without an object that could be read there is nothing to report to a consumer.
            guard !payload.isEmpty else { continue }
            let mark = ImportMark(
                entries: index + 1,
                digest: digests[index + 1],
                state: state,
                first: first
            )
            last = try queue.post(
                ChangeNotice(
                    key: .init(writer: "\(Self.writerPrefix)\(mark.digest) \(state)", number: Int64(mark.entries)),
                    content: payload.content
                ),
                imported: (source, mark)
            )
            first = first ?? last
            result.posted += 1
        }
        guard !payloads.isEmpty, foreign.isEmpty, try queue.isMergedByAll(through: last) else {
            result.waiting = payloads.count - foreign.count
            return result
        }
        var preferences = content.preferences
        preferences[key] = nil
        // Stage first, because it writes and fsyncs: the comparison below must be as late as possible to see an app's
        // write.
        let replacement = try folder.stageReplacement(
            of: file.name,
            with: PropertyListWriter.bytes(of: .dictionary(preferences)),
            mode: content.status.mode & 0o777
        )
        // Changes that were added after the read stay in the file; the next run imports them.
        guard try folder.contents(of: file.name, limit: Self.mostBytes) == content.bytes,
            try folder.status(of: file.name).map(Self.state) == state
        else {
            replacement.cancel()
            result.waiting = payloads.count
            return result
        }
        try replacement.commit()
        try queue.forgetImport(from: source)
        result.removed = payloads.count
        return result
    }

    /// True while the file starts with the entries that the mark describes and an unseen rewrite is impossible.
    ///
    /// A file that has grown counts as appended to. If a consumer has merged the first entries already, the file may be
    /// a new array that starts alike.
    private static func holds(
        _ mark: ImportMark,
        _ digests: [String],
        _ state: String,
        _ queue: RelayQueue
    ) throws -> Bool {
        guard digests.indices.contains(mark.entries), digests[mark.entries] == mark.digest else { return false }
        if mark.state == state { return true }
        guard mark.entries < digests.count - 1, let first = mark.first else { return false }
        return try queue.isMergedByNobody(from: first)
    }

    /// Changes with every write to the file.
    private static func state(_ status: FileStatus) -> String {
        "\(status.identity.inode)-\(status.size)-\(status.modified.seconds).\(status.modified.nanoseconds)"
    }

    private var fileAbsent: Finding { absent(.legacyFileAbsent, "there is no preferences file") }

    /// An import that found nothing, which is normal once everything was imported.
    private func absent(_ code: Finding.Code, _ message: String, _ severity: Finding.Severity = .info) -> Finding {
        Finding(code, severity, level: .coredata, message, path: file.path)
    }

    /// The payloads whose objects are all of other stores than the store `uuid`; none when that is unknown, and all beside
    /// plain SQLite, whose UUID is empty.
    private static func foreign(_ payloads: [LegacyPayload], to uuid: String?) -> Set<Int> {
        guard let uuid = uuid?.uppercased() else { return [] }
        let foreign = payloads.indices.filter { index in
            let stores = payloads[index].stores
            return !stores.isEmpty && !stores.contains(uuid)
        }
        return Set(foreign)
    }

    static func saves(_ count: Int) -> String { count == 1 ? "1 save" : "\(count) saves" }

    private func ofAnotherStore(_ payloads: [LegacyPayload]) -> Finding {
        let stores = payloads.reduce(into: Set()) { $0.formUnion($1.stores) }.sorted().joined(separator: ", ")
        return Finding(
            .legacyOfAnotherStore,
            .warning,
            level: .coredata,
            "\(Self.saves(payloads.count)) under the key '\(key)' only had objects of "
                + "another store (\(stores)); not imported",
            path: file.path
        )
    }

    private func finding(_ code: String, _ message: String) -> Finding {
        Finding(.init(rawValue: code), .warning, level: .coredata, "\(message); skipped", path: file.path)
    }

    /// A digest of the first payloads of a source, for each number of payloads.
    private static func digests(_ payloads: [LegacyPayload], from source: String) -> [String] {
        var result = [digest([source])]
        for payload in payloads { result.append(digest(result.suffix(1) + payload.texts)) }
        return result
    }

    private static func digest(_ texts: [String]) -> String {
        var hash = SHA256()
        for text in texts { hash.update(Array(text.utf8) + [0]) }
        return hash.hexadecimal
    }
}
