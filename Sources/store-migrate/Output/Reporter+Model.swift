import ManagedObjectGeneration
import StoreFormat

extension Reporter {
    /// Shows a model entity by entity, or as one graph.
    func show(_ model: ManagedObjectModel, as part: InspectionPart) {
        guard part == .graph else {
            for entity in model.entities { result(entity.text(style), record: entity.record) }
            return
        }
        let graph = ModelGraph(model).text
        result(graph, record: .object([("type", .string("graph")), ("mermaid", .string(graph))]))
    }

    /// Shows the Swift classes of a model.
    func show(_ source: ManagedObjectSource) {
        result(
            String(source.text.dropLast()),
            record: .object([("type", .string("swift")), ("source", .string(source.text))])
        )
    }
}
