import FoundationEssentials
import Glibc
import SafeFiles
import StoreAccess
import SystemPackage

/// Two named pipes: a run of the tool reports a trigger point on one, and waits on the other to continue.
final class RunGate {
    static let saidName = "said"
    static let goName = "go"

    let folder: String
    /// Readable when the run reports a trigger point.
    let said: Int32
    private let go: Int32

    /// Makes the pipes in an existing, empty folder.
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

    /// The reported trigger point; nil for any other byte.
    func moment() -> TriggerPoint? {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(said, &bytes, bytes.count)
        guard count > 0 else { return nil }
        let line = bytes[..<count].prefix { $0 != UInt8(ascii: "\n") }
        return TriggerPoint(rawValue: String(decoding: line, as: UTF8.self))
    }

    /// Lets the run continue.
    func open() {
        var byte = UInt8(ascii: "\n")
        _ = write(go, &byte, 1)
    }

    /// Opens both ends here, so that opening one never blocks.
    private static func makePipe(_ path: String) throws -> Int32 {
        guard mkfifo(path, 0o600) == 0 else {
            throw RehearsalFailure("\(path) cannot be made (\(Errno(rawValue: errno)))")
        }
        let descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC)
        guard descriptor != -1 else { throw RehearsalFailure("\(path) cannot be opened (\(Errno(rawValue: errno)))") }
        return descriptor
    }
}

/// A file with the number of acknowledged rounds of a loop, which survives the kill of its process.
final class RoundCounter {
    private let descriptor: Int32

    init(_ path: String) throws {
        descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor != -1 else {
            throw RehearsalFailure("\(path) cannot be made (\(Errno(rawValue: errno)))")
        }
    }

    deinit { close(descriptor) }

    func note(_ rounds: Int64) {
        withUnsafeBytes(of: rounds) { _ = pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }

    /// The number in a file; 0 when none was written yet.
    static func rounds(at path: String) -> Int64 {
        guard let data = FileManager.default.contents(atPath: path), data.count == MemoryLayout<Int64>.size else {
            return 0
        }
        return data.withUnsafeBytes { $0.loadUnaligned(as: Int64.self) }
    }
}
