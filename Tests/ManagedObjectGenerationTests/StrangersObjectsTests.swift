import Foundation
import ManagedObjectGeneration
import TestSupport
import Testing

/// A package outside this one whose targets each contain a genuine store, from which the plugin writes their classes.
@Suite("Generated classes in another package", .verify)
struct StrangersObjectsTests {
    private let scratch: ScratchFolder
    private let package: ClientPackage

    init() throws {
        scratch = try ScratchFolder()
        package = try ClientPackage(folder: scratch.path)
    }

    @Test(
        "The classes of each genuine store read the same objects, values and destinations as the runtime by name",
        .genuineStores
    )
    func genuineStores() throws {
        let models = CorpusModel.all
        var calls: [String] = []
        for (number, model) in models.enumerated() {
            let module = "Model\(number)"
            let folder = "Sources/\(module)"
            try package.write("\(folder)/Support.swift", Self.support)
            let source = try model.withPath { path in
                let from = model.isStore ? URL(filePath: path).deletingLastPathComponent() : URL(filePath: path)
                let to = scratch.path + "/\(folder)/" + (model.isStore ? "store" : from.lastPathComponent)
                try FileManager.default.copyItem(atPath: from.path, toPath: to)
                return try ModelSource(path: path)
            }
            let text = ManagedObjectSource(model: source.model, annotations: source.annotations, origin: "").text
            try package.write("\(folder)/Comparison.swift", Self.comparison(of: text))
            if model.isStore {
                let path = scratch.path + "/\(folder)/store/" + model.fileName
                calls.append("report(\"\(model)\", try \(module).compare(URL(filePath: \"\(path)\")))")
            }
        }
        let modules = models.indices.map { "Model\($0)" }
        try package.write("Package.swift", Self.manifest(modules))
        try package.write(
            "Sources/compare/main.swift",
            "import Foundation\n" + modules.map { "import \($0)\n" }.joined() + """

                func report(_ store: String, _ result: (values: Int, differences: [String])) {
                    print(store, result.values, result.differences.count)
                    for difference in result.differences.prefix(10) { print("  " + difference) }
                }
                \(calls.joined(separator: "\n"))
                """
        )
        let run = try package.run("compare")
        #expect(run.status == 0, "\(run.output.suffix(6000))")
        // The package manager also warns of files beside a store that no target claims.
        let warnings = run.output.split(separator: "\n").filter { $0.contains(/\.swift:\d+:\d+: warning:/) }
        #expect(warnings == [])
        let lines = run.output.split(separator: "\n").filter { $0.hasSuffix(" 0") && $0.contains("/") }
        #expect(lines.count == Corpus.stores.count && calls.count == lines.count, "\(run.output.suffix(6000))")
        let values = lines.compactMap { Int($0.split(separator: " ").dropLast().last ?? "") }
        #expect(values.count == lines.count && values.reduce(0, +) > lines.count, "\(run.output.suffix(6000))")
    }

    private static func manifest(_ modules: [String]) -> String {
        let targets = modules.map { module in
            """
                    .target(
                        name: "\(module)",
                        dependencies: [.product(name: "ManagedObjects", package: "store-migrate")],
                        plugins: [.plugin(name: "GenerateManagedObjects", package: "store-migrate")]
                    ),
            """
        }
        let names = modules.map { "\"\($0)\"" }.joined(separator: ", ")
        return """
            // swift-tools-version: 6.2
            import PackageDescription

            let package = Package(
                name: "strangers-objects",
                dependencies: [.package(name: "store-migrate", path: "\(Checkout.path)")],
                targets: [
            \(targets.joined(separator: "\n"))
                    .executableTarget(name: "compare", dependencies: [\(names)]),
                ]
            )
            """
    }

    /// A function that reads a store twice and compares each value.
    private static let support = """
        import Foundation
        import ManagedObjects
        import StoreFormat
        import StoreStrategies

        /// The values that were compared, and those that differ.
        struct Comparison {
            var values = 0
            var differences: [String] = []

            mutating func check(_ equal: Bool, _ place: String) {
                values += 1
                if !equal { differences.append(place) }
            }
        }

        extension Optional where Wrapped: AttributeConvertible {
            var stored: AttributeValue { self?.attributeValue ?? AttributeValue.null }
        }

        extension MandatoryAttribute where Self: Equatable {
            func equals(_ stored: AttributeValue) -> Bool {
                attributeValue == stored || stored.isNull && self == Self.absentValue
            }
        }

        func container(_ store: URL) throws -> PersistentContainer {
            let container = PersistentContainer(
                name: "Store",
                descriptions: [PersistentStoreDescription(url: store)],
                viewContextOn: .privateQueue
            )
            try container.loadPersistentStoresAndWait()
            return container
        }

        """

    /// The function `compare`, for the classes and properties of a generated source.
    private static func comparison(of text: String) -> String {
        var blocks: [String] = []
        var property = ""
        for line in text.split(separator: "\n") {
            if let name = line.firstMatch(of: /^open class (\w+):/)?.1 { blocks.append(fetch(String(name))) }
            if let name = line.firstMatch(of: /\bvar (`?\w+`?):/)?.1 { property = String(name) }
            guard let access = line.firstMatch(of: /self\[(\w+): (".*")\] \}$/) else { continue }
            blocks.append(check(property, String(access.1), String(access.2)))
        }
        return """
            import Foundation
            import ManagedObjects
            import StoreFormat

            public func compare(_ store: URL) throws -> (values: Int, differences: [String]) {
                let untyped = try container(store).viewContext
                return try container(store).viewContext.performAndWait { context in
                    var comparison = Comparison()
                    func values<Value: Sendable>(
                        _ id: ManagedObjectID,
                        _ body: @Sendable (ManagedObject) throws -> Value
                    ) throws -> Value {
                        try untyped.performAndWait { try body($0.object(with: id)) }
                    }
                    do {
            \(blocks.joined(separator: "\n"))
                    }
                    return (comparison.values, comparison.differences)
                }
            }

            """
    }

    /// The start of the loop over a class's objects, which the next class or the function ends.
    private static func fetch(_ name: String) -> String {
        """
                    }
                    let \(name)IDs = try untyped.performAndWait { context in
                        try context.fetchObjectIDs(FetchRequest(entityName: \(name).entityName))
                    }
                    let \(name)Objects = try context.fetch(FetchRequest<\(name)>())
                    comparison.check(\(name)Objects.map(\\.objectID) == \(name)IDs, "\(name)")
                    for object in \(name)Objects {
                        let id = object.objectID
                        _ = id
        """
    }

    /// The comparison of a property.
    private static func check(_ name: String, _ kind: String, _ key: String) -> String {
        let condition =
            switch kind {
            case "attribute": "object.\(name).stored == (try values(id) { try $0.value(forKey: \(key)) })"
            case "mandatory": "object.\(name).equals(try values(id) { try $0.value(forKey: \(key)) })"
            case "toOne": "object.\(name)?.objectID == (try values(id) { try $0.object(forKey: \(key))?.objectID })"
            case "toMany":
                "Set(object.\(name).map(\\.objectID)) == Set(try values(id) { try $0.objectIDs(forRelationshipNamed: \(key)) })"
            default:
                "object.\(name).map(\\.objectID) == (try values(id) { try $0.objectIDs(forRelationshipNamed: \(key)) })"
            }
        return "            comparison.check(\(condition), #\(key)#)"
    }
}
