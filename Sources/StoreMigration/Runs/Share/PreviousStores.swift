import FoundationEssentials
import SafeFiles
public import StoreAccess
import StoreFormat

/// The locations that an app's store had over time, and which of the stores there a run uses.
///
/// A store whose journal or fence names the new store was used by an earlier run, so the next run uses it again, at
/// any rank.
struct PreviousStores {
    /// The locations in the caller's order, each once.
    let places: [StoreLocation]
    let new: StoreLocation
    let options: ShareOptions
    let surroundings: Surroundings

    /// A store at one of the locations.
    struct Candidate {
        let inspection: StoreInspection
        /// True if an earlier run shared it to the new store.
        let isRecorded: Bool

        var location: StoreLocation { inspection.location }

        /// The time of the last write that the files show, in nanoseconds since 1970.
        var lastWritten: FileStatus.Time? {
            let token = inspection.token
            return [token.main, token.writeAheadLog, token.journal].compactMap { $0?.modified }.max()
        }
    }

    /// The decision about all locations.
    struct Choice {
        /// The store that is shared, or the location to report on when there is none.
        let old: StoreLocation
        /// The stores that are shared or merged after it, in order.
        var others: [Candidate] = []
        /// The stores with rows that stay where they are, and those without.
        var left: [Candidate] = []
        /// The stores of which the caller has to choose.
        var undecided: [Candidate] = []
    }

    /// Inspects all locations, and decides; changes nothing.
    func choice() throws -> Choice {
        guard places.count > 1 else { return Choice(old: places[0]) }
        var candidates: [Candidate] = []
        for place in places {
            switch try FactsGatherer(old: place, new: new, surroundings: surroundings).condition(of: place) {
            case .absent, .emptyFile: continue
            // The share of that store refuses it with the reason.
            case .orphanSidecar, .unreadable: return Choice(old: place)
            case .store(let inspection):
                guard try !isPassedOn(inspection) else { continue }
                candidates.append(Candidate(inspection: inspection, isRecorded: try isRecorded(inspection)))
            }
        }
        let recorded = candidates.filter(\.isRecorded)
        let pending = candidates.filter { !$0.isRecorded }
        let full = pending.filter { !$0.inspection.isEmpty }
        let empty = pending.filter(\.inspection.isEmpty)
        guard full.count + min(recorded.count, 1) > 1 else {
            let first = try (recorded + full + empty).first?.location ?? places.first(where: hasRecord) ?? places[0]
            return Choice(
                old: first,
                others: recorded.filter { $0.location != first },
                left: empty.filter { $0.location != first }
            )
        }
        let ranked = recorded + full
        switch options.onSeveral {
        case .merge:
            try requireSeparateJournals(ranked)
            return Choice(old: ranked[0].location, others: Array(ranked.dropFirst()), left: empty)
        case .newest:
            if let shared = recorded.first {
                return Choice(old: shared.location, others: Array(recorded.dropFirst()), left: full + empty)
            }
            if let newest = Self.newest(of: full) {
                return Choice(old: newest, left: pending.filter { $0.location != newest })
            }
            fallthrough
        case .fail: return Choice(old: ranked[0].location, left: empty, undecided: ranked)
        }
    }

    /// The location whose files were written last; nil if two have the same time, as copies may.
    private static func newest(of candidates: [Candidate]) -> StoreLocation? {
        let times = candidates.map { (time: $0.lastWritten, location: $0.location) }
        guard let last = times.compactMap(\.time).max() else { return nil }
        let found = times.filter { $0.time == last }
        return found.count == 1 ? found[0].location : nil
    }

    /// True if the store was shared to a store other than the new one, which has its rows.
    private func isPassedOn(_ store: StoreInspection) throws -> Bool {
        guard store.fence != nil, try !isRecorded(store),
            let succession = try Succession(of: store.location, surroundings), succession.isVerified
        else { return false }
        return succession.store == new || places.contains(succession.store)
    }

    private func isRecorded(_ store: StoreInspection) throws -> Bool {
        try hasRecord(store.location) || store.fence?.newPath == new.path
    }

    /// True if the journal of the location names the new store; a journal of another store counts as none.
    private func hasRecord(_ place: StoreLocation) throws -> Bool {
        let state = try surroundings.stateFolder(of: place).ifUsable { try $0.state(isShownOnly: true) }
        return state?.run.map { $0.new == new && !$0.isInPlace } ?? false
    }

    /// Throws if two of the stores would have one journal in the caller's state folder.
    private func requireSeparateJournals(_ candidates: [Candidate]) throws {
        guard let folder = options.stateFolder, Set(candidates.map(\.location.name)).count < candidates.count else {
            return
        }
        throw MigrationError(
            .usage,
            "stores of one name need separate journals, and the state folder holds one for each name",
            path: StoreLocation(url: folder).path,
            advice: "Leave the state folder out: each store then has its journal beside it."
        )
    }
}

extension PreviousStores.Candidate {
    /// How much the store contains, and when it was written, for a caller who has to choose.
    var facts: String {
        let noun = inspection.kind == .coreData ? "object" : "row"
        let count = "\(inspection.objectCount) \(noun)\(inspection.objectCount == 1 ? "" : "s")"
        let written = lastWritten.map { time in
            ", last written "
                + Date(timeIntervalSince1970: Double(time.seconds) + Double(time.nanoseconds) / 1e9).formatted(.iso8601)
        }
        let uuid = inspection.uuid.map { ", UUID \($0)" }
        return "\(count), \(inspection.byteCount) bytes" + (written ?? "") + (uuid ?? "")
    }
}

extension PreviousStores.Choice {
    /// What the caller should know about the stores that a run does not use.
    var findings: [Finding] {
        left.map { store in
            store.inspection.isEmpty
                ? Finding(
                    .previousStoreLeft,
                    .info,
                    level: .files,
                    "a store without objects at a previous location is not used",
                    path: store.location.path
                )
                : Finding(
                    .previousStoreLeft,
                    .warning,
                    level: .files,
                    "the store at a previous location is not shared, and its rows are only there: \(store.facts)",
                    path: store.location.path
                )
        }
            + undecided.map { store in
                Finding(
                    .previousStoreFound,
                    .warning,
                    level: .files,
                    store.isRecorded
                        ? "this store is shared already: \(store.facts)"
                        : "a previous location holds a store: \(store.facts)",
                    path: store.location.path
                )
            }
    }

    /// Why the caller has to choose, with the facts of each store.
    var reason: String {
        let stores = undecided.map { "\($0.location.path) (\($0.isRecorded ? "shared already; " : "")\($0.facts))" }
        let uuids = Set(undecided.compactMap(\.inspection.uuid))
        let isCopied = uuids.count == 1 && undecided.count > 1 && undecided.allSatisfy { $0.inspection.uuid != nil }
        return "\(undecided.count) locations hold a store: " + stores.joined(separator: ", ")
            + (isCopied ? "; they have one UUID, so they were copied from one another" : "")
    }

    /// The command that shows how the first two differ.
    var comparison: NextStep? {
        undecided.count > 1 ? .diff(undecided[0].location.path, undecided[1].location.path) : nil
    }
}

extension Finding.Code {
    /// A previous location holds a store, and the caller has to choose.
    public static let previousStoreFound = Finding.Code(rawValue: "previousStoreFound")
    /// A previous location holds a store that the run leaves there.
    public static let previousStoreLeft = Finding.Code(rawValue: "previousStoreLeft")
    /// The store of another previous location is shared or merged, too.
    public static let previousStoreUsed = Finding.Code(rawValue: "previousStoreUsed")
}
