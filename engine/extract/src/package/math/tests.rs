use super::*;
use crate::package::xml::{XmlEvent, XmlReader};

/// Tags without their prefix and text without its element, to keep tests short: `[f[num|1][den|2]]`.
fn office(short: &str) -> String {
    let mut xml = String::from("<m:oMath>");
    let mut names = Vec::new();
    let mut rest = short;
    while let Some(c) = rest.chars().next() {
        match c {
            '[' => {
                let end = rest.find(['|', '[', ']']).filter(|end| *end > 0);
                let end = end.unwrap_or_else(|| rest[1..].find(['|', '[', ']']).unwrap() + 1);
                let name = &rest[1..end];
                xml += &format!("<m:{name}>");
                names.push(name.split(' ').next().unwrap().to_owned());
                rest = rest[end..].strip_prefix('|').unwrap_or(&rest[end..]);
            }
            ']' => {
                xml += &format!("</m:{}>", names.pop().unwrap());
                rest = &rest[1..];
            }
            _ => {
                let end = rest.find(['[', ']']).unwrap_or(rest.len());
                xml += &format!(
                    "<m:r><w:rPr><w:t>x</w:t></w:rPr><m:t>{}</m:t></m:r>",
                    &rest[..end]
                );
                rest = &rest[end..];
            }
        }
    }
    xml += "</m:oMath><after/>";
    let mut reader = XmlReader::new(&xml);
    reader.next().unwrap();
    let text = read_office_math(&mut reader).unwrap();
    let Ok(Some(XmlEvent::Start(after))) = reader.next() else {
        panic!("{xml}");
    };
    assert_eq!(after.name(), "after");
    text
}

#[test]
fn equations_of_office_keep_their_operators() {
    for (short, expected) in [
        ("y=[f[num|a+b][den|3]]", "y=(a+b)/3"),
        ("[f[fPr[type m:val='noBar']][num|n][den|k]]", "n¦k"),
        ("[rad[radPr[degHide m:val='1']][deg][e|p^2+q]]", "√(p^2+q)"),
        ("[rad[deg|3][e|8]]", "∛8"),
        ("[rad[deg|n][e|x+1]]", "√(n&x+1)"),
        ("[sSup[e|x][sup|2]]+[sSub[e|y][sub|i+1]]", "x^2+y_(i+1)"),
        ("[sSubSup[e|T][sub|k][sup|12]]", "T_k^12"),
        ("[sPre[sub|6][sup|14][e|C]]", "_6^14 C"),
        (
            "[nary[naryPr[chr m:val='∏']][sub|j=0][sup|m][e[sSub[e|b][sub|j]]]]",
            "∏_(j=0)^m b_j",
        ),
        ("[nary[sub|0][sup|1][e|f dx]]", "∫_0^1 f dx"),
        ("[d[e|a][e|b]]", "(a|b)"),
        (
            "[d[dPr[begChr m:val='{'][endChr m:val='']][e[eqArr[e|x=1][e|y&amp;=2]]]]",
            "{x=1; y=2",
        ),
        ("[m[mr[e|a][e|b]][mr[e|c][e|d]]]", "[a, b; c, d]"),
        ("[d[e[m[mr[e|a][e|b]][mr[e|c][e|d]]]]]", "(a, b; c, d)"),
        ("[acc[e|v]]", "v\u{302}"),
        ("[acc[accPr[chr m:val='\u{20D7}']][e|ab]]", "(ab)\u{20D7}"),
        ("[bar[barPr[pos m:val='top']][e|x]]", "x\u{305}"),
        ("[func[fName|cos][e|x]]", "cos x"),
        (
            "[func[fName[limLow[e|lim][lim|h→0]]][e[f[num|1][den|h]]]]",
            "lim_(h→0) 1/h",
        ),
        ("[limUpp[e|A][lim|def]]", "A^(def)"),
        ("[borderBox[e|F=ma]]", "F=ma"),
        ("a[del|gone]b", "ab"),
        ("[sSub[e|p][sub|i]][sSub[e|q][sub|j]]+2x", "p_i q_j+2x"),
        ("[f[num|1][den|2]]m[sSup[e|v][sup|2]](t)", "1/2 mv^2(t)"),
    ] {
        assert_eq!(office(short), expected, "{short}");
    }
}

#[test]
fn equations_of_opendocument_keep_their_operators() {
    for (xml, expected) in [
        (
            "<mrow><mi>c</mi><mo>=</mo><msqrt><mrow><msup><mi>a</mi><mn>2</mn></msup><mo>+</mo><mn>1</mn></mrow></msqrt></mrow>",
            "c=√(a^2+1)",
        ),
        (
            "<mfrac><mrow><mi>x</mi><mo>−</mo><mn>1</mn></mrow><mi>y</mi></mfrac>",
            "(x−1)/y",
        ),
        (
            "<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover><mi>i</mi>",
            "∑_(i=1)^n i",
        ),
        ("<mi>sin</mi><mi>t</mi>", "sin t"),
        ("<mroot><mi>x</mi><mn>3</mn></mroot>", "∛x"),
        ("<mover><mi>v</mi><mo>→</mo></mover>", "v\u{20D7}"),
        ("<mfenced open='['><mi>a</mi><mi>b</mi></mfenced>", "[a,b)"),
        (
            "<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>0</mn></mtd></mtr><mtr><mtd><mn>0</mn></mtd><mtd><mn>2</mn></mtd></mtr></mtable>",
            "[1, 0; 0, 2]",
        ),
        (
            "<msub><mi>a</mi><mi>i</mi></msub><msub><mi>b</mi><mi>i</mi></msub>",
            "a_i b_i",
        ),
        ("<msubsup><mi>a</mi><mn>1</mn><mn>2</mn></msubsup>", "a_1^2"),
    ] {
        let part = format!(
            "<math><semantics>{xml}<annotation encoding='StarMath 5.0'>sqrt</annotation></semantics></math>"
        );
        assert_eq!(read_mathml(&part).unwrap(), expected, "{xml}");
    }
}

#[test]
fn what_is_nested_without_end_is_read_in_bounded_work() {
    let deep =
        |open: &str, close: &str, times: usize| open.repeat(times) + "x" + &close.repeat(times);
    let text = deep(
        "<m:sSup><m:e><m:r><m:t>y</m:t></m:r>",
        "</m:e></m:sSup>",
        300,
    );
    let xml = format!("<m:oMath>{text}</m:oMath>");
    let mut reader = XmlReader::new(&xml);
    reader.next().unwrap();
    let read = read_office_math(&mut reader).unwrap();
    assert_eq!(read.matches('y').count(), 300);
    let part = format!(
        "<math>{}</math>",
        deep("<mfrac><mi>z</mi>", "</mfrac>", 300)
    );
    assert_eq!(read_mathml(&part).unwrap().matches('z').count(), 300);
    // Cut anywhere.
    let cut = "<m:oMath><m:f><m:num><m:r><m:t>a";
    let mut reader = XmlReader::new(cut);
    reader.next().unwrap();
    assert_eq!(read_office_math(&mut reader).unwrap(), "a/");
}
