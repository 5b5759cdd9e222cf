import FoundationEssentials

/// The second in the name of a backup that we named, and the backup's number among those of that second:
/// `<store>-20261121T220501Z.tar.zst`, `<store>-20261121T220501Z_02.tar.zst`.
struct BackupStamp: Hashable {
    private static let length = 16

    /// Seconds since 1970.
    let time: Int64
    /// 1 for the first backup of its second.
    let number: Int

    /// The stamp in the name of a backup, before its extensions; names of one second sort as their numbers do.
    var text: String {
        let suffix = number < 10 ? "_0\(number)" : "_\(number)"
        return Self.text(time) + (number == 1 ? "" : suffix)
    }

    /// The time in UTC.
    static func text(_ time: Int64) -> String {
        let date = Date(timeIntervalSince1970: Double(time))
        return date.formatted(Date.ISO8601FormatStyle().dateSeparator(.omitted).timeSeparator(.omitted))
    }

    init(time: Int64, number: Int) {
        self.time = time
        self.number = number
    }

    /// The stamp that a file's name ends with, before its extensions; nil when the name contains no time.
    init?(in name: String) {
        guard let form = BackupForm(fileName: name) else { return nil }
        var stem = name.dropLast(form.fileNameEnd.count)
        var number = 1
        // Versions before this one separated the number by a dot.
        if let mark = stem.lastIndex(where: { $0 == "_" || $0 == "." }),
            let found = Int(stem[stem.index(after: mark)...])
        {
            number = found
            stem = stem[..<mark]
        }
        let text = stem.suffix(Self.length)
        guard text.count == Self.length, stem.dropLast(Self.length).last == "-" else { return nil }
        let style = Date.ISO8601FormatStyle().dateSeparator(.omitted).timeSeparator(.omitted)
        guard let date = try? style.parse(String(text)) else { return nil }
        self.init(time: Int64(date.timeIntervalSince1970), number: number)
    }
}
