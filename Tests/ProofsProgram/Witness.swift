/// A harness or suite that should notice a seeded bug.
struct Witness: Sendable, CustomStringConvertible {
    enum Kind: Sendable {
        /// A harness of this program, by its name, over the commands whose names begin with some words.
        case proof(String, command: String)
        /// The tests of one suite.
        case suite(String)
    }

    let kind: Kind

    static func proof(_ name: String, _ command: String = "") -> Witness {
        Witness(kind: .proof(name, command: command))
    }
    static func suite(_ name: String) -> Witness { Witness(kind: .suite(name)) }

    var description: String {
        switch kind {
        case .proof(let name, let command): command.isEmpty ? name : "\(name) (\(command))"
        case .suite(let name): name
        }
    }
}
