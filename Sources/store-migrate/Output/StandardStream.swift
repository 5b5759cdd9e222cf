import Glibc
import StoreMigration

/// An unbuffered output stream, so that lines arrive as they are written.
struct StandardStream: Sendable {
    let descriptor: Int32

    var isTerminal: Bool { isatty(descriptor) == 1 }

    /// Writes all of the text and returns whether that succeeded; EPIPE counts as success, as the reader has closed.
    @discardableResult
    func write(_ text: String) -> Bool {
        var copy = text
        return copy.withUTF8 { write(UnsafeRawBufferPointer($0)) || errno == EPIPE }
    }

    /// Writes all of the bytes and returns whether that succeeded.
    func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
        }
        return true
    }
}
