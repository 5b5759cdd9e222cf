import ArgumentParser
import StoreAccess
import StoreFixtures
import StoreMigration

/// `fixture build RECIPE DEST`: a store in Core Data's format from a readable recipe.
struct FixtureBuildVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "build",
        abstract: "Builds the Core Data store that a recipe describes, at a path that does not exist yet."
    )
    static let words = ["fixture", "build"]
    static let outcomes: [MigrationOutcome] = [.done, .nothingFound, .foundButUnreadable, .notWritable, .noSpace]

    @Argument(help: "The recipe, a YAML file.")
    var recipe: PathArgument

    @Argument(help: "The main file to build; it must not exist.")
    var destination: PathArgument

    @OptionGroup var reporting: ReportingOptions

    func perform(_ reporter: Reporter) throws -> Ending {
        try destination.requireFile()
        let built = try build()
        let figures = [
            Figures.count(built.objects, "object"), Figures.count(Int64(built.externalFiles), "external file"),
            Figures.bytes(built.bytes),
        ]
        reporter.result(
            "Built \(Escaped.path(destination.path)): \(figures.joined(separator: ", "))",
            record: .object([
                ("type", .string("fixture")), ("recipe", .string(recipe.path)), ("path", .string(destination.path)),
                ("objects", .integer(built.objects)), ("externalFiles", .integer(Int64(built.externalFiles))),
                ("bytes", .integer(built.bytes)),
            ])
        )
        return Ending(.done)
    }

    private func build() throws -> RecipeBuilder.Summary {
        do {
            return try RecipeBuilder.build(recipeFile: recipe.path, at: destination.location)
        } catch let error as StoreError where error.code == .notWritable {
            throw Failure(
                outcome: .notWritable,
                message: error.message,
                path: error.path,
                advice: "Name a path that does not exist, in a folder that this user can write to."
            )
        }
    }
}
