import ChangeMerging
import StoreAccess
import Testing

@Suite("Messages to a resolver in another process")
struct ConflictMessageTests {
    /// A state of one side, and its JSON.
    struct State: Sendable {
        let state: StoreMergeConflict.State
        let json: String
    }

    static let states = [
        State(state: .value(.null), json: #"{"kind":"value","value":null}"#),
        State(state: .value(.integer(-7)), json: #"{"kind":"value","value":{"integer":-7}}"#),
        State(state: .value(.real(1.5)), json: #"{"kind":"value","value":{"real":1.5}}"#),
        State(state: .value(.text("a/b")), json: #"{"kind":"value","value":{"text":"a/b"}}"#),
        State(state: .value(.bytes([0, 255])), json: #"{"kind":"value","value":{"base64":"AP8="}}"#),
        State(state: .large(300_000), json: #"{"bytes":300000,"kind":"large"}"#),
        State(state: .partner(3), json: #"{"key":3,"kind":"partner"}"#),
        State(state: .partner(nil), json: #"{"key":null,"kind":"partner"}"#),
        State(state: .deleted, json: #"{"kind":"deleted"}"#), State(state: .present, json: #"{"kind":"present"}"#),
    ]

    @Test("A question is one line of JSON with the states of all stores and the policy's decision", arguments: states)
    func question(_ state: State) throws {
        let conflict = StoreMergeConflict(
            entity: "Habit",
            key: [.integer(1), .text("k")],
            property: "name",
            reason: .bothChanged,
            base: .present,
            old: state.state,
            shared: .deleted,
            taken: .old,
            acceptsValue: true
        )

        let line = try ConflictMessage.question(5, conflict)

        #expect(
            String(decoding: line, as: UTF8.self) == #"{"resolve":{"conflict":{"acceptsValue":true,"#
                + #""base":{"kind":"present"},"entity":"Habit","key":[{"integer":1},{"text":"k"}],"old":"#
                + state.json + #","policy":"old","property":"name","reason":"bothChanged","#
                + #""shared":{"kind":"deleted"}},"number":5,"protocolVersion":1}}"# + "\n"
        )
    }

    @Test("A question about a whole object without a base has neither a property nor a base")
    func wholeObject() throws {
        let conflict = StoreMergeConflict(
            entity: "Habit",
            primaryKey: 1,
            property: nil,
            reason: .editedAndDeleted,
            base: nil,
            old: .present,
            shared: .deleted,
            taken: .shared
        )

        let line = try ConflictMessage.question(1, conflict)

        #expect(
            String(decoding: line, as: UTF8.self) == #"{"resolve":{"conflict":{"acceptsValue":false,"#
                + #""entity":"Habit","key":[{"integer":1}],"old":{"kind":"present"},"policy":"shared","#
                + #""reason":"editedAndDeleted","shared":{"kind":"deleted"}},"number":1,"protocolVersion":1}}"# + "\n"
        )
    }
}
