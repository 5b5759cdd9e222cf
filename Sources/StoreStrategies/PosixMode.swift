/// Permission bits as people write them.
public enum PosixMode {
    /// Returns the octal digits with a leading zero, as `0660`.
    public static func text(_ mode: UInt32) -> String {
        let digits = String(mode, radix: 8)
        return String(repeating: "0", count: max(1, 4 - digits.count)) + digits
    }

    /// Reads octal digits; nil for anything else.
    public static func bits(_ text: String) -> UInt32? {
        guard !text.isEmpty, text.count <= 6, text.utf8.allSatisfy({ (0x30...0x37).contains($0) }) else { return nil }
        return UInt32(text, radix: 8)
    }
}
