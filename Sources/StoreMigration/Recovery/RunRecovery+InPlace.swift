import SafeFiles
import StoreFormat

extension RunRecovery {
    /// Finishes a restore or a migration whose content is in place: there is no old store to fence and no receipt to
    /// write.
    func finishInPlace(_ journal: inout MigrationJournal) throws {
        let place = run.run.new
        guard let container = try gatherer.folder(of: place), let status = try container.status(of: place.name) else {
            throw MigrationError(.interrupted, "the published store is missing", path: place.path)
        }
        try secure(status.identity, in: container, &journal)
        // A file that a program has written to since may differ; an untouched file must equal the backup.
        if let digest = run.run.restores, let publication = run.publication, status.size == publication.size,
            status.modified == publication.modified, try !container.token(of: place.name).hasUnfinishedWork,
            try gatherer.digest(of: place) != digest
        {
            throw MigrationError(
                .verificationFailed,
                "the restored store differs from the backup",
                path: place.path,
                advice: "Check the disk, then restore again with the overwrite policy always.",
                next: .verify(store: place.path)
            )
        }
        try tidy(container)
        try nest(in: container)?.remove()
        try journal.append(run.run.migratesInPlace ? .migrated : .restored)
    }
}
