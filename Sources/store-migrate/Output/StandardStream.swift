import Glibc
import StoreMigration

/// An unbuffered output stream, so that lines arrive as they are written.
struct StandardStream: Sendable {
    let descriptor: Int32

    var isTerminal: Bool { isatty(descriptor) == 1 }

    /// How a write ended.
    enum Result {
        case written
        /// The reader of the pipe has closed it.
        case withoutReader
        case failed
    }

    /// Writes all of the text.
    @discardableResult
    func write(_ text: String) -> Result {
        var copy = text
        return copy.withUTF8 { bytes in
            if write(UnsafeRawBufferPointer(bytes)) { return .written }
            return errno == EPIPE ? .withoutReader : .failed
        }
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
