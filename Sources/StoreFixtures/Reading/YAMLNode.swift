internal import CYAML

/// One node of a YAML document, with its position.
///
/// Every scalar is text; tags are not interpreted.
public struct YAMLNode: Sendable {
    public enum Content: Sendable {
        /// The text, and whether it stands in quotes or in a block.
        case scalar(String, isQuoted: Bool)
        case list([YAMLNode])
        /// In the order of the document; every key that is a scalar is there once.
        case mapping([(key: YAMLNode, value: YAMLNode)])
    }

    /// An alias stands for everything below its anchor, so a few lines of nested aliases would be exponentially large.
    public static let mostAliases = 32
    /// Bounds the recursion of every reader.
    public static let greatestDepth = 64

    public let content: Content
    public let position: RecipePosition

    /// Parses a text; nil if it holds no document.
    ///
    /// Throws ``YAMLError`` for a text that is not YAML, holds several documents, has a key twice, more than
    /// ``mostAliases`` aliases, or more than ``greatestDepth`` levels.
    public static func root(of text: String) throws(YAMLError) -> YAMLNode? {
        var parser = yaml_parser_t()
        guard yaml_parser_initialize(&parser) == 1 else { throw YAMLError("there is not enough memory", at: nil) }
        defer { yaml_parser_delete(&parser) }
        let bytes = Array(text.utf8)
        return try bytes.withUnsafeBufferPointer { bytes throws(YAMLError) in
            yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING)
            yaml_parser_set_input_string(&parser, bytes.baseAddress, bytes.count)
            var composer = YAMLComposer(&parser)
            return try composer.root()
        }
    }

    public var scalar: String? {
        if case .scalar(let text, _) = content { text } else { nil }
    }

    public var list: [YAMLNode]? {
        if case .list(let elements) = content { elements } else { nil }
    }

    public var mapping: [(key: YAMLNode, value: YAMLNode)]? {
        if case .mapping(let entries) = content { entries } else { nil }
    }
}

/// What is wrong in a text that should be YAML, and where if a position is known.
public struct YAMLError: Error, Hashable, CustomStringConvertible {
    public let message: String
    public let position: RecipePosition?

    init(_ message: String, at position: RecipePosition?) {
        self.message = message
        self.position = position
    }

    public var description: String { position.map { "\($0): \(message)" } ?? message }
}

/// Makes nodes of the parser's events.
private struct YAMLComposer {
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private var anchors: [String: YAMLNode] = [:]
    private var aliases = 0
    private var depth = 0

    init(_ parser: UnsafeMutablePointer<yaml_parser_t>) {
        self.parser = parser
    }

    mutating func root() throws(YAMLError) -> YAMLNode? {
        var root: YAMLNode?
        while true {
            let event = try Event(of: parser)
            switch event.type {
            case YAML_STREAM_START_EVENT, YAML_DOCUMENT_END_EVENT: continue
            case YAML_STREAM_END_EVENT: return root
            case YAML_DOCUMENT_START_EVENT:
                guard root == nil else { throw YAMLError("there are several documents", at: event.position) }
                root = try node(Event(of: parser))
            default: throw YAMLError("this is not YAML", at: event.position)
            }
        }
    }

    private mutating func node(_ event: borrowing Event) throws(YAMLError) -> YAMLNode {
        let content: YAMLNode.Content
        switch event.type {
        case YAML_ALIAS_EVENT: return try aliased(event)
        case YAML_SCALAR_EVENT: content = .scalar(event.text, isQuoted: event.isQuoted)
        case YAML_SEQUENCE_START_EVENT: content = .list(try elements(of: event))
        case YAML_MAPPING_START_EVENT: content = .mapping(try entries(of: event))
        default: throw YAMLError("this is not YAML", at: event.position)
        }
        let node = YAMLNode(content: content, position: event.position)
        if let anchor = event.anchor { anchors[anchor] = node }
        return node
    }

    private mutating func aliased(_ event: borrowing Event) throws(YAMLError) -> YAMLNode {
        guard let anchor = event.anchor, let node = anchors[anchor] else {
            throw YAMLError("there is no anchor of this name", at: event.position)
        }
        aliases += 1
        guard aliases <= YAMLNode.mostAliases else {
            let limit = "there are more than \(YAMLNode.mostAliases) aliases; write out what they stand for"
            throw YAMLError(limit, at: event.position)
        }
        return node
    }

    private mutating func elements(of start: borrowing Event) throws(YAMLError) -> [YAMLNode] {
        try descend(from: start)
        defer { depth -= 1 }
        var elements: [YAMLNode] = []
        while true {
            let event = try Event(of: parser)
            guard event.type != YAML_SEQUENCE_END_EVENT else { return elements }
            elements.append(try node(event))
        }
    }

    private mutating func entries(
        of start: borrowing Event
    ) throws(YAMLError) -> [(key: YAMLNode, value: YAMLNode)] {
        try descend(from: start)
        defer { depth -= 1 }
        var entries: [(key: YAMLNode, value: YAMLNode)] = []
        var names: Set<String> = []
        while true {
            let event = try Event(of: parser)
            guard event.type != YAML_MAPPING_END_EVENT else { return entries }
            let key = try node(event)
            if let name = key.scalar, !names.insert(name).inserted {
                throw YAMLError("the key '\(name)' is there twice", at: event.position)
            }
            entries.append((key, try node(Event(of: parser))))
        }
    }

    private mutating func descend(from event: borrowing Event) throws(YAMLError) {
        depth += 1
        guard depth <= YAMLNode.greatestDepth else {
            throw YAMLError("there are more than \(YAMLNode.greatestDepth) levels", at: event.position)
        }
    }
}

/// One event of the parser.
private struct Event: ~Copyable {
    private var event = yaml_event_t()

    init(of parser: UnsafeMutablePointer<yaml_parser_t>) throws(YAMLError) {
        guard yaml_parser_parse(parser, &event) == 1 else { throw Self.error(of: parser.pointee) }
    }

    deinit {
        var event = event
        yaml_event_delete(&event)
    }

    var type: yaml_event_type_t { event.type }
    var position: RecipePosition { Self.position(event.start_mark) }

    /// The text of a scalar.
    var text: String {
        let scalar = event.data.scalar
        return String(decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
    }

    /// True for a scalar that is not plain.
    var isQuoted: Bool { event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE }

    /// The name of the anchor that a node has, or that an alias stands for.
    var anchor: String? {
        let name =
            switch event.type {
            case YAML_ALIAS_EVENT: event.data.alias.anchor
            case YAML_SCALAR_EVENT: event.data.scalar.anchor
            case YAML_SEQUENCE_START_EVENT: event.data.sequence_start.anchor
            default: event.data.mapping_start.anchor
            }
        return name.map { String(cString: $0) }
    }

    private static func position(_ mark: yaml_mark_t) -> RecipePosition {
        RecipePosition(line: Int(mark.line) + 1, column: Int(mark.column) + 1)
    }

    private static func error(of parser: yaml_parser_t) -> YAMLError {
        let problem = parser.problem.map { ": " + String(cString: $0) } ?? ""
        // The reader, which decodes bytes, knows no position.
        let position = parser.error == YAML_READER_ERROR ? nil : position(parser.problem_mark)
        return YAMLError("this is not YAML" + problem, at: position)
    }
}
