/// The regular expression engine reached its limit, so the result of the match is unknown.
struct AbandonedMatch: Error, CustomStringConvertible {
    var description: String {
        "the regular expression backtracks too much on a long text: simplify it, for example without (a|b)*"
    }
}
