"""Words of which people, streets and towns are made up, the frequent ones first; none is anybody."""

from __future__ import annotations

__all__ = [
    "GIVEN",
    "NICKNAMES",
    "STREETS",
    "STREET_TYPES",
    "SURNAMES",
    "SURNAME_ENDS",
    "SURNAME_STEMS",
    "TOWN_ENDS",
    "TOWN_STEMS",
]

GIVEN = (
    "maria anna thomas sarah daniel laura peter julia michael emma david lisa james sophie andrew "
    "clara martin helen robert alice john eva william rosa henry marta george nora edward lena paul "
    "ida charles greta samuel ruth joseph irene leon vera oscar judith simon hanna victor elsa adam "
    "ines felix carla hugo paula max theresa jonas miriam lukas agnes jakob amelia noah charlotte "
    "liam olivia ethan grace benjamin ella alexander lily isaac zoe nathan chloe gabriel mia anton "
    "stella emil freya otto astrid karl ingrid erik sigrid lars kirsten nils marit olaf birgit ivan "
    "olga boris tanya sergei irina dmitri natalia pavel elena marek agata tomasz zofia andrzej ewa "
    "piotr magda jan katarzyna carlos lucia miguel carmen diego pilar javier elvira pedro isabel luis "
    "beatriz rafael gloria matteo chiara luca giulia marco francesca paolo silvia andrea bianca "
    "pierre camille louis juliette antoine margaux henri odile rene simone ahmed fatima omar leila "
    "yusuf amina ali zeynep mehmet elif hassan noor arjun priya ravi anjali vikram meera sanjay "
    "kavita raj sunita wei mei jun ling hiro yuki kenji sakura takeshi aiko minh linh duc thao kwame "
    "abena kofi ama tunde ngozi chidi ifeoma"
)
SURNAMES = (
    "smith miller brown taylor wilson jones davies evans walker wright robinson thompson white hughes "
    "edwards green hall wood harris clarke jackson lewis turner hill scott cooper morris ward moore "
    "king watson baker harrison morgan patel allen young mitchell phillips campbell carter bell shaw "
    "bailey kelly murphy obrien ryan walsh oconnor byrne doyle mccarthy gallagher nguyen tran pham "
    "kim lee park chen wang li zhang singh kumar sharma gupta khan ahmed hussain ali garcia martinez "
    "lopez gonzalez perez sanchez rossi russo ferrari bianchi romano dubois moreau laurent lefevre "
    "roux schmidt schneider fischer weber meyer wagner becker schulz hoffmann koch bauer richter "
    "klein wolf schroeder neumann schwarz zimmermann braun kruger hartmann lange werner krause meier "
    "lehmann kowalski nowak wisniewski novak svoboda horvat nagy kovacs toth ivanov petrov smirnov "
    "popov jensen nielsen hansen pedersen andersen larsen johansson karlsson nilsson eriksson "
    "virtanen korhonen silva santos ferreira pereira oliveira costa yilmaz kaya demir okafor mensah "
    "diallo traore tanaka suzuki sato watanabe"
)
SURNAME_STEMS = (
    "ash black brad bran bur cald carl chat clay cold cran dal den dun east elm ever fair far farn "
    "fen glen gold grant hal har hart haw heath hel hol horn kel kings lang lin lock long mar mel mid "
    "mil nor oak old pem pres rad ran red ridge rock ros rush sand sel shel sher south stan sted "
    "stock stone sut thorn tor tren wad wal war wel west whit wil win wood wor"
)
SURNAME_ENDS = (
    "bridge brook burn bury by combe cott croft dale den er field ford gate ham hurst ingham ington "
    "land ley low man mere more ner shaw son stead stein stock ston ter ton wald ward way well wick "
    "wood worth"
)
TOWN_STEMS = (
    "alder amber apple ash barn birch bramble bright broad castle cedar church clear cliff crow deep "
    "dove eagle elder fern fox glen grand green hazel high iron king lake lark maple marsh mill moss "
    "north oak old orchard otter pine queen raven river rose rowan salt silver spring stone sun swan "
    "thistle upper west white willow wind winter wolf"
)
TOWN_ENDS = (
    "bank beach bridge brook bury cross dale field ford gate ham haven heath hill hurst leigh mead "
    "mere mouth point port ridge side stead ton vale view ville water well wich wood worth"
)
STREETS = (
    "acacia albert alma anchor arthur banksia baker beech bell belmont bishop blackwood bourke bridge "
    "broad brunswick cambridge canal carlton castle cathedral cedar chapel charles cherry chestnut "
    "church clarence cliff college coral court crown cypress derby devon duke east edward elizabeth "
    "elm fairview farm ferry field forest fountain garden george gladstone glebe gordon grange grove "
    "harbour harvest hawthorn hazel heath henry hillside holly hope howard hunter iris ivy jasmine "
    "jubilee king lake lancaster laurel lavender lime linden lodge london lower magnolia main manor "
    "maple margaret market meadow melrose mill monarch moorland mount myrtle newton north oak oxford "
    "palace palm park pearl pine pleasant poplar priory quarry queen railway regent richmond ridge "
    "river rose rowan royal russell sandy school shore silver south spring station stanley stirling "
    "sunset sycamore temple thames tower trinity union valley victoria vine violet walnut warren "
    "waterloo wattle wellington west willow windsor wood york"
)
STREET_TYPES = {
    "street": "st",
    "road": "rd",
    "avenue": "ave",
    "lane": "ln",
    "close": "cl",
    "drive": "dr",
    "court": "ct",
    "place": "pl",
    "crescent": "cres",
    "terrace": "tce",
    "way": "wy",
}
NICKNAMES = {
    "william": "bill",
    "robert": "bob",
    "charles": "charlie",
    "edward": "ted",
    "samuel": "sam",
    "benjamin": "ben",
    "alexander": "alex",
    "nathan": "nate",
    "thomas": "tom",
    "michael": "mike",
    "daniel": "dan",
    "andrew": "andy",
    "joseph": "joe",
    "katarzyna": "kasia",
    "charlotte": "lottie",
    "elizabeth": "liz",
    "theresa": "tess",
    "isabel": "bella",
}
