import FoundationEssentials
import StoreAccess
import StoreFixtures
import StoreMigration

/// A `store-migrate.yaml`: the options of `share` and `plan` for one project.
struct ConfigurationFile {
    private static let greatestSize = 1 << 20
    /// The key of the list of stores.
    private static let storesKey = "stores"

    /// The values by key; a list has one value for each element.
    let values: [ConfigurationKey: [ConfiguredValue]]
    /// The stores to share one after the other; empty without a list.
    let stores: [ConfiguredStore]

    private let path: String

    /// Reads a file.
    ///
    /// Throws ``Failure`` with the line and the column of an invalid value.
    init(path: String) throws {
        self.path = path
        guard let data = try? Data(contentsOf: PathArgument.url(of: path)), data.count <= Self.greatestSize else {
            throw Failure(
                outcome: .usage,
                message: "the configuration cannot be read",
                path: path,
                advice: "Check the path and the permissions."
            )
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw Self.refusal("the configuration is not valid UTF-8", path, nil)
        }
        do {
            let entries = try Self.entries(of: YAMLNode.root(of: text), path)
            values = try Self.values(in: entries.filter { $0.key.scalar != Self.storesKey }, path)
            stores = try entries.filter { $0.key.scalar == Self.storesKey }
                .flatMap { try Self.stores(in: $0.value, path) }
        } catch let error as YAMLError {
            throw Self.refusal(error.message, path, error.position)
        }
    }

    private typealias Entry = (key: YAMLNode, value: YAMLNode)

    private static func entries(of node: YAMLNode?, _ path: String) throws -> [Entry] {
        guard let node else { return [] }
        guard let mapping = node.mapping else {
            throw refusal("a configuration is a list of 'key: value'", path, node.position)
        }
        return mapping
    }

    /// The values of entries; `others` are keys that may stand beside them, for the message about an unknown one.
    private static func values(
        in entries: [Entry],
        beside others: [String] = [storesKey],
        _ path: String
    ) throws -> [ConfigurationKey: [ConfiguredValue]] {
        var result: [ConfigurationKey: [ConfiguredValue]] = [:]
        for (name, value) in entries {
            guard let text = name.scalar, let key = ConfigurationKey(rawValue: text) else {
                let known = (ConfigurationKey.allCases.map(\.rawValue) + others).joined(separator: ", ")
                throw refusal(
                    "'\(name.scalar ?? "")' is not a configuration key; the keys are \(known)",
                    path,
                    name.position
                )
            }
            result[key] = try elements(of: value, for: key, path)
                .map { element in
                    let text = try Self.text(of: element, for: key, path)
                    let origin = origin(element, path)
                    if let objection = key.objection(to: text) { throw origin.refusal(objection) }
                    return ConfiguredValue(text: text, origin: origin)
                }
        }
        return result
    }

    private static func origin(_ node: YAMLNode, _ path: String) -> ConfiguredValue.Origin {
        .file(path, line: node.position.line, column: node.position.column)
    }

    // MARK: Stores

    private static func stores(in node: YAMLNode, _ path: String) throws -> [ConfiguredStore] {
        guard let list = node.list, !list.isEmpty else {
            throw refusal("'\(storesKey)' is a list of stores, each with its old store as 'from'", path, node.position)
        }
        var stores: [ConfiguredStore] = []
        for node in list {
            let store = try store(node, after: stores, path)
            let path = PathArgument(argument: store.from.text)?.path
            guard !stores.contains(where: { PathArgument(argument: $0.from.text)?.path == path }) else {
                throw store.from.origin.refusal("this store is in the list twice")
            }
            stores.append(store)
        }
        return stores
    }

