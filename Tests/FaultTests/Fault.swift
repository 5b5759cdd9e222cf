import CFaultShim

/// What happens to one call, or from one call on.
struct Fault: Hashable, Sendable, CustomStringConvertible {
    let description: String
    let shimFault: FaultShimFault
    /// The kinds of calls at which this can happen.
    let kinds: Set<CallKind>
    /// Every later call of these kinds is harmed as well.
    let isLasting: Bool

    /// True if the program cannot notice anything because it is dead.
    var isDeadly: Bool { shimFault == FaultShimFaultKillBefore || shimFault == FaultShimFaultKillAfter }

    private init(_ description: String, _ fault: FaultShimFault, _ kinds: Set<CallKind>, isLasting: Bool = false) {
        self.description = description
        shimFault = fault
        self.kinds = kinds
        self.isLasting = isLasting
    }

    private static let growing: Set<CallKind> = [
        .create, .write, .synchronize, .truncate, .rename, .link, .makeFolder, .clone,
    ]

    static let killBefore = Fault("killed before", FaultShimFaultKillBefore, CallKind.changing)
    static let killAfter = Fault("killed after", FaultShimFaultKillAfter, CallKind.changing)
    static let inputOutputError = Fault("EIO", FaultShimFaultInputOutputError, Set(CallKind.allCases))
    static let lastingInputOutputError = Fault(
        "EIO from here on",
        FaultShimFaultInputOutputError,
        growing,
        isLasting: true
    )
    static let noSpace = Fault("ENOSPC", FaultShimFaultNoSpace, growing)
    static let lastingNoSpace = Fault("ENOSPC from here on", FaultShimFaultNoSpace, growing, isLasting: true)
    static let interrupted = Fault(
        "EINTR",
        FaultShimFaultInterrupted,
        [.open, .create, .read, .write, .truncate, .lock]
    )
    static let shortTransfer = Fault("half a transfer", FaultShimFaultShortTransfer, [.read, .write])

    static let all = [
        killBefore, killAfter, inputOutputError, lastingInputOutputError, noSpace, lastingNoSpace, interrupted,
        shortTransfer,
    ]

    static func == (left: Fault, right: Fault) -> Bool { left.description == right.description }
    func hash(into hasher: inout Hasher) { hasher.combine(description) }
}
