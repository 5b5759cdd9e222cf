import SafeFiles
public import StoreFormat

extension Finding.Code {
    /// What an old and a new store have in common is not known any more; a share compares them as two stores.
    public static let commonStateUnknown = Finding.Code(rawValue: "commonStateUnknown")
}

extension Finding {
    static func commonStateUnknown(at location: StoreLocation) -> Finding {
        Finding(
            .commonStateUnknown,
            .warning,
            level: .content,
            "what this store and the one that it was shared to have in common is not known any more, since a merge was taken"
                + " back or a store replaced; a share compares them as two stores",
            path: location.path
        )
    }
}

extension MigrationError {
    /// A command that needs what both stores of a pair have in common, and a record that is void.
    static func commonStateUnknown(old: StoreLocation, new: StoreLocation) -> MigrationError {
        MigrationError(
            .needsDecision,
            "what the old and the new store have in common is not known any more",
            path: old.path,
            advice:
                "Nothing was changed. Share the old store again first: equal stores are taken up as a pair, others are"
                + " decided about with --on-both.",
            next: .share(old: old.path, new: new.path, flags: [])
        )
    }
}

/// The records of the pairs that a store belongs to.
///
/// A pair is an old store and the new one that it was shared to. Its record is in the journal beside the old store and says
/// what both hold in common: the base, the state of the old store, and the merges that stand. A store finds the pair in which
/// it is the new one by its receipt, which is believed only where that journal agrees.
struct PairRecords {
    let store: StoreLocation
    let options: ShareOptions

    /// The journals in which a record that names the store stands.
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

    /// True where the journal itself says that the run leads to this store: any member of the group may write a receipt.
    private func namesStore(_ shared: RunState.SharedRun) throws -> Bool {
        if shared.run.new == store { return true }
        let identity = try Directory.openIfPresent(path: store.folder)?.status(of: store.name)?.identity
        if identity?.mayBe(recorded: shared.completion.new) == true { return true }
        guard let succession = try Succession(of: shared.run.new, options: options) else { return false }
        return succession.isVerified && succession.store == store
    }

    /// Voids the records that name the store, but for those that `isKept` holds true.
    ///
    /// Call it before what the store loses is committed: a crash in between leaves a void record, which is safe. `journal` is
    /// the one that the caller has locked, and `home` its folder.
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
                try folder.withJournal(deadline: Deadline(after: options.effectiveLockTimeout)) { other in
                    guard Self.standing(other.state) != nil else { return }
                    try other.append(.voided(because: reason))
                }
            }
        }
    }

    private func journals(of old: StoreLocation) -> [StateFolder] {
        let beside = StateFolder(of: old, stateFolder: nil)
        guard let chosen = options.stateFolder else { return [beside] }
        return [StateFolder(of: old, stateFolder: chosen), beside]
    }

    /// The run whose record stands in a journal; a journal that cannot be read or trusted records nothing.
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
