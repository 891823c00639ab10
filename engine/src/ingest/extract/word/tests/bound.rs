//! Elements of other namespaces.

use super::{document, docx};

#[test]
fn elements_of_other_namespaces_are_no_text() {
    let declared =
        "xmlns:x='urn:mine' xmlns:n='http://schemas.microsoft.com/office/word/2099/more'";
    let body = format!(
        "<w:p {declared}><w:r><w:t>a</w:t><x:t>b</x:t><n:t>c</n:t><x:br/><n:tab/></w:r><x:p/></w:p>\
         <w:p {declared}><w:r><mc:AlternateContent><mc:Choice Requires='x'><w:t>foreign</w:t></mc:Choice>\
         <mc:Choice Requires='n'><w:t>one</w:t></mc:Choice><mc:Choice><w:t>two</w:t></mc:Choice>\
         <mc:Fallback><w:t>three</w:t></mc:Fallback></mc:AlternateContent></w:r></w:p>"
    );
    assert_eq!(document(&docx(&body)).text, "a\n\none\n\nA note.\n\n");
}
