/// What one side did to the members of a to-many relationship since both sides agreed on them.
///
/// Changes of two sides never contradict each other: a member that one side added was not there for the other to
/// remove.
public struct ToManyChange<Member: Hashable & Sendable>: Hashable, Sendable {
    public var added: Set<Member>
    public var removed: Set<Member>

    public init(added: Set<Member> = [], removed: Set<Member> = []) {
        self.added = added
        self.removed = removed
    }

    /// The change from one set of members to another.
    public init(from base: Set<Member>, to members: Set<Member>) {
        self.init(added: members.subtracting(base), removed: base.subtracting(members))
    }

    public var isEmpty: Bool { added.isEmpty && removed.isEmpty }

    /// The members after the change.
    public func applied(to members: Set<Member>) -> Set<Member> {
        members.subtracting(removed).union(added)
    }
}
