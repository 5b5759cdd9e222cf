/// Compares the descriptions of all roles of one store with each other and with the store.
package struct DescriptionComparison {
    let facts: StoreFacts
    let descriptions: [RoleDescription]

    package init(facts: StoreFacts, descriptions: [RoleDescription]) {
        self.facts = facts
        self.descriptions = descriptions
    }

    /// Throws for the first pair of roles that cannot use the store together.
    ///
    /// A store has one journal mode, one mode and one group. A store that keeps a history is silently read-only for a
    /// program that does not track it.
    package func requireAgreement() throws(StrategyError) {
        for (option, value) in Self.common {
            var first: (role: StoreRole, value: String)?
            for entry in descriptions {
                guard let own = value(entry.description) else { continue }
                if let first, first.value != own {
                    throw StrategyError(
                        .disagreement,
                        "\(option) is \(first.value) for \(first.role) and \(own) for \(entry.role), and a store has only one"
                    )
                }
                first = first ?? (entry.role, own)
            }
        }
        try requireHistoryWhereItIsKept()
    }

    private func requireHistoryWhereItIsKept() throws(StrategyError) {
        let tracking = descriptions.first { $0.description.isHistoryTrackingEnabled }
        if let tracking, facts.kind != .coreData {
            throw StrategyError(
                .disagreement,
                "\(DescriptionOption.isHistoryTrackingEnabled) is true for \(tracking.role), and only stores that Core Data "
                    + "made keep a history"
            )
        }
        guard facts.hasHistory || tracking != nil,
            let trapped = descriptions.first(where: {
                !$0.description.isHistoryTrackingEnabled && !$0.description.isReadOnly
            })
        else { return }
        let keeper = tracking.map { "\($0.role) tracks it" } ?? "the store keeps one"
        throw StrategyError(
            .disagreement,
            "\(DescriptionOption.isHistoryTrackingEnabled) is false for \(trapped.role), and \(keeper): its store would silently be read-only"
        )
    }

    /// The read-only roles that cannot open a store with a log in a folder in which they may not write.
    ///
    /// SQLite creates the log's index beside the store even to read. The user that a role runs as is not known here, so the
    /// permissions of the folder's group decide, never those of its owner.
    package var readersWithoutLog: [StoreRole] {
        guard facts.containerMode & 0o020 == 0 else { return [] }
        return descriptions.filter { $0.description.isReadOnly && $0.description.isLogged(facts) }.map(\.role)
    }

    private static let common: [(DescriptionOption, @Sendable (PersistentStoreDescription) -> String?)] = [
        (.journalMode, { $0.journalMode }),
        (.posixMode, { $0.posixMode.map(PosixMode.text) }),
        (.posixGroup, { $0.posixGroup }),
        (.isExcludedFromBackup, { String($0.isExcludedFromBackup) }),
        (.fileProtection, { $0.fileProtection?.rawValue }),
    ]
}

extension PersistentStoreDescription {
    /// The requested journal mode, in upper case; nil when the store keeps its own.
    public var journalMode: String? {
        sqlitePragmas.first { $0.key.lowercased() == "journal_mode" }?.value.uppercased()
    }

    fileprivate func isLogged(_ facts: StoreFacts) -> Bool {
        journalMode.map { $0 == "WAL" } ?? (facts.journalMode == .wal)
    }
}
