public import FoundationEssentials
import SafeFiles
import StoreAccess

/// A commented scenario that holds, as a start for the scenarios of an app.
public enum ScenarioTemplate {
    /// The text, for a store whose main file has a name.
    public static func text(storeName: String) -> String {
        """
        # An upgrade of your app, rehearsed: store-migrate rehearse THIS-FILE
        about: What the app saved last arrives in the shared container, and so does what is saved too late.

        stores:
          old:
            at: \(quoted("app/" + storeName))
            # Your own store: take out the lines of the recipe, and write  file: PATH  with a copy of one from a device.
            recipe:
              seed: my-app
              options: {history: true, leftInWriteAheadLog: rows}
              model:
                entities:
                  Item:
                    attributes: {title: {type: string, optional: false}}
              saves:
                - {at: 2026-01-01, author: app, insert: [{entity: Item, repeat: 3, values: {title: "Item {n}"}}]}
          new: {at: \(quoted("group/" + storeName))}

        files:
          group/: {}

        steps:
          # The upgrade is ended in the worst moment, and begun again by the next launch.
          - share: [old, new, --old, capture]
            killed: {at: placed}
          - share: [old, new, --old, capture]
            ends: {outcome: alreadyShared}
          # A widget of the old version still writes to the old place.
          - save: {in: old, author: widget, insert: [{entity: Item, values: {title: Late}}]}
          - share: [old, new, --old, capture]
            ends: {outcome: merged}

        holds:
          - {sound: new}
          - {count: Item, in: new, is: 4}
          - {absent: group/.store-migrate-*}

        """
    }

    /// A text in YAML's single quotes, escaped by scalars: YAML parsers know no combined characters.
    private static func quoted(_ text: String) -> String {
        "'" + text.unicodeScalars.map { $0 == "'" ? "''" : String($0) }.joined() + "'"
    }

    /// Writes it to a new file; the folder must exist.
    public static func write(to url: URL, storeName: String) throws {
        let location = StoreLocation(url: url)
        do {
            let file = try Directory.open(path: location.folder).createFile(location.name, mode: 0o644)
            try Array(text(storeName: storeName).utf8).withUnsafeBytes { try file.write($0, at: 0) }
            try file.synchronize()
            try file.close()
        } catch let error as FileError {
            throw RehearsalFailure("the scenario cannot be written to \(location.path) (\(error))")
        }
    }
}

/// The words in braces in a scenario for values that are known only when it runs.
enum Placeholders {
    /// The names in braces, in their order: letters, digits, `-` and `_`.
    static func names(in text: String) -> [String] {
        text.matches(of: pattern).map { String($0.output.1) }
    }

    /// The text with each name in braces replaced where `value` knows it.
    static func replaced(in text: String, by value: (String) -> String?) -> String {
        text.replacing(pattern) { match in value(String(match.output.1)) ?? String(match.output.0) }
    }

    private static var pattern: Regex<(Substring, Substring)> { /\{([A-Za-z0-9_-]+)\}/ }
}
