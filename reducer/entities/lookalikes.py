"""Tell domains from what looks like one: files, calls, attributes, packages, detection names, sentences without a blank.

All of it is for names that stand there plainly; who defangs a name says that it is a host. The rules read the name alone, or turn it
down for what stands beside it, so that a name once accepted is accepted wherever it is written.
"""

from __future__ import annotations

import re
from functools import lru_cache

# Country codes that are also file extensions, code or English words. All others, and the open ones below, say "domain" by themselves.
_SOFT_COUNTRIES = frozenset(b"ai am as at be bz by cc do fm id im in io is it la me ml mm mo ms my no pl pm pt re sb sc so st tc to us vi ws".split())
_OPEN = frozenset(
    b"""com org net edu gov mil int biz info onion mobi asia cat pro tel travel aero coop jobs museum xxx
    xyz top site online club shop space website fun icu vip cyou sbs cfd bond buzz monster quest rest lol wtf bid loan loans win racing
    accountant accountants cricket faith party review reviews science trade webcam men download date stream
    academy actor adult agency airforce apartments archi army art associates attorney auction auto autos baby band bar bargains beauty beer
    best bet bible bike bingo bio black blackfriday blog blue boats boutique broker builders business cab cafe cam camera camp capital car
    cards care career careers cars casa cash casino catering ceo chat cheap christmas church city claims cleaning click clinic clothing cloud
    coach codes coffee college community company computer condos construction consulting contractors cooking cool country coupons courses
    credit creditcard cruises dad dance dating deals degree delivery democrat dental dentist desi design dev diamonds diet digital direct
    directory discount doctor dog domains earth eco education energy engineer engineering enterprises equipment esq estate exchange expert
    exposed express family fan fans farm fashion feedback film finance financial fish fishing fitness flights florist flowers football forex
    forsale forum foundation fund furniture futbol fyi gallery game games garden gay gift gifts gives glass global gmbh gold golf graphics
    gratis green gripe group guide guitars guru hair haus health healthcare help hiphop hiv hockey holdings holiday homes horse hospital host
    hosting house how immo immobilien inc industries ink institute insure international investments irish jetzt jewelry juegos kaufen kids
    kim kitchen kiwi land lat law lawyer lease legal lgbt life lifestyle lighting limited limo link live living llc lotto love ltd ltda luxe
    luxury maison makeup management market marketing markets mba med media melbourne meme memorial menu miami moda moe moi mom money mortgage
    motorcycles movie music network news nexus ngo ninja observer one ong onl ooo organic page partners parts pet pharmacy phd photo
    photography photos physio pics pictures pink pizza place plumbing plus poker porn press productions promo property protection
    pub qpon radio realtor recipes red rehab reise reisen rent rentals repair report republican restaurant rich rip rocks rodeo rsvp
    rugby run sale salon sarl school schule security services sex sexy shiksha shoes shopping singles ski skin soccer social software
    solar solutions soy spa sport srl storage store studio study style sucks supplies supply support surf surgery swiss systems tattoo
    tax taxi team tech gdn technology tennis theater theatre tickets tienda tips tires today tools tours town toys trading training tube uno
    university vacations ventures vet viajes video villas vin vision vodka vote voting voto voyage watch watches wed wedding wiki wine work
    works world yachts yoga zone app email events center contact name
    berlin london tokyo nyc moscow paris amsterdam istanbul ist hamburg koeln cologne wien vegas sydney capetown joburg durban osaka nagoya
    okinawa yokohama kyoto ryukyu taipei quebec rio boston brussels gent vlaanderen bayern ruhr nrw saarland tirol scot wales cymru bzh
    alsace corsica frl krd tatar gal eus africa arab barcelona madrid zuerich helsinki stockholm""".split()
)
# Of the open ones: never a file, an attribute or a method.
_PLAIN = frozenset(
    b"""com org net edu gov mil int biz onion mobi asia aero coop museum xyz icu cyou sbs cfd bond buzz lol wtf website space online site vip
    club tech""".split()
)
# Read as the file it is unless the name begins with `www.` or ends as one of the services that people do name.
_FILES = frozenset(b"cab dot ink java map md mk mov properties prof ps py rs sh so tf zip pid docs".split())
_SERVICES = frozenset(
    b"transfer.sh temp.sh envs.sh crt.sh brew.sh bun.sh helm.sh docs.rs lib.rs rustup.rs notion.so dns.google about.google blog.google".split()
)
_BRIEF = frozenset(b"t.me m.me v.gd j.mp u.to x.ai z.ai e.vg n.pr".split())
_SECOND = frozenset(b"com co org net gov edu ac or go ne mil gob gouv".split())
_TOPS = _PLAIN | {b"ru", b"cn"}
_NUMERIC = frozenset(b"com net org cn cc ru xyz top vip info tv".split())
_ROOTS = frozenset(b"com org net edu gov java javax system microsoft windows".split())
_VENDORS = frozenset(b"microsoft windows java".split())  # of the roots: hosts too
_DETECTION = frozenset(
    b"""adware agent android backdoor behaveslike downloader dropper generic heur heuristic html js keylogger linux malware msil msword osx
    packed pdf phishing powershell psw pua pup ransom riskware riskware32 rootkit script spyware suspicious symbos tool trojan unix variant
    vba vbs virtool virus w32 w64 w97m win win32 win64 worm x97m""".split()
)
_ENGINES = frozenset(b"adware generic heur heuristic malicious malware pua pup ransom riskware suspicious trojan".split())
# Names of products and packages that nobody reads as a host.
_PRODUCTS = frozenset(
    b"asp.net ado.net vb.net ml.net java.net java.io java.nio system.net system.io system.data socket.io engine.io std.io paint.net configure.ac et.al".split()
)
# What programmers call things: with an ending that may be an attribute or an extension, the name is code.
_CODE = frozenset(
    b"""abc account accounts action actions alert alerts api app application args arguments arr array asset attachment attr attributes auth bar base baz
    body bucket buffer build builder button cache callback cell cert channel child class client cls cmd code col collection color column
    command common comment config configuration conn connection const constants console container content context control controller cookie
    core count counter ctx current cursor customer data database date datetime db debug default demo deps destination detail details device
    dict dir directory div doc document dom domain download driver edge elem element elements elm email employee engine entity entry enum env
    err error errors event events evt example exception exec exports ext factory false field fields file filename files filter finding flag
    flow folder foo form format frame func function functions gateway global graph group groups handler handlers hash head header headers
    hello helper helpers history home hook host hosts html http https icon id image img import in incident index indicator info init input
    instance int interface internal io issue item items job js json key keys label lambda layer layout lib libs license line link links list
    listener load loader local location lock log logger logging login logs main manager map match math media member menu message messages
    meta metadata method mixin mock mod model models module modules mongo msg my name namespace net network new next node nodes note null num
    number obj object objects observable of open operator option options opts order org origin os out output owner package page params
    parameters parent parser patch path paths payload pd permission person photo pipeline player plt plugin plugins policy port position post
    process product profile program project prop properties props proto provider proxy query queue qux re readme record records ref region
    register remote report repo repository req request requests res resource response responses result results ret return role roles root
    route router row rows rule rules run runner safe span section img sample scan schema scope script scripts search section security self server service
    services session set settings setup shared shell shop sig site size socket solution sort source spam spec split sql src stack start state
    static stats status std step storage store str stream string style style styles sub subject summary super svc sys system tab table tag
    tags target task tasks team template templates temp test testing tests text thread threat ticket time timer title tmp token tools torch
    transaction tree true type types ui unit update uri url user username users util utilities utils val value values var variable vector
    version video view views vm volume vue web widget win window wp worker workflow workspace wrapper write xhr xml yaml""".split()
)
# What code calls its own: never a host, but under the endings that no code has.
_SELVES = frozenset(
    b"""args cls expr fp func fx kwargs math mp mpmath np numpy obj op operator other pd plt pip pygments res result scipy self sp sympy this
    torch tf""".split()
)
_NAME = re.compile(rb"[a-z0-9_\x81][a-z0-9._\x81-]*")
_SERVICE_LABELS = frozenset(b"_tcp _udp _tls _domainkey _msdcs _sites _dmarc _report _acme-challenge".split())
_USED = re.compile(rb"\((?![0-9])|\[|==?| (?:[=!<>+*/-]?=|import) | is (?:not )?None(?![a-z])")  # as code goes on behind an attribute or a module
_CODE_BEHIND = re.compile(rb" (?:is (?:not|None)|if|else|not in|or None|and not)(?![A-Za-z])")
_CODE_AHEAD = re.compile(rb"(?:(?<![A-Za-z])(?:return|assert|yield|elif|await|(?:if|and|or) not)|[A-Za-z0-9_] [=!<>]?=) \Z")
# Attributes first and endings second: between the marks of code they are what they are in code.
_ATTRIBUTES = frozenset(b"name id group parts help events style date degree center one rest tools services limited host link email int".split())
_OPENED, _CLOSED = frozenset((b"(", b"[", b"{", b"=", b"!", b"*", b"+")), frozenset((b")", b"]", b"}", b":"))
_HOSTED = frozenset(b"app web api cloud shop blog global internal network domain host service services store".split())
_MEMBERS = frozenset(b"id is in as do to".split())


