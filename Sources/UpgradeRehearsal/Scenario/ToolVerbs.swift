/// The verbs of the tool that a scenario may run: all commands except `rehearse`, by their first word.
public enum ToolVerbs {
    public static let names = [
        "share", "plan", "status", "resume", "abort", "retire", "unshare", "merge", "unmerge", "diff", "inspect",
        "fetch", "verify", "history", "relay", "backup", "restore", "backups", "doctor", "container", "strategies",
        "fixture", "migrate", "publish", "clean",
    ]
}
