import FoundationEssentials
import Glibc
import StoreAccess

/// A manifest's text, split by lines as it arrives: a decoder takes many times the bytes of its input.
///
/// The text is not trusted: encoding the parts must give the same text again.
struct ManifestText {
    private static let listStart = Array("  \"members\" : [".utf8)
    private static let listEnd = Array("  ],".utf8)
    private static let memberStart = Array("    {".utf8)
    private static let memberEnds = [Array("    },".utf8), Array("    }".utf8)]

    /// The text without its members.
    private(set) var frame: [UInt8] = []
    private(set) var members = BackupManifest.Members()
    /// False where a member, or the list of them, is not formatted as this package writes it.
    private(set) var isWhole = true
    /// The digest of the whole text.
    private(set) var hash = SHA256()
    private var line: [UInt8] = []
    private var member: [UInt8] = []
    private var isInList = false
    private let path: String
    private let limits: ArchiveLimits
    let monitor: WorkMonitor
    private let decoder = JSONDecoder()

    init(from path: String, _ limits: ArchiveLimits, monitor: WorkMonitor = .silent) {
        self.path = path
        self.limits = limits
        self.monitor = monitor
    }

    mutating func add(_ piece: UnsafeRawBufferPointer) throws {
        hash.update(piece)
        var rest = piece
        while let start = rest.baseAddress {
            let found = memchr(start, 0x0A, rest.count)
            let length = found.map { start.distance(to: UnsafeRawPointer($0)) } ?? rest.count
            guard frame.count + line.count + length <= limits.manifestFrameBytes else { throw tooLarge }
            guard found != nil else {
                line += rest
                break
            }
            let ended = UnsafeRawBufferPointer(rebasing: rest[...length])
            rest = UnsafeRawBufferPointer(rebasing: rest[(length + 1)...])
            if line.isEmpty, !isInList, member.isEmpty, length != Self.listStart.count {
                // The usual line of the frame, without a second copy.
                frame += ended
            } else {
                line += ended.dropLast()
                try endLine()
            }
        }
    }

    /// Ends the text, whose last line may lack its end.
    mutating func finish() throws {
        if !line.isEmpty { try endLine() }
        isWhole = isWhole && !isInList && member.isEmpty
    }

    private mutating func endLine() throws {
        defer { line.removeAll(keepingCapacity: true) }
        if isInList, member.isEmpty, line == Self.memberStart {
            member = line
        } else if !member.isEmpty {
            guard member.count + line.count <= limits.memberTextBytes else { throw tooLarge }
            member.append(0x0A)
            member += line
            guard Self.memberEnds.contains(line) else { return }
            try endMember()
        } else {
            frame += line
            frame.append(0x0A)
            isInList = isInList ? line != Self.listEnd : line == Self.listStart
        }
    }

    private mutating func endMember() throws {
        defer { member.removeAll(keepingCapacity: true) }
        try monitor.checkCancellation()
        if member.last == UInt8(ascii: ",") { member.removeLast() }
        guard let member = try? decoder.decode(BackupManifest.Member.self, from: Data(member)) else {
            isWhole = false
            return
        }
        guard members.count < limits.members else { throw tooLarge }
        members.append(member)
    }

    private var tooLarge: BackupError {
        BackupError(.tooLarge, path: path, "its manifest is too large")
    }
}
