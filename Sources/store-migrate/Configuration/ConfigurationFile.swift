import FoundationEssentials
import StoreFixtures
import StoreFormat
import StoreMigration
import Yams

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
        guard !AliasLimit.isExceeded(by: text) else {
            throw Self.refusal("the configuration has more than \(AliasLimit.most) aliases", path, nil)
        }
        do {
            values = try Self.values(in: try Yams.compose(yaml: text), path)
        } catch let error as YamlError {
            let (message, mark) = Self.explanation(of: error)
            throw Self.refusal(message, path, mark)
        }
    }

    private static func values(in node: Node?, _ path: String) throws -> [ConfigurationKey: [ConfiguredValue]] {
        guard let node else { return [:] }
        guard let mapping = node.mapping else {
            throw refusal("a configuration is a list of 'key: value'", path, node.mark)
        }
        var result: [ConfigurationKey: [ConfiguredValue]] = [:]
        for (name, value) in mapping {
            guard let text = name.string, let key = ConfigurationKey(rawValue: text) else {
                let known = ConfigurationKey.allCases.map(\.rawValue).joined(separator: ", ")
                throw refusal(
                    "'\(name.string ?? "")' is not a configuration key; the keys are \(known)",
                    path,
                    name.mark
                )
            }
            result[key] = try elements(of: value, for: key, path)
                .map { element in
                    let text = try Self.text(of: element, for: key, path)
                    let origin = ConfiguredValue.Origin.file(
                        path,
                        line: element.mark?.line ?? 0,
                        column: element.mark?.column ?? 0
                    )
                    if let objection = key.objection(to: text) { throw origin.refusal(objection) }
                    return ConfiguredValue(text: text, origin: origin)
                }
        }
        return result
    }

    private static func elements(of node: Node, for key: ConfigurationKey, _ path: String) throws -> [Node] {
        guard let sequence = node.sequence else { return [node] }
        guard key.isList else { throw refusal("'\(key.rawValue)' takes one value, not a list", path, node.mark) }
        return Array(sequence)
    }

    /// A value in the form of the command line.
    private static func text(of node: Node, for key: ConfigurationKey, _ path: String) throws -> String {
        if key == .strategies, let mapping = node.mapping { return try strategy(mapping, path) }
        guard let text = node.scalar?.string, !text.isEmpty else {
            throw refusal("the value of '\(key.rawValue)' must be a string", path, node.mark)
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
    private static func strategy(_ mapping: Node.Mapping, _ path: String) throws -> String {
        guard mapping.count == 1, let (name, options) = mapping.first.map({ ($0.key, $0.value) }),
            let text = name.scalar?.string
        else { throw refusal("write one strategy for each element", path, mapping.mark) }
        guard let options = options.mapping else {
            throw refusal("the options of '\(text)' are a list of 'key: value'", path, options.mark)
        }
        let pairs = try options.map { key, value in
            guard let key = key.scalar?.string, let value = value.scalar?.string, !value.contains(",") else {
                throw refusal("an option of '\(text)' is 'key: value', without a comma", path, key.mark)
            }
            return "\(key)=\(value)"
        }
        return pairs.isEmpty ? text : text + ":" + pairs.joined(separator: ",")
    }

    private static func explanation(of error: YamlError) -> (String, Mark?) {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            (problem, mark)
        case .duplicatedKeysInMapping(let duplicates, let context):
            ("'\(duplicates.first ?? "")' is given twice", context.mark)
        default: ("the file is not YAML", nil)
        }
    }

    private static func refusal(_ message: String, _ path: String, _ mark: Mark?) -> Failure {
        Failure(
            outcome: .usage,
            message: mark.map { "line \($0.line), column \($0.column): \(message)" } ?? message,
            path: path,
            advice: "Fix the configuration; nothing was done."
        )
    }
}
