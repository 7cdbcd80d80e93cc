"""The maintained rule set of the screening. Patterns see normalised text: NFKC, lower case, one space.

To add a rule: name what it finds, write the pattern so that it needs a word about the machinery
(prompt, ruling, checks, model, …), and add one text it must find and one angry complaint it must
not to `tests/unit/reading/test_screening.py`.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    name: str
    pattern: re.Pattern[str]


def _rule(name: str, *alternatives: str) -> Rule:
    return Rule(name, re.compile("|".join(f"(?:{one})" for one in alternatives), re.MULTILINE))


LOOK_ALIKES = str.maketrans(
    "аеорсухіјѕԁһԛԝӏквмтнАВЕКМНОРСТУХІЈЅαεορτυικνχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ‘’ʼ“”«»‐‑–—ɑɡıⅼ",
    'aeopcyxijsdhqwlkbmthABEKMHOPCTYXIJSaeoptuiknxABEZHIKMNOPTYX\'\'\'""""----agil',
)
"""Cyrillic and Greek letters that pass for Latin ones, and typographic quotes and dashes."""

HIDDEN = Rule(
    "hidden_text",
    # Direction overrides and tag characters have no place in a complaint; a flag emoji has tags.
    # Nor has an invisible character after one Latin letter after another; Indic scripts need joiners.
    re.compile(
        "[\u202d\u202e]|(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0020-\U000e007e]{2}"
        "|(?:[A-Za-z][\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff]+){3}"
    ),
)

_START = r"(?:^|(?<=[.!?;:\"'\])>|]) ?)"
_SELF = (
    r"(?:an? |the )?(?:ai|llm|large language model|language model|chat ?bot|gpt|claude|gemini|kimi)"
)
_RULES = (
    r"(?:instructions?|prompts?|rules|guidelines?|polic(?:y|ies)|directives?|constraints?|context"
    r"|safeguards?|system messages?|guardrails?)"
)
_WHICH = (
    r"(?:all|any|every|each|of|the|your|these|those|this|previous|prior|above|earlier|preceding|past"
    r"|foregoing|existing|other|system|internal|safety|policy|original|initial)"
)
_STRONG = r"(?:all|any|every|previous|prior|above|earlier|preceding|foregoing|system|internal|safety|your)"
_NOT_A_STORY = (
    r"(?<!you )(?<!they )(?<!who )(?<!people )(?<!guys )(?<!he )(?<!she )(?<!staff )(?<!always )"
)
_CLAIMS = (
    r"(?:grievances?|claims?|complaints?|disputes?|rulings?|verdicts?|refunds?|items?|requests?|cases?"
    r"|payouts?|payments?|seats?|judges?)"
)
_GRANTED = r"(?:upheld|uphold|approved?|valid(?:ated)?|verified|genuine|proven|confirmed|legitimate|accepted)"

