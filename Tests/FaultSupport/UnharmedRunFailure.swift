/// The command under test failed without a fault.
package struct UnharmedRunFailure: Error, CustomStringConvertible {
    package let name: String
    package let objections: [String]
    package let output: String

    package var description: String { "\(name), unharmed: \(objections.joined(separator: "; "))\n\(output)" }
}
