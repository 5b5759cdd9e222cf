extension StoreInspection {
    /// The same inspection of a store that lies in an archive, told as one at `location`.
    ///
    /// What its files need no more is left out: a copy that was made whole has no log beside it.
    package func archived(at location: StoreLocation) -> StoreInspection {
        StoreInspection(
            location: location,
            kind: kind,
            header: header,
            identity: identity,
            token: token,
            mode: mode,
            owner: owner,
            group: group,
            files: files,
            metadata: metadata,
            model: model,
            modelSource: modelSource,
            entities: entities,
            joinTables: joinTables,
            tables: tables,
            history: history,
            fence: fence,
            digest: digest,
            findings: findings.filter { $0.code != .walHeaderWithoutLog }
                .map { finding in
                    var finding = finding
                    let folder = self.location.folder + "/"
                    if let path = finding.path, path.hasPrefix(folder) {
                        finding.path = location.folder + "/" + path.dropFirst(folder.count)
                    }
                    return finding
                },
            historyTables: historyTables,
            externalFiles: externalFiles
        )
    }
}
