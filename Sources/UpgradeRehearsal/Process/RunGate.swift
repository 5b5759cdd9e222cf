import Glibc
import SafeFiles
import StoreFormat
import SystemPackage

/// Two named pipes by which a run of the tool says that it passes a moment, and waits to be let on.
final class RunGate {
    static let saidName = "said"
    static let goName = "go"

    let folder: String
    /// Readable when a moment is said.
    let said: Int32
    private let go: Int32

    /// Makes the pipes in a folder of their own, which exists.
    init(in folder: String) throws {
        self.folder = folder
        said = try Self.makePipe(folder + "/" + Self.saidName)
        do {
            go = try Self.makePipe(folder + "/" + Self.goName)
        } catch {
            close(said)
            throw error
        }
    }

    deinit {
        close(said)
        close(go)
    }

    /// The moment that was said; nil for what is none.
    func moment() -> RunMoment? {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(said, &bytes, bytes.count)
        guard count > 0 else { return nil }
        let line = bytes[..<count].prefix { $0 != UInt8(ascii: "\n") }
        return RunMoment(rawValue: String(decoding: line, as: UTF8.self))
    }

    /// Lets the run on.
    func open() {
        var byte = UInt8(ascii: "\n")
        _ = write(go, &byte, 1)
    }

    /// Both ends are held here, so that nobody waits at opening one.
    private static func makePipe(_ path: String) throws -> Int32 {
        guard mkfifo(path, 0o600) == 0 else {
            throw RehearsalFailure("\(path) cannot be made (\(Errno(rawValue: errno)))")
        }
        let descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC)
        guard descriptor != -1 else { throw RehearsalFailure("\(path) cannot be opened (\(Errno(rawValue: errno)))") }
        return descriptor
    }
}
