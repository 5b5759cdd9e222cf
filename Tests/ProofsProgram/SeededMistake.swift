import Foundation
import TestSupport

/// A known mistake in the commit protocol or in a merge, as a later change might make it: a patch in `Tests/Mistakes`.
///
/// `Tests/Mistakes/check build` builds a copy of the checkout with all of these patches; an environment variable enables one. A
/// harness or a suite that does not detect its mistake proves nothing.
struct SeededMistake: Sendable, CustomStringConvertible {
    let name: String
    /// The harnesses and suites that should notice the mistake.
    let witnesses: [Witness]

    var description: String { name }

    /// The programs and the tests with the mistakes.
    static let buildFolder = Checkout.path + "/.build/mistakes/build/.build/debug"

    private static let patchFolder = Checkout.path + "/Tests/Mistakes/protocol/"

    /// Every mistake of the folder; the patch with the switch names no witness.
    static func all() throws -> [SeededMistake] {
        try FileManager.default.contentsOfDirectory(atPath: patchFolder).sorted()
            .filter { $0.hasSuffix(".patch") }
            .map { file in
                let text = try String(contentsOfFile: patchFolder + file, encoding: .utf8)
                return SeededMistake(name: String(file.dropLast(".patch".count)), witnesses: witnesses(in: text))
            }
            .filter { !$0.witnesses.isEmpty }
    }

    /// The lines `Witness: proof NAME COMMAND` and `Witness: suite NAME` of a patch.
    private static func witnesses(in patch: String) -> [Witness] {
        patch.matches(of: /(?m)^Witness: (proof|suite) (\S+) ?(.*)$/)
            .map { line in
                line.1 == "suite" ? .suite(String(line.2)) : .proof(String(line.2), String(line.3))
            }
    }
}
