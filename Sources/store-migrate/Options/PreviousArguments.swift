public import ArgumentParser
import FoundationEssentials
public import StoreAccess
public import StoreMigration

/// The other locations that the private store had in earlier versions of its program.
struct PreviousArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Another location that may hold the private store; may be given several times. OLD is tried first, then each of \
            these in order: the first that holds a store is the old one.
            """,
            valueName: "path"
        )
    )
    var previous: [PathArgument] = []

    @Option(
        help: ArgumentHelp(
            """
            When several of these locations hold a store with objects: fail, newest (the one written last is shared, the \
            others stay) or merge (the first is shared, and the others are merged into NEW and treated like OLD).
            """,
            valueName: "policy"
        )
    )
    var onSeveral: ShareOptions.SeveralStoresPolicy = .fail

    /// All locations in order.
    func places(_ old: PathArgument) -> [URL] { [old.url] + previous.map(\.url) }

    /// The location whose owner a run as root becomes: the first with a file, else OLD.
    func owned(_ old: PathArgument) -> URL {
        places(old).first { FileManager.default.fileExists(atPath: $0.path) } ?? old.url
    }
}

/// A verb over one of several locations of the old store.
protocol LocatingVerb: Verb {
    var places: PlacesArguments { get }
    var previous: PreviousArguments { get }
}

extension ShareOptions.OldStorePolicy: @retroactive ExpressibleByArgument {}
extension ShareOptions.BothPlacesPolicy: @retroactive ExpressibleByArgument {}
extension ShareOptions.MissingPolicy: @retroactive ExpressibleByArgument {}
extension ShareOptions.BusyPolicy: @retroactive ExpressibleByArgument {}
extension VerificationLevel: @retroactive ExpressibleByArgument {}
extension ShareOptions.SeveralStoresPolicy: @retroactive ExpressibleByArgument {}
