import Foundation

/// A file system of a recorded disk.
package enum BlockFileSystem: String, CaseIterable, Sendable {
    case ext4
    case xfs
    case btrfs

    /// The smallest possible size of each.
    var bytes: Int {
        switch self {
        case .ext4: 64 << 20
        case .xfs: 300 << 20
        case .btrfs: 128 << 20
        }
    }

    /// The unit that a disk writes atomically; with a smaller one, a torn superblock destroys each file system.
    static let sectorSize = 4096

    /// Mount options without writes of the kernel's own.
    var options: String {
        switch self {
        case .ext4: "errors=remount-ro"
        // The image is a copy, and another copy may be mounted elsewhere.
        case .xfs: "nouuid"
        case .btrfs: "nodiscard"
        }
    }

    /// Makes the file system in an image file completely, without lazy initialization by the kernel.
    func making(_ image: String) throws -> Command {
        let options =
            switch self {
            case .ext4: ["-q", "-b", "4096", "-J", "size=4", "-E", "lazy_itable_init=0,lazy_journal_init=0"]
            case .xfs: ["-q", "-s", "size=\(Self.sectorSize)"]
            case .btrfs: ["-q", "-m", "single", "-d", "single"]
            }
        guard let program else { throw BlockFailure(what: "mkfs.\(rawValue) is missing", errno: ENOENT) }
        return Command(executable: program, arguments: options + [image])
    }

    /// Why it cannot be tested on this machine; nil when it can.
    package var obstacle: String? {
        guard program != nil else { return "mkfs.\(rawValue) is missing" }
        let known = (try? String(contentsOfFile: "/proc/filesystems", encoding: .utf8)) ?? ""
        var name = utsname()
        uname(&name)
        let release = withUnsafeBytes(of: name.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let isKnown = known.split(whereSeparator: \.isWhitespace).contains { $0 == rawValue }
        let isModule = FileManager.default.fileExists(atPath: "/lib/modules/\(release)/kernel/fs/\(rawValue)")
        return isKnown || isModule ? nil : "the kernel does not know \(rawValue)"
    }

    private var program: String? {
        ["/usr/sbin", "/sbin", "/usr/bin"].map { "\($0)/mkfs.\(rawValue)" }.first { access($0, X_OK) == 0 }
    }
}
