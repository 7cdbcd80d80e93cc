"""What people say in complaints that no record can confirm or contradict, whatever the domain.

Phrases in the language of `patterns.py`. English, with Hinglish and Nigerian Pidgin.
"""

from typing import Final

from schemas.grievance import LeftOutKind
from streams.llm.offline_rules.patterns import Phrase, compile_all

OTHER_ORDER: Final = compile_all((
    "yesterday is order|one|delivery|meal|food|transaction|transfer",
    "last|previous|earlier|prior|other|another|older order|orders|delivery|deliveries|transaction|transactions|complaint",
    "last|previous time|week|month|night|weekend|year|friday|saturday|sunday|monday|tuesday|wednesday|thursday ... order*|deliver*|also|too|was|were|had",
    "last|previous time|week|month|weekend|year",
    "order|delivery|one from|of|on yesterday|last|monday|tuesday|wednesday|thursday|friday|saturday|sunday",
    "day before yesterday",
    "pichli|pichhli|pichle|pichhle baar|order|hafte|time",
    "kal ka|wala|wale order|khana|delivery",
    "order|time before this|that|today",
    "{number} orders|times before|ago",
    "my|the friend|neighbour|neighbor|colleague is order",
))  # fmt: skip
YESTERDAY: Final = compile_all(("yesterday", "last|previous night|evening", "kal"))
"""Another order only where the text also speaks of this one."""
THIS_ORDER: Final = compile_all((
    "today*", "this|now time|order|one", "tonight", "aaj|aj", "is baar", "this evening|morning|afternoon",
    "now it is", "current order",
))  # fmt: skip
GREETING: Final = frozenset({
    "hi", "hello", "hey", "dear", "sir", "madam", "ma", "team", "support", "good", "morning",
    "afternoon", "evening", "day", "bhai", "bhaiya", "yaar", "abeg", "please", "pls", "thanks",
    "thank", "you", "namaste", "customer", "care", "service", "all", "everyone", "oga", "regards",
    "sincerely", "yours", "best", "greetings", "friends", "guys", "there", "oh", "ah", "wow",
    "ok", "okay", "well", "so",
})  # fmt: skip

