import FoundationEssentials
import StoreFixtures
import StoreFormat
import StoreMigration

/// A `store-migrate.yaml`: the options of `share` and `plan` for one project.
struct ConfigurationFile {
    private static let greatestSize = 1 << 20

    /// The values by key; a list has one value for each element.
    let values: [ConfigurationKey: [ConfiguredValue]]

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
            values = try Self.values(in: try YAMLNode.root(of: text), path)
        } catch let error as YAMLError {
            throw Self.refusal(error.message, path, error.position)
        }
    }

    private static func values(in node: YAMLNode?, _ path: String) throws -> [ConfigurationKey: [ConfiguredValue]] {
        guard let node else { return [:] }
        guard let mapping = node.mapping else {
            throw refusal("a configuration is a list of 'key: value'", path, node.position)
        }
        var result: [ConfigurationKey: [ConfiguredValue]] = [:]
        for (name, value) in mapping {
            guard let text = name.scalar, let key = ConfigurationKey(rawValue: text) else {
                let known = ConfigurationKey.allCases.map(\.rawValue).joined(separator: ", ")
                throw refusal(
                    "'\(name.scalar ?? "")' is not a configuration key; the keys are \(known)",
                    path,
                    name.position
                )
            }
            result[key] = try elements(of: value, for: key, path)
                .map { element in
                    let text = try Self.text(of: element, for: key, path)
                    let origin = ConfiguredValue.Origin.file(
                        path,
                        line: element.position.line,
                        column: element.position.column
                    )
                    if let objection = key.objection(to: text) { throw origin.refusal(objection) }
                    return ConfiguredValue(text: text, origin: origin)
                }
        }
        return result
    }

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
        let folder = StoreLocation(url: PathArgument.url(of: path)).folder
        return folder.hasSuffix("/") ? folder + text : folder + "/" + text
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
