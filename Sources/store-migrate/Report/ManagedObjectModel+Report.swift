import RunReports
import StoreFormat

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
