import SafeFiles
internal import Synchronization

/// Keeps this process from folding a store's log into its main file, as long as it lives: somebody is copying both.
///
/// A copy under other processes' checkpoints is right too; this spares it the pages that would be written under its hands.
package final class LogPin: Sendable {
    private static let pins = Mutex<[FileIdentity: Int]>([:])

    private let identity: FileIdentity?

    /// Pins the store at a location; one that is not there has nothing to be pinned.
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

    /// Does what must not be done to a pinned store; who comes to pin it waits for the end of it.
    static func unlessHeld(on location: StoreLocation, _ body: () throws -> Void) throws {
        guard let identity = identity(of: location) else { return }
        try pins.withLock { if $0[identity] == nil { try body() } }
    }

    private static func identity(of location: StoreLocation) -> FileIdentity? {
        guard let folder = try? Directory.open(path: location.folder) else { return nil }
        return try? folder.status(of: location.name)?.identity
    }
}
