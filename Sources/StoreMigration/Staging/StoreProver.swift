import MergeProbing
import SafeFiles
import StoreAccess
import StoreFormat
import StoreVerification

/// Proves a copy, and separates defects that the original had from those of the copy.
struct StoreProver {
    /// How the content of the copy is proved.
    enum Content {
        case nothing
        /// The digest is taken; the bytes are compared elsewhere.
        case digest
        /// The content is compared with `original`, which is at rest or pinned. The external files are compared after
        /// their digest is taken, so that one of the two detects any change.
        case comparison(original: StoreConnection, differingFiles: () throws -> [String])
    }

    let level: VerificationLevel
    /// Proves the level `merging`; nil to skip it.
    var probe: MergeProbe?
    let monitor: WorkMonitor

    private static let plain = "a plain SQLite store"
    private static let structural: [VerificationLevel] = [.files, .sqlite, .coredata]

    /// Proves the levels up to `coredata` on `image`, which is private, and its content according to `content`.
    ///
    /// With `proof`, which is valid for `image`, only the content is proved. The original is checked only for levels
    /// with findings: those it has too are inherited, except damaged pages. `externalFiles` is the digest of the copy's
    /// external files. `addedHistory` names the history tables that only the copy has; nil when history was not
    /// switched on. Findings name `place`, the image's final location.
    func prove(
        _ image: StoreConnection,
        at location: StoreLocation,
        as place: StoreLocation,
        externalData: Directory?,
        comparingWith original: StoreConnection?,
        continuing proof: StoreProof? = nil,
        content: Content = .nothing,
        externalFiles: @autoclosure () throws -> String? = nil,
        leavingOut addedHistory: Set<String>? = nil
    ) throws -> StoreProof {
        monitor.report(.proving, 0, of: 0)
        try monitor.checkCancellation()
        let isCoreData = try image.isCoreDataStore()
        let wanted = Self.structural.filter { $0 <= self.level && proof == nil }
        let reading = CopyReading(
            image,
            location: location,
            externalData: externalData,
            levels: wanted.filter { $0 != .coredata || isCoreData },
            content: try reading(content, externalFiles),
            monitor: monitor
        )
        var result = proof ?? StoreProof()
        for level in try reading.levels() {
            var findings = level.findings
            if let original, level.level != .files, findings.contains(where: { $0.severity >= .warning }) {
                let before = try StoreVerifier(monitor: monitor)
                    .findings(
                        in: original,
                        location: original.location,
                        externalData: externalData,
                        level: level.level
                    )
                findings = findings.inheriting(from: before)
            }
            findings = findings.map { $0.moved(from: location, externalData, to: place) }
            try close(level.level, of: &result, findings: findings, seconds: level.seconds)
        }
        if wanted.contains(.coredata), !isCoreData {
            result.levels.append(
                .init(level: .coredata, status: .skipped, reason: Self.plain, seconds: 0)
            )
        }
        try close(content, of: &result, reading, image, leavingOut: addedHistory)
        try proveMerging(image, isCoreData, as: place, &result)
        return result
    }

    /// Proves on a scratch copy, once in a run, that changes travel between the programs.
    private func proveMerging(
        _ image: StoreConnection,
        _ isCoreData: Bool,
        as place: StoreLocation,
        _ proof: inout StoreProof
    ) throws {
        guard let probe, self.level >= .merging, !proof.levels.contains(where: { $0.level == .merging }) else {
            return
        }
        guard isCoreData else {
            proof.levels.append(.init(level: .merging, status: .skipped, reason: Self.plain, seconds: 0))
            return
        }
        switch try probe.outcome(of: image, at: place, lateWritesTo: image, monitor: monitor) {
        case .tried(let report):
            proof.probe = report
            // A problem of a later merge does not invalidate the share.
            let findings = report.findings.map { $0.isAboutLateWrites ? $0.lowered(to: .warning) : $0 }
            try close(.merging, of: &proof, findings: findings, seconds: report.seconds)
        case .inapplicable(let reason):
            proof.levels.append(.init(level: .merging, status: .skipped, reason: reason, seconds: 0))
        case .impossible(let reason):
            proof.levels.append(.init(level: .merging, status: .skipped, reason: reason, seconds: 0))
            proof.findings.append(.mergingNotTried(reason, at: place))
        }
    }

