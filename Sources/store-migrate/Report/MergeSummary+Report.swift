import ChangeMerging
import RunReports
import StoreFormat

extension MergeSummary {
    /// What was merged, and how each conflict was resolved.
    func sections(parked: String?, _ model: ManagedObjectModel?) -> [ReportSection] {
        var blocks: [ReportBlock] = [
            .paragraph(changesNothing ? "Nothing was changed." : ReportSentence.text(amounts))
        ]
        let rows = entities.sorted { $0.key < $1.key }
            .map { name, counts in
                [ReportCell(name, .literal)]
                    + [counts.inserted, counts.restored, counts.updated, counts.deleted]
                    .map { ReportCell(Figures.grouped(Int64($0))) }
            }
        if !rows.isEmpty {
            let columns = ["inserted", "restored", "updated", "deleted"]
                .map { ReportTable.Column($0, isNumeric: true) }
            blocks.append(
                .table(ReportTable("Objects that the merge changed", columns: ["entity"] + columns, rows: rows))
            )
        }
        blocks += notes.map { .paragraph(ReportSentence.text($0.text)) }
        if let parked { blocks.append(.facts([ReportFact("losing rows", ReportCell(parked, .literal))])) }
        return [ReportSection("What was merged", blocks), conflicts.section(model)]
    }
}
