public import StoreFormat

extension Finding.Code {
    /// A strategy sets an option that only Apple's platforms apply.
    public static let forApplePlatforms = Finding.Code(rawValue: "forApplePlatforms")
    /// A strategy did not apply to a role.
    public static let strategySkipped = Finding.Code(rawValue: "strategySkipped")
    /// A role reads only, and cannot open the store unless another program has it open.
    public static let readerNeedsLog = Finding.Code(rawValue: "readerNeedsLog")
    /// The store was not copied, and differs from a strategy.
    public static let strategiesNotApplied = Finding.Code(rawValue: "strategiesNotApplied")
    /// A plugin ran on a kernel that cannot confine it fully.
    public static let strategyNotConfined = Finding.Code(rawValue: "strategyNotConfined")
    /// New files in the container will not get its group.
    public static let containerKeepsNoGroup = Finding.Code(rawValue: "containerKeepsNoGroup")
    /// The container belongs to another group than the store's files.
    public static let containerOfAnotherGroup = Finding.Code(rawValue: "containerOfAnotherGroup")
}
