//! Characters of the symbol fonts that Office has: their places there, and what they are in Unicode.

use std::borrow::Cow;
use std::sync::OnceLock;

/// Symbol fonts have their characters in the private area, behind this one.
const PRIVATE_AREA: u32 = 0xF000;
/// The place of the first character of a table.
const FIRST: u32 = 0x20;

/// Of each font the characters from place 32 on, as Unicode's mapping of Adobe's Symbol and its list of the Wingdings
/// and Webdings have them; `\u{FFFD}` where there is none.
#[rustfmt::skip]
const FONTS: [(&str, &str); 5] = [
    ("symbol",
     " !∀#∃%&∍()*+,−./0123456789:;<=>?\
     ≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_\
     ‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}~�\
     ��������������������������������\
     €ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵\
     ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓\
     ◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭"),
    ("wingdings",
     " 🖉✂✁👓🕭🕮🕯🕿✆🖂🖃📪📫📬📭🗀🗁🗎🗏🗐🗄⌛🖮🖰🖲🖳🖴🖫🖬✇✍\
     🖎✌🖏👍👎☜☞☝☟🖐☺😐☹💣🕱🏳🏱✈☼🌢❄🕆✞🕈✠✡☪☯🕉☸♈♉\
     ♊♋♌♍♎♏♐♑♒♓🙰🙵⚫🔾◼🞏🞐❑❒🞟⧫◆❖⬩⌧⮹⌘🏵🏶🙶🙷▯\
     🄋➀➁➂➃➄➅➆➇➈➉🄌➊➋➌➍➎➏➐➑➒➓🙢🙠🙡🙣🙞🙜🙝🙟∙•\
     ⬝⭘🞆🞈🞊🞋🔿▪🞎🟁🟅★🟋🟏🟓🟑⯐⌖⯎⯏⯑✪✰🕐🕑🕒🕓🕔🕕🕖🕗🕘\
     🕙🕚🕛⮰⮱⮲⮳⮴⮵⮶⮷🙪🙫🙕🙔🙗🙖🙐🙑🙒🙓⌫⌦⮘⮚⮙⮛⮈⮊⮉⮋🡨\
     🡪🡩🡫🡬🡭🡯🡮🡸🡺🡹🡻🡼🡽🡿🡾⇦⇨⇧⇩⬄⇳⬁⬀⬃⬂🢬🢭🗶✓🗷🗹"),
    ("wingdings 2",
     " 🖊🖋🖌🖍✄✀🕾🕽🗅🗆🗇🗈🗉🗊🗋🗌🗍📋🗑🗔🖵🖶🖷🖸🖭🖯🖱🖒🖓🖘🖙\
     🖚🖛👈👉🖜🖝🖞🖟🖠🖡👆👇🖢🖣🖑🗴🗸🗵☑⮽☒⮾⮿🛇⦸🙱🙴🙲🙳‽🙹🙺\
     🙻🙦🙤🙥🙧🙚🙘🙙🙛⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿�\
     ☉🌕☽☾⸿✝🕇🕜🕝🕞🕟🕠🕡🕢🕣🕤🕥🕦🕧🙨🙩⋅🞄⦁●○🞅🞇🞉⊙⦿🞌\
     🞍◾■□🞑🞒🞓🞔▣🞕🞖🞗🞘⬩⬥◇🞚◈🞛🞜🞝🞞⬪⬧◊🞠◖◗⯊⯋⯀⯁\
     ⬟⯂⬣⬢⯃⯄🞡🞢🞣🞤🞥🞦🞧🞨🞩🞪🞫🞬🞭🞮🞯🞰🞱🞲🞳🞴🞵🞶🞷🞸🞹🞺\
     🞻🞼🞽🞾🞿🟀🟂🟄🟆🟉🟊✶🟌🟎🟐🟒✹🟃🟇✯🟍🟔⯌⯍※⁂"),
    ("wingdings 3",
     " ⭠⭢⭡⭣⭦⭧⭩⭨⭰⭲⭱⭳⭶⭸⭻⭽⭤⭥⭪⭬⭫⭭⭍⮠⮡⮢⮣⮤⮥⮦⮧\
     ⮐⮑⮒⮓⮀⮃⭾⭿⮄⮆⮅⮇⮏⮍⮎⮌⭮⭯⎋⌤⌃⌥␣⍽⇪⮸🢠🢡🢢🢣🢤🢥\
     🢦🢧🢨🢩🢪🢫🡐🡒🡑🡓🡔🡕🡗🡖🡘🡙▲▼△▽◀▶◁▷◣◢◤◥🞀🞂🞁�\
     🞃⯅⯆⯇⯈⮜⮞⮝⮟🠐🠒🠑🠓🠔🠖🠕🠗🠘🠚🠙🠛🠜🠞🠝🠟🠀🠂🠁🠃🠄🠆🠅\
     🠇🠈🠊🠉🠋🠠🠢🠤🠦🠨🠪🠬🢜🢝🢞🢟🠮🠰🠲🠴🠶🠸🠺🠹🠻🢘🢚🢙🢛🠼🠾🠽\
     🠿🡀🡂🡁🡃🡄🡆🡅🡇⮨⮩⮪⮫⮬⮭⮮⮯🡠🡢🡡🡣🡤🡥🡧🡦🡰🡲🡱🡳🡴🡵🡷\
     🡶🢀🢂🢁🢃🢄🢅🢇🢆🢐🢒🢑🢓🢔🢖🢕🢗"),
    ("webdings",
     " 🕷🕸🕲🕶🏆🎖🖇🗨🗩🗰🗱🌶🎗🙾🙼🗕🗖🗗⏴⏵⏶⏷⏪⏩⏮⏭⏸⏹⏺🗚🗳\
     🛠🏗🏘🏙🏚🏜🏭🏛🏠🏖🏝🛣🔍🏔👁👂🏞🏕🛤🏟🛳🕬🕫🕨🔈🎔🎕🗬🙽🗭🗪🗫\
     ⮔✔🚲⬜🛡📦🛱⬛🚑🛈🛩🛰🟈🕴⬤🛥🚔🗘🗙❓🛲🚇🚍⛳⦸⊖🚭🗮⏐🗯🗲�\
     🚹🚺🛉🛊🚼👽🏋⛷🏂🏌🏊🏄🏍🏎🚘🗠🛢💰🏷💳👪🗡🗢🗣✯🖄🖅🖃🖆🖹🖺🖻\
     🕵🕰🖽🖾📋🗒🗓🕮📚🗞🗟🗃🗂🖼🎭🎜🎘🎙🎧💿🎞📷🎟🎬📽📹📾📻🎚🎛📺💻\
     🖥🖦🖧🕹🎮🕻🕼📟🖁🖀🖨🖩🖿🖪🗜🔒🔓🗝📥📤🕳🌣🌤🌥🌦☁🌨🌧🌩🌪🌬🌫\
     🌜🌡🛋🛏🍽🍸🛎🛍Ⓟ♿🛆🖈🎓🗤🗥🗦🗧🛪🐿🐦🐟🐕🐈🙬🙮🙭🙯🗺🌍🌏🌎🕊"),
];

