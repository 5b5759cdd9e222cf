/// The engine of regular expressions gave up: whether the text matches is not known.
struct AbandonedMatch: Error, CustomStringConvertible {
    var description: String {
        "a text is too long for the regular expression: write one that needs to try less, for example without (a|b)*"
    }
}
