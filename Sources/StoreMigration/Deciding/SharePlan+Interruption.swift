import StoreAccess

extension SharePlan {
    /// The plan when an earlier run was interrupted.
    ///
    /// `place` is the store whose journal records the run: the old one by default.
    init(
        interrupted run: RunState.InterruptedRun,
        over place: StoreLocation? = nil,
        old: StoreLocation,
        new: StoreLocation
    ) {
        let place = place ?? old
        self.init(
            outcome: .interrupted,
            old: old,
            new: new,
            findings: [.interrupted(run, at: place)],
            reason: "an earlier run was interrupted; a share finishes it or rolls it back first",
            next: .resume(old: place.path)
        )
    }

    /// The plan while the processes `holders` work on a run.
    init(atWork transaction: String, _ holders: [Int32], old: StoreLocation, new: StoreLocation) {
        self.init(
            outcome: .busy,
            old: old,
            new: new,
            findings: [.atWork(transaction, holders, at: old)],
            reason: "another run over this store is at work",
            next: .status(old: old.path, new: new.path)
        )
    }
}