    private func reading(
        _ content: Content,
        _ externalFiles: () throws -> String?
    ) throws -> CopyReading.Content {
        switch content {
        case .nothing: .nothing
        case .digest: .copy(externalFiles: try externalFiles())
        case .comparison(let original, _): .both(original: original, externalFiles: try externalFiles())
        }
    }

    /// Compares the digests.
    private func close(
        _ content: Content,
        of proof: inout StoreProof,
        _ reading: CopyReading,
        _ image: StoreConnection,
        leavingOut addedHistory: Set<String>?
    ) throws {
        guard var copy = try reading.copyDigest() else { return }
        if let addedHistory {
            proof.copyDigest = copy
            copy = try copy.leavingOutHistory(addedHistory, of: image)
        }
        var findings: [Finding] = []
        if case .comparison(_, let differingFiles) = content {
            if let original = try reading.originalDigest(), copy.value != original.value {
                findings = try StoreVerifier(monitor: monitor).differences(of: copy, from: original, in: image)
            }
            findings += try differingFiles().map { .externalFileDiffers($0) }
        }
        proof.digest = copy
        try close(.content, of: &proof, findings: findings, seconds: reading.contentSeconds)
    }

    private func close(
        _ level: VerificationLevel,
        of proof: inout StoreProof,
        findings: [Finding],
        seconds: Double
    ) throws {
        proof.findings += findings
        let failures = findings.filter { $0.severity == .error }
        proof.levels.append(
            .init(level: level, status: failures.isEmpty ? .passed : .failed, seconds: seconds)
        )
        guard let first = failures.first else { return }
        throw MigrationError(
            .verificationFailed,
            "the copy failed at level \(level): \(first.message)",
            path: first.path ?? "",
            findings: proof.findings,
            report: proof.findings
        )
    }
}

extension StoreConnection {
    /// True when the store has Core Data's metadata table.
    func isCoreDataStore() throws -> Bool {
        try value("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'Z_METADATA'") != nil
    }
}

extension Finding {
    /// The same finding with the staged file's final path.
    func moved(from location: StoreLocation, _ externalData: Directory?, to place: StoreLocation) -> Finding {
        guard let path else { return self }
        let target = "\(place.folder)/\(place.supportFolderName)/\(StoreLocation.externalDataFolderName)"
        var finding = self
        for (from, to) in [(externalData?.path, target), (location.folder, place.folder)] {
            // Paths are compared as bytes: Swift treats canonically equivalent names as equal.
            guard let from, path.utf8.starts(with: (from + "/").utf8) else { continue }
            finding.path = to + String(decoding: path.utf8.dropFirst(from.utf8.count), as: UTF8.self)
            break
        }
        return finding
    }

    fileprivate static func externalFileDiffers(_ name: String) -> Finding {
        Finding(.externalFilesDiffer, .error, level: .content, "external file \(name) differs in the copy")
    }
}

/// The results of the proof so far.
struct StoreProof {
    /// How each level ended.
    var levels: [VerificationReport.LevelResult] = []
    var findings: [Finding] = []
    /// The content digest of the copy, once compared with the original's.
    var digest: StoreDigest?
    /// The digest of the copy with the history tables that the original lacks.
    var copyDigest: StoreDigest?
    /// The report of the level `merging`.
    var probe: MergeProbeReport?

    /// The same proof without its content level, which is invalid once the copy changed.
    var withoutContent: StoreProof {
        StoreProof(levels: levels.filter { $0.level != .content }, findings: findings, probe: probe)
    }

    var report: VerificationReport {
        VerificationReport(levels: levels, findings: findings, digest: digest, probe: probe)
    }
}
