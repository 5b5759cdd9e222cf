/// Finds the name that a misspelt one probably means.
public enum NearName {
    /// The nearest of the known names, and of several the one that begins alike; nil when none differs by at most a third
    /// of the letters.
    public static func of(_ text: String, among known: [String]) -> String? {
        let letters = Array(text.lowercased())
        return
            known.map { name in
                let others = Array(name.lowercased())
                let common = zip(letters, others).prefix { $0 == $1 }.count
                return (name: name, distance: distance(letters, others), common: common)
            }
            .filter { $0.distance <= max(1, letters.count / 3) }
            .min { ($0.distance, $1.common) < ($1.distance, $0.common) }?
            .name
    }

    /// `did you mean 'merged'?`, or all names after the words `list`.
    public static func hint(_ text: String, among known: [String], list: String) -> String {
        of(text, among: known).map { "did you mean '\($0)'?" } ?? "\(list) \(known.joined(separator: ", "))"
    }

    /// The least number of letters to insert, remove or replace.
    private static func distance(_ one: [Character], _ other: [Character]) -> Int {
        var row = Array(0...other.count)
        for (index, letter) in one.enumerated() {
            var previous = row[0]
            row[0] = index + 1
            for (place, mate) in other.enumerated() {
                let replaced = previous + (letter == mate ? 0 : 1)
                previous = row[place + 1]
                row[place + 1] = min(replaced, row[place] + 1, previous + 1)
            }
        }
        return row[other.count]
    }
}
