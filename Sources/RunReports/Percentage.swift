/// A part of a whole, in hundredths of a percent, so that the output does not depend on the formatting of fractions.
struct Percentage {
    let hundredths: Int

    init(hundredths: Int) { self.hundredths = min(max(0, hundredths), 10_000) }

    init(of part: Double, in whole: Double) {
        let share = whole > 0 ? part / whole : 0
        self.init(hundredths: share.isFinite ? Int((min(max(0, share), 1) * 10_000).rounded()) : 0)
    }

    init(of part: Duration, in whole: Duration) {
        self.init(of: part / .seconds(1), in: whole / .seconds(1))
    }

    /// `12.5%`.
    var text: String {
        let rest = hundredths % 100
        guard rest > 0 else { return "\(hundredths / 100)%" }
        let digits = rest.isMultiple(of: 10) ? "\(rest / 10)" : rest < 10 ? "0\(rest)" : "\(rest)"
        return "\(hundredths / 100).\(digits)%"
    }
}
