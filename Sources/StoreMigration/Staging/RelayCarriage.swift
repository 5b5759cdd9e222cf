import ChangeRelay
import SafeFiles
public import StoreAccess

extension Finding.Code {
    /// Change notices beside the old store could not be copied to the new one.
    public static let relayNotCarried = Finding.Code(rawValue: "relayNotCarried")
    /// Unread change notices were copied to the new store.
    public static let relayCarried = Finding.Code(rawValue: "relayCarried")
    /// Saves in preferences were imported by an earlier run.
    public static let legacyChangesImported = Finding.Code(rawValue: "legacyChangesImported")
}

/// Copies pending change notices from the old store's relay to the new one's, once no program can save to the old
/// store.
struct RelayCarriage {
    let old: StoreLocation
    let new: StoreLocation
    let legacyChanges: [LegacyDefaultsImport]
    let lockTimeout: Duration

    /// Reports what was copied and what was not; an unreadable relay does not roll a share back.
    ///
    /// Object addresses stay valid: the new store has the old one's UUID and keys.
    ///
    /// After a merge, `addresses` maps objects of the old store to the new one, and consumers refresh everything they
    /// show.
    func carry(through addresses: RekeyedAddresses? = nil) -> [Finding] {
        do {
            let folder = try Directory.open(path: old.folder)
            // An empty file is a relay whose creation was interrupted.
            let hasRelay = try folder.status(of: RelayQueue.name(for: old.name)).map { $0.size > 0 } ?? false
            guard hasRelay || !legacyChanges.isEmpty else { return [] }
            let queue = try RelayQueue(beside: new, lockTimeout: lockTimeout)
            return (hasRelay ? carryNotices(to: queue, addresses) : [])
                + legacyChanges.flatMap { carry($0, to: queue) }
        } catch {
            return [notCarried("\(error)", from: old.folder + "/" + RelayQueue.name(for: old.name))]
        }
    }

    /// What a share would find in the preferences files; writes nothing.
    ///
    /// `uuid` is the UUID of the store that is shared.
    func preview(forStore uuid: String?) -> [Finding] {
        legacyChanges.flatMap { changes in
            do throws(RelayError) {
                return try changes.preview(forStore: uuid)
            } catch {
                let message = "a share imports none of these changes: \(error.message)"
                return [Finding(.relayNotCarried, .warning, level: .merging, message, path: error.path)]
            }
        }
    }

    /// Imports pending changes in preferences files beside a store that was shared before, and wakes its programs.
    func importLegacyChanges() -> [Finding] {
        guard !legacyChanges.isEmpty else { return [] }
        do {
            let queue = try RelayQueue(beside: new, lockTimeout: lockTimeout)
            let findings = legacyChanges.flatMap { carry($0, to: queue) }
            if findings.contains(where: { $0.code == .relayCarried }) {
                try RemoteChangeNotification(beside: new).post()
            }
            return findings
        } catch {
            return [notCarried("\(error)", from: new.folder + "/" + RelayQueue.name(for: new.name))]
        }
    }

    private func carryNotices(to queue: RelayQueue, _ addresses: RekeyedAddresses?) -> [Finding] {
        do {
            let carried = try queue.carry(from: old, readdressing: addresses.map(readdressing))
            guard carried.notices > 0 || carried.consumers > 0 else { return [] }
            return [
                found(
                    "copied \(Self.count(carried.notices, "change notice"))"
                        + " and \(Self.count(carried.consumers, "consumer position"))",
                    queue
                )
            ]
        } catch {
            return [notCarried(error.message, from: error.path)]
        }
    }

    /// Rewrites a notice about objects of the old store for the same objects in the new one.
    private func readdressing(
        _ addresses: RekeyedAddresses
    ) -> @Sendable (ChangeNotice.Content) -> ChangeNotice.Content {
        { content in
            guard case .objects(let sets) = content else { return content }
            return addresses.isComplete ? .objects(sets.mapValues { $0.map { addresses[$0] } }) : .everything
        }
    }

    private func carry(_ changes: LegacyDefaultsImport, to queue: RelayQueue) -> [Finding] {
        do {
            let result = try changes.run(into: queue)
            if result.posted > 0 {
                return result.findings + [
                    found("converted \(Self.count(result.posted, "save")) in preferences to change notices", queue)
                ]
            }
            if result.removed > 0 {
                return result.findings + [
                    imported(
                        "every consumer has read the saves under the key '\(changes.key)'; they were removed",
                        changes
                    )
                ]
            }
            guard result.waiting > 0, result.findings.isEmpty else { return result.findings }
            return [
                imported(
                    "the saves under the key '\(changes.key)' are imported, and stay until every consumer has read them",
                    changes
                )
            ]
        } catch {
            return [notCarried(error.message, from: error.path)]
        }
    }

    private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

    private func imported(_ message: String, _ changes: LegacyDefaultsImport) -> Finding {
        Finding(.legacyChangesImported, .info, level: .merging, message, path: changes.file.path)
    }

    private func found(_ message: String, _ queue: RelayQueue) -> Finding {
        Finding(.relayCarried, .info, level: .merging, message, path: queue.location.path)
    }

    private func notCarried(_ reason: String, from path: String) -> Finding {
        Finding(
            .relayNotCarried,
            .warning,
            level: .merging,
            "pending change notices were not copied, so every program should refresh all it shows: \(reason)",
            path: path
        )
    }
}
