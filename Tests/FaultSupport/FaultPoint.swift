import CFaultShim

/// One fault at one call of a program.
package struct FaultPoint: Hashable, Sendable, CustomStringConvertible {
    /// The number of the call, from zero.
    package let number: Int
    package let fault: Fault

    package init(number: Int, fault: Fault) {
        self.number = number
        self.fault = fault
    }

    package var description: String { "\(fault) #\(number)" }

    /// The environment variables for the shim.
    package var environment: [String: String] {
        var environment = [
            "FAULT_SHIM_AT": String(number), "FAULT_SHIM_FAULT": String(fault.shimFault.rawValue),
        ]
        if fault.isLasting {
            environment["FAULT_SHIM_KINDS"] = String(fault.kinds.reduce(UInt32(0)) { $0 | 1 << $1.rawValue })
        }
        return environment
    }
}
