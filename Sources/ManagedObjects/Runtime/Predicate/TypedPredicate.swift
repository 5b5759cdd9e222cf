/// A condition for the objects of one class, written with key paths: `\Habit.name == "Read" && \Habit.isClosed == false`.
///
/// It is the same predicate as its text form; ``FetchPredicate`` documents the comparison of strings and of nil. A key path
/// consists of the properties that ``TypedObject/properties`` lists; any other, such as `\Habit.name.count` or a computed
/// property of an app, makes the request fail with a ``FetchError``.
public struct TypedPredicate<Object: TypedObject>: Hashable, Sendable {
    /// The predicate for requests by name.
    public let untyped: FetchPredicate

    /// Uses a predicate in text form for objects of this class.
    public init(_ predicate: FetchPredicate) { untyped = predicate }

    init<Value>(
        _ path: KeyPath<Object, Value>,
        _ comparison: PredicateComparison.Operator,
        _ constant: PredicateConstant,
        _ options: SortComparison = .literal
    ) {
        self.init(
            FetchPredicate(
                .comparison(
                    PredicateComparison(
                        left: .keyPath(KeyPathNames.names(of: path)),
                        comparison: comparison,
                        options: options.options,
                        right: .constant(constant)
                    )
                )
            )
        )
    }

    public static func && (first: TypedPredicate, second: TypedPredicate) -> TypedPredicate {
        TypedPredicate(.and([first.untyped, second.untyped]))
    }

    public static func || (first: TypedPredicate, second: TypedPredicate) -> TypedPredicate {
        TypedPredicate(.or([first.untyped, second.untyped]))
    }

    public static prefix func ! (predicate: TypedPredicate) -> TypedPredicate {
        TypedPredicate(.not(predicate.untyped))
    }
}

// MARK: Equality

public func == <Object: TypedObject, Value: EquatableProperty>(
    path: KeyPath<Object, Value>,
    value: Value
) -> TypedPredicate<Object> {
    TypedPredicate(path, .equal, value.predicateConstant)
}

public func != <Object: TypedObject, Value: EquatableProperty>(
    path: KeyPath<Object, Value>,
    value: Value
) -> TypedPredicate<Object> {
    TypedPredicate(path, .notEqual, value.predicateConstant)
}

/// Compares a destination by its ID.
public func == <Object: TypedObject, Destination: ManagedObject>(
    path: KeyPath<Object, Destination?>,
    id: ManagedObjectID
) -> TypedPredicate<Object> {
    TypedPredicate(path, .equal, .object(id))
}

/// Compares a destination by its ID.
public func != <Object: TypedObject, Destination: ManagedObject>(
    path: KeyPath<Object, Destination?>,
    id: ManagedObjectID
) -> TypedPredicate<Object> {
    TypedPredicate(path, .notEqual, .object(id))
}

public func == <Object: TypedObject, Value: RawRepresentable>(
    path: KeyPath<Object, Value?>,
    value: Value?
) -> TypedPredicate<Object> where Value.RawValue: PredicateArgument {
    TypedPredicate(path, .equal, (value?.rawValue).predicateConstant)
}

public func != <Object: TypedObject, Value: RawRepresentable>(
    path: KeyPath<Object, Value?>,
    value: Value?
) -> TypedPredicate<Object> where Value.RawValue: PredicateArgument {
    TypedPredicate(path, .notEqual, (value?.rawValue).predicateConstant)
}

public func == <Object: TypedObject, Value: RawRepresentable>(
    path: KeyPath<Object, Value>,
    value: Value
) -> TypedPredicate<Object> where Value.RawValue: PredicateArgument {
    TypedPredicate(path, .equal, value.rawValue.predicateConstant)
}

public func != <Object: TypedObject, Value: RawRepresentable>(
    path: KeyPath<Object, Value>,
    value: Value
) -> TypedPredicate<Object> where Value.RawValue: PredicateArgument {
    TypedPredicate(path, .notEqual, value.rawValue.predicateConstant)
}

@available(*, unavailable, message: "a to-many relationship is no single value: use any, all, none, contains or count")
public func == <Object: TypedObject, Objects: ToManyDestinations>(
    path: KeyPath<Object, Objects>,
    objects: Objects
) -> TypedPredicate<Object> {
    TypedPredicate(FetchPredicate(value: false))
}

