import Foundation
import ManagedObjects
import StoreAccess
import StoreFormat
import TestSupport

/// Makes random valid predicates over the menagerie.
struct PredicateMaker {
    static let texts = [
        "", "a", "A", "ab", "Ab", "é", "E\u{301}", "éa", "É", "z", "%", "_", "a*b", "[a]", "ß", "SS", "Σ", "ς", "🏃",
        "a\0b",
        "İ", "ﬁ",
    ]
    private static let patterns = ["*", "a*", "?", "*b", "a\\*b", "\u{e9}*", "É?", "_", "%"]
    private static let expressions = ["a.*", "[aA]b?", ".", "(é|a)+", "\\p{Lu}+"]
    private static let options = ["", "[c]", "[d]", "[cd]"]
    private static let order = ["==", "!=", "<", "<=", ">", ">="]

    private enum Kind {
        case text
        case number
        case date
        case uuid
        case data
        case opaque
        case object(root: String)
    }

    let ids: [ManagedObjectID]
    private var format = ""
    /// The variable of the innermost subquery, with its `$`.
    private var variable: String?
    private var arguments: [(any PredicateArgument)?] = []

    init(ids: [ManagedObjectID]) {
        self.ids = ids
    }

    /// Nil where a fetch refuses the predicate, as documented, because it nests deeper than SQLite can read.
    static func unlessTooDeep<R>(_ body: () throws -> R) throws -> R? {
        do { return try body() } catch let error as FetchError where error.message.contains("nests too deeply") {
            return nil
        }
    }

    /// Makes a predicate for an entity, together with its format.
    static func predicate(
        for entity: String,
        ids: [ManagedObjectID],
        using generator: inout SeededGenerator
    ) throws -> (format: String, predicate: FetchPredicate) {
        var maker = PredicateMaker(ids: ids)
        maker.compound(entity, depth: 0, &generator)
        return (maker.format, try FetchPredicate(format: maker.format, argumentArray: maker.arguments))
    }

    private mutating func compound(_ entity: String, depth: Int, _ generator: inout SeededGenerator) {
        if depth < 3, generator.chance(8) { return subquery(entity, depth: depth, &generator) }
        guard depth < 3, generator.chance(60) else { return comparison(entity, &generator) }
        switch Int.random(in: 0...2, using: &generator) {
        case 0:
            format += "NOT ("
            compound(entity, depth: depth + 1, &generator)
            format += ")"
        default:
            format += "("
            compound(entity, depth: depth + 1, &generator)
            format += generator.chance(50) ? ") AND (" : ") OR ("
            compound(entity, depth: depth + 1, &generator)
            format += ")"
        }
    }

    /// A count of matching objects in a to-many relationship; the predicate may refer to the outer object.
    private mutating func subquery(_ entity: String, depth: Int, _ generator: inout SeededGenerator) {
        guard let (name, destination) = Self.properties[entity].map({ generator.pick($0.toMany) }) else { return }
        let outer = variable
        let inner = "$v\(depth)"
        format += "SUBQUERY(" + (outer.map { $0 + "." } ?? "") + "#\(name), \(inner), "
        variable = inner
        compound(destination, depth: depth + 1, &generator)
        if generator.chance(20) {
            format += " AND \(inner).#name != #name"
        }
        variable = outer
        format += ").@count " + generator.pick(["> 0", "== 0", "> 1", "== 1"])
    }

    // MARK: Paths

    /// The properties of an entity: attributes, to-one and to-many relationships.
    private static let properties:
        [String: (values: [(String, Kind)], toOne: [(String, String)], toMany: [(String, String)])] =
            {
                let being: [(String, Kind)] = [
                    ("name", .text), ("link", .text), ("born", .date), ("weight", .number), ("legs", .number),
                    ("price", .number), ("isTame", .number), ("tag", .uuid), ("chip", .data), ("picture", .opaque),
                ]
                let links = [("keeper", "Keeper")]
                let sets = [("foods", "Food"), ("friends", "Being")]
                return [
                    "Being": (being, links, sets),
                    "Dog": (being + [("lives", .number), ("bark", .number)], links + [("rival", "Being")], sets),
                    "Keeper": (
                        [("name", .text), ("age", .number)], [("boss", "Keeper"), ("favourite", "Being")],
                        [("beings", "Being"), ("staff", "Keeper")]
                    ),
                    "Food": ([("name", .text), ("calories", .number)], [], [("eaters", "Being")]),
                ]
            }()

    /// A path of to-one relationships, and the kind of its end.
    private func path(from entity: String, _ generator: inout SeededGenerator) -> (path: [String], Kind) {
        var names: [String] = []
        var entity = entity
        while let properties = Self.properties[entity] {
            if generator.chance(30), names.count < 3, !properties.toOne.isEmpty {
                let (name, destination) = generator.pick(properties.toOne)
                names.append(name)
                entity = destination
            } else if generator.chance(15) {
                names += [generator.pick(properties.toMany).0, "@count"]
                return (names, .number)
            } else if generator.chance(10) {
                let (name, destination) = generator.pick(properties.toMany)
                let aggregate = generator.pick(["@sum", "@avg", "@min", "@max"])
                let values = (Self.properties[destination]?.values ?? [])
                    .filter { value in
                        switch value.1 {
                        case .number: true
                        case .text, .date: aggregate == "@min" || aggregate == "@max"
                        default: false
                        }
                    }
                let (attribute, kind) = generator.pick(values)
                return (names + [name, aggregate, attribute], kind)
            } else if generator.chance(15) {
                return (names.isEmpty ? ["SELF"] : names, .object(root: entity == "Dog" ? "Being" : entity))
            } else {
                let (name, kind) = generator.pick(properties.values)
                return (names + [name], kind)
            }
        }
        return (names, .opaque)
    }

