import CSQLite

/// Receives the pieces of a changeset from SQLite.
final class ChangesetOutput {
    private let body: (UnsafeRawBufferPointer) throws -> Void
    private(set) var error: (any Error)?

    init(_ body: @escaping (UnsafeRawBufferPointer) throws -> Void) { self.body = body }

    /// The context pointer for ``callback``; this object must outlive the call.
    var pointer: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    static let callback: @convention(c) (UnsafeMutableRawPointer?, UnsafeRawPointer?, Int32) -> Int32 = {
        context,
        bytes,
        count in
        guard let context else { return SQLITE_MISUSE }
        let output = Unmanaged<ChangesetOutput>.fromOpaque(context).takeUnretainedValue()
        do {
            try output.body(UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : Int(count)))
            return SQLITE_OK
        } catch {
            output.error = error
            return SQLITE_ABORT
        }
    }
}
