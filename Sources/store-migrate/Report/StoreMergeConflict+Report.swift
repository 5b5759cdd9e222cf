import ChangeMerging
import FoundationEssentials
import RunReports
import StoreFormat

extension [StoreMergeConflict] {
    /// The most conflicts on a page; `--json` reports all of them.
    private static let mostInReport = 1000

    /// Every resolved conflict with the values of both sides; `model` gives the types, such as dates.
    func section(_ model: ManagedObjectModel?) -> ReportSection {
        guard !isEmpty else { return ReportSection("Conflicts", []) }
        let rest = count - Self.mostInReport
        let caption = "The value that was taken is underlined"
        return ReportSection(
            "Conflicts",
            [
                .table(
                    ReportTable(
                        rest > 0 ? caption + "; the first \(Self.mostInReport) of \(count)" : caption,
                        columns: ["object", "property", "before", "old store", "shared store", "taken", "by", "why"],
                        rows: prefix(Self.mostInReport).map { $0.row(model) }
                    )
                )
            ]
        )
    }
}

extension StoreMergeConflict {
    fileprivate func row(_ model: ManagedObjectModel?) -> [ReportCell] {
        let type = property.flatMap { model?.type(of: $0, in: entity) }
        return [
            ReportCell("\(entity)/\(key.map(\.text).joined(separator: ","))", .literal),
            ReportCell(property ?? "the whole object", property == nil ? .text : .literal),
            base?.cell(type, isTaken: false) ?? "",
            old.cell(type, isTaken: taken == .old), shared.cell(type, isTaken: taken == .shared),
            given?.cell(type, isTaken: true) ?? ReportCell(taken.name), ReportCell(isResolved ? "resolver" : "policy"),
            ReportCell(reason.meaning),
        ]
    }
}

extension StoreMergeConflict.Reason {
    fileprivate var meaning: String {
        switch self {
        case .bothChanged: "both stores changed the value"
        case .editedAndDeleted: "one store deleted the object, the other changed it"
        case .uniqueValues: "a different object has the unique values"
        case .partnerGone: "it refers to a deleted object"
        case .propertyLacking: "the shared store has no such property"
        case .constraint: "a constraint of the shared store's table rejects the values"
        }
    }
}

extension StoreMergeConflict.State {
    fileprivate func cell(_ type: AttributeDescription.AttributeType?, isTaken: Bool) -> ReportCell {
        let text: String
        switch self {
        case .value(let value): return ReportCell(value.text(as: type), .literal, isChosen: isTaken)
        case .large(let count): text = Figures.bytes(Int64(count))
        case .partner(let key): text = key.map { "object \($0)" } ?? "no object"
        case .deleted: text = "deleted"
        case .present: text = "present"
        }
        return ReportCell(text, isChosen: isTaken)
    }
}

extension StoredValue {
    /// The value in its attribute's type: Core Data stores dates, booleans and UUIDs as numbers and bytes.
    fileprivate func text(as type: AttributeDescription.AttributeType?) -> String {
        switch (type, self) {
        case (.date, .real(let seconds)): date(seconds) ?? text
        case (.date, .integer(let seconds)): date(Double(seconds)) ?? text
        case (.boolean, .integer(0)): "false"
        case (.boolean, .integer(1)): "true"
        case (.uuid, .bytes(let value)) where value.bytes.count == 16: Self.uuid(value.bytes)
        default: text
        }
    }

    private func date(_ seconds: Double) -> String? {
        DateText.text(Date(timeIntervalSinceReferenceDate: seconds))
    }

    private static func uuid(_ bytes: [UInt8]) -> String {
        let digits = bytes.map { Figures.hexadecimal(UInt32($0), digits: 2) }
        return [digits[0..<4], digits[4..<6], digits[6..<8], digits[8..<10], digits[10..<16]].map { $0.joined() }
            .joined(separator: "-")
    }
}

extension ManagedObjectModel {
    /// The type of an attribute that an entity has or inherits.
    fileprivate func type(of attribute: String, in entity: String) -> AttributeDescription.AttributeType? {
        var seen: Set<String> = []
        var next: String? = entity
        while let name = next, seen.insert(name).inserted, let description = entitiesByName[name] {
            if let found = description.attributes.first(where: { $0.name == attribute }) { return found.type }
            next = description.superentity
        }
        return nil
    }
}

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
