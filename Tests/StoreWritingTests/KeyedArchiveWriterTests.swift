import StoreFormat
import StoreWriting
import Testing

@Suite("Laying out keyed archives")
struct KeyedArchiveWriterTests {
    /// The objects of an archive with this root.
    private func objects(_ archive: KeyedArchiveWriter, root: PropertyListValue) -> [PropertyListValue] {
        guard case .dictionary(let fields) = archive.archive(root: root),
            case .array(let objects)? = fields["$objects"]
        else { return [] }
        return objects
    }

    @Test("Equal strings and classes are stored once, and a missing value is the null reference")
    func storedOnce() {
        var archive = KeyedArchiveWriter()
        let (one, other) = (archive.string("a"), archive.string("b"))
        #expect(archive.string("a") == one)
        #expect(one != other)
        #expect(archive.value(nil) == KeyedArchiveWriter.null)
        let (first, second) = (archive.set([one]), archive.set([other]))
        #expect(first != second)
        // Null, two strings, two sets and their class.
        #expect(objects(archive, root: first).count == 6)
    }

    @Test("A reserved object is filled in at its place; a reference outside the archive is ignored")
    func reserved() {
        var archive = KeyedArchiveWriter()
        let reference = archive.reserve()
        let text = archive.string("a")
        archive.define(reference, as: ["Class", "NSObject"], ["field": text])
        archive.define(.uid(100), as: ["Class", "NSObject"], [:])
        archive.define(.string("a"), as: ["Class", "NSObject"], [:])
        let objects = objects(archive, root: reference)
        #expect(objects.count == 4)
        guard case .uid(let index) = reference, case .dictionary(let fields) = objects[index] else {
            Issue.record("the object is not in its place")
            return
        }
        #expect(fields["field"] == text)
        guard case .uid(let place)? = fields["$class"] else {
            Issue.record("the object has no class")
            return
        }
        let ancestry = PropertyListValue.array([.string("Class"), .string("NSObject")])
        #expect(objects[place] == .dictionary(["$classname": .string("Class"), "$classes": ancestry]))
    }

    @Test("A derivation of one key path is an expression", arguments: ["a_b", "a.@count", "now()", "f(a_b.c)"])
    func expressions(_ text: String) {
        var archive = KeyedArchiveWriter()
        #expect(archive.expression(text) != KeyedArchiveWriter.null)
    }

    @Test("A derivation of an unknown form is the null reference", arguments: ["f(a", "f(a, b)", "f(a-b)", "f(g(a))"])
    func unknownExpressions(_ text: String) {
        var archive = KeyedArchiveWriter()
        #expect(archive.expression(text) == KeyedArchiveWriter.null)
    }
}
