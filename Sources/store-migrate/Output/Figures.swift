/// Numbers for people, formatted without loading a Foundation formatter.
enum Figures {
    /// `1,204`.
    static func grouped(_ number: Int64) -> String {
        let digits = String(number.magnitude)
        var result = number < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { result += "," }
            result.append(digit)
        }
        return result
    }

    /// `1,204 objects`, `1 object`.
    static func count(_ number: Int64, _ noun: String) -> String {
        "\(grouped(number)) \(noun)\(number == 1 ? "" : "s")"
    }

    /// `4.1 MB`: three units of a thousand, one digit after the point.
    static func bytes(_ number: Int64) -> String {
        let units: [(String, Int64)] = [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000)]
        for (unit, size) in units where number >= size {
            let tenths = number / (size / 10)
            return "\(grouped(tenths / 10)).\(tenths % 10) \(unit)"
        }
        return count(max(0, number), "byte")
    }

    /// `0.4 s`.
    static func seconds(_ duration: Duration) -> String {
        let tenths = (totalMilliseconds(duration) + 50) / 100
        return "\(grouped(tenths / 10)).\(tenths % 10) s"
    }

    /// `0.412`, as JSON has it.
    static func milliseconds(_ duration: Duration) -> String {
        let total = totalMilliseconds(duration)
        return "\(total / 1000).\(String(String(total % 1000 + 1000).dropFirst()))"
    }

    static func hexadecimal(_ number: UInt32, digits: Int) -> String {
        let text = String(number, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private static func totalMilliseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        return max(0, seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }
}
