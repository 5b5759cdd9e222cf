/// The names of strategies and of their options.
package enum StrategyName {
    private static let longest = 64

    /// True for letters, digits and hyphens, and not too many of them.
    package static func isValid(_ text: String) -> Bool {
        (1...longest).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                $0 == 0x2D || (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20)
            }
    }
}
