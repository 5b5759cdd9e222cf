import SafeFiles
public import StoreFormat
import StoreStrategies

extension Finding.Code {
    /// A strategy says something that only Apple's platforms act on.
    public static let forApplePlatforms = Finding.Code(rawValue: "forApplePlatforms")
    /// A strategy did not apply to a role.
    public static let strategySkipped = Finding.Code(rawValue: "strategySkipped")
    /// A role reads only, and could not open the store unless another program has it open.
    public static let readerNeedsLog = Finding.Code(rawValue: "readerNeedsLog")
    /// Nothing was copied, so that nothing was made to fit the descriptions.
    public static let strategiesNotApplied = Finding.Code(rawValue: "strategiesNotApplied")
    /// A plugin was asked on a kernel that cannot keep it from all that it is to be kept from.
    public static let strategyNotConfined = Finding.Code(rawValue: "strategyNotConfined")
    /// New files in the container will not get its group.
    public static let containerKeepsNoGroup = Finding.Code(rawValue: "containerKeepsNoGroup")
}

/// A store as strategies describe it: how each role opens it, and what has to be done to it for that.
struct DescribedStore {
    let roles: [RoleDescription]
    let treatment: StoreTreatment
    let inspection: StoreInspection
    let findings: [Finding]

    /// Asks the strategies; throws for what does not go together, and for a model that does not fit.
    init(
        _ pipeline: StrategyPipeline,
        of inspection: StoreInspection,
        at new: StoreLocation,
        in container: Directory
    ) throws {
        let folder = try container.status()
        let facts = StoreFacts(
            inspection,
            container: folder,
            isContainerRemote: try container.isOnNetworkFileSystem()
        )
        roles = try pipeline.describe(facts, from: inspection.mirroredDescription(at: new))
        self.inspection = inspection
        treatment = try Self.treatment(roles, inspection)
        for role in roles { try Self.requireFittingModel(role, inspection) }
        findings = Self.findings(pipeline, roles, facts, folder, new, treatment)
    }

    /// How each role opens the store.
    var descriptions: [StoreRole: PersistentStoreDescription] {
        Dictionary(uniqueKeysWithValues: roles.map { ($0.role, $0.description) })
    }

    /// The same by the roles' names.
    var descriptionsByName: [String: PersistentStoreDescription] { descriptions.byRoleName }

    /// The journal mode that the store has when all is done.
    var journalMode: StoreHeader.JournalMode { treatment.journalMode ?? inspection.header.journalMode }

    // MARK: What is to be done

    private static func treatment(_ roles: [RoleDescription], _ inspection: StoreInspection) throws -> StoreTreatment {
        let wanted =
            roles.compactMap(\.description.journalMode).first.map { $0 == "WAL" ? .wal : .rollback }
            ?? inspection.header.journalMode
        let tracks = roles.contains { $0.description.isHistoryTrackingEnabled }
        let rights = roles.flatMap(\.applied).map(\.changes)
        let group = try rights.compactMap(\.posixGroup).first
            .map { name in
                guard let number = try UserGroup.number(of: name) else {
                    throw StrategyError(
                        .invalidOption,
                        "there is no group '\(name)' for \(DescriptionOption.posixGroup)"
                    )
                }
                return number
            }
        return StoreTreatment(
            journalMode: wanted == inspection.header.journalMode ? nil : wanted,
            historyModel: tracks && !inspection.tracksHistory ? inspection.model : nil,
            addedHistory: HistoryTables.all.subtracting(inspection.historyTables.present),
            mode: rights.compactMap(\.posixMode).first,
            group: group
        )
    }

    private static func requireFittingModel(_ role: RoleDescription, _ inspection: StoreInspection) throws {
        guard let path = role.description.modelFile else { return }
        let model: ModelFile
        do {
            model = try ModelFile(path: path)
        } catch {
            throw MigrationError(
                .usage,
                "the model of \(role.role) cannot be read: \(error.message)",
                path: error.path,
                advice: "Name the model that this program carries: a .momd, .mom, .xcdatamodeld or .xcdatamodel.",
                underlyingError: error
            )
        }
        guard model.covers(inspection) else {
            throw MigrationError(
                .incompatible,
                "the store was made with a model that \(role.role) does not carry",
                path: path,
                advice: "Name the model that this program carries, or update the program first."
            )
        }
    }

