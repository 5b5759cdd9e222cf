import FoundationEssentials
import SafeFiles
import StoreAccess
public import StoreFormat

/// The table of contents of an archive, its first member `manifest.json`; the same store gives the same manifest.
///
/// It names no machine, no user and no path.
public struct BackupManifest: Hashable, Sendable, Codable {
    /// A file of the archive.
    public struct Member: Hashable, Sendable, Codable {
        public let name: String
        public let bytes: Int64
        /// SHA-256 of its bytes in lower-case hexadecimal.
        public let sha256: String
    }

    /// The store that was backed up.
    public struct Store: Hashable, Sendable, Codable {
        /// An entity, or a table of plain SQLite, and its number of rows.
        public struct Count: Hashable, Sendable, Codable {
            public let name: String
            public let objects: Int64
        }

        /// The main file's name.
        public let name: String
        public let kind: StoreInspection.Kind
        public let uuid: String?
        /// SHA-256 over the version hashes of the model's entities, by name; nil where the store has none.
        public let model: String?
        /// The build number of the framework that wrote the store.
        public let frameworkVersion: Int64?
        public let entities: [Count]
        public let history: HistorySummary?
        /// The content digest.
        public let digest: String
        /// The main file's permission bits, without those that let a program run.
        public let mode: UInt32

        /// Objects, or rows in plain SQLite.
        public var objectCount: Int64 { entities.reduce(0) { $0 &+ $1.objects } }
    }

    /// The name of the member that holds it.
    public static let memberName = "manifest.json"
    /// The newest version of the layout that this package reads and writes.
    public static let currentVersion = 1

    public let formatVersion: Int
    /// The name and version of the program that wrote the archive.
    public let tool: String
    public let store: Store
    /// The members after this one, in their order.
    public internal(set) var members: Members
    /// SHA-256 of this manifest, written with an empty text here.
    var checksum = ""

    package init(tool: String, store: Store, members: some Sequence<Member>) {
        formatVersion = Self.currentVersion
        self.tool = tool
        self.store = store
        self.members = members as? Members ?? Members(members)
    }

    /// The bytes of all members that follow.
    public var byteCount: Int64 { members.reduce(0) { $0 &+ $1.bytes } }
}

extension BackupManifest {
    /// The files of an archive in their order; a hundred thousand of them take a few megabytes.
    public struct Members: RandomAccessCollection, Hashable, Sendable {
        private static let sumBytes = 32

        private var names = NameList()
        private var sizes: [Int64] = []
        private var sums: [UInt8] = []
        /// The sums that are not written as 64 hexadecimal digits in lower case, by position.
        private var foreignSums: [Int: String] = [:]

        public init() {}

        public init(_ members: some Sequence<Member>) {
            for member in members { append(member) }
        }

        /// Reserves memory: a list that grows takes up to twice its size.
        mutating func reserveCapacity(_ count: Int, nameBytes: Int) {
            names.reserveCapacity(count, bytes: nameBytes)
            sizes.reserveCapacity(count)
            sums.reserveCapacity(count * Self.sumBytes)
        }

        public var startIndex: Int { 0 }
        public var endIndex: Int { sizes.count }

        public subscript(position: Int) -> Member {
            let sum = sums[(position * Self.sumBytes)..<((position + 1) * Self.sumBytes)]
            return Member(
                name: names[position],
                bytes: sizes[position],
                sha256: foreignSums[position] ?? SHA256.hexadecimal(digest: sum)
            )
        }

        mutating func append(_ member: Member) {
            let sum = SHA256.digest(hexadecimal: member.sha256)
            if sum == nil { foreignSums[count] = member.sha256 }
            names.append(member.name)
            sizes.append(member.bytes)
            sums += sum ?? [UInt8](repeating: 0, count: Self.sumBytes)
        }
    }
}

extension BackupManifest.Members: Codable {
    public init(from decoder: any Decoder) throws {
        self.init()
        var list = try decoder.unkeyedContainer()
        while !list.isAtEnd { append(try list.decode(BackupManifest.Member.self)) }
    }

