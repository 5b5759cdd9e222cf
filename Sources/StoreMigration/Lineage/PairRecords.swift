import SafeFiles
public import StoreFormat

extension Finding.Code {
    /// The common state of an old and a new store is unknown; a share compares them as unrelated stores.
    public static let commonStateUnknown = Finding.Code(rawValue: "commonStateUnknown")
}

extension Finding {
    static func commonStateUnknown(at location: StoreLocation) -> Finding {
        Finding(
            .commonStateUnknown,
            .warning,
            level: .content,
            "the common state of this store and the one it was shared to is unknown, because a merge was undone"
                + " or a store replaced; a share compares them as unrelated stores",
            path: location.path
        )
    }
}

extension MigrationError {
    /// A command that needs the common state of a pair whose record is void.
    static func commonStateUnknown(old: StoreLocation, new: StoreLocation) -> MigrationError {
        MigrationError(
            .needsDecision,
            "the common state of the old and the new store is unknown",
            path: old.path,
            advice:
                "Nothing was changed. Share the old store again first: equal stores become a pair, others need"
                + " a decision about both.",
            next: .share(old: old.path, new: new.path)
        )
    }
}

/// The records of the pairs that a store belongs to.
///
/// A pair's record is in the journal beside the old store: the base, the state of the old store, and the merges in
/// force. A new store finds its pair through its receipt, which is trusted only if that journal agrees.
struct PairRecords {
    let store: StoreLocation
    let surroundings: Surroundings

    /// The folders of the journals with a valid record of the store.
    func folders() throws -> [StateFolder] {
        let own = journals(of: store).filter { standing($0) != nil }
        guard let folder = try Directory.openIfPresent(path: store.folder),
            let receipt = Receipt(beside: store.name, in: folder)
        else { return own }
        let others = try Set(receipt.origins.map(\.old)).sorted().map(StoreLocation.init(path:)).filter { $0 != store }
            .flatMap(journals)
            .filter { journal in
                try standing(journal).map { try receipt.names($0.run.transaction) && namesStore($0) } ?? false
            }
        return own + others
    }

    /// True when the journal itself records this store: any member of the group may write a receipt.
    private func namesStore(_ shared: RunState.SharedRun) throws -> Bool {
        if shared.run.new == store { return true }
        let identity = try Directory.openIfPresent(path: store.folder)?.status(of: store.name)?.identity
        if identity?.mayBe(recorded: shared.completion.new) == true { return true }
        guard let succession = try Succession(of: shared.run.new, surroundings) else { return false }
        return succession.isVerified && succession.store == store
    }

    /// Voids the records of the store, except those for which `isKept` is true.
    ///
    /// Call it before the loss is committed: a crash in between leaves a void record, which is safe. `journal` is the
    /// caller's locked journal, and `home` its folder.
    func void(
        because reason: String,
        holding journal: inout MigrationJournal,
        at home: StateFolder,
        except isKept: (StateFolder, RunState.SharedRun) -> Bool = { _, _ in false }
    ) throws {
        for folder in try folders() {
            guard let shared = standing(folder), !isKept(folder, shared) else { continue }
            if folder.path == home.path {
                try journal.append(.voided(because: reason))
            } else {
                try folder.withJournal(deadline: surroundings.lockDeadline()) { other in
                    guard Self.standing(other.state) != nil else { return }
                    try other.append(.voided(because: reason))
                }
            }
        }
    }

    private func journals(of old: StoreLocation) -> [StateFolder] {
        let beside = StateFolder(of: old, stateFolder: nil)
        return surroundings.stateFolder == nil ? [beside] : [surroundings.stateFolder(of: old), beside]
    }

    /// The run with a valid record in a journal; nil for a journal that cannot be read or trusted.
    private func standing(_ folder: StateFolder) -> RunState.SharedRun? {
        (try? folder.state()).flatMap(Self.standing)
    }

    private static func standing(_ state: RunState) -> RunState.SharedRun? {
        switch state {
        case .shared(let shared): shared
        case .interrupted(let run): run.former
        default: nil
        }
    }
}
