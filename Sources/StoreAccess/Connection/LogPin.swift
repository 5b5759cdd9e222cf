import SafeFiles
internal import Synchronization

/// Prevents this process from checkpointing a store while it copies the store.
///
/// A copy during other processes' checkpoints is correct too; the pin only avoids copying pages again.
package final class LogPin: Sendable {
    private static let pins = Mutex<[FileIdentity: Int]>([:])

    private let identity: FileIdentity?

    /// Pins the store at a location; does nothing if there is none.
    package init(on location: StoreLocation) {
        let identity = Self.identity(of: location)
        self.identity = identity
        if let identity { Self.pins.withLock { $0[identity, default: 0] += 1 } }
    }

    deinit {
        guard let identity else { return }
        Self.pins.withLock { pins in
            let count = pins[identity, default: 0] - 1
            pins[identity] = count > 0 ? count : nil
        }
    }

    /// Runs `body` unless the store is pinned; a new pin waits until `body` returns.
    static func unlessHeld(on location: StoreLocation, _ body: () throws -> Void) throws {
        guard let identity = identity(of: location) else { return }
        try pins.withLock { if $0[identity] == nil { try body() } }
    }

    private static func identity(of location: StoreLocation) -> FileIdentity? {
        guard let folder = try? Directory.open(path: location.folder) else { return nil }
        return try? folder.status(of: location.name)?.identity
    }
}