    public func encode(to encoder: any Encoder) throws {
        var list = encoder.unkeyedContainer()
        for member in self { try list.encode(member) }
    }
}

extension BackupManifest {
    /// The location of the store when the archive is unpacked into `folder`.
    func location(in folder: String) -> StoreLocation { StoreLocation(folder: folder, name: store.name) }

    /// Throws unless the members are exactly those of a store: its main file, its external files, its relay.
    ///
    /// A log or journal is refused: the next process that opens the store would replay it.
    func requireSoundNames(
        _ limits: ArchiveLimits,
        path: String,
        _ code: BackupError.Code = .refused,
        monitor: WorkMonitor
    ) throws {
        func refuse(_ message: String) -> BackupError { BackupError(code, path: path, message) }

        guard members.count <= limits.members else {
            throw refuse("the archive has more than \(limits.members) members")
        }
        guard Self.isSound(store.name, limits), store.name != Self.memberName else {
            throw refuse("the store's name cannot be used in an archive")
        }
        guard members.contains(where: { $0.name == store.name }) else { throw refuse("the main file is missing") }
        let place = StoreLocation(folder: "", name: store.name)
        let external = place.supportFolderName + "/" + StoreLocation.externalDataFolderName + "/"
        guard !hasTwins else { throw refuse("two members have the same name") }
        var total: Int64 = 0
        for member in members {
            try monitor.checkCancellation()
            let name = member.name
            let isKnown =
                name == store.name || name == place.relayName
                || name.hasPrefix(external) && Self.isSound(String(name.dropFirst(external.count)), limits)
            guard isKnown else { throw refuse("a member does not belong to a backup of this store") }
            let (sum, overflow) = total.addingReportingOverflow(member.bytes)
            guard member.bytes >= 0, !overflow else { throw refuse("a member's size is impossible") }
            total = sum
        }
        guard store.mode & ~0o666 == 0 else { throw refuse("the store's mode is impossible") }
    }

    /// True where two members have the same name.
    ///
    /// Names that differ only in case are one file on many systems. Swift's strings compare both encodings of é as equal.
    private var hasTwins: Bool {
        let hashes = members.map { $0.name.lowercased().hashValue }.sorted()
        let twins = Set(zip(hashes, hashes.dropFirst()).lazy.filter { $0 == $1 }.map { $0.0 })
        guard !twins.isEmpty else { return false }
        let names = members.lazy.map { $0.name.lowercased() }.filter { twins.contains($0.hashValue) }
        return Set(names).count < names.count
    }

    /// True for the name of a store that an archive can contain.
    package static func canHold(storeName name: String) -> Bool {
        isSound(name, ArchiveLimits()) && name != memberName
    }

    /// True for a single path component that means the same on every system.
    private static func isSound(_ name: String, _ limits: ArchiveLimits) -> Bool {
        !name.isEmpty && name != "." && name != ".." && name.utf8.count <= limits.nameBytes
            && !name.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
    }
}

extension BackupManifest {
    /// What every version of the layout has.
    private struct Version: Decodable {
        let formatVersion: Int
    }

    /// The one way in which this manifest is written.
    package func encoded() throws -> [UInt8] {
        let (checksum, count) = try sealed()
        var bytes: [UInt8] = []
        // An array that grows holds twice what it needs.
        bytes.reserveCapacity(count)
        try write(sealedBy: checksum) { bytes += $0 }
        return bytes
    }

    /// Reads what ``encoded()`` wrote; any other spelling of the same content counts as damage.
    package init(decoding bytes: [UInt8], from path: String, _ limits: ArchiveLimits = ArchiveLimits()) throws {
        var text = ManifestText(from: path, limits)
        try bytes.withUnsafeBytes { try text.add($0) }
        try self.init(text, from: path, limits)
    }

