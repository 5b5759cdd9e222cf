import SafeFiles
package import StoreAccess

/// Finds the current location of the data of a store that is out of use: fenced, retired or withdrawn.
///
/// The chain is followed store by store. A hop is verified if the journal of the store names the next one, and that
/// store is the recorded one. Fences and receipts alone are only reported.
package struct Succession: Hashable, Sendable {
    /// The maximum length of a chain.
    private static let mostHops = 16

    /// The store at the end of the chain, which is in use.
    package let store: StoreLocation
    /// The stores before it in the chain, the start first.
    package let passed: [StoreLocation]
    /// True when every hop is verified, and no store on the way changed the keys of its objects.
    package let isVerified: Bool

    /// Nil when the store at `start` is in use, and when nothing shows where its data is.
    init?(of start: StoreLocation, _ surroundings: Surroundings) throws {
        var place = start
        var passed: [StoreLocation] = []
        var isVerified = true
        while passed.count < Self.mostHops, let hop = try Self.hop(from: place, surroundings.silent) {
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

    /// True when the main file of the store at `place` has a fence; a fence that is only in the log is missed.
    static func isApparent(at place: StoreLocation) -> Bool {
        guard let connection = try? StoreConnection(place, access: .immutable) else { return false }
        return (try? StoreFence(reading: connection)) ?? nil != nil
    }

    private static func hop(
        from place: StoreLocation,
        _ surroundings: Surroundings
    ) throws -> (target: StoreLocation, isVerified: Bool)? {
        let (state, folder) = try state(of: place, surroundings)
        guard try Directory.openIfPresent(path: place.folder)?.status(of: place.name) != nil else {
            // A killed retirement may have renamed the store without recording it yet.
            switch state {
            case .retired(let shared, _): return (shared.run.new, try isRecorded(shared, folder, surroundings))
            case .shared(let shared) where shared.retiringTo != nil:
                return (shared.run.new, try isRecorded(shared, folder, surroundings))
            default: return nil
            }
        }
        let gatherer = FactsGatherer(old: place, new: place, surroundings: surroundings)
        guard let fence = try fence(of: place, gatherer) else { return nil }
        guard case .shared(let shared) = state, shared.run.new.path == fence.newPath else {
            return (StoreLocation(path: fence.newPath), false)
        }
        return (shared.run.new, try isRecorded(shared, folder, surroundings))
    }

    private static func fence(of place: StoreLocation, _ gatherer: FactsGatherer) throws -> StoreFence? {
        guard try gatherer.status(of: place).map({ $0.kind == .regular && $0.size > 0 }) == true else { return nil }
        do {
            return try gatherer.reader.read(place) { try StoreFence(reading: $0.connection) }
        } catch let error as StoreError where [.notADatabase, .damaged, .emptyFile].contains(error.code) {
            return nil
        }
    }

    /// True when the store that `shared` names is the recorded one, or is missing, and kept the keys of the objects.
    private static func isRecorded(
        _ shared: RunState.SharedRun,
        _ folder: StateFolder,
        _ surroundings: Surroundings
    ) throws -> Bool {
        guard shared.completion.keepsNew != true else { return false }
        let gatherer = FactsGatherer(old: shared.run.old, new: shared.run.new, surroundings: surroundings)
        let isThere = try gatherer.status(of: shared.run.new) != nil
        guard try !isThere || gatherer.namedPlace(of: shared) == .ours else { return false }
        guard let base = shared.base, let addresses = base.addresses else { return true }
        if let digest = base.addressesDigest { return digest == RekeyedLines.noFile }
        var keepsKeys = true
        try RekeyedLines.forEach(in: folder.open(), named: addresses) { _ in
            keepsKeys = false
            return false
        }
        return keepsKeys
    }

    /// The state from the journal beside the store, or from the caller's folder; journals that cannot be read or
    /// trusted are skipped.
    private static func state(
        of place: StoreLocation,
        _ surroundings: Surroundings
    ) throws -> (RunState, StateFolder) {
        for chosen in [nil, surroundings.stateFolder] {
            let folder = StateFolder(of: place, stateFolder: chosen)
            if let state = try folder.ifUsable({ try $0.state(isShownOnly: true) }), state != .none {
                return (state, folder)
            }
        }
        return (.none, StateFolder(of: place, stateFolder: nil))
    }
}

extension MigrationError {
    /// The error for a store that is out of use, with the current location of its data and the command that follows the
    /// chain.
    static func outOfUse(_ succession: Succession, next: NextStep) -> MigrationError {
        MigrationError(
            .needsDecision,
            "the store was shared to \(succession.store.path) and is fenced",
            path: succession.passed.first?.path ?? succession.store.path,
            advice: "Nothing was changed. Run the command on the store that has the data now.",
            next: next
        )
    }
}
