import CInterleavingTurn

/// A point at which the scheduler chooses: the next file call of a program, or its next operation on shared memory.
package struct Point: Hashable, Sendable, CustomStringConvertible {
    package enum Kind: UInt32, Sendable {
        case begin, exit
        /// Reads bytes, metadata or names.
        case read
        /// Changes bytes, metadata, names or locks.
        case change
        /// Reads or changes shared memory.
        case memory
        /// Waits for a time.
        case pause
        /// Waits for a lock without a deadline.
        case endlessPause
    }

    package let kind: Kind
    package let function: String
    /// Paths below the root; the second one is the new name of a renamed file.
    package let path: String
    package let otherPath: String

    package init(_ kind: Kind, _ function: String, _ path: String, _ otherPath: String = "") {
        self.kind = kind
        self.function = function
        self.path = path
        self.otherPath = otherPath
    }

    /// The point that a program describes in its slot while it waits.
    init(_ slot: UnsafeMutablePointer<InterleavingSlot>) {
        self.init(
            Kind(rawValue: slot.pointee.kind) ?? .change,
            String(cString: interleaving_function(slot)),
            String(cString: interleaving_path(slot)),
            String(cString: interleaving_other_path(slot))
        )
    }

    package var description: String { ([function] + names).joined(separator: "\t") }

    /// True if both orders of the two steps lead to the same state.
    ///
    /// A step is the call and all that its program does until the next point. It may therefore read the clock and shared
    /// memory: a pause, an exit and an operation on shared memory depend on everything. Until its first point a program
    /// touches nothing.
    package func isIndependent(of other: Point) -> Bool {
        if kind == .begin || other.kind == .begin { return true }
        switch (kind, other.kind) {
        case (.read, .read): return true
        case (.read, .change), (.change, .read), (.change, .change):
            return !names.contains { name in other.names.contains { Self.overlap(name, $0) } }
        default: return false
        }
    }

    private var names: [String] { otherPath.isEmpty ? [path] : [path, otherPath] }

    /// True for one name, and for a name and its folder, whose listing shows the name.
    private static func overlap(_ first: String, _ second: String) -> Bool {
        first == second || folder(of: first) == second || folder(of: second) == first
    }

    private static func folder(of path: String) -> String {
        guard let end = path.lastIndex(of: "/") else { return "." }
        return String(path[..<end])
    }
}
