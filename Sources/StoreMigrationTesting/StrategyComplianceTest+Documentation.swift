internal import StoreStrategies

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension StrategyComplianceTest {
    /// Holds what a strategy says about itself to what people and the pipeline need.
    func checkDocumentation(_ failure: inout StrategyComplianceFailure) {
        let text = strategy.documentation
        if !StrategyName.isValid(strategy.name) {
            failure.add("its name is not made of letters, digits and hyphens, or too long")
        }
        if let objection = text.objection { failure.add(objection) }
        for (what, words) in [("summary", text.summary), ("notApplicable", text.notApplicable)]
        where words.count < 10 || !words.hasSuffix(".") {
            failure.add("its \(what) is no sentence")
        }
        if text.sets.isEmpty { failure.add("it says of nothing that it sets it") }
        for option in text.options {
            if let value = option.defaultValue, !option.values.isEmpty, !option.values.contains(value) {
                failure.add("the default of the option \(option.name) is none of its values")
            }
        }
        if let data = try? JSONEncoder().encode(text),
            (try? JSONDecoder().decode(StrategyDocumentation.self, from: data)) == text
        {
            return
        }
        failure.add("its documentation does not survive being written as JSON")
    }
}
