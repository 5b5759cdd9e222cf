import FoundationEssentials
import Glibc
import SystemPackage

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
