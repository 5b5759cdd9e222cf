import CFaultShim

/// One harm to one call of a program.
struct FaultPoint: Hashable, Sendable, CustomStringConvertible {
    /// The number of the call, from zero.
    let number: Int
    let fault: Fault

    var description: String { "\(fault) #\(number)" }

    /// What tells the shim.
    var environment: [String: String] {
        var environment = [
            "FAULT_SHIM_AT": String(number), "FAULT_SHIM_FAULT": String(fault.shimFault.rawValue),
        ]
        if fault.isLasting {
            environment["FAULT_SHIM_KINDS"] = String(fault.kinds.reduce(UInt32(0)) { $0 | 1 << $1.rawValue })
        }
        return environment
    }
}
