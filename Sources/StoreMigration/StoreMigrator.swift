import ChangeMerging
public import FoundationEssentials
public import Logging
public import MergeProbing
import SafeFiles
public import StoreAccess
public import StoreStrategies
import StoreVerification

/// Moves a private store into a shared container without losing anything, and proves it; safe to run at any time.
///
/// The old store is copied, never moved. It stays, fenced against writers unless the options say otherwise, until
/// ``StoreRetirement`` removes it. Running again after a complete share changes nothing.
///
/// Its asynchronous calls block no thread of the cooperative pool, and stop with their task at the next point where
/// stopping leaves nothing behind. The calls that end in `AndWait` block the caller's thread.
public struct StoreMigrator: Sendable {
    private let places: [URL]
    private let new: URL
    private let options: ShareOptions
    private let strategies: StrategyPipeline
    private let probeWriter: any ProbeWriter
    private let logger: Logger
    private let onProgress: (@Sendable (StoreProgress) -> Void)?

    /// Creates a migrator from the private store at `old` to `new`: a path, or a folder, in which the store keeps its name.
    ///
    /// A URL of a folder ends in a slash; a folder that exists needs none.
    ///
    /// With strategies, the copy gets what they describe for each role before it is proved and published. In the proof
    /// of the level `merging`, `probeWriter` acts as the extension.
    public init(
        from old: URL,
        to new: URL,
        options: ShareOptions = ShareOptions(),
        strategies: StrategyPipeline = StrategyPipeline(),
        probeWriter: any ProbeWriter = CoordinatorProbeWriter(),
        logger: Logger? = nil,
        onProgress: (@Sendable (StoreProgress) -> Void)? = nil
    ) {
        self.init(
            fromAnyOf: [old],
            to: new,
            options: options,
            strategies: strategies,
            probeWriter: probeWriter,
            logger: logger,
            onProgress: onProgress
        )
    }

    /// Creates a migrator from the one of several locations that holds the private store; the store may have moved over time.
    ///
    /// The first of `places`, of which there must be one, gives the name of the new store in a folder. A store that an
    /// earlier run shared to `new` is used again. Several stores with objects need a decision, which
    /// ``ShareOptions/onSeveral`` makes; without any store the outcome is `nothingFound`.
    public init(
        fromAnyOf places: [URL],
        to new: URL,
        options: ShareOptions = ShareOptions(),
        strategies: StrategyPipeline = StrategyPipeline(),
        probeWriter: any ProbeWriter = CoordinatorProbeWriter(),
        logger: Logger? = nil,
        onProgress: (@Sendable (StoreProgress) -> Void)? = nil
    ) {
        precondition(!places.isEmpty, "a migrator needs a location of the old store")
        self.places = places
        self.new = new
        self.options = options
        self.strategies = strategies
        self.probeWriter = probeWriter
        self.logger = logger ?? .silent
        self.onProgress = onProgress
    }

    /// Reads how each role opens a shared store, from the file named by ``ShareOptions/descriptionsFile``; before the app's
    /// first share the outcome of the error is `nothingFound`.
    public static func descriptions(
        at url: URL
    ) throws(MigrationError) -> [StoreRole: PersistentStoreDescription] {
        do { return try DescriptionsFile.descriptions(at: url) } catch { throw MigrationError(error) }
    }

    /// Decides what a share would do, and writes nothing.
    public func plan() async throws(MigrationError) -> SharePlan {
        try await AsynchronousRun.result { () throws(MigrationError) in try planAndWait() }
    }

    /// Decides what a share would do, and writes nothing, while the caller waits; `isCancelled` is called at any time.
    public func planAndWait(isCancelled: (@Sendable () -> Bool)? = nil) throws(MigrationError) -> SharePlan {
        do { return try run(isCancelled).plan() } catch { throw MigrationError(error) }
    }

    /// Reports the state of both paths, and writes nothing.
    public func status() async throws(MigrationError) -> StatusReport {
        try await AsynchronousRun.result { () throws(MigrationError) in try statusAndWait() }
    }

    /// Reports the state of both paths, and writes nothing, while the caller waits; `isCancelled` is called at any time.
    public func statusAndWait(isCancelled: (@Sendable () -> Bool)? = nil) throws(MigrationError) -> StatusReport {
        do { return try run(isCancelled).status() } catch { throw MigrationError(error) }
    }

    /// Shares the store unless that is done already.
    ///
    /// Returns outcomes that need a decision; throws what stops the run. At an app's first launch neither path has a
    /// store: the outcome is `nothingFound`, and its descriptions are those of the store that the app creates.
    @discardableResult
    public func shareStoreIfNecessary() async throws(MigrationError) -> ShareOutcome {
        try await AsynchronousRun.result { () throws(MigrationError) in try shareStoreIfNecessaryAndWait() }
    }

    /// Shares the store unless that is done already, while the caller waits.
    ///
    /// `isCancelled` is called at points where stopping leaves nothing behind.
    @discardableResult
    public func shareStoreIfNecessaryAndWait(
        isCancelled: (@Sendable () -> Bool)? = nil
    ) throws(MigrationError) -> ShareOutcome {
        do { return try run(isCancelled).share() } catch { throw MigrationError(error) }
    }

    private func run(_ isCancelled: (@Sendable () -> Bool)?) throws -> SharesOfPreviousStores {
        let places = try StoreLocation.distinct(places)
        let new = try places[0].destination(at: new)
        var options = options
        options.resolver = options.resolver?.remembering()
        let target = try options.migrationTarget()
        let surroundings = options.surroundings(
            WorkMonitor(onProgress: onProgress, isCancelled: isCancelled),
            logger
        )
        return SharesOfPreviousStores(
            stores: PreviousStores(places: places, new: new, options: options, surroundings: surroundings)
        ) { old, options in
            ShareEngine(
                old: old,
                new: new,
                options: options,
                target: target,
                pipeline: strategies,
                surroundings: surroundings,
                probeWriter: probeWriter
            )
        }
    }
}

extension StoreLocation {
    /// The location that a caller names: a path, or a folder, in which the store keeps its name; a path that ends in a slash
    /// names a folder, whether it exists or not.
    func destination(at url: URL) throws -> StoreLocation {
        let place = StoreLocation(url: url)
        guard try url.hasDirectoryPath || place.isFolder() else { return place }
        return StoreLocation(folder: place.path, name: name)
    }

    /// True if a folder is at this location.
    func isFolder() throws -> Bool {
        try Directory.openIfPresent(path: folder)?.status(of: name)?.kind == .directory
    }

    /// The locations at `urls`, each file once: a path through a linked folder names the same file.
    fileprivate static func distinct(_ urls: [URL]) throws -> [StoreLocation] {
        var places: [StoreLocation] = []
        var files: Set<FileIdentity> = []
        for place in urls.map(StoreLocation.init(url:)) where !places.contains(place) {
            let folder = try? Directory.open(path: place.folder)
            if let identity = try folder?.status(of: place.name)?.identity {
                guard files.insert(identity).inserted else { continue }
            }
            places.append(place)
        }
        return places
    }
}
