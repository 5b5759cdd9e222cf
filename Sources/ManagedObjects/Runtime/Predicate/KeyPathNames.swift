internal import Synchronization

/// The model's names of the properties of a key path.
///
/// A key path does not reveal its components. Each class lists the key paths of its properties; those of a chain such as
/// `\Habit.leader?.name` are appended until one is found that is the given key path. No property is read.
enum KeyPathNames {
    private struct Key: Hashable {
        let root: ObjectIdentifier
        let value: ObjectIdentifier
        let hash: Int
    }

    /// The number of key paths whose names are kept; a program has a few hundred.
    private static let limit = 4096
    private static let known = Mutex<[Key: [String]]>([:])
    private static let lists = Mutex<[ObjectIdentifier: [TypedProperty]]>([:])

    /// The names, which end with `@count` for the number of destinations; none for the object itself.
    ///
    /// A key path that is no chain of listed properties gives one name, which ``problem(in:)`` finds in a request.
    static func names<Root: TypedObject, Value>(of path: KeyPath<Root, Value>) -> [String] {
        let key = Key(root: ObjectIdentifier(Root.self), value: ObjectIdentifier(Value.self), hash: path.hashValue)
        if let names = known.withLock({ $0[key] }) { return names }
        if Root.self == Value.self, path.hashValue == (\Root.self).hashValue { return [] }
        var search = KeyPathSearch(value: Value.self, hash: path.hashValue)
        let names = search.names(from: Root.self) ?? [marker + problem(Root.self, Value.self, search.isExhausted)]
        known.withLock { known in
            // A key path with an index in it, which no class lists, has as many values as the index.
            if known.count >= limit { known.removeAll() }
            known[key] = names
        }
        return names
    }

    static func properties(of type: any TypedObject.Type) -> [TypedProperty] {
        let key = ObjectIdentifier(type)
        if let list = lists.withLock({ $0[key] }) { return list }
        let list = type.properties
        lists.withLock { $0[key] = list }
        return list
    }

    // MARK: Problems

    /// No name in a model begins with it.
    private static let marker = "\\"

    /// Why the names are those of no property; nil for names that a model may have.
    static func problem(in names: [String]) -> String? {
        guard let start = names.firstIndex(where: { $0.hasPrefix(marker) }) else { return nil }
        return String(names[start...].joined(separator: ".").dropFirst(marker.count))
    }

    private static func problem<Root: TypedObject, Value>(_: Root.Type, _: Value.Type, _ isExhausted: Bool) -> String {
        let list = properties(of: Root.self)
        if let listed = list.first.map({ type(of: $0.path as AnyKeyPath).rootType }), listed != Root.self {
            return "\(Root.self) inherits the list of properties of \(listed): "
                + "override `properties` with `properties(of: \(Root.self).self)`"
        }
        return "a key path from \(Root.self) to \(Value.self) is no chain of properties in `\(Root.self).properties`: "
            + "a request can name only properties of the model, not what an app computes from them"
            + (isExhausted ? "; a predicate in text form can follow more relationships than a key path" : "")
    }
}

/// The search for a key path among the chains of listed properties, the shortest first.
private struct KeyPathSearch {
    private struct Prefix {
        /// The key path to a to-one destination; nil for the object itself.
        let path: AnyKeyPath?
        let names: [String]
        let type: any TypedObject.Type
        /// True for chains with `!` instead of `?`.
        let isUnwrapping: Bool

        /// True if what follows starts at an optional object.
        var isChained: Bool { path != nil && !isUnwrapping }
    }

    let value: any Any.Type
    let hash: Int
    /// The number of key paths that may still be appended: a key path of no properties would be searched forever.
    private var budget = 200_000
    var isExhausted: Bool { budget <= 0 }

    init(value: any Any.Type, hash: Int) {
        (self.value, self.hash) = (value, hash)
    }

    /// The names of the properties on the key path; nil if it is not found.
    mutating func names(from type: any TypedObject.Type) -> [String]? {
        var prefixes = [Prefix(path: nil, names: [], type: type, isUnwrapping: false)]
        while !prefixes.isEmpty {
            var longer: [Prefix] = []
            for prefix in prefixes {
                guard !isExhausted else { return nil }
                for property in KeyPathNames.properties(of: prefix.type) {
                    if let name = end(of: property, after: prefix) { return prefix.names + name }
                    longer += extend(prefix, by: property)
                }
            }
            prefixes = longer
        }
        return nil
    }

    /// The key paths to the destination of a to-one relationship; none for another property.
    private mutating func extend(_ prefix: Prefix, by property: TypedProperty) -> [Prefix] {
        guard case .toOne(let destination?, let unwrap) = property.kind,
            let path = append(property.keyPath(isChained: prefix.isChained), to: prefix)
        else { return [] }
        let forms = prefix.path == nil ? [false, true] : [prefix.isUnwrapping]
        return forms.map { isUnwrapping in
            Prefix(
                path: isUnwrapping ? path.appending(path: unwrap as AnyKeyPath) : path,
                names: prefix.names + [property.name],
                type: destination,
                isUnwrapping: isUnwrapping
            )
        }
    }

    /// The names with which the key path ends, if it ends with this property or its number of objects.
    private mutating func end(of property: TypedProperty, after prefix: Prefix) -> [String]? {
        let last = property.keyPath(isChained: prefix.isChained)
        if type(of: last).valueType == value, isSearched(append(last, to: prefix)) { return [property.name] }
        let number: any Any.Type = prefix.isChained ? Int?.self : Int.self
        guard value == number, let count = property.count(isChained: prefix.isChained),
            isSearched(append(count, to: prefix))
        else { return nil }
        return [property.name, "@count"]
    }

    private mutating func append(_ path: AnyKeyPath, to prefix: Prefix) -> AnyKeyPath? {
        budget -= 1
        return prefix.path.map { $0.appending(path: path) } ?? path
    }

    /// Compares hashes, which cover every component: an appended key path is not equal to the same one as a literal if a
    /// property that can be set follows a `?`.
    private func isSearched(_ path: AnyKeyPath?) -> Bool { path?.hashValue == hash }
}
