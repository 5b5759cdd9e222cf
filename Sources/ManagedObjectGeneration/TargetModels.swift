internal import StoreAccess

/// The models in the folder of one target, where each class may exist only once.
public struct TargetModels: Sendable {
    /// A model file, a recipe, or an SQLite file.
    public struct Member: Sendable {
        let path: String
        let name: String
        /// The model; nil for an SQLite file that is no Core Data store.
        let source: ModelSource?
        let isStore: Bool

        public init(path: String) throws {
            self.path = path
            name = path.split(separator: "/").last.map(String.init) ?? path
            if let source = try ModelSource(modelFile: path) {
                (self.source, isStore) = (source, false)
                return
            }
            isStore = true
            do {
                source = try ModelSource(path: path)
            } catch let error as StoreError where error.code == .plainStore {
                source = nil
            }
        }
    }

    /// Two models that have classes of one name, but not the same ones.
    public struct Clash: Error, CustomStringConvertible {
        let first: String
        let second: String
        let name: String

        public var description: String {
            "\(first) and \(second) both have the class \(name), with other properties: move one of them to another target"
        }
    }

    /// The Swift source for each member, in their order.
    public let texts: [String]

    /// Writes each class once: of models with the same classes the first has them, and a model file comes before a store.
    public init(_ members: [Member]) throws(Clash) {
        var result = [String](repeating: "", count: members.count)
        var earlier: [(member: Member, classes: [GeneratedClass])] = []
        let inOrder = members.indices.filter { !members[$0].isStore } + members.indices.filter { members[$0].isStore }
        for index in inOrder {
            let member = members[index]
            guard let source = member.source else {
                result[index] = "// \(Self.comment(member.name)) is no Core Data store, and has no classes.\n"
                continue
            }
            let classes = ClassNaming(source.model, source.annotations).classes
            if let owner = try Self.owner(of: classes, member, among: earlier) {
                result[index] =
                    "// The classes of \(Self.comment(member.name)) are those of \(Self.comment(owner.member.name)).\n"
                let names = Set(owner.classes.map(\.name))
                let gone = classes.map(\.name).filter { !names.contains($0) }
                if !gone.isEmpty { result[index] += "// That model has no class \(gone.joined(separator: ", ")).\n" }
                continue
            }
            earlier.append((member, classes))
            result[index] =
                ManagedObjectSource(model: source.model, annotations: source.annotations, origin: member.name).text
        }
        texts = result
    }

    /// An earlier model that has the classes; nil for classes that no earlier model has.
    private static func owner(
        of classes: [GeneratedClass],
        _ member: Member,
        among earlier: [(member: Member, classes: [GeneratedClass])]
    ) throws(Clash) -> (member: Member, classes: [GeneratedClass])? {
        for other in earlier {
            let names = Set(other.classes.map(\.name))
            let shared = classes.filter { names.contains($0.name) }
            guard let first = shared.first else { continue }
            // A store may have been created by an earlier version of the model beside it, whose other entities are gone.
            let isOlder = member.isStore && !other.member.isStore && shared.count * 2 > classes.count
            guard isOlder || Set(classes.map(Signature.init)) == Set(other.classes.map(Signature.init)) else {
                throw Clash(first: other.member.path, second: member.path, name: first.name)
            }
            return other
        }
        return nil
    }

    private static func comment(_ name: String) -> String { SwiftName.commentLines(name).joined(separator: " ") }

    /// What the compiler sees of a class, without the fetched properties, which stores and compiled models lack.
    private struct Signature: Hashable {
        let name: String
        let parent: String?
        let properties: Set<String>

        init(_ generated: GeneratedClass) {
            name = generated.name
            parent = generated.parent
            properties = Set(
                generated.properties.filter { $0.kind != .fetched }.map { "\($0.name) \($0.modelName): \($0.type)" }
            )
        }
    }
}
