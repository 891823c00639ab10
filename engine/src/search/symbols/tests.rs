//! That the index of symbols gives what a look at every program gives.

use kb_extract::syntax::{SyntaxOptions, SyntaxParser};
use kb_types::SymbolKind;
use proptest::prelude::*;

use crate::kb::{Kb, KbWriter};
use crate::search::symbols::request::SymbolRelation;
use crate::search::{Filters, SymbolsRequest};

/// Names that differ in case, share beginnings, or are parts of others.
const NAMES: [&str; 7] = [
    "get_user",
    "get_users",
    "GET_USER",
    "User",
    "UserService",
    "x",
    "\u{fc}ber",
];

const PATTERNS: [&str; 9] = [
    "get_user", "get_*", "*service", "u?er", "*", "x", "?", "\u{dc}*", "nothing",
];

/// A class with methods, or a function.
#[derive(Debug, Clone)]
struct Definition {
    name: usize,
    methods: Option<Vec<usize>>,
}

fn definitions() -> impl Strategy<Value = Vec<Definition>> {
    let methods = prop::option::of(prop::collection::vec(0..NAMES.len(), 0..4));
    let one = (0..NAMES.len(), methods).prop_map(|(name, methods)| Definition { name, methods });
    prop::collection::vec(one, 0..6)
}

fn program(definitions: &[Definition]) -> String {
    let mut text = String::new();
    for definition in definitions {
        let name = NAMES[definition.name];
        match &definition.methods {
            None => text.push_str(&format!("def {name}(a):\n    return User(a)\n\n\n")),
            Some(methods) => {
                text.push_str(&format!("class {name}:\n    a = 1\n\n"));
                for method in methods {
                    let name = NAMES[*method];
                    text.push_str(&format!(
                        "    def {name}(self):\n        return get_user\n\n"
                    ));
                }
                text.push('\n');
            }
        }
    }
    text
}

/// Whether a name in lower case matches a pattern in lower case.
fn matches(pattern: &[char], name: &[char]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some(('*', rest)), _) => {
            matches(rest, name) || !name.is_empty() && matches(pattern, &name[1..])
        }
        (Some(('?', rest)), Some((_, others))) => matches(rest, others),
        (Some((first, rest)), Some((own, others))) => first == own && matches(rest, others),
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn symbols_are_those_of_a_look_at_every_program(
        programs in prop::collection::vec((definitions(), any::<bool>(), any::<bool>()), 1..7),
        pattern in prop::option::of(0..PATTERNS.len()),
        kinds in prop::sample::subsequence(
            vec![SymbolKind::Function, SymbolKind::Class, SymbolKind::Method, SymbolKind::Field],
            0..=4),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap().without_merges();
        for (number, (definitions, ends_commit, _)) in programs.iter().enumerate() {
            let text = program(definitions);
            writer.add_bytes(&format!("{number}.py"), text.as_bytes()).unwrap();
            if *ends_commit {
                writer.commit().unwrap();
            }
        }
        writer.commit().unwrap();
        for (number, (.., is_removed)) in programs.iter().enumerate() {
            if *is_removed {
                writer.remove(&format!("{number}.py")).unwrap();
            }
        }
        writer.commit().unwrap();
        drop(writer);

        let lower = |text: &str| text.to_lowercase().chars().collect::<Vec<char>>();
        let wanted = pattern.map(|at| lower(PATTERNS[at]));
        let mut parser = SyntaxParser::new(SyntaxOptions::default());
        let mut expected = Vec::new();
        for (number, (definitions, _, is_removed)) in programs.iter().enumerate() {
            let path = format!("{number}.py");
            let symbols = parser.parse("python", &path, &program(definitions)).symbols;
            let of_kind = symbols
                .into_iter()
                .filter(|symbol| match kinds.is_empty() {
                    // Fields are listed by name or kind.
                    true => symbol.kind != SymbolKind::Field || wanted.is_some(),
                    false => kinds.contains(&symbol.kind),
                });
            for symbol in of_kind.filter(|_| !is_removed) {
                let is_named = wanted.as_ref().is_none_or(|it| matches(it, &lower(&symbol.name)));
                if is_named {
                    expected.push((path.clone(), symbol.kind, symbol.name, symbol.lines));
                }
            }
        }

        let kb = Kb::open(&path).unwrap();
        let mut request = SymbolsRequest::new().kinds(kinds).k(1000);
        request.name = pattern.map(|at| PATTERNS[at].to_owned());
        request.filters = Filters::new().paths(["*.py"]);
        let answer = kb.symbols(&request).unwrap();
        let found: Vec<_> = answer
            .symbols
            .iter()
            .map(|it| (it.document.clone(), it.kind, it.name.clone(), it.lines))
            .collect();
        prop_assert_eq!(answer.total, expected.len() as u64);
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn fields_are_listed_where_they_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.kb");
    let mut writer = KbWriter::open_or_create(&path).unwrap();
    let text = "struct Server {\n    max_age: Age,\n}\n\nfn start(age: Age) -> Age {\n    max_age(age)\n}\n\nstruct Age(u8);\n";
    writer.add_bytes("a.rs", text.as_bytes()).unwrap();
    writer.commit().unwrap();
    let kb = Kb::open(&path).unwrap();
    let found = |request: SymbolsRequest| {
        let answer = kb.symbols(&request).unwrap();
        let symbols = answer.symbols.iter();
        symbols.map(|it| it.hierarchy.clone()).collect::<Vec<_>>()
    };
    let related = |relation| {
        let mut request = SymbolsRequest::new();
        request.relation = Some(relation);
        request
    };
    let field = "struct Server > max_age";
    for (request, expected) in [
        (
            SymbolsRequest::new(),
            &["struct Server", "fn start", "struct Age"][..],
        ),
        (SymbolsRequest::new().kinds([SymbolKind::Field]), &[field]),
        (SymbolsRequest::new().name("max_*"), &[field]),
        (SymbolsRequest::new().name("Server.max_age"), &[field]),
        (SymbolsRequest::new().name("Age.max_age"), &[]),
        (
            SymbolsRequest::new()
                .name("max_age")
                .kinds([SymbolKind::Function]),
            &[],
        ),
        // The type that has the field uses a name, not the field.
        (
            related(SymbolRelation::Uses("Age".to_owned())),
            &["struct Server", "fn start"],
        ),
        (
            related(SymbolRelation::Uses("max_age".to_owned())),
            &["fn start"],
        ),
        (
            related(SymbolRelation::UsedBy("Server".to_owned())),
            &["struct Age"],
        ),
    ] {
        assert_eq!(found(request.clone()), expected, "{request:?}");
    }
}
