import SafeFiles
import StoreFormat
import Synchronization

/// Tells that somebody committed to a store, for a process that writes nothing to it itself.
final class StoreProbe: Sendable {
    private struct State {
        var connection: StoreConnection?
        /// Counts the connections: what two of them say cannot be compared.
        var generation: Int64 = 0
        var token: FileToken?
    }

    private let location: StoreLocation
    private let folder: Directory
    private let state = Mutex(State())

    init(_ location: StoreLocation, in folder: Directory) {
        self.location = location
        self.folder = folder
    }

    /// The store's version; nil when it cannot be told now.
    func version() throws -> StoreVersion? {
        try state.withLock { state in
            if let open = state.connection, open.hasMoved {
                try? open.close()
                state.connection = nil
                state.token = nil
            }
            guard try folder.status(of: location.name) != nil else { return StoreVersion(0, 0) }
            let connection: StoreConnection
            if let open = state.connection {
                connection = open
            } else {
                // While it cannot be opened, it is not tried again before something has happened to it.
                let token = try folder.token(of: location.name)
                guard token != state.token else { return nil }
                state.token = token
                connection = try StoreConnection(location, access: .liveReading, lockTimeout: .seconds(1))
                state.connection = connection
                state.generation += 1
            }
            return StoreVersion(state.generation, try connection.value("PRAGMA data_version")?.integer ?? 0)
        }
    }
}
