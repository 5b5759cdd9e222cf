/// The result of restoring one parked row.
enum ParkedRowOutcome {
    case updated, inserted
    case refused(String)
}
