import RunReports
import StoreAccess
import StoreFormat
import StoreVerification

extension VerificationReport {
    /// The proof level by level; `others` are findings in addition to the report's own.
    func section(_ heading: String = "What was proved", findings others: [Finding] = []) -> ReportSection {
        let noticed = others + findings.filter { !others.contains($0) }
        var blocks: [ReportBlock] = [
            .table(
                ReportTable(
                    "Each level includes the ones before it",
                    columns: ["level", "what it shows", "result", .init("took", isNumeric: true)],
                    rows: levels.map { row(of: $0) }
                )
            )
        ]
        if let digest { blocks.append(.facts([ReportFact("content digest", ReportCell(digest.value, .literal))])) }
        blocks.append(noticed.isEmpty ? .paragraph("No findings.") : .table(noticed.table))
        return ReportSection(heading, blocks)
    }

    private func row(of result: LevelResult) -> [ReportCell] {
        let (word, tone): (String, ReportTone) =
            switch result.status {
            case .passed: ("passed", .good)
            case .failed: ("failed", .bad)
            case .skipped: ("skipped", .neutral)
            }
        let tried = result.level == .merging && result.reason == nil ? probe?.summary : nil
        let seconds = Duration.milliseconds(Int64(max(0, min(result.seconds, 1e9)) * 1000))
        return [
            ReportCell(result.level.rawValue, note: nil), ReportCell(result.level.meaning),
            ReportCell(word, .badge(tone), note: result.reason ?? tried),
            ReportCell(result.status == .skipped ? "" : Figures.milliseconds(seconds) + " s"),
        ]
    }
}

extension VerificationLevel {
    /// What passing the level shows.
    fileprivate var meaning: String {
        switch self {
        case .files: "All files of the store exist, and no foreign file is among them."
        case .sqlite: "Every page and record can be read, and every index matches its table."
        case .coredata: "Keys, relationships, metadata and history are consistent, as Core Data requires."
        case .content: "Every value of every row equals the other store's."
        case .merging: "What one program saves arrives in another, tried on a scratch copy."
        }
    }
}

extension [Finding] {
    /// The most findings on a page; `--json` reports all of them.
    private static let mostInReport = 1000

    /// The findings, most severe first.
    var table: ReportTable {
        let sorted = enumerated().sorted { ($1.element.severity, $0.offset) < ($0.element.severity, $1.offset) }
            .map(\.element)
        let rest = count - Self.mostInReport
        return ReportTable(
            rest > 0 ? "The first \(Self.mostInReport) of \(count)" : "Most severe first",
            columns: ["finding", "severity", "where", "level"],
            rows: sorted.prefix(Self.mostInReport).map(\.row)
        )
    }
}

extension Finding {
    fileprivate var row: [ReportCell] {
        let (word, tone): (String, ReportTone) =
            switch severity {
            case .info: ("note", .neutral)
            case .inherited: ("inherited", .neutral)
            case .warning: ("warning", .attention)
            case .error: ("error", .bad)
            }
        return [
            ReportCell(ReportSentence.text(message), note: code.rawValue), ReportCell(word, .badge(tone)),
            ReportCell(place, .literal), ReportCell(level.rawValue),
        ]
    }
}

extension ReportTable {
    /// The entities of a model, with the objects that each one has in a store.
    init(_ model: ManagedObjectModel, objects: [String: Int64]) {
        self.init(
            "The entities of the model",
            columns: ["entity", .init("objects", isNumeric: true), "attributes", "relationships"],
            rows: model.entities.map { entity in
                let notes = [
                    entity.isAbstract ? "abstract" : nil, entity.superentity.map { "inherits from \($0)" },
                ]
                return [
                    ReportCell(entity.name, .literal, note: Self.list(notes.compactMap { $0 })),
                    ReportCell(objects[entity.name].map(Figures.grouped) ?? ""),
                    Self.names(entity.attributes.map { "\($0.name): \($0.type)\($0.isOptional ? ", optional" : "")" }),
                    Self.names(entity.relationships.map(Self.text)),
                ]
            }
        )
    }

    private static func text(of relationship: RelationshipDescription) -> String {
        let amount = relationship.isToMany ? "many " : ""
        let inverse = relationship.inverse.map { ", inverse \($0)" } ?? ""
        return "\(relationship.name): \(amount)\(relationship.destination)\(inverse)"
    }

    private static func names(_ lines: [String]) -> ReportCell {
        lines.isEmpty ? "" : ReportCell(lines.joined(separator: "; "), .literal)
    }

    private static func list(_ words: [String]) -> String? { words.isEmpty ? nil : words.joined(separator: ", ") }
}

/// Turns message fragments into sentences.
enum ReportSentence {
    /// The fragment with a capital and a full stop.
    static func text(_ fragment: String) -> String {
        let line = Escaped.line(fragment)
        let end = line.isEmpty || line.hasSuffix(".") || line.hasSuffix("?") ? "" : "."
        return line.prefix(1).uppercased() + line.dropFirst() + end
    }
}
