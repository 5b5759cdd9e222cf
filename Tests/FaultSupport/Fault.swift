package import CFaultShim

/// A fault of one call, or from one call on.
package struct Fault: Hashable, Sendable, CustomStringConvertible {
    package let description: String
    package let shimFault: FaultShimFault
    /// The kinds of calls that can fail this way.
    package let kinds: Set<CallKind>
    /// True if every later call of these kinds fails as well.
    package let isLasting: Bool

    /// True if the fault kills the program.
    package var isDeadly: Bool { shimFault == FaultShimFaultKillBefore || shimFault == FaultShimFaultKillAfter }

    private init(_ description: String, _ fault: FaultShimFault, _ kinds: Set<CallKind>, isLasting: Bool = false) {
        self.description = description
        shimFault = fault
        self.kinds = kinds
        self.isLasting = isLasting
    }

    private static let growing: Set<CallKind> = [
        .create, .write, .synchronize, .truncate, .rename, .link, .makeFolder, .clone,
    ]

    package static let killBefore = Fault("killed before", FaultShimFaultKillBefore, CallKind.changing)
    package static let killAfter = Fault("killed after", FaultShimFaultKillAfter, CallKind.changing)
    package static let inputOutputError = Fault("EIO", FaultShimFaultInputOutputError, Set(CallKind.allCases))
    package static let lastingInputOutputError = Fault(
        "EIO from here on",
        FaultShimFaultInputOutputError,
        growing,
        isLasting: true
    )
    package static let noSpace = Fault("ENOSPC", FaultShimFaultNoSpace, growing)
    package static let lastingNoSpace = Fault("ENOSPC from here on", FaultShimFaultNoSpace, growing, isLasting: true)
    package static let interrupted = Fault(
        "EINTR",
        FaultShimFaultInterrupted,
        [.open, .create, .read, .write, .truncate, .lock]
    )
    package static let shortTransfer = Fault("half a transfer", FaultShimFaultShortTransfer, [.read, .write])

    /// The process stops before the call until it gets SIGCONT; harmless by itself.
    package static let stop = Fault("stopped", FaultShimFaultStop, Set(CallKind.allCases))

    package static let all = [
        killBefore, killAfter, inputOutputError, lastingInputOutputError, noSpace, lastingNoSpace, interrupted,
        shortTransfer,
    ]

    package static func == (left: Fault, right: Fault) -> Bool { left.description == right.description }
    package func hash(into hasher: inout Hasher) { hasher.combine(description) }
}
