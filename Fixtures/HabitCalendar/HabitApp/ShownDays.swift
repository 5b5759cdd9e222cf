import Foundation
import HabitData
import ManagedObjects

/// The executed days of a habit, as a list shows them: prints each change of the result.
enum ShownDays {
    /// Fetches the days, and follows them for as long as the context exists.
    static func follow(
        ofHabit id: UUID,
        in context: isolated ManagedObjectContext,
        show: @escaping (String) -> Void
    ) throws {
        let results = FetchedResults<HabitDay>(
            FetchRequest(predicate: \.habit?.id == id && \.wasExecuted == true, sortDescriptors: [.init(\.date)]),
            in: context
        )
        results.changeHandler = { changes in
            show("  controller: will change")
            for change in changes { show("  controller: " + text(of: change)) }
            show("  controller: did change")
        }
        try results.performFetch()
        context.userInfo["days"] = results
    }

    private static func text(of change: FetchedResults<HabitDay>.Change) -> String {
        switch change {
        case .insert(let day, let new): "insert \(day.date.day) row \(new.item)"
        case .delete(let day, let old): "delete \(day.date.day) row \(old.item)"
        case .move(let day, let old, let new): "move \(day.date.day) row \(old.item) to row \(new.item)"
        case .update(let day, let new): "update \(day.date.day) row \(new.item)"
        case .insertSection, .deleteSection: "section"
        }
    }
}
