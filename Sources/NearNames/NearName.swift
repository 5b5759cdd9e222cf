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

    /// The least number of letters to insert, remove or replace, or of neighbours to swap.
    private static func distance(_ one: [Character], _ other: [Character]) -> Int {
        var (above, former) = ([Int](), Array(0...other.count))
        for (index, letter) in one.enumerated() {
            var row = [index + 1]
            for (place, mate) in other.enumerated() {
                var least = min(former[place] + (letter == mate ? 0 : 1), row[place] + 1, former[place + 1] + 1)
                if index > 0, place > 0, letter == other[place - 1], mate == one[index - 1] {
                    least = min(least, above[place - 1] + 1)
                }
                row.append(least)
            }
            (above, former) = (former, row)
        }
        return former[other.count]
    }
}
