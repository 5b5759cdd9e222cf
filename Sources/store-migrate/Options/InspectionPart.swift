import ArgumentParser

/// The part of a Core Data store that is to be shown instead of all of it.
enum InspectionPart: String, CaseIterable, ExpressibleByArgument {
    /// The entities with their attributes and relationships.
    case model
    /// How much history there is, who wrote it and who reads it.
    case history
    /// The model as a Mermaid class diagram.
    case graph
}
