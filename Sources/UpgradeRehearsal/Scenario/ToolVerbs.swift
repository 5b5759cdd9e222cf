/// The verbs of the tool that a scenario may run: its commands by their first word, but `rehearse`.
public enum ToolVerbs {
    public static let names = [
        "share", "plan", "status", "resume", "abort", "retire", "unshare", "merge", "unmerge", "diff", "inspect",
        "fetch", "verify", "history", "relay", "backup", "restore", "backups", "doctor", "container", "strategies",
        "fixture",
    ]
}
