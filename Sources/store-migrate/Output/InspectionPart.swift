import ArgumentParser

/// The part of a Core Data store to show.
enum InspectionPart: String, CaseIterable, ExpressibleByArgument {
    /// The entities with their attributes and relationships.
    case model
    /// The amount of history, its authors and its consumers.
    case history
    /// The model as a Mermaid class diagram.
    case graph
}

/// Another form of the model than text and records.
enum ModelForm: String, CaseIterable, ExpressibleByArgument {
    /// Swift classes, as the plugin GenerateManagedObjects writes them.
    case swift
}
