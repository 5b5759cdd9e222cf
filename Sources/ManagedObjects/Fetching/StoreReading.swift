internal import SafeFiles
internal import StoreFormat

/// How those read who do without a coordinator: changing nothing, and what they pass on being of one state of the store.
struct StoreReading: Sendable {
    private let reader: StoreReader
    private let monitor: WorkMonitor

    init(lockTimeout: Duration, allowsNetworkFileSystem: Bool, isCancelled: (@Sendable () -> Bool)?) {
        monitor = WorkMonitor(onProgress: nil, isCancelled: isCancelled)
        reader = StoreReader(
            lockTimeout: lockTimeout,
            allowsNetworkFileSystem: allowsNetworkFileSystem,
            monitor: monitor
        )
    }

    func withView<R>(of location: StoreLocation, _ body: (StoreView) throws -> R) throws -> R {
        try reader.withView(of: location, body)
    }

    func checkCancellation() throws { try monitor.checkCancellation() }
}
