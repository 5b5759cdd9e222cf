import ChangeMerging
import SafeFiles
import StoreAccess
import TestSupport

/// A plain SQLite database, and two copies of it that are changed independently.
final class PlainTriple {
    let folder: ScratchFolder
    private var connections: [String: StoreConnection] = [:]
    private(set) var parked: [ParkedRow] = []

    init(_ sql: String) throws {
        folder = try ScratchFolder()
        try folder.makeStore(sql, as: "base")
        for name in ["old", "shared"] { try folder.write(name, try folder.bytes("base")) }
    }

    func connection(_ name: String) throws -> StoreConnection {
        if let connection = connections[name] { return connection }
        let connection = try folder.open(name)
        try connection.execute("PRAGMA synchronous=OFF")
        connections[name] = connection
        return connection
    }

    func execute(_ sql: String, in name: String) throws { try connection(name).execute(sql) }

    func plan(
        _ settings: MergeSettings = MergeSettings(),
        hasBase: Bool = true,
        from old: String = "old",
        into shared: String = "shared"
    ) throws -> any PlannedMerge {
        try StoreMerger(
            base: hasBase ? MergePlace(connection("base")) : nil,
            old: MergePlace(connection(old)),
            shared: MergePlace(connection(shared)),
            settings: settings
        )
        .plan()
    }

    @discardableResult
    func merge(
        _ settings: MergeSettings = MergeSettings(),
        epoch: String = "1",
        hasBase: Bool = true,
        from old: String = "old",
        into shared: String = "shared",
        record: ((StoreConnection) throws -> any MergeRecording)? = nil
    ) throws -> (summary: MergeSummary, result: MergeResult) {
        let plan = try plan(settings, hasBase: hasBase, from: old, into: shared)
        let result = try plan.carryOut(
            MergeRun(
                epoch: epoch,
                deadline: Deadline(after: .seconds(60)),
                park: { self.parked.append($0) },
                record: record
            )
        )
        return (plan.summary.excluding(result.rejections), result)
    }

    /// Rows as SQL literals, one text per row.
    func rows(_ sql: String, in name: String = "shared") throws -> [String] {
        var found: [String] = []
        try connection(name)
            .forEachRow(sql) { row in
                let values = (0..<row.columnCount)
                    .map { index -> String in
                        switch row.value(index) {
                        case .null: "-"
                        case .integer(let number): String(number)
                        case .real(let number): String(number)
                        case .text(let text): text.description
                        case .blob(let bytes): "\(bytes)"
                        case .large(let value): "\(value.byteCount) bytes"
                        }
                    }
                found.append(values.joined(separator: " "))
            }
        return found
    }

    /// The content of the shared store, read by a separate connection.
    func digest(_ name: String = "shared") throws -> StoreDigest {
        try StoreDigest(of: connection(name), externalData: nil)
    }
}
