import ChangeMerging
import StoreFormat
import StoreMigration

extension MergeVerb {
    /// Merges two stores, or plans that.
    func merge(_ from: PathArgument, into: PathArgument, _ page: RunReport, _ reporter: Reporter) throws -> Ending {
        page.count("INTO before", into.location, run.access)
        page.begin("planning")
        let merger = StoreMerging(
            from.url,
            into: into.url,
            options: try options,
            logger: reporter.logger,
            onProgress: page.onProgress,
            isCancelled: reporter.isCancelled
        )
        let outcome = try dryRun ? merger.planAndWait() : merger.mergeAndWait()
        page.finish(counting: [("FROM", from.location), ("INTO now", into.location)], run.access)
        page.tell(outcome, into: into.location, from: from.location)
        return reporter.show(outcome, into: into.path, from: from.path, isStrict: strict)
    }

    private var options: MergeOptions {
        get throws {
            let common = run.shareOptions
            var options = MergeOptions()
            options.settings = merging.settings
            options.resolver = try confinement.resolver(merging)
            if scan { options.settings.source = .scan }
            options.base = base?.url
            options.level = level
            options.lockTimeout = run.patience
            options.stateFolder = common.stateFolder
            options.allowsNetworkFileSystem = common.allowsNetworkFileSystem
            return options
        }
    }

    /// Restores rows that a merge parked in a file.
    func restore(_ file: PathArgument, into: PathArgument, _ reporter: Reporter) throws -> Ending {
        var options = MergeOptions()
        options.lockTimeout = run.patience
        let outcome = try ParkedRowRestoring(from: file.url, into: into.url, options: options).restoreAndWait()
        reporter.report(outcome.findings)
        reporter.result(
            reporter.style.green("Put back")
                + ": \(outcome.updated) overwritten, \(outcome.inserted) inserted again in \(Escaped.text(into.path))",
            record: .object([
                ("type", .string("parkedRows")), ("into", .string(into.path)), ("file", .string(file.path)),
                ("updated", .integer(Int64(outcome.updated))), ("inserted", .integer(Int64(outcome.inserted))),
                ("left", .integer(Int64(outcome.findings.count))),
            ])
        )
        let ending = Ending(.done, findings: outcome.findings.count, members: Self.summaryOnUsage)
        return outcome.findings.isEmpty ? ending : ending.failing(.findings)
    }
}
