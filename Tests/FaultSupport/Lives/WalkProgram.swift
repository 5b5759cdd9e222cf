/// A person's program that decides for a command: a resolver of conflicts, or a veto on a share.
///
/// The word `{takesOld}` in a command line stands for the path of this one, and so on.
enum WalkProgram: String, CaseIterable {
    case takesOld, takesShared, fails
    case accepts, declines, dies

    static let resolvers: [WalkProgram] = [.takesOld, .takesShared, .fails]
    static let vetoes: [WalkProgram] = [.accepts, .declines, .dies]

    /// The word for its path.
    var word: String { "{\(rawValue)}" }

    init?(word: String) { self.init(rawValue: String(word.dropFirst().dropLast())) }

    /// The program, for the shell.
    var script: String {
        switch self {
        case .takesOld: Self.answer("old")
        case .takesShared: Self.answer("shared")
        case .fails: "exit 3"
        case .accepts: "cat >/dev/null"
        case .declines: "exit 1"
        // Its sandbox refuses kill.
        case .dies: #"exec perl -e 'print unpack("p", pack("L!", 1))'"#
        }
    }

    private static func answer(_ side: String) -> String {
        #"sed -E 's/.*"number":([0-9]+).*/{"resolution":{"number":\1,"take":"SIDE"}}/'"#.replacing("SIDE", with: side)
    }
}
