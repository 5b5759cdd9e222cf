/// Whose transactions are wanted.
public enum HistoryAuthors: Sendable, Hashable {
    case everybody
    /// Only those of these authors; nil is a transaction without one.
    case only(Set<String?>)
    /// All but those of these authors; batches of one's own go by another name, or they are missed.
    case allBut(Set<String?>)

    func includes(_ author: String?) -> Bool {
        switch self {
        case .everybody: true
        case .only(let authors): authors.contains(author)
        case .allBut(let authors): !authors.contains(author)
        }
    }
}
