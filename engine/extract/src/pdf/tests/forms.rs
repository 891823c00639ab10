//! What a viewer writes into a page: values of fields, free text, forms in XML.

use super::{at, document, read, stream, text, with_objects};

/// A page with these annotations, and a form that has them for fields.
fn form(entries: &str, content: &str, annotations: &[&str], others: &[&str]) -> Vec<u8> {
    let numbers = (4..)
        .take(annotations.len())
        .map(|number| format!("{number} 0 R "));
    let list: String = numbers.collect();
    let objects = annotations.iter().chain(others).map(|it| (*it).to_owned());
    let objects: Vec<String> = objects.collect();
    let catalog = format!("/AcroForm << /DA (/F 10 Tf 0 g) /Fields [{list}] {entries} >>");
    let page = format!("/Annots [{list}]");
    with_objects(&catalog, &[(&page, content)], &objects, "")
}

fn widget(y: u32, entries: &str) -> String {
    let top = y + 16;
    format!("<< /Type /Annot /Subtype /Widget /F 4 /Rect [200 {y} 400 {top}] {entries} >>")
}

/// Labels of fields, one below the other.
fn labels(labels: &[&str]) -> String {
    let places = (0..).zip(labels);
    places
        .map(|(row, label)| at(50, 704 - 30 * row, label))
        .collect()
}

#[test]
fn values_of_fields_without_a_drawing_are_read_beside_their_labels() {
    let fields = [
        widget(700, "/FT /Tx /V (Ingrid Solheim)"),
        // The rest of the field is above it.
        widget(670, "/Parent 10 0 R"),
        widget(
            640,
            "/FT /Ch /V (no) /Opt [[(se) (Sweden)] [(no) (Norway)]]",
        ),
        widget(610, "/FT /Ch /V [(b) (c)] /Opt [(a) (b) (c)]"),
        widget(580, "/FT /Btn /V /1 /AS /1 /Opt [(by post) (by courier)]"),
        widget(550, "/FT /Btn /V /Married /AS /Married"),
    ];
    let fields = fields.each_ref().map(String::as_str);
    let content = labels(&[
        "Name", "Street", "Country", "Colours", "Delivery", "Status", "Seal",
    ]);
    let above = "<< /T (street) /FT /Tx /V <feff00530074007200F8006D> >>";
    let read = text(&form("/NeedAppearances true", &content, &fields, &[above]));
    for row in [
        "Name\tIngrid Solheim\n",
        "Street\tStr\u{f8}m\n",
        "Country\tNorway\n",
        "Colours\tb, c\n",
        "Delivery\tby courier\n",
        "Status\tMarried\n",
    ] {
        assert!(read.contains(row), "{row:?} in {read}");
    }
}

#[test]
fn values_that_no_viewer_shows_are_not_read() {
    let hidden = widget(700, "/FT /Tx /V (concealed)").replace("/F 4", "/F 2");
    let fields = [
        hidden,
        widget(670, "/FT /Tx /Ff 8192 /V (password)"),
        widget(640, "/FT /Btn /V /Off /AS /Off"),
        // The value of a group is that of another button of it.
        widget(610, "/FT /Btn /V /Other /AS /Off"),
    ];
    let fields = fields.each_ref().map(String::as_str);
    let read = text(&form("", &labels(&["One", "Two"]), &fields, &[]));
    assert_eq!(read, "One\n\nTwo\n\n");
}

#[test]
fn a_value_with_a_drawing_is_read_once_and_one_with_an_empty_drawing_still() {
    let drawing = |content: &str| {
        stream(
            "/Type /XObject /Subtype /Form /BBox [0 0 200 16] /Resources << /Font << /F 3 0 R >> >>",
            content,
        )
    };
    let (full, empty) = (drawing("BT /F 10 Tf 2 5 Td (Bergen) Tj ET"), drawing(""));
    let fields = [
        widget(700, "/FT /Tx /V (Bergen) /AP << /N 7 0 R >>"),
        widget(670, "/FT /Tx /V (Tromso) /AP << /N 8 0 R >>"),
        // Drawn before the value was changed.
        widget(640, "/FT /Tx /V (Molde) /AP << /N 7 0 R >>"),
    ];
    let fields = fields.each_ref().map(String::as_str);
    let content = labels(&["From", "To", "Via"]);
    let others = [full.as_str(), empty.as_str()];
    let kept = text(&form("", &content, &fields, &others));
    assert_eq!(kept, "From\tBergen\n\nTo\tTromso\n\nVia\tBergen\n\n");
    let anew = text(&form("/NeedAppearances true", &content, &fields, &others));
    assert!(
        anew.starts_with("From\tBergen\n\nTo\tTromso\n\nVia\t") && anew.contains("Molde"),
        "{anew}"
    );
}

#[test]
fn free_text_is_read_where_it_stands() {
    let note = "<< /Type /Annot /Subtype /FreeText /Rect [50 600 300 660] /DA (/F 12 Tf) /Contents (First remark\\rsecond remark) >>";
    let popup = "<< /Type /Annot /Subtype /Popup /Rect [50 500 300 560] /Contents (not shown) >>";
    let content = format!("{}{}", at(50, 700, "above"), at(50, 560, "below"));
    let read = text(&form("", &content, &[note, popup], &[]));
    assert_eq!(read, "above\n\nFirst remark\nsecond remark\n\nbelow\n\n");
}

