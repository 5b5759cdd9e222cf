import FoundationEssentials
import SafeFiles
public import StoreFormat
import StoreWriting
import SystemPackage

/// Takes over what apps left for each other before there was a relay: an archived array of changes in a preferences file.
///
/// Under a key of a group's user defaults lies what `NSKeyedArchiver` made of an array of dictionaries, from the name of a
/// set to the addresses of its objects. Each dictionary becomes a notice, in order, and is taken out of the file when every
/// consumer of the queue has merged it, and not before. It is posted once while the file stays as it is; when the file was
/// written anew, what is in it may be a later save's, and is posted again.
public struct LegacyDefaultsImport: Sendable {
    /// What became of the payloads.
    public struct Result: Sendable, Hashable {
        /// The notices that were posted now.
        public var posted = 0
        /// The payloads that were taken out of the file, for everybody has merged them.
        public var removed = 0
        /// The payloads that are left in the file, until everybody has.
        public var waiting = 0
        /// What could not be taken over.
        public var findings: [Finding] = []

        public init() {}
    }

    private static let mostBytes = 64 << 20

    /// The preferences file.
    public let file: StoreLocation
    public let key: String

    public init(file: StoreLocation, key: String) {
        self.file = file
        self.key = key
    }

    /// Posts what was not posted yet, and removes what has been merged since the last time.
    ///
    /// Nothing is removed while the queue has no consumer. A file that is not there holds nothing.
    public func run(into queue: RelayQueue) throws(RelayError) -> Result {
        do {
            return try take(into: queue)
        } catch let error as UndecodableData {
            throw RelayError(
                code: .notALegacyPayload,
                path: file.path,
                message: "the pending changes under the key '\(key)' cannot be read: \(error)",
                advice: "See that file and key are those of the app; nothing was changed."
            )
        } catch {
            throw RelayError(error, path: file.path)
        }
    }

    private func take(into queue: RelayQueue) throws -> Result {
        var result = Result()
        let folder = try Directory.open(path: file.folder)
        let source = folder.path + "/" + file.name + "\n" + key
        guard let status = try folder.status(of: file.name) else {
            try queue.forgetImport(from: source)
            return result
        }
        let bytes = try folder.contents(of: file.name, limit: Self.mostBytes)
        guard case .dictionary(var preferences) = try PropertyListReader.value(from: bytes) else {
            throw UndecodableData("the file is no preferences file")
        }
        guard let value = preferences[key] else {
            // Whoever took it out: the same changes are new ones when they come again.
            try queue.forgetImport(from: source)
            return result
        }
        let payloads = try LegacyPayload.all(in: value)
        let digests = Self.digests(payloads, from: source)
        let state = Self.state(status)
        // Whoever wrote the array anew in between, as a later save may, has made all of it new.
        let known = try queue.imported(from: source)
            .flatMap { mark in try Self.holds(mark, digests, state, queue) ? mark : nil }
        let done = known?.entries ?? 0
        var first = known?.first
        var last = known?.sequence ?? 0
        for (index, payload) in payloads.enumerated().dropFirst(done) {
            result.findings += payload.unknownKeys.map { finding("unknownLegacyKey", "the set '\($0)' is unknown") }
            if payload.rubbish > 0 {
                result.findings.append(
                    finding("malformedLegacyAddress", "\(payload.rubbish) addresses of objects could not be read")
                )
            }
            let mark = ImportMark(
                entries: index + 1,
                digest: digests[index + 1],
                state: state,
                first: first
            )
            last = try queue.post(
                ChangeNotice(
                    key: .init(writer: "legacy \(mark.digest) \(state)", number: Int64(mark.entries)),
                    content: payload.content
                ),
                imported: (source, mark)
            )
            first = first ?? last
            result.posted += 1
        }
        guard !payloads.isEmpty, try queue.isMergedByAll(through: last) else {
            result.waiting = payloads.count
            return result
        }
        preferences[key] = nil
        // What takes its time comes before the look: an app may write its preferences while others come to the disk.
        let replacement = try folder.stageReplacement(
            of: file.name,
            with: PropertyListWriter.bytes(of: .dictionary(preferences)),
            mode: status.mode & 0o777
        )
        // What was added since the file was read stays: the next run takes it.
        guard try folder.contents(of: file.name, limit: Self.mostBytes) == bytes,
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

    /// True while what the mark tells of is what lies in the file, and nobody can have written it anew unseen.
    ///
    /// To a file that has grown since something was added; only when somebody has merged the beginning already it may be the
    /// beginning of another array.
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

    /// What changes whenever somebody writes the file.
    private static func state(_ status: FileStatus) -> String {
        "\(status.identity.inode)-\(status.size)-\(status.modified.seconds).\(status.modified.nanoseconds)"
    }

    private func finding(_ code: String, _ message: String) -> Finding {
        Finding(.init(rawValue: code), .warning, level: .coredata, "\(message), and was passed over", path: file.path)
    }

    /// What tells the first payloads of a source from others, for each number of them.
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
