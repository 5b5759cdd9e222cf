import SystemPackage

/// An operation of the machine that failed for a sweep.
package struct BlockFailure: Error, CustomStringConvertible {
    let what: String
    let errno: Int32

    package var description: String { "\(what): \(Errno(rawValue: errno))" }
}
