extension StoreInspection {
    /// The same inspection for a store in an archive, under the path `location`.
    ///
    /// Files that an archive does not need are omitted: a complete copy has no log.
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
            externalFiles: externalFiles,
            annotations: annotations
        )
    }
}
