internal import StoreFormat

/// One side of a comparison, with its names resolved.
struct PredicateSide {
    enum Content {
        case constant(PredicateConstant)
        case path(PredicatePath)
    }

    /// The key path, for messages; empty for a constant.
    let names: [String]
    let content: Content

    init(names: [String], content: Content) {
        self.names = names
        self.content = content
    }

    init(_ constant: PredicateConstant) {
        self.init(names: [], content: .constant(constant))
    }

    var path: PredicatePath? {
        if case .path(let path) = content { path } else { nil }
    }

    var isNull: Bool {
        if case .constant(.value(.null)) = content { true } else { false }
    }

    var isObject: Bool {
        switch content {
        case .constant(.object): true
        case .constant: false
        case .path(let path): if case .object = path.leaf { true } else { false }
        }
    }

    var isEntity: Bool {
        if case .path(let path) = content, case .entity = path.leaf { true } else { false }
    }
}