    /// One store; `former` are those before it in the list.
    private static func store(_ node: YAMLNode, after former: [ConfiguredStore], _ path: String) throws
        -> ConfiguredStore
    {
        let entries = try entries(of: node, path)
        func nodes(_ key: ConfiguredStore.Key) -> [YAMLNode] {
            entries.filter { $0.key.scalar == key.rawValue }.flatMap { $0.value.list ?? [$0.value] }
        }
        func file(_ key: ConfiguredStore.Key) throws -> ConfiguredValue? {
            guard let node = nodes(key).first else { return nil }
            guard let text = node.scalar, !text.isEmpty, nodes(key).count == 1 else {
                throw refusal("'\(key.rawValue)' is one path", path, node.position)
            }
            return ConfiguredValue(text: absolute(text, path), origin: origin(node, path))
        }
        guard let from = try file(.from) else {
            throw refusal("a store of the list needs 'from', its old store", path, node.position)
        }
        let after = try nodes(.after)
            .map { node in
                let matches = former.filter { $0.name == node.scalar }
                guard let name = matches.first?.name, matches.count == 1 else {
                    throw refusal(
                        matches.isEmpty
                            ? "'after' is the file name of an earlier 'from' in the list"
                            : "several earlier stores have this file name",
                        path,
                        node.position
                    )
                }
                return name
            }
        let own = ConfiguredStore.Key.allCases.map(\.rawValue)
        return ConfiguredStore(
            from: from,
            to: try file(.to),
            after: after,
            values: try values(in: entries.filter { !own.contains($0.key.scalar ?? "") }, beside: own, path)
        )
    }

    // MARK: Values

    private static func elements(
        of node: YAMLNode,
        for key: ConfigurationKey,
        _ path: String
    ) throws -> [YAMLNode] {
        guard let list = node.list else { return [node] }
        guard key.isList else { throw refusal("'\(key.rawValue)' takes one value, not a list", path, node.position) }
        return list
    }

    /// A value in the form of the command line.
    private static func text(of node: YAMLNode, for key: ConfigurationKey, _ path: String) throws -> String {
        if key == .strategies, node.mapping != nil { return try strategy(node, path) }
        guard let text = node.scalar, !text.isEmpty else {
            throw refusal("the value of '\(key.rawValue)' must be a string", path, node.position)
        }
        if key == .roles, let end = text.firstIndex(of: "=") {
            let model = String(text[text.index(after: end)...])
            return model.isEmpty ? text : text[...end] + absolute(model, path)
        }
        return key.isPath ? absolute(text, path) : text
    }

    /// The absolute path; a relative path starts at the folder of the configuration file.
    private static func absolute(_ text: String, _ path: String) -> String {
        guard !text.hasPrefix("/") else { return text }
        let folder = URL(filePath: StoreLocation(url: PathArgument.url(of: path)).folder, directoryHint: .isDirectory)
        let absolute = URL(filePath: text, relativeTo: folder).absoluteURL.path
        // A path that ends in a slash names a folder.
        return text.hasSuffix("/") && !absolute.hasSuffix("/") ? absolute + "/" : absolute
    }

    /// A strategy with its options as a mapping, `SharedAccess: {mode: "0660"}`, in the form of the command line.
    private static func strategy(_ node: YAMLNode, _ path: String) throws -> String {
        guard let mapping = node.mapping, mapping.count == 1, let (name, options) = mapping.first,
            let text = name.scalar
        else { throw refusal("write one strategy for each element", path, node.position) }
        guard let options = options.mapping else {
            throw refusal("the options of '\(text)' are a list of 'key: value'", path, options.position)
        }
        let pairs = try options.map { key, value in
            guard let name = key.scalar, let value = value.scalar, !value.contains(",") else {
                throw refusal("an option of '\(text)' is 'key: value', without a comma", path, key.position)
            }
            return "\(name)=\(value)"
        }
        return pairs.isEmpty ? text : text + ":" + pairs.joined(separator: ",")
    }

    private static func refusal(_ message: String, _ path: String, _ position: RecipePosition?) -> Failure {
        Failure(
            outcome: .usage,
            message: position.map { "line \($0.line), column \($0.column): \(message)" } ?? message,
            path: path,
            advice: "Fix the configuration; nothing was done."
        )
    }
}
