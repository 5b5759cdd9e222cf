public import FoundationEssentials
internal import Glibc

/// The path of a store, as a folder and the name of its main file, and the names derived from it.
///
/// Two locations are equal if their bytes are: the kernel distinguishes names that look alike.
public struct StoreLocation: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The folder's absolute path, without a trailing slash unless it is the root.
    public let folder: String
    /// The main file's name.
    public let name: String

    public init(folder: String, name: String) {
        self.folder = folder
        self.name = name
    }

    /// The longest path that SQLite opens on Unix, in bytes.
    package static let longestPath = 511

    /// The bytes by which the path of the store's journal exceeds the longest that SQLite opens; not positive for a store
    /// that SQLite opens.
    package var excessBytes: Int { path.utf8.count - name.utf8.count + journalName.utf8.count - Self.longestPath }

    /// The main file's absolute path.
    public var path: String { folder == "/" ? "/" + name : folder + "/" + name }
    public var description: String { path }

    /// The name of the write-ahead log.
    public var writeAheadLogName: String { name + "-wal" }
    /// The name of the shared-memory index of the write-ahead log.
    public var sharedMemoryName: String { name + "-shm" }
    /// The name of the rollback journal.
    public var journalName: String { name + "-journal" }
    /// The name of the relay, which contains the change notices of the processes that share the store.
    public var relayName: String { ".\(name).relay.sqlite" }
    /// The name of the file with which these processes wake each other.
    public var wakeName: String { ".\(name).wake" }
    /// The name of the parent of the external-files folder, derived from the store's name without extension.
    public var supportFolderName: String { "." + nameWithoutExtension + Self.supportFolderEnd }
    package static let supportFolderEnd = "_SUPPORT"
    /// The name of the folder of external files inside the support folder.
    public static let externalDataFolderName = "_EXTERNAL_DATA"

    private var nameWithoutExtension: String {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name }
        return String(name[..<dot])
    }
}

extension StoreLocation {
    public static func == (left: Self, right: Self) -> Bool {
        left.folder.hasSameBytes(as: right.folder) && left.name.hasSameBytes(as: right.name)
    }

    public func hash(into hasher: inout Hasher) {
        folder.hashBytes(into: &hasher)
        name.hashBytes(into: &hasher)
    }
}

extension StoreLocation {
    /// The location of a file URL; the last component is the main file's name.
    public init(url: URL) {
        self.init(path: url.absoluteURL.path)
    }

    /// The main file as a file URL.
    public var url: URL { URL(filePath: path, directoryHint: .notDirectory) }

    /// The location of an absolute path; trailing and doubled slashes are ignored.
    package init(path: String) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: true)
        self.init(folder: "/" + parts.dropLast().joined(separator: "/"), name: parts.last.map(String.init) ?? "")
    }
}

/// The usual private locations of an app's store, for a caller that lists the previous ones.
extension StoreLocation {
    /// The store `<databaseName>.sqlite` in the application support folder of an app's container, where Core Data's
    /// container creates it on Apple's platforms; `container` is the folder above `Library`.
    public static func applicationSupport(databaseName: String, inContainer container: URL) -> StoreLocation {
        let folder = StoreLocation(url: container).path
        return StoreLocation(path: "\(folder)/Library/Application Support/\(databaseName).sqlite")
    }

    /// The store `<databaseName>.sqlite` in the folder `app` of the user's data: `$XDG_DATA_HOME`, or else
    /// `~/.local/share`.
    ///
    /// An empty or relative `$XDG_DATA_HOME` counts as unset, as its specification requires. Throws `notFound` if
    /// neither it nor `$HOME` is an absolute path.
    public static func applicationSupport(databaseName: String, app: String) throws(StoreError) -> StoreLocation {
        let data = try userData { name in getenv(name).flatMap { String(validatingCString: $0) } }
        return StoreLocation(path: "\(data)/\(app)/\(databaseName).sqlite")
    }

    /// The folder of the user's data, by the environment.
    package static func userData(_ environment: (String) -> String?) throws(StoreError) -> String {
        if let data = environment("XDG_DATA_HOME"), data.hasPrefix("/") { return data }
        guard let home = environment("HOME"), home.hasPrefix("/") else {
            throw StoreError(.notFound, path: "", "cannot locate the user's data: set $XDG_DATA_HOME or $HOME")
        }
        return home + "/.local/share"
    }
}

extension StoreLocation {
    /// True for a store's own name, and for the names of its companion files.
    package func belongs(to store: StoreLocation) -> Bool {
        name == store.name || name.hasPrefix(store.name + "-") || name.hasPrefix("." + store.name)
            || name == store.supportFolderName
    }

    /// SQLite's names for the files beside a main file.
    package var sidecarNames: [String] { [writeAheadLogName, sharedMemoryName, journalName] }

    /// The names in the store's folder that its companion files use, so that no other store can have them.
    package var companionNames: [String] {
        let relay = StoreLocation(folder: folder, name: relayName)
        return sidecarNames + [relay.name] + relay.sidecarNames
            + [wakeName, supportFolderName, ReceiptFile.receiptName(for: name)]
    }
}
