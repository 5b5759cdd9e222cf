import SafeFiles
import StoreFormat
import StoreVerification

/// Proves a copy, and tells what was wrong with the original already from what the copy lost.
struct StoreProver {
    let options: ShareOptions
    let monitor: WorkMonitor

    private static let structural: [VerificationLevel] = [.files, .sqlite, .coredata]

    /// Proves the levels up to `coredata` on `image`, which nobody else has.
    ///
    /// The original is asked only when something was found: what it had already is inherited. Damaged pages are never.
    /// Findings name `place`, where the image is or will be.
    func prove(
        _ image: StoreConnection,
        at location: StoreLocation,
        as place: StoreLocation,
        externalData: Directory?,
        comparingWith original: StoreConnection?
    ) throws -> StoreProof {
        monitor.report(.proving, 0, of: 0)
        var proof = StoreProof()
        let verifier = StoreVerifier(monitor: monitor)
        let isCoreData = try image.isCoreDataStore()
        for level in Self.structural where level <= options.level {
            if level == .coredata, !isCoreData {
                proof.levels.append(
                    VerificationReport.LevelResult(
                        level: level,
                        status: .skipped,
                        reason: "a plain SQLite store",
                        seconds: 0
                    )
                )
                continue
            }
            try monitor.checkCancellation()
            let start = ContinuousClock.now
            var findings = try verifier.findings(
                in: image,
                location: location,
                externalData: externalData,
                level: level
            )
            if findings.contains(where: { $0.severity >= .warning }), let original, level != .files {
                let before = try verifier.findings(
                    in: original,
                    location: original.location,
                    externalData: externalData,
                    level: level
                )
                findings = VerificationReport(levels: [], findings: findings).inheriting(from: before).findings
            }
            findings = findings.map { $0.moved(from: location, externalData, to: place) }
            proof.findings += findings
            try close(level, of: &proof, findings: findings, since: start)
        }
        return proof
    }

    /// Compares the content of a copy with its original; both must be at rest or pinned.
    ///
    /// `externalFiles` is the digest of the copy's external files; `differingFiles` are those that were compared with the
    /// original's and differ.
    func compare(
        _ proof: inout StoreProof,
        copy: StoreConnection,
        original: StoreConnection,
        externalFiles: String?,
        differingFiles: [String]
    ) throws {
        let start = ContinuousClock.now
        let digests = try DigestPair(copy: copy, original: original, externalFiles: externalFiles, monitor: monitor)
        var findings: [Finding] = []
        if digests.copy.value != digests.original.value {
            findings = try StoreVerifier(monitor: monitor)
                .differences(of: digests.copy, from: digests.original, in: copy)
        }
        findings += differingFiles.map { .externalFileDiffers($0) }
        proof.findings += findings
        proof.digest = digests.original
        try close(.content, of: &proof, findings: findings, since: start)
    }

    /// Takes the content digest of a copy whose bytes are compared with the original's under its lock.
    func takeDigest(_ proof: inout StoreProof, of copy: StoreConnection, externalFiles: String?) throws {
        let start = ContinuousClock.now
        proof.digest = try StoreDigest(of: copy, externalFiles: externalFiles, monitor: monitor)
        try close(.content, of: &proof, findings: [], since: start)
    }

    private func close(
        _ level: VerificationLevel,
        of proof: inout StoreProof,
        findings: [Finding],
        since start: ContinuousClock.Instant
    ) throws {
        let failures = findings.filter { $0.severity == .error }
        let seconds = start.duration(to: .now) / .seconds(1)
        proof.levels.append(
            VerificationReport.LevelResult(
                level: level,
                status: failures.isEmpty ? .passed : .failed,
                seconds: seconds
            )
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
    /// The same finding about the place that a staged file is on its way to.
    fileprivate func moved(from location: StoreLocation, _ externalData: Directory?, to place: StoreLocation) -> Finding
    {
        guard let path else { return self }
        let target = "\(place.folder)/\(place.supportFolderName)/\(StoreLocation.externalDataFolderName)"
        var finding = self
        for (from, to) in [(externalData?.path, target), (location.folder, place.folder)] {
            guard let from, path.hasPrefix(from + "/") else { continue }
            finding.path = to + path.dropFirst(from.utf8.count)
            break
        }
        return finding
    }

    fileprivate static func externalFileDiffers(_ name: String) -> Finding {
        Finding(.externalFilesDiffer, .error, level: .content, "the copy of external file \(name) differs from it")
    }
}
