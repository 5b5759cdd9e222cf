public import StoreFormat

extension Examination {
    /// One check.
    public struct Check: Hashable, Sendable {
        /// The result of a check.
        public enum State: String, Sendable, Codable {
            case fine
            /// Worth knowing; a share works.
            case note
            /// A share, or a part of it, would not work.
            case problem
        }

        public let name: String
        public let state: State
        /// The result and what to do about it, as a lower-case fragment.
        public let detail: String

        init(_ name: String, _ state: State, _ detail: String) {
            self.name = name
            self.state = state
            self.detail = detail
        }

        /// The check as a finding about the folder at `path`; nil when all is well.
        public func finding(path: String) -> Finding? {
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
}
