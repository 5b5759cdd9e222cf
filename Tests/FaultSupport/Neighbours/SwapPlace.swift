import CLinux
import Foundation
import Glibc
package import SafeFiles
import Synchronization
import SystemPackage

/// A folder in which a thread exchanges names with symbolic links to the outside, and the files outside.
package final class SwapPlace: Sendable {
    /// A file that alternates with a link to one outside; also the temporary name of ``Directory/replace(_:with:mode:)`` for
    /// `memo`.
    package static let file = "memo.new"
    /// A folder that alternates with a link to the one outside.
    package static let folder = "folder"
    /// A name that alternates between free and a link to a missing path outside; also the temporary name for `note`.
    package static let vacant = "note.new"
    private static let link = "-link"
    private static let victim = "victim"
    /// `RENAME_EXCHANGE` of `linux/fs.h`.
    private static let exchange: UInt32 = 2

    private let temporary: TemporaryDirectory
    package let inside: Directory
    private let outside: Directory
    private let inner: Directory
    private let untouched: [FileStatus?]
    /// The names that the thread exchanges.
    private let names: [String]
    private let leastSwaps = Atomic<Int>(0)
    private let isOver = Atomic<Bool>(false)
    private let end = DispatchSemaphore(value: 0)

    package init(exchanging names: [String]) throws {
        self.names = names
        temporary = try TemporaryDirectory(prefix: "swap-place")
        inside = try temporary.directory.createDirectory("inside", mode: 0o700)
        outside = try temporary.directory.createDirectory("outside", mode: 0o755)
        inner = try outside.createDirectory("inner", mode: 0o755)
        for folder in [outside, inner] { try folder.replace(Self.victim, with: [7, 7, 7], mode: 0o644) }
        untouched = try Self.look(outside, inner)
        restore()
    }

    /// The least number of exchanges of a name.
    package var swapCount: Int { leastSwaps.load(ordering: .relaxed) }

    /// Exchanges the names on another thread while the body runs.
    package func whileSwapping(_ body: () throws -> Void) rethrows {
        let number = open(inside.path, O_DIRECTORY | O_CLOEXEC)
        Thread { [self] in
            var counts = [Int](repeating: 0, count: names.count)
            while !isOver.load(ordering: .relaxed) {
                for (index, name) in names.enumerated() { counts[index] += Self.swap(name, in: number) }
                leastSwaps.store(counts.min() ?? 0, ordering: .relaxed)
            }
            end.signal()
        }
        .start()
        defer {
            isOver.store(true, ordering: .relaxed)
            end.wait()
            close(number)
        }
        try body()
    }

    /// Exchanges a name with its link or back, and returns how often that succeeded.
    private static func swap(_ name: String, in directory: Int32) -> Int {
        func rename(_ name: String, _ other: String, _ flags: UInt32) -> Int {
            clinux_renameat2(directory, name, directory, other, flags) == 0 ? 1 : 0
        }
        let link = name + link
        guard name == vacant else { return rename(name, link, exchange) }
        let isFree = UInt32(CLINUX_RENAME_NOREPLACE)
        return rename(link, name, isFree) + rename(name, link, isFree)
    }

    /// True if the file outside is locked.
    package func isVictimLocked() throws -> Bool {
        try withVictim(O_RDONLY) { victim in
            guard let victim else { return false }
            if flock(victim, LOCK_EX | LOCK_NB) == 0 {
                // Closing does not release it while a program that another test starts has inherited the descriptor.
                flock(victim, LOCK_UN)
                return false
            }
            guard errno == EWOULDBLOCK else { throw Errno(rawValue: errno) }
            return true
        }
    }

    /// True if the file outside has a lease, which blocks opening it for writing.
    package func isVictimLeased() throws -> Bool {
        try withVictim(O_WRONLY | O_NONBLOCK) { $0 == nil }
    }

    /// Opens the file outside; nil if that would block.
    private func withVictim<Value>(_ flags: Int32, _ body: (Int32?) throws -> Value) throws -> Value {
        let victim = open(outside.path + "/" + Self.victim, flags | O_CLOEXEC)
        guard victim >= 0 else {
            guard errno == EWOULDBLOCK else { throw Errno(rawValue: errno) }
            return try body(nil)
        }
        defer { close(victim) }
        return try body(victim)
    }

    /// True for one of the files and folders outside.
    package func isOutside(_ status: FileStatus) -> Bool { untouched.contains { $0?.identity == status.identity } }

    /// True if anything outside changed.
    package func isOutsideTouched() throws -> Bool { try Self.look(outside, inner) != untouched }

    /// Restores what the attempts have removed, so that exchanging continues.
    package func restore() {
        let path = inside.path + "/"
        for (name, target) in [(Self.file, outside.path + "/" + Self.victim), (Self.folder, outside.path)] {
            let kinds = [name, name + Self.link].map { (try? inside.status(of: $0))?.kind }
            guard kinds.filter({ $0 == .symbolicLink }).count != 1 || kinds.contains(nil) else { continue }
            for name in [name, name + Self.link] {
                unlink(path + name)
                (try? inside.openDirectory(name))?.removeContents()
                rmdir(path + name)
            }
            symlink(target, path + name + Self.link)
            if name == Self.folder {
                mkdir(path + name, 0o700)
            } else {
                close(open(path + name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600))
            }
        }
        restoreVacant(path)
    }

    /// Ensures that one of the two names is a link and the other free; with both in use nothing would be exchanged.
    private func restoreVacant(_ path: String) {
        let (name, link) = (Self.vacant, Self.vacant + Self.link)
        let kinds = [name, link].map { (try? inside.status(of: $0))?.kind }
        if let kind = kinds[0], kind != .symbolicLink {
            unlink(path + name)
            rmdir(path + name)
        }
        // The link may have moved between the two checks; the next call corrects that.
        switch kinds.count(where: { $0 == .symbolicLink }) {
        case 0: symlink(outside.path + "/new", path + link)
        case 2: unlink(path + name)
        default: break
        }
    }

    /// The status of everything outside, with times.
    private static func look(_ outside: Directory, _ inner: Directory) throws -> [FileStatus?] {
        try [
            outside.status(), outside.status(of: victim), inner.status(), inner.status(of: victim),
            outside.status(of: "new"),
        ]
    }
}
