import ChangeMerging
import Testing

@Suite("Merging orders")
struct OrderedMergeTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let local: String
        let store: String
        let prefersLocal: Bool
        let result: String
    }

    static let cases = [
        Case(testDescription: "nothing moved", local: "abcd", store: "abcd", prefersLocal: true, result: "abcd"),
        Case(testDescription: "moved here", local: "dabc", store: "abcd", prefersLocal: false, result: "dabc"),
        Case(testDescription: "moved there", local: "abcd", store: "bacd", prefersLocal: true, result: "bacd"),
        Case(testDescription: "moved in both", local: "dabc", store: "bacd", prefersLocal: true, result: "dabc"),
        Case(testDescription: "moved in both", local: "dabc", store: "bacd", prefersLocal: false, result: "bacd"),
        Case(testDescription: "added in both", local: "axbcd", store: "abcyd", prefersLocal: true, result: "axbcyd"),
        Case(testDescription: "added in front", local: "abcd", store: "yabcd", prefersLocal: true, result: "yabcd"),
        Case(testDescription: "added and moved", local: "dcba", store: "abcyd", prefersLocal: false, result: "dcyba"),
        Case(testDescription: "removed here", local: "acd", store: "abcyd", prefersLocal: true, result: "acyd"),
    ]

    @Test("The merged order preserves both sides' moves and additions", arguments: cases)
    func order(_ example: Case) {
        let base = Array("abcd")
        let (local, store) = (Array(example.local), Array(example.store))
        let change = ToManyChange(from: Set(base), to: Set(local))
        let merged = change.applied(to: Set(store))
        let result = OrderedMerge.order(
            merged,
            base: base,
            local: local,
            store: store,
            prefersLocal: example.prefersLocal
        )
        #expect(String(result) == example.result)
    }
}
