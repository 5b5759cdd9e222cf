public import StoreFormat

/// Writes Swift classes for the entities of a model.
///
/// The text depends only on the model: generating it twice gives the same bytes. It needs the product `ManagedObjects`.
public struct ManagedObjectSource: Sendable {
    /// The Swift source.
    public let text: String

    /// Writes the classes of a model; `origin` is the name of its file in the first line.
    public init(
        model: ManagedObjectModel,
        annotations: ModelAnnotations = ModelAnnotations(),
        origin: String
    ) {
        let classes = ClassNaming(model, annotations).classes
        let file = SwiftName.commentLines(origin).joined(separator: " ")
        var lines = [
            "// The classes of \(file). GenerateManagedObjects writes this file; change the model instead.", "",
        ]
        lines += Self.imports(classes) + [""]
        for generated in classes { lines += Self.lines(generated) + [""] }
        lines.append("/// The classes of the model.")
        lines.append("private var allClasses: [any TypedObject.Type] {")
        lines += Self.wrapped(classes.map { "\($0.name).self" })
        lines.append("}")
        text = lines.joined(separator: "\n") + "\n"
    }

    private static func imports(_ classes: [GeneratedClass]) -> [String] {
        let types = Set(classes.flatMap(\.properties).map { $0.type.replacing("?", with: "") })
        let needsFoundation = !types.isDisjoint(with: ["Data", "Date", "Decimal", "URL", "UUID"])
        return (needsFoundation ? ["public import Foundation"] : []) + ["public import ManagedObjects"]
            + (types.contains("AttributeValue") ? ["public import StoreFormat"] : [])
    }

    /// An array literal, on several lines if it is long.
    private static func wrapped(_ elements: [String]) -> [String] {
        let line = "    [" + elements.joined(separator: ", ") + "]"
        guard line.count > 120 else { return [line] }
        return ["    ["] + elements.map { "        \($0)," } + ["    ]"]
    }

    private static func lines(_ generated: GeneratedClass) -> [String] {
        let override = generated.parent == nil ? "" : "override "
        var lines = ["/// The entity \(SwiftName.commentLines(generated.entity).joined(separator: " "))."]
        if !generated.comments.isEmpty { lines += ["///"] + generated.comments.map { "/// \($0)" } }
        lines.append("open class \(generated.name): \(generated.parent ?? "ManagedObject, TypedObject") {")
        lines.append("    \(override)open class var entityName: String { \(SwiftName.literal(generated.entity)) }")
        if generated.parent == nil {
            lines.append("    open class var modelClasses: [any TypedObject.Type] { allClasses }")
        }
        lines.append("    override open class var plainClass: ManagedObject.Type { \(generated.name).self }")
        lines.append(
            "    \(override)open class var properties: [TypedProperty] { properties(of: \(generated.name).self) }"
        )
        for property in generated.properties { lines += [""] + Self.lines(property).map { "    " + $0 } }
        return lines + [""] + listing(generated).map { "    " + $0 } + ["}"]
    }

    private static func lines(_ property: GeneratedClass.Property) -> [String] {
        var lines = property.comments.map { "/// \($0)" }
        let name = SwiftName.escaped(property.name)
        if property.kind == .fetched {
            let predicate = property.predicate.map(SwiftName.literal) ?? "nil"
            return lines + [
                "public func \(name)() throws -> [\(property.type)] {",
                "    try fetchedProperty(\(property.type).self, predicate: \(predicate))",
                "}",
            ]
        }
        if property.name != property.modelName {
            lines.append("/// Its name in the model is \(SwiftName.literal(property.modelName)).")
        }
        let value = "self[\(property.kind.rawValue): \(SwiftName.literal(property.modelName))]"
        guard !property.isReadOnly else { return lines + ["final public var \(name): \(property.type) { \(value) }"] }
        return lines + [
            "final public var \(name): \(property.type) {",
            "    get { \(value) }",
            "    set { \(value) = newValue }",
            "}",
        ]
    }

    /// The function that lists the properties, with key paths from this class or from a subclass of the app.
    private static func listing(_ generated: GeneratedClass) -> [String] {
        var lines = [
            "/// The properties, with key paths from this class or from a subclass that an app registers.",
            "public final class func properties<Subclass: \(generated.name)>(of type: Subclass.Type) -> [TypedProperty] {",
        ]
        let listed = generated.properties.filter { $0.kind != .fetched }
        lines +=
            listed.isEmpty
            ? ["    let list: [TypedProperty] = []"]
            : ["    let list: [TypedProperty] = ["] + listed.flatMap(element) + ["    ]"]
        return lines + ["    return \(generated.parent.map { "\($0).properties(of: type) + " } ?? "")list", "}"]
    }

    /// The element of a list of properties, on several lines if it is long.
    private static func element(_ property: GeneratedClass.Property) -> [String] {
        let name = SwiftName.escaped(property.name)
        let chained = "\\Subclass?.?.\(name)"
        var arguments = [
            "\(property.kind.rawValue): \(SwiftName.literal(property.modelName))", "\\Subclass.\(name)", chained,
        ]
        if property.kind == .toMany || property.kind == .ordered {
            arguments += ["count: \\Subclass.\(name).count", "\(chained).count"]
        }
        let line = "        TypedProperty(\(arguments.joined(separator: ", "))),"
        // Four more columns when it is in its class.
        guard line.count > 116 else { return [line] }
        return ["        TypedProperty("]
            + arguments.enumerated().map { "            \($1)" + ($0 == arguments.count - 1 ? "" : ",") } + [
                "        ),"
            ]
    }
}