@available(*, unavailable, message: "a to-many relationship is no single value: use any, all, none, contains or count")
public func != <Object: TypedObject, Objects: ToManyDestinations>(
    path: KeyPath<Object, Objects>,
    objects: Objects
) -> TypedPredicate<Object> {
    TypedPredicate(FetchPredicate(value: false))
}

// MARK: Order

public func < <Object: TypedObject, Value: OrderedAttribute>(
    path: KeyPath<Object, Value>,
    value: Value
) -> TypedPredicate<Object> {
    TypedPredicate(path, .less, value.predicateConstant)
}

public func <= <Object: TypedObject, Value: OrderedAttribute>(
    path: KeyPath<Object, Value>,
    value: Value
) -> TypedPredicate<Object> {
    TypedPredicate(path, .lessOrEqual, value.predicateConstant)
}

public func > <Object: TypedObject, Value: OrderedAttribute>(
    path: KeyPath<Object, Value>,
    value: Value
) -> TypedPredicate<Object> {
    TypedPredicate(path, .greater, value.predicateConstant)
}

public func >= <Object: TypedObject, Value: OrderedAttribute>(
    path: KeyPath<Object, Value>,
    value: Value
) -> TypedPredicate<Object> {
    TypedPredicate(path, .greaterOrEqual, value.predicateConstant)
}

extension KeyPath where Root: TypedObject, Value: EquatableProperty {
    /// True for objects whose value is one of these.
    public func `in`(_ values: [Value]) -> TypedPredicate<Root> {
        TypedPredicate(self, .isIn, .collection(values.map(\.predicateConstant)))
    }
}

extension KeyPath where Root: TypedObject, Value: RawRepresentable, Value.RawValue: PredicateArgument {
    /// True for objects whose value is one of these cases.
    public func `in`(_ cases: [Value]) -> TypedPredicate<Root> {
        TypedPredicate(self, .isIn, .collection(cases.map(\.rawValue.predicateConstant)))
    }
}

extension KeyPath where Root: TypedObject {
    /// True for objects whose value is one of these cases, or is missing if nil is one of them.
    public func `in`<Case: RawRepresentable>(_ cases: [Case?]) -> TypedPredicate<Root>
    where Value == Case?, Case.RawValue: PredicateArgument {
        TypedPredicate(self, .isIn, .collection(cases.map { ($0?.rawValue).predicateConstant }))
    }
}

extension KeyPath where Root: TypedObject, Value: OrderedAttribute {
    /// True for objects whose value is in a range, the bounds included.
    public func between(_ first: Value, _ last: Value) -> TypedPredicate<Root> {
        TypedPredicate(self, .between, .collection([first.predicateConstant, last.predicateConstant]))
    }
}

// MARK: Texts

extension KeyPath where Root: TypedObject, Value: TextAttribute {
    /// True for objects whose text is equal, apart from the ignored differences.
    public func equals(_ text: String, _ comparison: SortComparison) -> TypedPredicate<Root> {
        TypedPredicate(self, .equal, text.predicateConstant, comparison)
    }

    /// True for objects whose text contains this one.
    public func contains(_ text: String, _ comparison: SortComparison = .literal) -> TypedPredicate<Root> {
        TypedPredicate(self, .string(.contains), text.predicateConstant, comparison)
    }

    /// True for objects whose text begins with this one.
    public func beginsWith(_ text: String, _ comparison: SortComparison = .literal) -> TypedPredicate<Root> {
        TypedPredicate(self, .string(.beginsWith), text.predicateConstant, comparison)
    }

    /// True for objects whose text ends with this one.
    public func endsWith(_ text: String, _ comparison: SortComparison = .literal) -> TypedPredicate<Root> {
        TypedPredicate(self, .string(.endsWith), text.predicateConstant, comparison)
    }

    /// True for objects whose text has a pattern, in which `*` stands for any characters and `?` for one.
    public func like(_ pattern: String, _ comparison: SortComparison = .literal) -> TypedPredicate<Root> {
        TypedPredicate(self, .string(.like), pattern.predicateConstant, comparison)
    }

    /// True for objects whose whole text matches a regular expression.
    public func matches(_ expression: String, _ comparison: SortComparison = .literal) -> TypedPredicate<Root> {
        TypedPredicate(self, .string(.matches), expression.predicateConstant, comparison)
    }
}