_DEMAND = (
    "{start} please|pls|kindly|just|now|so|then|also|abeg refund*|return*|reverse*|help*|resolve*|look*|check*|credit|fix*|pay|send|give|do|sort*|replace*|compensate*|investigate*|verify|arrange|respond|reply|call|explain*|cancel|process|assist|act|take|correct|confirm|treat",
    "{start} refund|return|reverse|replace|compensate|fix|resolve|investigate|credit|reimburse|repay|explain|apologise|apologize|improve|sack|fire|train|verify|sort|respond|reply|act|redeliver",
    "{start} give|send|pay|get|bring|make|put|call|check|look|tell|ask|take|stop|show|let|cancel ... my|me|it|us|the|this|them|better|back|into|something|your|una|now",
    "refund|reverse|return|replace|compensate|reimburse|credit me|us|my|it|everything|the|this|full|fully|now|immediately|asap|please|pls",
    "i|we want|need|demand|expect|deserve|require|request|insist|seek|would|must|should ... refund*|money|back|compensat*|replac*|apolog*|answer*|action|explanation|reversal|reversed|return*|credit*|repl*|respon*|resol*|pay|fix*",
    "i|we want|need|demand|expect|deserve|request ... my|our|a|an|the|full|it|this|every|all|some|to|you",
    "want|need|give|gimme|pay|send|return ... money|cash|amount ... back",
    "money|cash back now|please|asap|immediately|today|right|or",
    "{start} money back", "{start} full|complete|total|instant|immediate refund|reversal", "{start} refund|reversal {end}",
    "refund|reversal please|pls|asap|now|immediately|chahiye|required|needed|karo|karein|kar|kijiye|do",
    "paisa|paise|paisay|rupaye ... wapas|vapas|lauta*|return", "wapas|vapas karo|kar|do|chahiye|dedo|de", "jaldi ... karo|do",
    "abeg ... return|refund|reverse|help|credit|check", "make una|dem|you ... return|refund|reverse|do|credit|give|sort|pay",
    "i|we am|are waiting for|on your|a response|reply|refund|answer",
    "get back to|at me|us", "take ... action", "let me|us know", "you|they should|must|need|better ... pay|refund|return|train|fix|improve|check|compensate|do", "you|they have to ... pay|refund|return|train|fix|improve|check|compensate|do",
    "do|try|be better", "{start} do something|the|your|it|needful", "{start} sort|fix|improve|listen|learn|stop|hire", "{start} please|pls|kindly", "awaiting your|a", "how|when will|do|can i|you|we ... refund*|money|back",
    "can|could|will|would you ... refund|return|reverse|check|look|help|fix|send|please|credit|explain|replace",
    "expect* ... refund|response|reply|action|reversal", "deserve ... refund|compensation|better",
    "i|we will|shall not|never pay|accept", "look into", "check|review|pull|listen ... recording|camera|footage|record|records|logs|gps|cctv|system|chat|call",
)  # fmt: skip
_FEELING = (
    "i|we|my|it|family|so|feel|feels|feeling|felt|am|was|were|are|is|very|really|extremely|totally|completely|absolutely embarrass*|disappoint*|frustrat*|humiliat*|furious|angry|upset|annoy*|disgust*|heartbroken|hurt|fed|ashamed|sad|shock*|appalled|devastated|livid|gutted|cheated|betrayed|insulted|helpless|starving|hungry|tired|exhausted|stressed|unhappy|pissed|irritated|mad|sick|miserable",
    "i|we ... feel*|felt", "embarrassing", "frustrating", "humiliating", "disappointing", "disappointed|disappointment", "frustrated|frustration", "embarrassed|embarrassment", "heartbreaking", "upsetting", "stressful",
    "ruin*|spoil*|destroy* ... evening|night|day|party|dinner|lunch|mood|birthday|weekend|celebration|plans|anniversary|meal|event|function|everything",
    "evening|night|day|party|dinner|lunch|mood|birthday|weekend|celebration|plans|anniversary ... ruined|spoiled|spoilt|kharab",
    "{no} ... happy|pleased|satisfied|impressed|amused", "unhappy", "so|very|really|quite|too ... angry|upset|hungry|sad|annoyed|hurt|tired|mad|embarrassed|disappointed|frustrated",
    "went|go|sleep|slept hungry", "i|we|kids|children|guests|everyone were|was|are|had|sat|left|stayed ... hungry|starving|embarrass*|upset|crying|waiting",
    "vex|vexed|vexing", "dey pain|vex|tire|annoy", "pareshan|gussa|dukhi|sharminda|bura laga", "sharam ... aa*|gayi", "lost my|our appetite|trust|faith|patience", "made us|me look|feel",
    "can not believe", "never been so|this",
)  # fmt: skip
_OPINION = (
    "worst", "terrible", "horrible", "pathetic", "useless", "awful", "rubbish", "disgrace*", "garbage", "trash", "lousy", "hopeless", "joke", "ridiculous", "unacceptable", "unprofessional", "shameful", "shame on", "third class", "bakwas", "bekaar|bekar|ghatiya|faltu|wahiyat", "nonsense", "yeye", "zero|one|{number} stars|star|rating",
    "{no} acceptable|professional|fair|right|good|worth|reliable|trustworthy|expected", "very|so|such|really|extremely|too|quite bad|poor|unfair|careless|unreliable|slow",
    "bad|poor|shoddy|sloppy|careless service|experience|app|company|platform|bank|management|support|handling|attitude",
    "your|this|the ... app|service|company|platform|bank|management|customer|support|people|website ... is|are|has|have|was|sucks|gone|getting|became|become|keeps|dey",
    "gone|going|went downhill|worse|to the dogs", "getting|becoming worse", "standards|quality have|has dropped|fallen|declined|slipped",
    "thief|thieves|thieving|fraudsters|crooks|robbers|ole|barawo|chor|chors|loot*|scammers", "daylight robbery", "rip off|ripoff", "ripped off", "never again", "last time i|we|am|using|ordering|i'm",
    "never|not|stop|stopped|done|quit|will ... order*|use|using|recommend|come|return|bank|banking ... again|here|you|app|anymore|from|with|anyone", "uninstall*|delet* ... app|it|this|account", "deleting|uninstalling",
    "avoid|beware", "love|loved|loyal|trusted|used to", "expected|expect better|more", "you ... do not|never care", "nobody|no one cares|care", "disappointing service", "what a|such ... joke|shame|mess|waste|disgrace|company|service|experience|app", "waste of", "poor show", "{no} about money", "hate this|your|the", "overrated", "go|switch* to|your competitor|competitors|another|other bank|app",
)  # fmt: skip
_RHETORIC = (
    "is|are|was this|that|it|you ... joke|joking|serious|kidding|how", "how hard|difficult|can|could|dare|come", "what kind|sort|type of", "do|does|did you|anyone|anybody even|really|not", "you call this|that", "what|who|why ... paying|pay|trust|bother|use|hire|am|do|should",
    "seriously {end}", "{start} seriously", "imagine", "guess what", "congratulations", "well done", "bravo", "thanks for nothing", "thank|thanks you|a ... for ... ruin*|nothing|wast*|lot", "great|nice|good|wonderful|brilliant|superb|excellent job|work|service", "wow", "slow clap", "as usual", "of all days", "really {end}",
    "kya ... mazak|tamasha|bakwas", "why me|always", "who does|do that|this", "hello {end}",
)  # fmt: skip

KINDS: Final[tuple[tuple[LeftOutKind, tuple[Phrase, ...]], ...]] = (
    ("demand", compile_all(_DEMAND)),
    ("feeling", compile_all(_FEELING)),
    ("rhetoric", compile_all(_RHETORIC)),
    ("opinion", compile_all(_OPINION)),
)
"""In the order in which a clause is tried against them."""

DEMAND: Final = KINDS[0][1]
