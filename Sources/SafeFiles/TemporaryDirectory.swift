import Glibc
import Synchronization
import SystemPackage

/// A private folder that is removed with its content when this value is released.
///
/// A killed process leaves its folder behind. The next process that creates a folder with the same prefix removes it,
/// once: finding such folders requires reading all names around them. ``removeAbandoned()`` does this for all
/// prefixes. A folder counts as in use as long as its creator holds the `flock` on it.
package final class TemporaryDirectory: Sendable {
    /// A completed search for abandoned folders: a parent folder, and the prefix.
    private struct Search: Hashable {
        let parent: FileIdentity
        let prefix: String
    }

    private static let searches = Mutex<Set<Search>>([])

    package let directory: Directory
    private let parent: Directory
    private let name: String
    private let identity: FileIdentity

    /// Creates the folder in the one at `path`, by default in `$TMPDIR`, else in `/tmp`.
    package init(
        prefix: String,
        in path: String? = nil,
        operations: any FileSystemOperations = LinuxFileSystem()
    ) throws(FileError) {
        let chosen = path ?? ""
        parent = try Directory.open(path: chosen.isEmpty ? Self.usualPlace : chosen, operations: operations)
        let search = Search(parent: try parent.status().identity, prefix: prefix)
        if Self.searches.withLock({ $0.insert(search).inserted }) { Self.removeAbandoned(prefix: prefix, in: parent) }
        (directory, name, identity) = try Self.create(prefix: prefix, in: parent)
    }

    deinit { remove() }

    /// Removes the folder and its content, as far as possible; a second call does nothing.
    ///
    /// Tries twice, because a failed removal may succeed the second time. Leftovers only waste space.
    package func remove() {
        for _ in 0..<2 {
            // The name may refer to another user's folder by now, so the opened folder is emptied.
            directory.removeContents()
            if let named = try? parent.status(of: name), named.identity != identity { return }
            do throws(FileError) {
                try parent.removeDirectory(name)
                return
            } catch {
                if error.errno == .noSuchFileOrDirectory { return }
            }
        }
    }

    private static func create(
        prefix: String,
        in parent: Directory
    ) throws(FileError) -> (directory: Directory, name: String, identity: FileIdentity) {
        var failure: FileError?
        for _ in 0..<10 {
            var generator = SystemRandomNumberGenerator()
            let name = prefix + "-" + String(generator.next(), radix: 36) + String(generator.next(), radix: 36)
            do throws(FileError) {
                let directory = try parent.createDirectory(name, mode: 0o700)
                do throws(FileError) {
                    // Another process may treat the folder as abandoned before it is locked; it does so under the lock,
                    // or never if folders cannot be locked.
                    if lock(directory) != .isTaken, let named = try parent.status(of: name) {
                        let identity = try directory.status().identity
                        if named.identity == identity { return (directory, name, identity) }
                    }
                } catch {
                    try? parent.removeDirectory(name)
                    throw error
                }
            } catch {
                // The same, before the folder could be opened.
                guard error.errno == .noSuchFileOrDirectory else { throw error }
                failure = error
            }
        }
        throw failure
            ?? FileError(operation: "create a folder in", path: parent.path, errno: .resourceTemporarilyUnavailable)
    }

    /// `$TMPDIR`, else `/tmp`.
    private static var usualPlace: String {
        let chosen = getenv("TMPDIR").flatMap { String(validatingCString: $0) } ?? ""
        return chosen.isEmpty ? "/tmp" : chosen
    }

    // MARK: Abandoned folders

    /// The values of `$TMPDIR` whose folders were searched for all prefixes.
    private static let searchedPlaces = Mutex<Set<String>>([])

    /// Removes this product's folders in `$TMPDIR` whose creators have ended, for all prefixes; once per process.
    ///
    /// A killed run may leave a copy of the store there, and later runs may need no folder of that prefix.
    package static func removeAbandoned() {
        let path = usualPlace
        guard !searchedPlaces.withLock({ $0.contains(path) }), let parent = try? Directory.open(path: path),
            searchedPlaces.withLock({ $0.insert(path).inserted })
        else { return }
        removeAbandoned(in: parent)
    }

    /// The prefixes of this product's folders in `$TMPDIR`; a general pattern would match folders of the user's own.
    private static let prefixes = [
        "store-migrate-fetch", "store-migrate-fixture", "store-migrate-probe", "store-migrate-store",
        "store-migrate-version", "store-migrate-view", ".store-migrate-backup", ".store-migrate-unpacked",
    ]

    /// The same for any folder, at each call.
    package static func removeAbandoned(in parent: Directory) {
        removeAbandoned(in: parent) { name in prefixes.contains { isOurs(name, prefix: $0) } }
    }

    /// Removes the folders with this prefix whose creators have ended.
    package static func removeAbandoned(prefix: String, in parent: Directory) {
        removeAbandoned(in: parent) { isOurs($0, prefix: prefix) }
    }

    private static func removeAbandoned(in parent: Directory, _ isOurs: (String) -> Bool) {
        let user = ProcessIdentity.effectiveUser
        for name in (try? parent.entries(where: isOurs)) ?? [] {
            guard let status = try? parent.status(of: name), status.kind == .directory, status.owner == user,
                status.mode & 0o777 == 0o700, let directory = try? parent.openDirectory(name),
                lock(directory) == .isOurs, leads(name, to: directory, in: parent)
            else { continue }
            // The lock is held until the name is gone.
            withExtendedLifetime(directory) {
                directory.removeContents()
                try? parent.removeDirectory(name)
            }
        }
    }

    /// A name of the maximum length that a folder with this prefix can have.
    package static func longestName(prefix: String) -> String { prefix + "-" + String(repeating: "z", count: 26) }

    /// True if a name has the form that `create` uses: two random numbers in base 36.
    private static func isOurs(_ name: String, prefix: String) -> Bool {
        guard name.hasPrefix(prefix + "-") else { return false }
        let digits = name.utf8.dropFirst(prefix.utf8.count + 1)
        let isDigit = { (byte: UInt8) in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
        }
        return (16...26).contains(digits.count) && digits.allSatisfy(isDigit)
    }

    private static func leads(_ name: String, to directory: Directory, in parent: Directory) -> Bool {
        guard let named = try? parent.status(of: name), let opened = try? directory.status() else { return false }
        return named.identity == opened.identity
    }

    private enum LockState {
        case isOurs
        case isTaken
        case isImpossible
    }

    private static func lock(_ directory: Directory) -> LockState {
        do throws(Errno) {
            try directory.operations.lock(directory.descriptor.number)
            return .isOurs
        } catch {
            return error == .resourceTemporarilyUnavailable ? .isTaken : .isImpossible
        }
    }
}

extension Directory {
    /// Removes everything below this folder, without following symbolic links; skips what cannot be removed.
    package func removeContents() {
        for name in (try? entries()) ?? [] {
            if (try? status(of: name))?.kind == .directory {
                // A folder that cannot be opened may still be empty.
                try? openDirectory(name).removeContents()
                try? removeDirectory(name)
            } else {
                try? removeFile(name)
            }
        }
    }
}
