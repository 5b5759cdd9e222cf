import ChangeMerging
import FoundationEssentials
import SafeFiles
import StoreAccess

/// The last merge of the same source into a store, which a repeated merge continues.
struct FormerMerge {
    private let merging: JournalRecord.Merging
    private let from: StoreLocation
    private let into: StoreLocation
    private let options: MergeOptions
    private let journal: StateFolder

    /// Nil if no such merge is in force.
    ///
    /// Throws if the receiving store was replaced since, and has the rows of the merge or not: with the same base, a repetition
    /// would insert them twice, or bring deleted ones back.
    init?(
        of from: StoreLocation,
        into: StoreLocation,
        options: MergeOptions,
        records: [JournalRecord],
        in journal: StateFolder
    ) throws {
        let state = MergeState(records)
        guard let source = try Self.identity(of: from),
            let merging = state.last(of: source, at: from, into: into)
        else { return nil }
        guard try state.isCertain(merging, JournalRecord.Receiver(into)) else {
            guard let base = options.base?.path, base == merging.source?.base else { return nil }
            throw MigrationError(
                .needsDecision,
                "the receiving store was replaced after an earlier merge with this base, and may have the rows of that merge",
                path: into.path,
                advice:
                    "Nothing was merged. Name a copy of what both stores have in common now as the base, or merge by"
                    + " identities, without a base.",
                next: .diff(from.path, into.path)
            )
        }
        (self.merging, self.from, self.into, self.options, self.journal) = (merging, from, into, options, journal)
    }

    static func identity(of source: StoreLocation) throws -> FileIdentity? {
        try Directory.open(path: source.folder).status(of: source.name)?.identity
    }

    /// True when the source is unchanged since; throws when its former state must be the base now.
    func isUnchanged() throws -> Bool {
        guard let source = merging.source else { return false }
        let reading = TokenReading(token: source.token, takenAt: source.takenAt)
        if try OldStateRecorder.isUnchanged(reading, at: from, in: Directory.open(path: from.folder)) {
            guard source.choices != options.choices || source.base != options.base?.path else { return true }
            throw MigrationError(
                .needsDecision,
                "the store was merged before with other options or another base",
                path: from.path,
                advice: "Nothing was merged. Undo the earlier merge first with the unmerge command.",
                next: .unmerge(into: into.path)
            )
        }
        guard options.base?.path != source.base else {
            throw MigrationError(
                .needsDecision,
                "the store was merged before and changed since: its former state must be the base now",
                path: from.path,
                advice:
                    "Nothing was merged. Name a copy of that state as the base, or undo the earlier merge first.",
                next: .unmerge(into: into.path)
            )
        }
        return false
    }

    /// The objects whose keys the merge changed.
    func moved() throws -> [RekeyedObject] {
        try RekeyedLines.all(
            in: journal.open(),
            named: MergeRecords.name(of: .rekeyed, merging.epoch),
            digest: merging.addresses
        )
    }
}

extension MergeOptions {
    /// The options that decide about the result, as one string: others may produce another result.
    var choices: String {
        let policies = settings.policies.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.rawValue)" }
        let identities = settings.identities.sorted { $0.key < $1.key }
            .map { "\($0.key)=\($0.value.joined(separator: ","))" }
        let resolver = settings.resolver == nil ? [] : ["resolver"]
        return ([settings.policy.rawValue, "\(settings.source)"] + policies + identities + resolver)
            .joined(separator: " ")
    }
}
