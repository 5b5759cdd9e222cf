import ChangeMerging
import SafeFiles
import StoreAccess
import StoreFormat

/// The proof that the rows of a leftover store are in the store that is in use.
struct SuperfluousStore {
    struct Verdict: Hashable {
        let isProved: Bool
        let reason: String

        static func proved(_ reason: String) -> Verdict { Verdict(isProved: true, reason: reason) }
        static func kept(_ reason: String) -> Verdict { Verdict(isProved: false, reason: reason) }
    }

    /// Tables that describe a Core Data store, and its history; their rows are no user's.
    private static let bookkeeping: Set<String> = [
        "Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE", "ATRANSACTION", "ACHANGE", "ATRANSACTIONSTRING",
    ]

    let store: StoreLocation
    let live: StoreLocation
    let surroundings: Surroundings

    func verdict() throws -> Verdict {
        let inspector = surroundings.inspector(.counts)
        guard let leftover = try inspected(store, inspector) else { return .kept("it cannot be read as a store") }
        if leftover.isEmpty, leftover.externalFiles.count == 0 { return .proved("it has no rows") }
        guard let present = try inspected(live, inspector) else {
            return .kept("the store that should have its rows is missing or unreadable: \(live.path)")
        }
        guard present.identity != leftover.identity else { return .kept("it is the store that is in use") }
        guard present.kind == leftover.kind else { return .kept("the store in use is of another kind: \(live.path)") }
        let keys = Set(leftover.metadata.map { $0.values.keys.map(\.self) } ?? [])
            .subtracting(present.metadata.map { $0.values.keys.map(\.self) } ?? [])
        guard keys.isEmpty else { return .kept("its metadata has \(keys.sorted()[0]), which \(live.path) lacks") }
        let gatherer = FactsGatherer(old: store, new: live, surroundings: surroundings.silent)
        if try gatherer.digest(of: store) == gatherer.digest(of: live) {
            return .proved("the store in use has the same content: \(live.path)")
        }
        return try compared()
    }

    private func inspected(_ location: StoreLocation, _ inspector: StoreInspector) throws -> StoreInspection? {
        switch try inspector.inspect(location) {
        case .store(let inspection): return inspection
        case .unreadable(let store) where store.reason == .locked || store.reason == .changing: throw store
        case .absent, .emptyFile, .orphanSidecar, .unreadable: return nil
        }
    }

    /// Proves row by row that the store in use has all of the leftover's.
    private func compared() throws -> Verdict {
        let summary = try StoreDifference(
            lockTimeout: surroundings.lockTimeout,
            allowsNetworkFileSystem: surroundings.allowsNetworkFileSystem,
            isCancelled: { [monitor = surroundings.monitor] in (try? monitor.checkCancellation()) == nil }
        )
        .compare(store, with: live) { _ in }
        let lost = summary.second.filter { $0.value.deleted > 0 || $0.value.updated > 0 }
        let rows = lost.values.reduce(0) { $0 + $1.deleted + $1.updated }
        guard rows == 0 else {
            let names = lost.keys.sorted().prefix(3).joined(separator: ", ")
            return .kept("\(rows) of its rows are not in \(live.path), or have other values there: \(names)")
        }
        guard summary.definitions.isEmpty else {
            let names = summary.definitions.prefix(3).joined(separator: ", ")
            return .kept("tables differ from those of \(live.path): \(names)")
        }
        let tables = Set(summary.tables).subtracting(Self.bookkeeping)
        guard tables.isEmpty else {
            return .kept("\(tables.sorted().prefix(3).joined(separator: ", ")) differ from those of \(live.path)")
        }
        return .proved("the store in use has all of its rows: \(live.path)")
    }
}
