/// The authors whose transactions are included.
public enum HistoryAuthors: Sendable, Hashable {
    case everybody
    /// Only transactions of these authors; nil stands for transactions without an author.
    case only(Set<String?>)
    /// All transactions except these authors'; use another author for your own batch changes, or they are skipped too.
    case allBut(Set<String?>)

    func includes(_ author: String?) -> Bool {
        switch self {
        case .everybody: true
        case .only(let authors): authors.contains(author)
        case .allBut(let authors): !authors.contains(author)
        }
    }
}
