import Glibc
import StoreMigration

/// One of the two streams a verb writes to; nothing is buffered, so that lines arrive as they are written.
struct StandardStream: Sendable {
    let descriptor: Int32

    var isTerminal: Bool { isatty(descriptor) == 1 }

    /// Writes all of the text, and says whether that worked; a reader that went away wants no more of it.
    @discardableResult
    func write(_ text: String) -> Bool {
        var copy = text
        return copy.withUTF8 { write(UnsafeRawBufferPointer($0)) || errno == EPIPE }
    }

    /// Writes all of the bytes, and says whether that worked.
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
