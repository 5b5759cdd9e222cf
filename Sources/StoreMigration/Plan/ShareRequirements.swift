import SafeFiles
import StoreFormat
import SystemPackage

/// What a run needs before it begins: asked by plans too, so that they end as the run would.
///
/// Nothing is written to find out; what changes afterwards is told by whatever fails then.
struct ShareRequirements {
    let old: StoreLocation
    let new: StoreLocation
    let options: ShareOptions

    /// Throws what would stop a run that carries out `plan`.
    func require(_ plan: SharePlan, _ described: DescribedStore?, occupant: StoreInspection?) throws {
        try StateFolder(of: old, stateFolder: options.stateFolder).requireWritable()
        let container = try RunContext.openContainer(new)
        try requireTrusted(container)
        guard try container.allowsWriting() else {
            throw MigrationError(
                .notWritable,
                "the folder of the new store cannot be written by this user",
                path: new.folder,
                advice: "Run as its owner, or let this user write it: chmod or setfacl."
            )
        }
        try requireWritableOld(plan)
        guard let described else { return }
        if let group = described.treatment.group, plan.copies, !UserGroup.mayBeGiven(group) {
            throw MigrationError.notGiven(to: group, path: new.path)
        }
        if plan.steps.contains(where: { $0.action == .replaceContent }),
            let status = try container.status(of: new.name)
        {
            try described.requireFit(of: occupant, with: status)
        }
    }

    /// Throws for a container on a file system whose locks cannot be trusted, unless the caller says otherwise.
    func requireTrusted(_ container: Directory) throws {
        guard !options.allowsNetworkFileSystem, try container.isOnNetworkFileSystem() else { return }
        throw UnreadableStore(
            .networkFileSystem,
            path: new.folder,
            detail: "the container is on a network file system"
        )
    }

    private func requireWritableOld(_ plan: SharePlan) throws {
        guard options.oldStore == .fence, plan.steps.contains(where: { $0.action == .fence }) else { return }
        guard try !Directory.open(path: old.folder).allowsWriting(old.name) else { return }
        throw MigrationError.oldNotWritable("this user may only read it", path: old.path)
    }
}

extension MigrationError {
    /// An old store that cannot be fenced.
    static func oldNotWritable(_ reason: String, path: String, _ cause: (any Error)? = nil) -> MigrationError {
        MigrationError(
            .notWritable,
            "the old store cannot be written: \(reason)",
            path: path,
            advice: "Run as its owner, or pass --old capture --state DIR to copy it without a fence.",
            underlyingError: cause
        )
    }

    /// Files that this user may not give to a group.
    static func notGiven(to group: UInt32, path: String, _ cause: (any Error)? = nil) -> MigrationError {
        MigrationError(
            .notWritable,
            "the files cannot be given to the group \(group), of which this user is no member",
            path: path,
            advice: "Run as a member of the group, or name another one.",
            underlyingError: cause
        )
    }
}

extension SharePlan {
    /// True when it copies the old store.
    var copies: Bool { steps.contains { $0.action == .publish || $0.action == .replaceContent } }
}
