import ChangeMerging
import SafeFiles
import StoreFormat

/// What a plan that merges is asked before it is told: whether the merge would be made.
extension ShareEngine {
    /// Throws what would stop the merge of a run; nothing is written.
    func requireMergeable(_ state: RunState) throws {
        guard let base = state.base else { return try requireMergeable(base: nil, moved: []) }
        let folder = try StateFolder(of: old, stateFolder: options.stateFolder).open()
        let connection = try CapturedBase.open(base, in: folder)
        try connection.beginReading()
        let moved = try base.addresses.map { try RekeyedLines.all(in: folder, named: $0) } ?? []
        try requireMergeable(base: MergePlace(connection), moved: moved)
    }

    private func requireMergeable(base: MergePlace?, moved: [RekeyedObject]) throws {
        var settings = options.merging
        settings.source = .scan
        try gatherer.reader.withView(of: old) { oldView in
            let place = try MergePlace(pinning: oldView)
            try gatherer.reader.withView(of: new) { newView in
                let step = MergeStep(
                    base: base.map { MergePlace($0.connection, externalData: oldView.externalData) },
                    old: place,
                    into: new,
                    moved: moved,
                    settings: settings,
                    lockTimeout: options.effectiveLockTimeout,
                    monitor: monitor
                )
                let summary = try step.summary(
                    of: MergePlace(newView.connection, externalData: newView.externalData)
                )
                if let error = MigrationError(refusing: summary, path: new.path) { throw error }
            }
        }
    }
}