    /// Reads a text that was parsed as it arrived.
    init(_ text: consuming ManifestText, from path: String, _ limits: ArchiveLimits) throws {
        try text.finish()
        // Parsing takes many times the bytes of each part.
        guard !Self.hasParts(moreThan: limits.manifestParts, text.frame) else {
            throw BackupError(.tooLarge, path: path, "its manifest has more than \(limits.manifestParts) parts")
        }
        let decoder = JSONDecoder()
        guard let version = try? decoder.decode(Version.self, from: Data(text.frame)) else {
            throw BackupError(.notABackup, path: path, "its manifest cannot be read")
        }
        guard version.formatVersion <= Self.currentVersion else {
            throw BackupError(
                .newerFormat,
                path: path,
                "it has layout \(version.formatVersion), and this program reads \(Self.currentVersion)"
            )
        }
        guard text.isWhole, var manifest = try? decoder.decode(BackupManifest.self, from: Data(text.frame)),
            manifest.members.isEmpty || text.members.isEmpty
        else { throw BackupError(.damaged, path: path, "its manifest is damaged") }
        if manifest.members.isEmpty { manifest.members = text.members }
        guard try manifest.isWritten(as: text.hash.hexadecimal, text.monitor) else {
            throw BackupError(.damaged, path: path, "its manifest was changed after it was written")
        }
        self = manifest
        // The checksum belongs to the bytes: a manifest equals its copy that was not written yet.
        checksum = ""
    }

    /// True for a text of JSON with more values, names and brackets than a limit; the count may include some others.
    private static func hasParts(moreThan limit: Int, _ bytes: [UInt8]) -> Bool {
        var parts = 0
        var isInText = false
        var isEscaped = false
        for byte in bytes {
            if parts > limit { return true }
            switch byte {
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\""):
                isInText.toggle()
                parts += 1
            case UInt8(ascii: "\\"): isEscaped = isInText
            case UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "{"):
                if !isInText { parts += 1 }
            default: break
            }
        }
        return parts > limit
    }

    /// The checksum that it is written with, and the number of the bytes.
    func sealed(_ monitor: WorkMonitor = .silent) throws -> (checksum: String, bytes: Int) {
        var hash = SHA256()
        var count = 0
        try write(sealedBy: "", monitor) { piece in
            hash.update(piece)
            count += piece.count
        }
        let checksum = hash.hexadecimal
        return (checksum, count + checksum.utf8.count)
    }

    /// True if the checksum is right, and the digest is that of the text that would be written.
    private func isWritten(as textHash: String, _ monitor: WorkMonitor) throws -> Bool {
        var seal = SHA256()
        var text = SHA256()
        seal.update(try piece("", start: Self.start))
        text.update(try piece(checksum, start: Self.start))
        try writeRest(monitor) {
            seal.update($0)
            text.update($0)
        }
        return seal.hexadecimal == checksum && text.hexadecimal == textHash
    }

    private static let start = "{\n  \"checksum\" : "

    /// Writes it piece by piece, and a member at a time: encoding a long manifest as a whole takes many times its bytes.
    func write(
        sealedBy checksum: String,
        _ monitor: WorkMonitor = .silent,
        _ sink: ([UInt8]) throws -> Void
    ) throws {
        try sink(piece(checksum, start: Self.start))
        try writeRest(monitor, sink)
    }

    private func writeRest(_ monitor: WorkMonitor, _ sink: ([UInt8]) throws -> Void) throws {
        let encoder = Self.encoder
        try sink(piece(formatVersion, start: ",\n  \"formatVersion\" : ", encoder))
        var start = ",\n  \"members\" : [\n    "
        for member in members {
            try monitor.checkCancellation()
            try sink(piece(member, start: start, indentedBy: 4, encoder))
            start = ",\n    "
        }
        try sink(piece(store, start: "\n  ],\n  \"store\" : ", encoder))
        try sink(piece(tool, start: ",\n  \"tool\" : ", encoder))
        try sink(Array("\n}\n".utf8))
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return encoder
    }

    private func piece(
        _ value: some Encodable,
        start: String,
        indentedBy spaces: Int = 2,
        _ encoder: JSONEncoder = Self.encoder
    ) throws -> [UInt8] {
        var piece = Array(start.utf8)
        // JSON contains line breaks only between its parts.
        for byte in try encoder.encode(value) {
            piece.append(byte)
            if byte == 0x0A { piece.append(contentsOf: repeatElement(0x20, count: spaces)) }
        }
        return piece
    }
}
