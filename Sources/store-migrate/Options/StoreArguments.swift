import ArgumentParser

/// One store, given as a path or as a database of a group.
struct StoreArguments: ParsableArguments {
    @Argument(help: ArgumentHelp("The store: the path of its main file.", valueName: "store"))
    var path: PathArgument?

    @OptionGroup var group: GroupOptions

    func validate() throws {
        guard (path == nil) != (group.group == nil) else {
            throw ValidationError("name the store once: STORE, or --group ID --name NAME")
        }
        try group.requireComplete(hasOtherStore: false)
    }

    /// The named store; throws for a group without a container.
    var store: PathArgument {
        get throws { try path ?? group.path() }
    }
}
