/// A value in a recipe; its meaning depends on the property.
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
        /// `count` bytes, filled with a repeated text.
        case bytes(count: Int, fill: String)
        /// The destinations of a to-many relationship.
        case list([RecipeValue])
    }

    package let form: Form
    package let position: RecipePosition
}
