import SafeFiles
package import StoreFormat

/// Where the data of a store is whose own place is out of use: fenced, retired or withdrawn.
///
/// The chain is followed store by store. A hop counts as verified where the journal of the store that is left names the next
/// one, and that one is the store which the journal recorded; what a fence or a receipt says alone is only reported.
package struct Succession: Hashable, Sendable {
    /// More hops than these are no history of shares.
    private static let mostHops = 16

    /// The store at the end of the chain, which takes writes.
    package let store: StoreLocation
    /// The stores that were left, in order; the one that was asked for comes first.
    package let passed: [StoreLocation]
    /// True when every hop is verified, and every store on the way gave its objects the keys that they had.
    package let isVerified: Bool

    /// Nil where the store at `start` takes writes, and where nothing tells what became of it.
    init?(of start: StoreLocation, options: ShareOptions) throws {
        var place = start
        var passed: [StoreLocation] = []
        var isVerified = true
        while passed.count < Self.mostHops, let hop = try Self.hop(from: place, options) {
            passed.append(place)
            isVerified = isVerified && hop.isVerified
            place = hop.target
            if passed.contains(place) { break }
        }
        guard !passed.isEmpty else { return nil }
        store = place
        self.passed = passed
        self.isVerified = isVerified && !passed.contains(place)
    }

    /// True when the store at `place` is out of use, as far as names and a look at its main file tell; a fence that is still in
    /// the log alone is taken for none.
    static func isApparent(at place: StoreLocation) -> Bool {
        guard let connection = try? StoreConnection(place, access: .immutable) else { return false }
        return (try? StoreFence(reading: connection)) ?? nil != nil
    }

    private static func hop(
        from place: StoreLocation,
        _ options: ShareOptions
    ) throws -> (target: StoreLocation, isVerified: Bool)? {
        let (state, folder) = state(of: place, options)
        guard try Directory.openIfPresent(path: place.folder)?.status(of: place.name) != nil else {
            // A killed retirement may have renamed the store and not recorded that yet.
            switch state {
            case .retired(let shared, _): return (shared.run.new, try isRecorded(shared, folder, options))
            case .shared(let shared) where shared.retiringTo != nil:
                return (shared.run.new, try isRecorded(shared, folder, options))
            default: return nil
            }
        }
        let gatherer = FactsGatherer(old: place, new: place, options: options, monitor: .silent)
        guard let fence = try fence(of: place, gatherer) else { return nil }
        guard case .shared(let shared) = state, shared.run.new.path == fence.newPath else {
            return (StoreLocation(path: fence.newPath), false)
        }
        return (shared.run.new, try isRecorded(shared, folder, options))
    }

    private static func fence(of place: StoreLocation, _ gatherer: FactsGatherer) throws -> StoreFence? {
        guard try gatherer.status(of: place).map({ $0.kind == .regular && $0.size > 0 }) == true else { return nil }
        do {
            return try gatherer.reader.withView(of: place) { try StoreFence(reading: $0.connection) }
        } catch let error as StoreError where [.notADatabase, .damaged, .emptyFile].contains(error.code) {
            return nil
        }
    }

    /// True when the store that `shared` names is the one that was recorded, or is gone, and holds the objects of the one that
    /// was left under the keys that they had there.
    private static func isRecorded(
        _ shared: RunState.SharedRun,
        _ folder: StateFolder,
        _ options: ShareOptions
    ) throws -> Bool {
        guard shared.completion.keepsNew != true else { return false }
        let gatherer = FactsGatherer(old: shared.run.old, new: shared.run.new, options: options, monitor: .silent)
        let isThere = try gatherer.status(of: shared.run.new) != nil
        guard try !isThere || gatherer.namedPlace(of: shared) == .ours else { return false }
        guard let addresses = shared.base?.addresses else { return true }
        var keepsKeys = true
        try RekeyedLines.forEach(in: folder.open(), named: addresses) { _ in
            keepsKeys = false
            return false
        }
        return keepsKeys
    }

    /// What the journal beside the store says, or the one in the folder that the caller named; what cannot be read or trusted
    /// says nothing.
    private static func state(of place: StoreLocation, _ options: ShareOptions) -> (RunState, StateFolder) {
        for chosen in [nil, options.stateFolder] {
            let folder = StateFolder(of: place, stateFolder: chosen)
            if let state = try? folder.state(isShownOnly: true), state != .none { return (state, folder) }
        }
        return (.none, StateFolder(of: place, stateFolder: nil))
    }
}

extension MigrationError {
    /// A store that is out of use, with where its data is, and the command that follows the chain.
    static func outOfUse(_ succession: Succession, next: NextStep) -> MigrationError {
        MigrationError(
            .needsDecision,
            "the store was moved to \(succession.store.path), and takes no writes",
            path: succession.passed.first?.path ?? succession.store.path,
            advice: "Nothing was changed. Run the command on the store that holds the data now.",
            next: next
        )
    }
}
