/// A value as a recipe writes it; what it means depends on the property that it is for.
package struct RecipeValue: Sendable {
    /// The forms a value can take.
    package indirect enum Form: Sendable {
        case null
        /// A text in which `{n}` stands for the number of the repetition, from 1.
        case text(String)
        /// A first value and the distance to the next; the number of repetitions that share one value.
        case series(start: String, step: String, every: Int64)
        /// Values that take turns, each for `every` repetitions.
        case cycle([RecipeValue], every: Int64)
        /// So many bytes, filled with a text over and over.
        case bytes(count: Int, fill: String)
        /// The destinations of a to-many relationship.
        case list([RecipeValue])
    }

    package let form: Form
    package let position: RecipePosition
}