#[test]
fn turned_pages_have_their_values_beside_their_labels() {
    // On a page that is turned by 90 degrees text runs up, and so do its fields.
    let label = "BT /F 10 Tf 0 1 -1 0 110 50 Tm (Harbour) Tj ET";
    let field = "<< /Subtype /Widget /FT /Tx /V (Narvik) /MK << /R 90 >> /Rect [98 200 114 400] >>";
    let page = "/Rotate 90 /Annots [4 0 R]";
    let bytes = with_objects("", &[(page, label)], &[field.to_owned()], "");
    assert_eq!(text(&bytes), "Harbour\tNarvik\n\n");
}

#[test]
fn a_form_in_xml_stands_for_the_page_that_asks_to_wait() {
    let template = "<template><subform name='order'><draw><value><text>Order of boats</text></value></draw>\
        <field name='buyer'><caption><value><text>Buyer</text></value></caption></field>\
        <field name='kind'><caption><value><exData><body><p>Kind</p></body></exData></value></caption>\
        <items><text>Sloop</text><text>Ketch</text></items><items save='1'><text>1</text><text>2</text></items></field>\
        <field name='secret' presence='hidden'><caption><value><text>Hidden</text></value></caption></field>\
        <subform name='row'><field name='port'><caption><value><text>Port</text></value></caption></field>\
        <field name='days'><caption><value><text>Days</text></value></caption></field></subform>\
        </subform></template>";
    let data = "<xfa:datasets xmlns:xfa='x'><xfa:data><order><buyer>Lofoten &amp; Sons</buyer><kind>2</kind>\
        <row><port>Vard\u{f8}</port><days>3</days></row><row><port>Hammerfest</port><days>5</days></row></order></xfa:data></xfa:datasets>";
    let expected = "Order of boats\nBuyer\tLofoten & Sons\nKind\tKetch\n\nPort\tVard\u{f8}\nDays\t3\n\nHammerfest\t5\n\n";
    let wait = at(50, 700, "Please wait...");
    let whole = stream(
        "",
        &format!("<xdp:xdp xmlns:xdp='x'>{template}{data}</xdp:xdp>"),
    );
    let (one, other) = (stream("", template), stream("", data));
    for (xfa, others) in [
        ("4 0 R", vec![whole]),
        ("[(template) 4 0 R (datasets) 5 0 R]", vec![one, other]),
    ] {
        let catalog = format!("/NeedsRendering true /AcroForm << /XFA {xfa} >>");
        let found = read(&with_objects(&catalog, &[("", &wait)], &others, ""));
        assert_eq!(found.text.as_deref(), Some(expected), "{xfa}");
        // A page with fields of its own is the form.
        let field = "<< /Subtype /Widget /FT /Tx /V (Alta) /Rect [98 600 300 616] >>";
        let page = format!("/Annots [{field}]");
        let catalog = catalog.replace("/NeedsRendering true", "");
        let found = read(&with_objects(&catalog, &[(&page, &wait)], &others, ""));
        assert_eq!(found.text.as_deref(), Some("Please wait...\n\nAlta\n\n"));
    }
    assert_eq!(text(&document(&wait)), "Please wait...\n\n");
}

#[test]
fn fields_that_lead_round_end() {
    let field = "<< /Subtype /Widget /Parent 4 0 R /Rect [98 600 300 616] >>";
    let read = text(&form("", &at(50, 700, "words"), &[field], &[]));
    assert_eq!(read, "words\n\n");
}

#[test]
fn a_part_of_a_form_that_is_there_with_its_data_only_is_not_read_without() {
    let part = |name: &str, rest: &str, label: &str| {
        format!(
            "<subform name='{name}'>{rest}<draw><value><text>{label}</text></value></draw></subform>"
        )
    };
    let template = format!(
        "<template><subform name='crew'>{}{}{}{}{}</subform></template>",
        part("cook", "<occur min='0'/>", "Name of the cook"),
        part("mate", "<occur max='-1' min='0'/>", "Name of the mate"),
        part("pilot", "<occur min='0' initial='1'/>", "Name of the pilot"),
        part("owner", "<occur min='1'/>", "Name of the owner"),
        part(
            "any",
            "<occur min='0'/><bind match='dataRef' ref='$.guest[*]'/>",
            "Name of the guest"
        ),
    );
    let read = |data: &str| {
        let source = stream(
            "",
            &format!("<xdp>{template}<datasets><data><crew>{data}</crew></data></datasets></xdp>"),
        );
        let catalog = "/NeedsRendering true /AcroForm << /XFA 4 0 R >>";
        let wait = at(50, 700, "Please wait...");
        text(&with_objects(catalog, &[("", &wait)], &[source], ""))
    };
    assert_eq!(read(""), "Name of the pilot\n\nName of the owner\n\n");
    assert_eq!(
        read("<mate/><guest/>"),
        "Name of the mate\n\nName of the pilot\n\nName of the owner\n\nName of the guest\n\n"
    );
}
