import FaultSupport
import SafeFiles
import Testing

@Suite("The program of the proofs")
struct ProofsProgramTests {
    @Test(
        "A selection that matches no harness or command is refused",
        arguments: [
            (["no-such-harness"], "no harness is called no-such-harness"),
            (
                ["single-faults", "--only", "no such command"],
                "no command, known history or known mistake has a name that begins with 'no such command'"
            ),
        ]
    )
    func nothingToTry(arguments: [String], words: String) throws {
        let scratch = try Scratch()
        let command = Command(executable: Command.buildFolder + "/proofs", arguments: arguments)
        let ending = try scratch.run(command, shim: nil, point: nil, deadline: Deadline(after: .seconds(60)))
        #expect(ending == .exited(64))
        #expect(try scratch.lines().joined(separator: " ").contains(words))
    }
}