NO_NAME = -1
"""The verdict on what cannot be a host name for its form."""
_NEVER, _ALWAYS, _UNLESS_CODE, _UNLESS_PART, _UNLESS_MEMBER = range(5)


@lru_cache(maxsize=4096)  # real texts repeat their hosts
def verdict(written: bytes) -> int:
    """Judge a name by itself: NO_NAME, 0 for what is no domain anywhere, else how much of what stands beside it can turn it down."""
    name = written.lower()
    fanged = 1 in name
    if fanged:
        name = name.replace(b"\x01", b".")
    if not _NAME.fullmatch(name):
        return NO_NAME
    labels = name.split(b".")
    if len(name) > 253 or b"" in labels or b".-" in name or b"-." in name or (len(name) > 63 and max(map(len, labels)) > 63):
        return _NEVER
    return _ALWAYS if fanged else _plain_verdict(written, name, labels)


def plausible(data: bytes, judged: int, start: int, end: int) -> bool:
    """Tell whether what stands beside data[start:end] leaves it the domain that it is by itself, by its `verdict` above 0."""
    if judged == _ALWAYS:
        return True
    if _USED.match(data, end) or data[max(0, start - 7) : start] == b"import ":
        return False
    if judged == _UNLESS_CODE:
        return True
    before = data[start - 1 : start] if start else b""
    if before in (b".", b"$", b"-"):
        return False
    if judged == _UNLESS_PART:
        return True
    return not (before in _OPENED or data[end : end + 1] in _CLOSED or _CODE_BEHIND.match(data, end) or _CODE_AHEAD.search(data, max(0, start - 12), start))