    // MARK: Comparisons

    private mutating func comparison(_ entity: String, _ generator: inout SeededGenerator) {
        var names: [String] = []
        var entity = entity
        if generator.chance(30) {
            format += generator.pick(["ANY ", "ALL ", "NONE ", "SOME "])
            repeat {
                guard let properties = Self.properties[entity] else { break }
                let (name, destination) = generator.pick(properties.toMany)
                names.append(name)
                entity = destination
            } while generator.chance(20)
        }
        let (rest, kind) = path(from: entity, &generator)
        names += rest == ["SELF"] && !names.isEmpty ? [] : rest
        if let variable { names = [variable] + names.filter { $0 != "SELF" } }
        format +=
            names.map { $0.hasPrefix("@") || $0.hasPrefix("$") || $0 == "SELF" ? $0 : "#" + $0 }
            .joined(separator: ".") + " "
        switch kind {
        case .opaque: format += generator.pick(["== nil", "!= nil"])
        case .object(let root): object(root, &generator)
        case .text where generator.chance(50): text(&generator)
        case .text, .number, .date, .uuid, .data: value(kind, &generator)
        }
    }

    private mutating func object(_ root: String, _ generator: inout SeededGenerator) {
        guard !generator.chance(20) else {
            // Replaces the blank after the path.
            format.removeLast()
            format += ".entity " + generator.pick(["== 'Cat'", "!= 'Dog'", "IN {'Puppy', 'Keeper'}", "== 'Food'"])
            return
        }
        var mine = ids.filter { $0.rootName == root }
        mine.append(generator.pick(ids))
        mine.append(ManagedObjectID(temporaryFor: root, root: root))
        if generator.chance(40) {
            format += "IN %@"
            let chosen: [PredicateConstant] = mine.shuffled(using: &generator).prefix(4).map(PredicateConstant.object)
            arguments.append(PredicateConstant.collection(chosen + (generator.chance(30) ? [.value(.null)] : [])))
        } else {
            format += generator.pick(["== %@", "!= %@"])
            arguments.append(generator.chance(25) ? nil : generator.pick(mine))
        }
    }

    private mutating func text(_ generator: inout SeededGenerator) {
        let word = generator.pick(["BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "MATCHES"])
        format += word + generator.pick(Self.options) + " %@"
        switch word {
        case "LIKE": arguments.append(generator.pick(Self.patterns))
        case "MATCHES": arguments.append(generator.pick(Self.expressions))
        default: arguments.append(generator.pick(Self.texts))
        }
    }

    private mutating func value(_ kind: Kind, _ generator: inout SeededGenerator) {
        var options = ""
        var isOrdered = true
        if case .text = kind { options = generator.pick(Self.options) }
        if case .uuid = kind { isOrdered = false }
        if case .data = kind { isOrdered = false }
        switch Int.random(in: 0..<(isOrdered ? 10 : 8), using: &generator) {
        case 0..<2:
            format += "IN\(options) %@"
            arguments.append(
                PredicateConstant.collection((0..<3).map { _ in constant(kind, &generator).predicateConstant })
            )
        case 8..<10:
            format += "BETWEEN\(options) %@"
            arguments.append(
                PredicateConstant.collection((0..<2).map { _ in constant(kind, &generator).predicateConstant })
            )
        default:
            format += generator.pick(isOrdered ? Self.order : ["==", "!="]) + options + " "
            if generator.chance(15), let other = Self.sameKind(kind) {
                format += other
            } else {
                format += "%@"
                arguments.append(constant(kind, &generator))
            }
        }
    }

    /// A path from the fetched entity to a value of the same kind, which every entity has.
    private static func sameKind(_ kind: Kind) -> String? {
        if case .text = kind { "name" } else { nil }
    }

    private func constant(_ kind: Kind, _ generator: inout SeededGenerator) -> AttributeValue {
        if generator.chance(10) { return .null }
        return switch kind {
        case .text: .string(generator.pick(Self.texts))
        case .number:
            generator.pick([
                0, 1, 2, 3, -1, 3.0, 3.5, 0.1, true, false, .decimal(3), .decimal(.nan), 1e300, .real(.nan),
            ])
        case .date:
            generator.pick([0.0, 86_400, 86_400.5, -1.25].map { .date(Date(timeIntervalSinceReferenceDate: $0)) })
        case .uuid:
            AttributeValue(.blob([UInt8](repeating: UInt8.random(in: 0...3, using: &generator), count: 16)), as: .uuid)
                ?? .null
        default: .data(Data(repeating: 7, count: Int.random(in: 0...2, using: &generator)))
        }
    }
}
