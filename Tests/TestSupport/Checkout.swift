import Foundation

/// This package on disk: its sources, and what the running build made of them.
package enum Checkout {
    /// The folder of the package.
    package static let path = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()

    /// The folder of the running test bundle, which contains the modules and the programs of the same build.
    package static let products =
        URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path

    /// A program of the same build.
    package static func program(_ name: String) -> String { products + "/" + name }
}

/// The files in `Fixtures`.
package enum Fixtures {
    /// The folder itself.
    package static let folder = Checkout.path + "/Fixtures"
    /// The folder of the small stores, each with a `recipe.yaml`.
    package static let stores = folder + "/Stores"
    /// The recipe of the example's store.
    package static let habitCalendar = folder + "/HabitCalendar/HabitCalendar.yaml"

    /// The recipe of a small store.
    package static func recipe(ofStore name: String) -> String { stores + "/\(name)/recipe.yaml" }
}
