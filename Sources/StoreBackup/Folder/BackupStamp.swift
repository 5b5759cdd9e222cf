import FoundationEssentials

/// The moment in the name of a backup that we named: `<store>-20261121T220501Z.tar.zst`.
enum BackupStamp {
    private static let length = 16

    /// The moment in UTC.
    static func text(_ time: Int64) -> String {
        let date = Date(timeIntervalSince1970: Double(time))
        return date.formatted(Date.ISO8601FormatStyle().dateSeparator(.omitted).timeSeparator(.omitted))
    }

    /// The moment that a file's name ends with, before its extensions; nil when it tells none.
    static func time(in name: String) -> Int64? {
        guard let form = BackupForm(fileName: name) else { return nil }
        var stem = name.dropLast(form.fileNameEnd.count)
        // A second one of the same second has a number.
        if let dot = stem.lastIndex(of: "."), stem[stem.index(after: dot)...].allSatisfy(\.isNumber) {
            stem = stem[..<dot]
        }
        let text = stem.suffix(length)
        guard text.count == length, stem.dropLast(length).last == "-" else { return nil }
        let style = Date.ISO8601FormatStyle().dateSeparator(.omitted).timeSeparator(.omitted)
        guard let date = try? style.parse(String(text)) else { return nil }
        return Int64(date.timeIntervalSince1970)
    }
}
