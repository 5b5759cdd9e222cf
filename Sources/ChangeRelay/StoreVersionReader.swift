import SafeFiles
import StoreAccess
import Synchronization

/// Detects commits to a store, for a process that does not write to it.
final class StoreVersionReader: Sendable {
    private struct State {
        var connection: StoreConnection?
        /// The number of the connection: `data_version` values of different connections are not comparable.
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

    /// The store's version; nil while unknown.
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
                // After a failed open, wait until the file changes before the next attempt.
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

/// A value that changes with every commit of another process to a store, and never by this process's work.
public struct StoreVersion: Hashable, Sendable {
    private let values: [Int64]

    package init(_ values: Int64...) { self.values = values }
}
