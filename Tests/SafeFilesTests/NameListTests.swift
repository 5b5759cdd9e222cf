import Foundation
import SafeFiles
import TestSupport
import Testing

@Suite("Packed lists of names")
struct NameListTests {
    private static let names = ["b", "", "a\u{301}", "é", "ab", "a", "\u{1F4C5}", "B", "aa", "z/\"\\"]

    @Test("Names are sorted by their bytes, like a sorted array of strings")
    func order() {
        let list = NameList(Self.names)
        #expect(Array(list) == Self.names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        #expect(NameList(list) == list)
        #expect(NameList(Self.names.reversed()) == list)
    }

    @Test("A name is found at its index by its bytes, and a different one is not")
    func places() {
        let list = NameList(Self.names)
        for (place, name) in list.enumerated() { #expect(list.place(of: name) == place) }
        // Canonically equivalent names with other bytes.
        for name in ["\u{E1}", "e\u{301}", "c", "~", "A"] { #expect(list.place(of: name) == nil) }
        #expect(NameList().place(of: "") == nil)
    }

    @Test("A table keeps each name's value in any input order, and is encoded as a mapping")
    func table() throws {
        let pairs = Self.names.enumerated().map { ($0.element, $0.offset) }
        let table = NameTable(pairs)
        for (name, value) in pairs { #expect(table[name] == value) }
        #expect(table["c"] == nil)
        #expect(table == NameTable(pairs.reversed()))
        let data = try JSONEncoder().encode(table)
        #expect(try JSONDecoder().decode([String: Int].self, from: data) == Dictionary(uniqueKeysWithValues: pairs))
        #expect(try JSONDecoder().decode(NameTable<Int>.self, from: data) == table)
    }

    @Test("A folder's packed names equal its listing")
    func folder() throws {
        let scratch = try ScratchFolder()
        for name in ["b", "a", "é", "Z"] { try scratch.write(name, []) }
        #expect(try Array(scratch.directory.names()) == scratch.directory.entries())
    }
}
