import StoreAccess
import StoreFormat

/// The share of the store at one of several locations, and of the stores that are merged after it.
struct SharesOfPreviousStores {
    let stores: PreviousStores
    /// The share of the store at a location, with its options.
    let engine: (StoreLocation, ShareOptions) -> ShareEngine

    private var new: StoreLocation { stores.new }

    private func chosen() throws -> PreviousStores.Choice {
        if stores.places.count > 1 {
            for place in stores.places { try PlacesCheck(old: place, new: new).require() }
        }
        return try stores.choice()
    }

    private func share(of choice: PreviousStores.Choice) -> ShareEngine {
        var options = stores.options
        let left = choice.left.filter { !$0.inspection.isEmpty }.map(\.location.path)
        if options.onSeveral == .newest, !left.isEmpty { options.storesLeft = left }
        // The run that merged this store may have been interrupted, and is rolled back then.
        if options.onSeveral == .merge, choice.others.contains(where: \.isRecorded) { options.onBoth = .merge }
        return engine(choice.old, options)
    }

    /// The share of a further store: what concerns the new store as a whole is done by the first one.
    private func share(of other: PreviousStores.Candidate) -> ShareEngine {
        var options = stores.options
        options.descriptionsFile = nil
        options.legacyChanges = []
        if options.onSeveral == .merge { options.onBoth = .merge }
        return engine(other.location, options)
    }

    /// Decides what the shares would do, and writes nothing.
    func plan() throws -> SharePlan {
        let choice = try chosen()
        guard choice.undecided.isEmpty else {
            return SharePlan(
                outcome: .needsDecision,
                old: choice.old,
                new: new,
                findings: choice.findings,
                reason: choice.reason,
                next: choice.comparison
            )
        }
        let plan = try share(of: choice).plan()
        guard !plan.outcome.isRefusal else { return plan.adding(choice.findings) }
        let further = try choice.others.map { other in
            let outcome = try forecast(other, after: choice.old)
            guard !outcome.isRefusal else { throw refusal(of: other, outcome) }
            return Finding.used(other.location, "would end with \(outcome.rawValue)")
        }
        return plan.adding(choice.findings + further)
    }

    /// Reports the state of the chosen store and the new one.
    func status() throws -> StatusReport {
        let choice = try stores.choice()
        let engine = share(of: choice)
        return try StatusGatherer(
            old: choice.old,
            new: new,
            options: stores.options,
            surroundings: engine.surroundings
        )
        .report()
        .adding(
            choice.findings + choice.others.map { .used($0.location, "is used with it") },
            deciding: [choice.comparison].compactMap(\.self)
                + choice.undecided.map { .share(old: $0.location.path, new: new.path) }
        )
    }

    /// Shares the chosen store unless that is done, then the others.
    func share() throws -> ShareOutcome {
        let choice = try chosen()
        guard choice.undecided.isEmpty else {
            return ShareOutcome(
                outcome: .needsDecision,
                old: choice.undecided.first.map(\.side),
                findings: choice.findings,
                message: choice.reason,
                next: choice.comparison
            )
        }
        // A merge that needs a decision must stop the run before the first store is shared.
        for other in choice.others where !other.isRecorded {
            let outcome = try forecast(other, after: choice.old)
            guard !outcome.isRefusal else { throw refusal(of: other, outcome) }
        }
        let first = try share(of: choice).share()
        guard !first.outcome.isRefusal else { return first.adding(choice.findings) }
        var others: [ShareOutcome] = []
        for other in choice.others {
            let outcome: ShareOutcome
            do {
                outcome = try share(of: other).share()
            } catch {
                throw MigrationError(error).after(choice.old, of: other.location)
            }
            guard !outcome.outcome.isRefusal else {
                throw MigrationError(
                    outcome.outcome,
                    outcome.message,
                    path: other.location.path,
                    next: outcome.next,
                    findings: outcome.findings
                )
                .after(choice.old, of: other.location)
            }
            others.append(outcome)
        }
        let used = others.map { Finding.used($0.old?.path ?? "", $0.outcome, $0.message) }
        return first.adding(others: others, choice.findings + used)
    }

    /// The outcome of the share of a further store once the first one is shared; throws what would stop it.
    private func forecast(_ other: PreviousStores.Candidate, after first: StoreLocation) throws -> MigrationOutcome {
        let engine = share(of: other)
        guard try engine.gatherer.status(of: new) == nil else { return try engine.plan().outcome }
        let preview = PairMergePreview(
            base: nil,
            from: other.location,
            into: first,
            keepsKeys: false,
            folder: engine.surroundings.stateFolder(of: other.location),
            settings: stores.options.mergeSettings,
            migrates: stores.options.migrates,
            surroundings: engine.surroundings
        )
        do {
            _ = try preview.summary()
        } catch let error as MigrationError {
            // Both become one call: the entities to identify are the same.
            throw error.sharing(old: other.location, new: first).leadingToShare(of: first, to: new)
        }
        return .merged
    }

    private func refusal(of other: PreviousStores.Candidate, _ outcome: MigrationOutcome) -> MigrationError {
        MigrationError(
            outcome,
            "the store cannot be merged into the shared one",
            path: other.location.path,
            next: .status(old: other.location.path, new: new.path)
        )
    }
}

extension PreviousStores.Candidate {
    fileprivate var side: ShareOutcome.Side {
        ShareOutcome.Side(
            path: location.path,
            uuid: inspection.uuid,
            objects: inspection.objectCount,
            digest: nil
        )
    }
}

extension Finding {
    fileprivate static func used(_ path: String, _ outcome: MigrationOutcome, _ message: String) -> Finding {
        Finding(
            .previousStoreUsed,
            .info,
            level: .files,
            "the store at a previous location: \(outcome.rawValue) (\(message))",
            path: path
        )
    }

    fileprivate static func used(_ store: StoreLocation, _ message: String) -> Finding {
        Finding(
            .previousStoreUsed,
            .info,
            level: .files,
            "the store at a previous location \(message)",
            path: store.path
        )
    }
}

extension MigrationError {
    /// The error of a further store, which says that the first one is shared.
    fileprivate func after(_ first: StoreLocation, of other: StoreLocation) -> MigrationError {
        MigrationError(
            outcome == .failed ? .interrupted : outcome,
            "\(first.path) is shared, but \(other.path) is not: \(message)",
            path: path,
            advice: "The first store stays shared. Solve that, then run the same command again.",
            next: next,
            findings: findings,
            report: report,
            underlyingError: underlyingError
        )
    }

    /// The same error, whose next share is that of the first store.
    fileprivate func leadingToShare(of first: StoreLocation, to new: StoreLocation) -> MigrationError {
        guard case .share(_, _, _, let entities, _)? = next else { return self }
        return MigrationError(
            outcome,
            message,
            path: path,
            advice: advice,
            next: .share(old: first.path, new: new.path, identifying: entities),
            findings: findings,
            report: report,
            underlyingError: underlyingError
        )
    }
}
