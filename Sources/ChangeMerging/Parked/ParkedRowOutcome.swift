/// What became of one parked row.
enum ParkedRowOutcome {
    case updated, inserted
    case refused(String)
}
