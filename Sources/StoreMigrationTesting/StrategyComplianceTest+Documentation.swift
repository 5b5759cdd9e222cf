internal import StoreStrategies

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension StrategyComplianceTest {
    /// Checks that a strategy's documentation is complete and valid.
    func checkDocumentation(_ failure: inout StrategyComplianceFailure) {
        let text = strategy.documentation
        if !StrategyName.isValid(strategy.name) {
            failure.add("its name is too long, or has characters other than letters, digits and hyphens")
        }
        if let objection = text.objection { failure.add(objection) }
        for (what, words) in [("summary", text.summary), ("notApplicable", text.notApplicable)]
        where words.count < 10 || !words.hasSuffix(".") {
            failure.add("its \(what) is not a sentence")
        }
        if text.sets.isEmpty { failure.add("its documentation lists no option that it sets") }
        for option in text.options {
            if let value = option.defaultValue, !option.values.isEmpty, !option.values.contains(value) {
                failure.add("the default of the option \(option.name) is not one of its values")
            }
        }
        if let data = try? JSONEncoder().encode(text),
            (try? JSONDecoder().decode(StrategyDocumentation.self, from: data)) == text
        {
            return
        }
        failure.add("its documentation changes when encoded as JSON and decoded")
    }
}