/// The tables, a character for each place.
fn tables() -> &'static [(&'static str, Vec<char>)] {
    static TABLES: OnceLock<Vec<(&'static str, Vec<char>)>> = OnceLock::new();
    TABLES.get_or_init(|| {
        let fonts = FONTS.iter();
        fonts
            .map(|(font, characters)| (*font, characters.chars().collect()))
            .collect()
    })
}

/// The table of a font, if it is a symbol font that is known.
fn table(font: &str) -> Option<&'static [char]> {
    let font = font.trim();
    let found = tables()
        .iter()
        .find(|(name, _)| font.eq_ignore_ascii_case(name));
    found.map(|(_, characters)| characters.as_slice())
}

/// The character at a place of a font, which may be given in the private area. Of another font than those that are
/// known, the character of that number.
pub(crate) fn character(font: &str, place: u32) -> Option<char> {
    let is_private = (PRIVATE_AREA + FIRST..=PRIVATE_AREA + 0xFF).contains(&place);
    let place = if is_private {
        place - PRIVATE_AREA
    } else {
        place
    };
    match table(font) {
        Some(table) if place >= FIRST => {
            let at = usize::try_from(place - FIRST).ok()?;
            let known = table.get(at).copied();
            known
                .or_else(|| char::from_u32(place))
                .filter(|c| *c != char::REPLACEMENT_CHARACTER)
        }
        _ => char::from_u32(place),
    }
}

/// A text in a font: of a symbol font, characters of the private area become what they show.
pub(crate) fn text<'t>(font: &str, text: &'t str) -> Cow<'t, str> {
    let is_private = |c: char| ('\u{F020}'..='\u{F0FF}').contains(&c);
    if !text.contains(is_private) || table(font).is_none() {
        return Cow::Borrowed(text);
    }
    let shown = text.chars().map(|c| match is_private(c) {
        true => character(font, u32::from(c)).unwrap_or(c),
        false => c,
    });
    Cow::Owned(shown.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_symbol_fonts_are_characters() {
        for (font, place, expected) in [
            ("Symbol", 0xF061, 'α'),
            ("symbol", 0x61, 'α'),
            ("Symbol", 0xF0A5, '∞'),
            ("Symbol", 0xF0B3, '≥'),
            ("Symbol", 0x22, '∀'),
            ("Wingdings", 0xF0FC, '✓'),
            ("Wingdings", 0xF0E0, '🡪'),
            ("Wingdings 2", 0xF052, '☑'),
            ("Wingdings 3", 0xF070, '▲'),
            ("Webdings", 0x61, '✔'),
            ("Other", 0xF061, 'a'),
            ("Other", 0x3B1, 'α'),
            ("Symbol", 0x3B1, 'α'),
        ] {
            assert_eq!(character(font, place), Some(expected), "{font} {place:x}");
        }
        assert_eq!(character("Wingdings", 0xD800), None);
        assert_eq!(text("Symbol", "\u{F061} a"), "α a");
        assert_eq!(text("Arial", "\u{F061}"), "\u{F061}");
        // Each table has a character for each place.
        for (font, characters) in tables() {
            assert!((200..=224).contains(&characters.len()), "{font}");
        }
    }
}