RULES: tuple[Rule, ...] = (
    _rule(
        "role_tag",
        _START + r"\W{0,4}(?:system|assistant|developer|admin(?:istrator)?|moderator|root|tool)"
        r"(?: (?:message|prompt|note|notice|override|instructions?|update|alert|command))?\W{0,3}[:>\]]",
        r"</?\s*(?:system|assistant|developer|user|human|tool|function|instructions?|prompt|complaint"
        r"|evidence|data|document|admin|untrusted)\b[^<>]{0,60}>",
        r"<\|[^|>]{1,40}\|>|\[/?inst\]|<<\s*/?\s*(?:sys|data|end)\b|\[\s*(?:system|assistant|admin)\b[^\]]{0,40}\]",
        r"^#{2,}\s*(?:system|instructions?|response|assistant|new task)\b",
        r"\b(?:begin|start|end) (?:of )?(?:the )?(?:system|prompt|instructions?|complaint|untrusted|user input|data block)\b",
    ),
    _rule(
        "ignore_instructions",
        _NOT_A_STORY
        + rf"\b(?:ignore|disregard|forget|override|bypass|overlook|discard|drop|violate)\s+(?:{_WHICH}\s+){{0,5}}"
        rf"{_STRONG}\s+(?:{_WHICH}\s+){{0,3}}(?:\w+ )?{_RULES}\b",
        r"\b(?:ignore|disregard|forget) (?:everything|anything|all|what(?:ever)?)(?: that (?:was|is))? "
        r"(?:above|before this|you (?:were|have been|had been) (?:told|given|instructed)|written above|said above)",
        rf"\b(?:do not|don't|stop|no longer|need not) (?:follow|obey|apply|use)(?:ing)? (?:{_WHICH}\s+){{0,4}}{_STRONG} (?:{_WHICH}\s+){{0,3}}{_RULES}\b",
        r"\b(?:instructions?|rules|prompts?|niyam|nirdesh)\b(?: ko| sab)? (?:ignore|bhool|bhul) ?(?:kar|karo|jao|maro|do)",
        r"\bforget (?:all )?(?:the )?(?:rules?|instructions?) (?:wey|dem|wen|they|we) ",
        _NOT_A_STORY
        + r"\b(?:forget|ignore|no mind|comot|throway) (?:all |every ?thing |any ?thing |about )*(?:wetin|wettin|wat|wey) "
        r"(?:all )?(?:dem|them|they|oga|una|anybody|person) (?:don |bin |been |dey )*(?:tell|talk|give|teach|program|train|write for|instruct) (?:give )?you\b",
        r"\b(?:ignora|olvida) (?:todas )?(?:las )?instrucciones|\bignore[zr]? (?:toutes )?les instructions",
    ),
    _rule(
        "new_role",
        rf"\byou are (?:now |actually |really )?(?:{_SELF}|in (?:developer|debug|god|admin|test) mode|dan\b|unrestricted"
        r"|(?:an? |the )?(?:refund (?:approver|bot)|impartial judge|adjudicator))\b",
        r"\b(?:act|behave|respond|answer|pretend) (?:as|like|to be|as if you (?:are|were)) (?:an? |the |my )?"
        r"(?:senior |trusted |final )?(?:admin|judge|system|ai|assistant|approver|supervisor|developer|unrestricted|officer)\b",
        r"\bfrom now on,? (?:you|your|always|only|every (?:answer|reply|ruling))\b(?! (?:guys|people|have lost|will never get))"
        r".{0,40}\b(?:are|answer|respond|reply|output|rule|approve|uphold|obey)\b",
        r"\b(?:developer|debug|god|jailbreak|maintenance|sudo) mode\b|\bjailbreak\b|\bdo anything now\b",
        r"\b(?:new|updated|revised|additional|secret|hidden) (?:system )?(?:instructions?|prompt|directives?)\s*[:=-]",
        r"\b(?:(?:from )?now,? )you be (?:an? |the )?(?:admin|judge|approver|supervisor|system|ai|oga)\b"
        r"|\byou be (?:an? |the )?(?:admin|judge|approver|supervisor|system|ai) now\b",
        r"\byour (?:new |real |only |actual )(?:task|goal|objective|instruction|role|job) is\b",
    ),
    _rule(
        "addressed_to_machine",
        rf"\b(?:dear|hey|hello|attention|attn|listen)[ ,:]+{_SELF}\b",
        r"\b(?:dear|attention|attn)[ ,:]+(?:the )?(?:judges?|classifier|grader|evaluator|adjudicators?|extraction|model|system)\b",
        r"\b(?:note|message|memo|instructions?|reminder|directive|attention|important)\s*(?:to|for)\s+(?:the |any |all )?"
        r"(?:ai|llms?|models?|judges?|classifier|grader|evaluator|system|assistant|adjudicators?|reviewing (?:ai|system|model)|extractor|parser)\b",
        rf"\bif you(?:'re| are) (?:{_SELF}|automated|a bot|a machine|a model|an? (?:automated )?(?:judge|system|assistant))\b",
        rf"\b(?:as|being) {_SELF}[ ,]",
        r"\b(?:ai|llm|model|judge|assistant|bot|system)s?,? (?:that (?:is |are )?|who (?:is |are )?|when )?(?:reading|processing|evaluating|judging|analy[sz]ing) this\b",
        r"\b(?:system prompt|hidden prompt|your (?:initial|hidden|original|system) (?:prompt|instructions?)|context window)\b",
        r"\b(?:reveal|print|repeat|output|leak|disclose) (?:me )?(?:your|the) (?:\w+ )?(?:prompt|instructions)\b",
    ),
    _rule(
        "orders_a_ruling",
        rf"\b(?:mark|rule|classify|label|treat|record|return|output|judge|vote|tag|categori[sz]e)\b (?:\S+ ){{0,6}}?(?:as )?(?:\S+ ){{0,2}}?{_GRANTED}\b"
        r"(?! (?:complaint|point|reason|bill|coupon|ticket|card))",
        r"\b(?:with|set|use|give|report|put)\b (?:\S+ ){0,3}?(?:the )?(?:full |maximum |max |high(?:est)? )?confidence (?:score )?(?:of |to |at |as |= ?|: ?)?(?:1|0?\.\d|100|high|max)",
        rf"\b(?:all|every|each|any) (?:of (?:the|my) )?{_CLAIMS} (?:must|should|shall|need to|have to|has to|is to|are to|is|are) (?:be )?(?:\w+ )?{_GRANTED}\b",
        rf"\b(?:auto[- ]?approve|rubber[- ]?stamp|approve (?:all|every|each|any)(?: of)?(?: the| my)? {_CLAIMS})\b",
        rf"\buphold (?:all|every|each|this|these|the|my|everything)(?: \w+)? ?{_CLAIMS}?\b",
        r"\b(?:answer|respond|reply|output) (?:only |just |always )?(?:with )?[\"'`{]*(?:upheld|approved|rejected|yes to all|json)\b",
        r"\bset (?:the |my |this |its )?(?:\w+ )?(?:ruling|verdict|confidence|tier|decision|payout|refund amount|refund_amount|amount_minor)s?\b ?(?:to|as|=|:)",
    ),
    _rule(
        "skips_the_checks",
        r"\b(?:skip|bypass|disable|turn off|switch off|suppress|circumvent) (?:the |all |any |every |your |this |human |manual |further )*"
        r"(?:checks?|verification|validation|screening|review(?:ers?)?|safeguards?|filters?|approvals?|limits?|caps?|audit|evidence)\b",
        r"\b(?:approve|pay|credit|refund|process|release|settle)\b[^.!?\n]{0,60}\bwithout (?:any |further |human |manual |a )*(?:checks?|checking|verification|verifying|review(?:ing)?|evidence|approval)\b",
        r"\b(?:do not|don't|never|no need to) (?:escalate (?:this|it|to|any|the)|(?:send|refer|route|forward) (?:this|it|the \w+) to (?:an? )?(?:human|person|officer|reviewer)"
        r"|(?:check|verify|consult|look at|consider|use) (?:the |any )?(?:evidence|records?|logs?|snapshot))\b",
        r"\b(?:admin|manager|supervisor|system|security|compliance|policy|executive|root) (?:override|bypass|passcode)\b|\boverride (?:code|token|key|accepted|authori[sz]ed)\b",
    ),
    _rule(
        "pretends_a_decision",
        r"\b(?:this|the) (?:customer|user|claimant|complainant|account holder)(?:'s \w+)? (?:is|has been|was) (?:already |fully |pre-?)?(?:verified|approved|authori[sz]ed|trusted|whitelisted|vetted|validated)\b",
        r"\b(?:refund|payout|claim|credit|payment|dispute)s? (?:is|are|was|were|has been|have been) (?:pre-?(?:approved|authori[sz]ed)|whitelisted|auto-?approved)\b|\bpre-?(?:approved|authori[sz]ed) (?:refund|payout|credit|claim)\b",
        r"\b(?:evidence|records?) (?:has|have) been (?:verified|confirmed|checked) (?:internally|by (?:the )?(?:system|admin|compliance|trust))\b",
        r"\b(?:credit|transfer|send|pay|remit|wire|release)\b (?:\S+ ){0,5}?to (?:\w+ ){0,2}?(?:account|acct|a/c|wallet|upi|iban)\b[^.!?\n]{0,40}\b(?:and (?:close|mark|approve|resolve)|immediately and)\b",
    ),
    _rule(
        "machine_format",
        r"```|~~~|^-{3,} ?(?:end|begin|system)|\{\s*[\"'](?:ruling|verdict|role|grievances|category|confidence|decision|tool|function|citations|left_out)[\"']\s*:",
        r"[\"'](?:ruling|verdict|confidence|decision_rule|amount_minor|citations)[\"']?\s*[:=]|\b(?:ruling|verdict|confidence|decision_rule|amount_minor)\s*[:=]",
        r"\b(?:call|invoke|execute|run|trigger) (?:the )?(?:\w+[_ ])?(?:refund|payment|payout|credit)(?:[_ ]\w+)? (?:tool|function|api|endpoint|command)\b",
        r"\bsudo \w|\brm -rf\b|\bdrop table\b|;\s*select .{1,40} from\b|\bcurl https?:|<script\b|\{\{.{1,60}\}\}|\$\{.{1,60}\}",
    ),
)
