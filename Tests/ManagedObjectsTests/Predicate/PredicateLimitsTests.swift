import ManagedObjects
import StoreAccess
import StoreFormat
import TestSupport
import Testing

@Suite("Limits of predicates")
struct PredicateLimitsTests {
    private let menagerie: Menagerie

    init() throws {
        var generator = SeededGenerator(seed: 1)
        menagerie = try Menagerie(using: &generator, count: 12)
    }

    /// The keys that match, checked to be the same in SQL and in memory.
    private func keys(_ predicate: FetchPredicate, of entity: String = "Being") throws -> [Int64] {
        let resolved = try predicate.resolved(for: entity, in: menagerie.layout.model)
        let keys = try menagerie.keys(resolved)
        #expect(try menagerie.keysInMemory(resolved) == keys)
        return keys
    }

    private func keys(_ format: String) throws -> [Int64] { try keys(FetchPredicate(format: format)) }

    @Test("A predicate with thousands of terms matches like an equivalent short one")
    func wide() throws {
        let terms = (0..<5_000).map { "legs == \($0 * 2)" }.joined(separator: " OR ")
        #expect(try keys(terms) == keys("legs IN {0, 2, 4, 6, 8}"))
        let others = (0..<5_000).map { "legs != \($0 * 2)" }.joined(separator: " AND ")
        #expect(try keys(others) == keys("NOT legs IN {0, 2, 4, 6, 8}"))
        let texts = try (0..<1_200).map { try FetchPredicate(format: "name BEGINSWITH %@", "a\($0)") }
        #expect(try keys(.or(texts + [FetchPredicate(format: "name BEGINSWITH 'a'")])) == keys("name BEGINSWITH 'a'"))
    }

    @Test("A predicate built term by term does not grow in depth")
    func pieces() throws {
        let term = try FetchPredicate(format: "legs == 1")
        var any = term
        var all = term
        var negated = term
        for number in 0..<3_000 {
            any = try .or([any, FetchPredicate(format: "legs == %d", number)])
            all = try .and([FetchPredicate(format: "legs != %d", number + 3), all])
            negated = .not(.and([negated]))
        }
        #expect(try keys(any) == keys("legs IN {0, 1, 2, 3, 4}"))
        #expect(try keys(all) == keys("legs == 1"))
        #expect(negated == term)
    }

    @Test("A predicate may contain a hundred negations")
    func negations() throws {
        #expect(try keys(String(repeating: "NOT ", count: 98) + "legs == 1") == keys("legs == 1"))
        #expect(try keys(String(repeating: "!", count: 99) + "legs == 1") == keys("legs != 1"))
    }

    @Test("A predicate nested beyond the depth limit is rejected", arguments: [200, 20_000])
    func tooDeep(count: Int) throws {
        let term = try FetchPredicate(format: "legs == 1")
        var predicate = term
        for _ in 0..<count { predicate = .not(.and([predicate, term])) }
        let error = #expect(throws: FetchError.self) {
            try predicate.resolved(for: "Being", in: menagerie.layout.model)
        }
        #expect(error?.message.contains("levels deep") == true)
    }

    /// Nestings: a format around another format, for keepers, and the depth that must work.
    private static let nestings: [(around: @Sendable (String) -> String, least: Int)] = [
        ({ "(\($0)) AND age != 5 OR age == 6" }, 20),
        ({ "age == 6 OR NOT (age != 5 AND (\($0)))" }, 15),
        ({ "NOT ((\($0)) AND NOT (age == 7 OR name ==[cd] 'x'))" }, 10),
        ({ "SUBQUERY(staff, $x, \($0)).@count >= 0" }, 4),
        ({ "SUBQUERY(staff, $x, ANY $x.staff.age == 1 OR \($0)).@count >= 0" }, 4),
    ]

    @Test("A deep predicate works or is rejected before SQLite prepares it", arguments: 0..<5)
    func deep(_ index: Int) throws {
        let (around, least) = Self.nestings[index]
        var format = "boss.boss.age == 1 AND ANY beings.isTame == YES"
        var worked = 0
        for depth in 1..<60 {
            format = around(format)
            guard let predicate = try? FetchPredicate(format: format) else { break }
            guard try selects(predicate) else { break }
            worked = depth
        }
        #expect(worked >= least)
    }

    @Test("A long key path works or is rejected before SQLite prepares it")
    func keysInARow() throws {
        for count in 1..<14 {
            let path = Array(repeating: "boss", count: count).joined(separator: ".")
            let staff = Array(repeating: "staff", count: count).joined(separator: ".")
            #expect(try selects(FetchPredicate(format: "\(path).name ==[cd] 'a'")) || count > 7)
            #expect(try selects(FetchPredicate(format: "\(path).staff.@max.age == 1")) || count > 6)
            #expect(try selects(FetchPredicate(format: "NONE \(staff).name == 'a'")) || count > 5)
            let sorted = FetchRequest(entityName: "Keeper", sortDescriptors: [.init(keyPath: path + ".name")])
            #expect(try run(sorted) || count > 7)
        }
    }

    /// False when the predicate is rejected; otherwise SQLite must accept it.
    private func selects(_ predicate: FetchPredicate) throws -> Bool {
        do {
            _ = try keys(predicate, of: "Keeper")
            return try run(FetchRequest(entityName: "Keeper", predicate: predicate))
        } catch is FetchError {
            return false
        }
    }

    private func run(_ request: FetchRequest<ManagedObject>) throws -> Bool {
        do {
            let fetch = try request.resolved(in: menagerie.layout.model)
            let compiler = FetchCompiler(layout: menagerie.layout, storeUUID: menagerie.storeUUID)
            for statement in try [compiler.identifiers(fetch), compiler.count(fetch)] {
                _ = try menagerie.connection.value(statement.sql, statement.arguments)
            }
            return true
        } catch is FetchError {
            return false
        }
    }
}
