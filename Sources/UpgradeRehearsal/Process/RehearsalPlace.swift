import FoundationEssentials
import Glibc
import SafeFiles
import StoreAccess
import SystemPackage

/// The scratch folder of one scenario, and beside it the rehearsal's own files.
final class RehearsalPlace {
    private static let prefix = "store-migrate-rehearsal"

    /// The folder of the scenario's paths.
    let path: String
    private let scratch: TemporaryDirectory?
    private let control: String
    private var outputs = 0
    let directory: Directory

    /// Makes the folders; kept ones are named after the scenario.
    init(keptAs name: String?) throws {
        let root: Directory
        if let name {
            let parent = getenv("TMPDIR").flatMap { String(validatingCString: $0) } ?? ""
            var generator = SystemRandomNumberGenerator()
            let plain = String(name.map { $0.isLetter || $0.isNumber || $0 == "-" ? $0 : "-" }.prefix(60))
            root = try Directory.open(path: parent.isEmpty ? "/tmp" : parent)
                .createDirectory("\(Self.prefix)-kept-\(plain)-\(String(generator.next(), radix: 36))", mode: 0o711)
            scratch = nil
        } else {
            let temporary = try TemporaryDirectory(prefix: Self.prefix)
            // The other user needs access to the folders below.
            try temporary.directory.setMode(0o711)
            (root, scratch) = (temporary.directory, temporary)
        }
        directory = try root.createDirectory("place", mode: 0o755)
        try directory.setMode(0o755)
        let (control, temporary) = (try root.createDirectory("control", mode: 0o700), "temporary")
        try root.createDirectory(temporary, mode: 0o777).setMode(0o1777)
        path = directory.path
        self.control = control.path
    }

    /// Removes everything, unless the files are kept.
    func remove() {
        guard let scratch else { return }
        if ProcessIdentity.effectiveUser != 0 { Self.giveBackRights(below: directory) }
        scratch.remove()
    }

    /// Restores this user's access to folders whose mode the scenario changed, so that they can be removed.
    private static func giveBackRights(below directory: Directory) {
        try? directory.setMode(0o700)
        for name in (try? directory.entries()) ?? []
        where (try? directory.status(of: name))?.kind == .directory {
            let path = directory.path + "/" + name
            try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
            if let below = try? directory.openDirectory(name) { giveBackRights(below: below) }
        }
    }

    /// The absolute path of one of the scenario's.
    func absolute(_ relative: String) -> String { path + "/" + relative }

    /// A path for the output of a process.
    func newOutput() -> String {
        outputs += 1
        return control + "/output-\(outputs)"
    }

    /// A folder for the pipes of a run.
    func newGate() throws -> String {
        outputs += 1
        let gate = control + "/gate-\(outputs)"
        guard mkdir(gate, 0o700) == 0 else {
            throw RehearsalFailure("\(gate) cannot be made (\(Errno(rawValue: errno)))")
        }
        return gate
    }

    /// The environment of every process: this one's, without the tool's variables, and with folders of this rehearsal.
    var environment: [String: String] {
        var result = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("STORE_MIGRATE_") }
        result["HOME"] = path
        result["TMPDIR"] = String(path.dropLast("place".count)) + "temporary"
        result["XDG_DATA_HOME"] = path + "/data"
        result["NO_COLOR"] = "1"
        result["TZ"] = "UTC"
        return result
    }

    /// The seconds after which the kernel ends a process that was not ended before.
    func seconds(_ deadline: Duration) -> Int64 { deadline.components.seconds + 30 }
}

/// Every name, mode and byte below a folder at one time.
struct PlaceSnapshot {
    /// The state of each path.
    private let entries: [String: String]

    init(of directory: Directory) throws {
        var entries: [String: String] = [:]
        try Self.read(directory, "", &entries)
        self.entries = entries
    }

    /// The first path, at or below `path`, that differs from another snapshot; nil when all are equal.
    func difference(at path: String, from other: PlaceSnapshot) -> String? {
        let names = Set(entries.keys).union(other.entries.keys)
            .filter { $0 == path || $0.hasPrefix(path + "/") }
        return names.sorted().first { entries[$0] != other.entries[$0] }
    }

    /// True when a path exists.
    func holds(_ path: String) -> Bool { entries[path] != nil }

    private static func read(_ directory: Directory, _ path: String, _ entries: inout [String: String]) throws {
        for name in try directory.entries() {
            guard let status = try directory.status(of: name) else { continue }
            let below = path.isEmpty ? name : path + "/" + name
            let rights = "\(status.kind.rawValue) \(String(status.mode, radix: 8))"
            switch status.kind {
            case .directory:
                entries[below] = rights
                try read(directory.openDirectory(name), below, &entries)
            case .regular: entries[below] = rights + " " + digest(directory.path + "/" + name)
            case .symbolicLink:
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: directory.path + "/" + name)
                entries[below] = rights + " " + (target ?? "")
            default: entries[below] = rights
            }
        }
    }

    /// The digest of a file, or a constant for an unreadable one.
    private static func digest(_ path: String) -> String {
        guard let data = try? Data(contentsOf: URL(filePath: path)) else { return "unreadable" }
        return SHA256.hexadecimal(of: Array(data))
    }
}