def _plain_verdict(written: bytes, name: bytes, labels: list[bytes]) -> int:
    tail = labels[-1]
    owner = labels[-2]
    count = len(labels)
    if b"_" in owner or (count == 2 and (owner.isdigit() and tail not in _NUMERIC)):
        return _NEVER
    plain = tail in _PLAIN or tail[0] == 0x81 or (len(tail) == 2 and tail not in _SOFT_COUNTRIES and tail not in _FILES) or tail[:4] == b"xn--"
    if written != name and not _cased(written, labels, plain):
        return _NEVER
    if 0x81 in name:
        return _ALWAYS if plain else _NEVER
    if tail in (b"com", b"org"):
        return _ALWAYS if count > 2 or owner not in _ROOTS or (tail == b"com" and owner in _VENDORS) else _NEVER
    if name in _PRODUCTS or (b"._" in name and any(label[:1] == b"_" and label not in _SERVICE_LABELS for label in labels[1:])):
        return _NEVER
    if tail not in _PLAIN and labels[0] in _SELVES:
        return _NEVER
    sure = _ALWAYS if tail in _PLAIN else _UNLESS_CODE
    if labels[0] in _ROOTS and (count == 2 or tail not in _TOPS):
        return sure if count == 2 and owner == b"gov" and plain and len(tail) == 2 else _NEVER  # gov.uk, gov.br
    if len(owner) == 1 and count == 2 and tail not in (b"net", b"co", b"cn") and name not in _BRIEF:
        return _NEVER
    if count == 2 and owner in _ENGINES and tail not in _PLAIN:
        return _NEVER  # Generic.ml
    if len(tail) == 2 and count > 2 and not _DETECTION.isdisjoint(labels[:-1]) and owner not in _SECOND:
        return _NEVER
    if count > 2 and tail not in _PLAIN and labels[0].isdigit() and labels[1][:1].isdigit():
        return _NEVER  # 1.9.0a2.dev
    if plain:
        return sure
    if labels[0] == b"www" or (count > 2 and owner in _SECOND):
        return sure
    if tail in _FILES:
        return sure if b".".join(labels[-2:]) in _SERVICES or (count > 2 and tail == b"rs") else _NEVER
    if len(tail) > 2 and tail not in _OPEN:
        return sure if b".".join(labels[-2:]) in _SERVICES else _NEVER
    if count == 2:
        long = len(owner) > 2 or len(tail) == 2 or tail in (b"top", b"live", b"pro")
        named = owner not in _CODE and long and owner.rstrip(b"0123456789") not in _SELVES
    else:
        named = owner not in _CODE or owner in _HOSTED or (len(tail) == 2 and tail not in _MEMBERS)
    return _NEVER if not named else _UNLESS_MEMBER if tail in _ATTRIBUTES else _UNLESS_PART


def _cased(written: bytes, labels: list[bytes], plain: bool) -> bool:
    """Tell whether capitals stand where people put them in domains: nowhere, everywhere, at the start of words (GitHub.com)."""
    parts = written.split(b".")
    tail = parts[-1]
    if tail.islower():
        titled = sum(part[:1].isupper() for part in parts[:-1])
        if titled > 1 and len(tail) == 2 and labels[-2] not in _SECOND:
            return False  # Win32.Adware.Generic.am
        return plain or len(tail) == 2 or not any(part[:1].isupper() or not (part.islower() or part.isdigit()) for part in parts[-2:-1])
    if written.isupper():
        # BMW.DE is a share; XXX.XXX.XXX.XXX stands for an address.
        return len(set(parts)) > 1 and (plain and (len(tail) > 2 or len(parts) > 2 or len(parts[0]) > 4))
    return tail in (b"COM", b"ORG", b"Com", b"Org")
