"""Words that made-up values are made of."""

from __future__ import annotations

__all__ = ["ADJECTIVES", "COMPANIES", "FIRST", "LAST", "NOUNS", "PLACES", "SENTENCES", "STREETS"]

FIRST = (
    *("Ada", "Amara", "Anton", "Bea", "Carlos", "Chen", "Dana", "Elif", "Emil", "Farah", "Felix"),
    *("Grace", "Hana", "Hugo", "Ines", "Ivan", "Jonas", "Kenji", "Lena", "Luca", "Maya", "Mila"),
    *("Nadia", "Noor", "Olu", "Omar", "Priya", "Rosa", "Sami", "Tariq", "Uma", "Vera", "Yara"),
)
LAST = (
    *("Abe", "Adeyemi", "Berg", "Costa", "Diaz", "Evans", "Fischer", "Garcia", "Haddad", "Ito"),
    *("Jansen", "Kaya", "Kim", "Kowalski", "Larsen", "Li", "Mbeki", "Moreau", "Novak", "Okafor"),
    *("Olsen", "Patel", "Petrov", "Quinn", "Rossi", "Sato", "Silva", "Singh", "Tanaka", "Weber"),
)
ADJECTIVES = (
    *("amber", "bold", "brisk", "calm", "clear", "crisp", "early", "faint", "fresh", "gentle"),
    *("green", "hidden", "keen", "light", "lucid", "mellow", "misty", "noble", "pale", "plain"),
    *("quick", "quiet", "rapid", "royal", "silent", "silver", "slow", "solid", "sunny", "swift"),
)
NOUNS = (
    *("acorn", "anchor", "arrow", "basin", "beacon", "bridge", "brook", "canyon", "cedar", "comet"),
    *(
        "coral",
        "delta",
        "ember",
        "falcon",
        "field",
        "forge",
        "garden",
        "glacier",
        "harbor",
        "island",
    ),
    *(
        "lantern",
        "maple",
        "meadow",
        "orbit",
        "otter",
        "pebble",
        "prism",
        "raven",
        "river",
        "summit",
    ),
)
COMPANIES = ("Works", "Labs", "Systems", "Brothers", "Partners", "Foods", "Media", "Tools")
STREETS = ("Mill", "Park", "Church", "Station", "Garden", "Market", "River", "School")
# City, country, its code, its zone, its currency and its language.
PLACES = (
    ("Amsterdam", "Netherlands", "NL", "Europe/Amsterdam", "EUR", "nl"),
    ("Berlin", "Germany", "DE", "Europe/Berlin", "EUR", "de"),
    ("Cairo", "Egypt", "EG", "Africa/Cairo", "EGP", "ar"),
    ("Lagos", "Nigeria", "NG", "Africa/Lagos", "NGN", "en"),
    ("Lima", "Peru", "PE", "America/Lima", "PEN", "es"),
    ("Lisbon", "Portugal", "PT", "Europe/Lisbon", "EUR", "pt"),
    ("London", "United Kingdom", "GB", "Europe/London", "GBP", "en"),
    ("Mumbai", "India", "IN", "Asia/Kolkata", "INR", "hi"),
    ("Oslo", "Norway", "NO", "Europe/Oslo", "NOK", "nb"),
    ("Paris", "France", "FR", "Europe/Paris", "EUR", "fr"),
    ("Seoul", "South Korea", "KR", "Asia/Seoul", "KRW", "ko"),
    ("Sydney", "Australia", "AU", "Australia/Sydney", "AUD", "en"),
    ("Tokyo", "Japan", "JP", "Asia/Tokyo", "JPY", "ja"),
    ("Toronto", "Canada", "CA", "America/Toronto", "CAD", "en"),
)
SENTENCES = (
    "{} {} keeps the {} {} in view.",
    "Why the {} {} needs no {} {}.",
    "From the {} {} to the {} {}.",
    "A {} {} is worth a {} {}.",
    "The {} {} and the {} {} meet again.",
)