    /// Throws when a store that is there already, and that others may have open, would have to be changed itself.
    func requireFit(of occupant: StoreInspection?, with status: FileStatus, at new: StoreLocation) throws {
        func refuse(_ what: String, _ command: String) -> MigrationError {
            MigrationError(
                .needsDecision,
                "the store at the new place \(what), and that is not changed while others may have it open",
                path: new.path,
                advice: "Close every program that has it open, then: \(command)"
            )
        }
        let path = "'\(new.path)'"
        if treatment.journalMode != nil || roles.contains(where: { $0.description.journalMode != nil }),
            let occupant, occupant.header.journalMode == .wal, journalMode == .rollback
        {
            throw refuse("is in write-ahead log mode", "sqlite3 \(path) 'PRAGMA journal_mode=DELETE'")
        }
        if let mode = treatment.mode, status.mode & 0o777 != mode {
            throw refuse("has the mode \(PosixMode.text(status.mode & 0o777))", "chmod \(PosixMode.text(mode)) \(path)")
        }
        if let group = treatment.group, status.group != group {
            throw refuse("belongs to the group \(status.group)", "chgrp \(group) \(path)")
        }
    }

    // MARK: What is worth telling

    private static func findings(
        _ pipeline: StrategyPipeline,
        _ roles: [RoleDescription],
        _ facts: StoreFacts,
        _ folder: FileStatus,
        _ new: StoreLocation,
        _ treatment: StoreTreatment
    ) -> [Finding] {
        func note(_ code: Finding.Code, _ severity: Finding.Severity, _ message: String) -> Finding {
            Finding(code, severity, level: .files, message, path: new.path)
        }
        var findings: [Finding] = []
        for step in pipeline.steps where step.strategy.documentation.isForApplePlatforms {
            findings.append(
                note(
                    .forApplePlatforms,
                    .info,
                    "what \(step.strategy.name) says is carried for Apple's platforms; nothing here acts on it"
                )
            )
        }
        for strategy in pipeline.steps.compactMap({ $0.strategy as? any ConfinedStrategy }) {
            guard let things = strategy.unconfined else { continue }
            findings.append(
                note(.strategyNotConfined, .warning, "nothing keeps the plugin \(strategy.name) from \(things) here")
            )
        }
        for role in roles {
            for skipped in role.skipped {
                findings.append(
                    note(
                        .strategySkipped,
                        .info,
                        "\(skipped.strategy) does not apply to \(role.role): \(skipped.reason)"
                    )
                )
            }
        }
        for reader in DescriptionComparison(facts: facts, descriptions: roles).readersWithoutLog {
            findings.append(
                note(
                    .readerNeedsLog,
                    .warning,
                    "\(reader) reads only, and as a user who may not write in the folder it cannot open a store with a "
                        + "log: let its group write there, or keep the store in rollback journal mode"
                )
            )
        }
        if treatment.changesRights, folder.mode & 0o2000 == 0 {
            findings.append(
                note(
                    .containerKeepsNoGroup,
                    .warning,
                    "logs and journals that programs make beside the store get the group of whoever makes them, "
                        + "for their folder does not hand its own on (chmod g+s)"
                )
            )
        }
        return findings
    }
}

extension StoreInspection {
    /// True once history tracking was switched on.
    var tracksHistory: Bool { history != nil && historyTables.areNumbered }

    /// How a program opens the new store when nobody says otherwise: as the old one was opened.
    func mirroredDescription(at new: StoreLocation) -> PersistentStoreDescription {
        var description = PersistentStoreDescription(url: new.url)
        description.sqlitePragmas["journal_mode"] = header.journalMode == .wal ? "WAL" : "DELETE"
        description.isHistoryTrackingEnabled = tracksHistory
        description.posixMode = mode & 0o777
        return description
    }
}

extension StoreFacts {
    /// What an inspection of the old store, and a look at the folder of the new one, tell a strategy.
    fileprivate init(_ inspection: StoreInspection, container: FileStatus, isContainerRemote: Bool) {
        self.init(
            kind: inspection.kind == .coreData ? .coreData : .sqlite,
            journalMode: inspection.header.journalMode == .wal ? .wal : .rollback,
            hasHistory: inspection.tracksHistory,
            hasModel: inspection.modelSource == .modelCache,
            objectCount: inspection.objectCount,
            byteCount: inspection.byteCount,
            externalFileCount: inspection.files.count { $0.role == .externalData },
            mode: inspection.mode & 0o777,
            containerMode: container.mode & 0o7777,
            containerGroup: container.group,
            isContainerRemote: isContainerRemote
        )
    }
}

extension [StoreRole: PersistentStoreDescription] {
    /// The descriptions by the names of their roles, as they are written.
    var byRoleName: [String: PersistentStoreDescription] {
        [String: PersistentStoreDescription](uniqueKeysWithValues: map { ($0.key.description, $0.value) })
    }
}

extension Finding {
    static func strategiesNotApplied(at location: StoreLocation) -> Finding {
        Finding(
            .strategiesNotApplied,
            .warning,
            level: .files,
            "the store at the new place was not copied there by this run, and was not made to fit its descriptions",
            path: location.path
        )
    }
}
