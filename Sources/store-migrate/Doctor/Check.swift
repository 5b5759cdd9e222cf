import StoreFormat

/// One thing the doctor looked at.
struct Check {
    /// How it turned out.
    enum State: String {
        case fine
        /// Worth knowing; a share works all the same.
        case note
        /// A share, or a part of it, would not work.
        case problem
    }

    let name: String
    let state: State
    /// What was found, and what to do about it.
    let detail: String

    init(_ name: String, _ state: State, _ detail: String) {
        self.name = name
        self.state = state
        self.detail = detail
    }

    /// The check as a finding, unless all is well.
    func finding(path: String) -> Finding? {
        guard state != .fine else { return nil }
        return Finding(
            Finding.Code(rawValue: name),
            state == .problem ? .error : .info,
            level: .files,
            detail,
            path: path
        )
    }
}
