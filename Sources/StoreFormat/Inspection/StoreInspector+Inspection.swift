internal import SafeFiles

extension StoreInspector {
    /// Inspects the store of a view.
    func inspection(of location: StoreLocation, through view: StoreView) throws -> StoreInspection {
        let connection = view.connection
        let listing = try StoreFileListing(of: location, view: view, listsExternalFiles: listsExternalFiles)
        let fence = try StoreFence(reading: connection)
        let content = try ContentSummary(of: connection, counts: depth != .layout, monitor: monitor)
        let digest =
            depth == .digest
            ? try StoreDigest(of: connection, externalData: view.externalData, monitor: monitor) : nil
        return StoreInspection(
            location: location,
            kind: content.kind,
            header: view.header,
            identity: view.status.identity,
            token: view.token,
            mode: view.status.mode,
            owner: view.status.owner,
            group: view.status.group,
            files: listing.files,
            metadata: content.metadata,
            model: content.model,
            modelSource: content.modelSource,
            entities: content.entities,
            joinTables: content.joinTables,
            tables: content.tables,
            history: content.history,
            fence: fence,
            digest: digest,
            findings: listing.findings + content.findings,
            historyTables: content.historyTables,
            externalFiles: listing.externalFiles,
            annotations: content.annotations
        )
    }
}
