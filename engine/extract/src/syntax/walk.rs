//! A syntax tree -> symbols, cuts and uses, in one walk with a cursor: memory grows with the depth of the tree by a
//! record a level, the call stack not at all.

use kb_types::{Lines, Span, Symbol, SymbolKind, Syntax, SyntaxCut, Use};
use rustc_hash::FxHashSet;
use tree_sitter::{Node, Tree, TreeCursor};

use crate::syntax::grammar::{Field, Name, Rule, Scope};
use crate::syntax::kinds::{LoadedGrammar, NodeKind};
use crate::syntax::lead::{Lead, is_right_above};

/// Bytes of a name; longer ones are cut.
// As in symbol terms of the keyword index, so that stored names and terms are cut at the same byte.
const MAX_NAME_BYTES: usize = 200;
/// Symbols of one program: as many as an outline holds. Further ones are left out.
// Generated programs may have more; a list of them helps nobody, and takes memory in every search
// of their document.
const MAX_SYMBOLS: usize = 65_535;
/// Fields among them.
// Functions and types are sections, and found by any word: further ones matter more than further fields.
const MAX_FIELDS: usize = 16_384;
/// Symbols in one another. Deeper ones are left out: each is shown with the names of all around it, so that a source
/// of nothing but nested functions would give answers that grow with the square of its length.
// Without a bound nested functions gave an answer of 652 MB (docs/decisions/15-grammars.md).
const MAX_NESTING: u16 = 64;

/// Walks a whole tree.
pub(super) fn walk(tree: &Tree, loaded: &LoadedGrammar, text: &str, with_uses: bool) -> Syntax {
    let mut walker = Walker {
        loaded,
        text,
        with_uses,
        found: Syntax::default(),
        constants: FxHashSet::default(),
        fields: 0,
        called_ends: FxHashSet::default(),
        name_starts: FxHashSet::default(),
        last_row: None,
    };
    walker.run(&mut tree.walk());
    walker.found
}

struct Walker<'t> {
    loaded: &'t LoadedGrammar,
    text: &'t str,
    with_uses: bool,
    found: Syntax,
    /// The first assignment of a name is its definition.
    // A scripting language assigns again and again; each assignment would be one more definition of
    // the name.
    constants: FxHashSet<(Option<u32>, String)>,
    /// Fields so far.
    fields: usize,
    /// Ends of names that are called.
    called_ends: FxHashSet<usize>,
    name_starts: FxHashSet<usize>,
    /// Row of the last node, from 0.
    last_row: Option<usize>,
}

/// What the children of one node share.
#[derive(Debug, Default)]
struct Frame {
    lead: Option<Lead>,
    /// What a wrapper gives to its symbol.
    handed: Option<Handed>,
    /// The innermost symbol around them.
    symbol: Option<u32>,
    /// Symbols around them.
    nesting: u16,
    /// Whether they stand inside of a function.
    in_callable: bool,
    depth: u16,
    /// Row on which the innermost node of several lines around them begins.
    open_row: Option<usize>,
    /// Row on which the last child ends that is no comment.
    end_row: Option<usize>,
}

#[derive(Debug, Clone)]
struct Handed {
    lead: Option<Lead>,
    start: usize,
    signature_start: usize,
}

impl<'t> Walker<'t> {
    fn run(&mut self, cursor: &mut TreeCursor<'t>) {
        if !cursor.goto_first_child() {
            return;
        }
        // A stack of our own: source may be nested deeper than any call stack allows.
        let mut frames = vec![Frame::default()];
        loop {
            let Some(frame) = frames.last_mut() else {
                return;
            };
            let node = cursor.node();
            let inner = self.visit(node, frame);
            if !self.has_nothing_inside(node) && cursor.goto_first_child() {
                frames.push(inner);
                continue;
            }
            while !cursor.goto_next_sibling() {
                frames.pop();
                if frames.is_empty() || !cursor.goto_parent() {
                    return;
                }
            }
        }
    }

    /// Whether no node inside of one can be a symbol, or the first of a line: most of a tree are expressions of one line.
    fn has_nothing_inside(&self, node: Node<'t>) -> bool {
        if node.child_count() == 0 {
            return true;
        }
        let Some(opener) = self.loaded.grammar.opener.filter(|_| !self.with_uses) else {
            return false;
        };
        // In what the parser could not read, anything may stand anywhere.
        if node.start_position().row != node.end_position().row || node.has_error() {
            return false;
        }
        let text = self.text.as_bytes().get(node.byte_range());
        text.is_some_and(|text| !text.contains(&opener))
    }

    /// Takes note of a node; what its children share.
    fn visit(&mut self, node: Node<'t>, frame: &mut Frame) -> Frame {
        let kind = self.loaded.kind(node.kind_id());
        let (start, end) = (node.start_position().row, node.end_position().row);
        let mut inner = Frame {
            symbol: frame.symbol,
            nesting: frame.nesting,
            in_callable: frame.in_callable || kind.is_closure,
            depth: frame.depth,
            open_row: frame.open_row,
            ..Frame::default()
        };
        if end > start && frame.open_row != Some(start) {
            inner.depth = frame.depth.saturating_add(1);
            inner.open_row = Some(start);
        }
        let is_attached = self.follow_lead(node, kind, frame, &mut inner);
        self.cut(node, start, frame.depth, is_attached);
        if !kind.is_comment {
            frame.end_row = Some(end);
        }
        if self.with_uses {
            self.note_use(node, kind);
        }
        inner
    }

    /// Keeps comments and attributes for the item that they belong to; makes a symbol. Whether the node belongs to
    /// what stands above it.
    fn follow_lead(
        &mut self,
        node: Node<'t>,
        kind: NodeKind,
        frame: &mut Frame,
        inner: &mut Frame,
    ) -> bool {
        let above = frame.lead.take();
        let range = node.byte_range();
        let follows =
            (above.as_ref()).is_some_and(|lead| is_right_above(lead.end, range.start, self.text));
        if kind.is_comment {
            // A comment behind an item on its line says nothing of the next.
            if frame.end_row != Some(node.start_position().row) {
                frame.lead = Some(Lead::with_comment(above, range, self.text));
            }
            return follows;
        }
        if kind.is_attribute {
            frame.lead = Some(Lead::with_attribute(above, range, self.text));
            return follows;
        }
        let lead = above.filter(|_| follows);
        if let Some(rule) = kind.rule
            && !(kind.is_closure && self.is_value_of(frame.symbol, &node))
        {
            let handed = frame.handed.take();
            if let Some(symbol) = self.symbol(node, rule, lead.clone(), handed, frame) {
                inner.symbol = Some(symbol);
                inner.nesting += 1;
                let made = self.found.symbols.last();
                inner.in_callable |= made.is_some_and(|made| made.kind.is_callable());
                return follows;
            }
            if let Some(find) = rule.fields {
                self.fields_of(find(node, self.text), lead.as_ref(), frame);
            }
        }
        if kind.is_wrapper && self.wraps_one(node) {
            let outer = frame.handed.take();
            let start = outer.as_ref().map_or(range.start, |outer| outer.start);
            let signature_start = match &outer {
                Some(outer) => outer.signature_start,
                None => self.behind_attributes(node).max(start),
            };
            inner.handed = Some(Handed {
                lead: outer.and_then(|outer| outer.lead).or(lead),
                start,
                signature_start,
            });
        }
        follows
    }

    /// Whether a function is all that the value of a symbol is, whose name counts then.
    fn is_value_of(&self, symbol: Option<u32>, function: &Node<'_>) -> bool {
        let symbol = symbol.and_then(|symbol| self.found.symbols.get(symbol as usize));
        // A semicolon may follow.
        let end = function.end_byte()..=function.end_byte() + 1;
        symbol.is_some_and(|symbol| {
            symbol.kind.is_callable() && end.contains(&(symbol.span.end as usize))
        })
    }

    /// Whether exactly one child of a wrapper is a symbol, or another wrapper.
    fn wraps_one(&self, node: Node<'t>) -> bool {
        let mut cursor = node.walk();
        if !cursor.goto_first_child() {
            return false;
        }
        let mut count = 0;
        loop {
            let kind = self.loaded.kind(cursor.node().kind_id());
            count += usize::from(kind.rule.is_some() || kind.is_wrapper);
            if count > 1 || !cursor.goto_next_sibling() {
                return count == 1;
            }
        }
    }

    /// Where a node begins apart from its attributes.
    fn behind_attributes(&self, node: Node<'t>) -> usize {
        let mut cursor = node.walk();
        let mut inside = false;
        if !cursor.goto_first_child() {
            return node.start_byte();
        }
        loop {
            let child = cursor.node();
            let kind = self.loaded.kind(child.kind_id());
            let is_passed = kind.is_attribute || kind.is_comment;
            if !is_passed {
                let is_modifiers = self.loaded.grammar.modifiers.contains(&child.kind());
                if !inside && is_modifiers && cursor.goto_first_child() {
                    inside = true;
                    continue;
                }
                return child.start_byte();
            }
            if cursor.goto_next_sibling() {
                continue;
            }
            if !(inside && cursor.goto_parent() && cursor.goto_next_sibling()) {
                return node.start_byte();
            }
            inside = false;
        }
    }

    fn symbol(
        &mut self,
        node: Node<'t>,
        rule: &Rule,
        lead: Option<Lead>,
        handed: Option<Handed>,
        frame: &Frame,
    ) -> Option<u32> {
        if self.found.symbols.len() >= MAX_SYMBOLS || frame.nesting >= MAX_NESTING {
            return None;
        }
        let parent = frame.symbol;
        let Name {
            mut text,
            start: name_start,
            kind,
        } = rule.name_in(node, self.text)?;
        let is_told = kind.is_some();
        let (mut kind, keyword) = kind.unwrap_or((rule.kind, rule.keyword));
        let holder = self.holder_kind(parent);
        if kind == SymbolKind::Function && holder.is_some_and(SymbolKind::has_methods) {
            kind = SymbolKind::Method;
        }
        let is_plain =
            kind == SymbolKind::Constant || (kind == SymbolKind::Function && rule.body.is_empty());
        let is_out_of_scope = match rule.scope {
            Scope::Anywhere => false,
            Scope::OutsideTypes => !is_told && holder.is_some(),
            Scope::Outermost => parent.is_some(),
        };
        if is_out_of_scope || text == "_" || (frame.in_callable && is_plain) {
            return None;
        }
        if kind == SymbolKind::Constant && !self.constants.insert((parent, text.clone())) {
            return None;
        }
        // Names of several lines are those of patterns and types; a name is shown on one line.
        if text.contains('\n') {
            text = text.split_whitespace().collect::<Vec<&str>>().join(" ");
        }
        text.truncate(text.floor_char_boundary(MAX_NAME_BYTES));
        let handed_lead = handed.as_ref().and_then(|handed| handed.lead.clone());
        let lead = handed_lead.or(lead);
        let start = handed
            .as_ref()
            .map_or(node.start_byte(), |handed| handed.start);
        let attributes = lead.as_ref().and_then(|lead| lead.attributes);
        let span_start = attributes.map_or(start, |attributes| attributes.min(start));
        // A chunk begins with a line: one that begins with a symbol begins inside of it.
        let span_start = self.with_indentation(span_start);
        let body = rule.body_of(node);
        let signature_start = match &handed {
            Some(handed) => handed.signature_start,
            None => self.behind_attributes(node),
        };
        let signature_end = match body {
            Some(body) => self.comment_before(node, body.start_byte()),
            // One line of a definition without a body.
            None => {
                let rest = self.text.get(signature_start..node.end_byte());
                let line = rest.unwrap_or_default().split('\n').next();
                signature_start + line.unwrap_or_default().len()
            }
        };
        let in_body = body.filter(|_| self.loaded.grammar.doc_in_body);
        let above = || {
            let doc = lead.and_then(|lead| lead.doc)?;
            Some(self.with_indentation(doc.start)..doc.end)
        };
        let doc = in_body.and_then(doc_of_body).or_else(above);
        let position = u32::try_from(self.found.symbols.len()).ok()?;
        self.name_starts.insert(name_start);
        self.found.symbols.push(Symbol {
            kind,
            name: text,
            keyword: keyword.to_owned(),
            head: span(signature_start, signature_end.max(signature_start)),
            parent,
            doc: doc.map(|doc| span(doc.start, doc.end)),
            span: span(span_start, node.end_byte()),
            lines: self.lines(node, span_start),
            name_start: u32::try_from(name_start).unwrap_or(u32::MAX),
        });
        Some(position)
    }

    /// Makes symbols of the fields that a node is, where a type holds them. They hold no symbols.
    fn fields_of(&mut self, fields: Vec<Field<'t>>, lead: Option<&Lead>, frame: &Frame) {
        let holder = frame
            .symbol
            .and_then(|at| self.found.symbols.get(at as usize));
        let is_in_type = holder.is_some_and(|holder| holder.kind.has_fields());
        if !is_in_type || frame.in_callable || frame.nesting >= MAX_NESTING {
            return;
        }
        for Field { node, name } in fields {
            let is_full = self.fields >= MAX_FIELDS || self.found.symbols.len() >= MAX_SYMBOLS;
            let name_start = name.start_byte();
            let Some(text) = self.text.get(name.byte_range()) else {
                continue;
            };
            let text = text.get(..text.floor_char_boundary(MAX_NAME_BYTES));
            let text = text.unwrap_or_default().trim();
            let is_name = !text.is_empty() && text != "_" && !text.contains('\n');
            if is_full || !is_name || !self.constants.insert((frame.symbol, text.to_owned())) {
                continue;
            }
            let attributes = lead.and_then(|lead| lead.attributes);
            let start = node.start_byte();
            let start = attributes.map_or(start, |attributes| attributes.min(start));
            let start = self.with_indentation(start);
            let head = self.behind_attributes(node);
            let line = self.text.get(head..node.end_byte()).unwrap_or_default();
            let line = line.split('\n').next().unwrap_or_default();
            self.fields += 1;
            self.name_starts.insert(name_start);
            self.found.symbols.push(Symbol {
                kind: SymbolKind::Field,
                name: text.to_owned(),
                keyword: String::new(),
                head: span(head, head + line.len()),
                parent: frame.symbol,
                doc: None,
                span: span(start, node.end_byte()),
                lines: self.lines(node, start),
                name_start: u32::try_from(name_start).unwrap_or(u32::MAX),
            });
        }
    }

    /// Where the line begins that holds `start`, if nothing but white space stands between them; else `start`.
    fn with_indentation(&self, start: usize) -> usize {
        let head = self.text.get(..start).unwrap_or_default();
        let line = head.trim_end_matches([' ', '\t']);
        if line.is_empty() || line.ends_with('\n') {
            line.len()
        } else {
            start
        }
    }

    /// Where the first comment of a node begins, or `end`.
    fn comment_before(&self, node: Node<'_>, end: usize) -> usize {
        let mut cursor = node.walk();
        let mut is_inside = cursor.goto_first_child();
        while is_inside && cursor.node().start_byte() < end {
            let child = cursor.node();
            let is_behind_name = child.start_byte() > node.start_byte();
            if is_behind_name && self.loaded.kind(child.kind_id()).is_comment {
                return child.start_byte();
            }
            is_inside = cursor.goto_next_sibling();
        }
        end
    }

    /// The kind of the nearest symbol around that is no module.
    fn holder_kind(&self, mut symbol: Option<u32>) -> Option<SymbolKind> {
        loop {
            let holder = self.found.symbols.get(symbol? as usize)?;
            if holder.kind != SymbolKind::Module {
                return Some(holder.kind);
            }
            symbol = holder.parent;
        }
    }

    /// Lines of a node that begins at `start`, which may lie before it.
    fn lines(&self, node: Node<'_>, start: usize) -> Lines {
        let above = self.text.as_bytes().get(start..node.start_byte());
        let ends = above
            .unwrap_or_default()
            .iter()
            .filter(|byte| **byte == b'\n');
        let first = node.start_position().row.saturating_sub(ends.count());
        let end = node.end_position();
        let ends_line = end.column == 0 && end.row > node.start_position().row;
        let last = end.row.saturating_sub(usize::from(ends_line));
        let line = |row: usize| u32::try_from(row).unwrap_or(u32::MAX).saturating_add(1);
        Lines {
            first: line(first),
            last: line(last),
        }
    }

    /// Notes the line of a node that is the first on it.
    fn cut(&mut self, node: Node<'_>, row: usize, depth: u16, is_attached: bool) {
        // Only the first node of a line can begin a chunk.
        if self.last_row.is_some_and(|last| row <= last) {
            return;
        }
        self.last_row = Some(row);
        let before = self.text.get(..node.start_byte()).unwrap_or_default();
        let line_start = before.trim_end_matches([' ', '\t']);
        if !node.is_named() || !(line_start.is_empty() || line_start.ends_with('\n')) {
            return;
        }
        self.found.cuts.push(SyntaxCut {
            at: u32::try_from(line_start.len()).unwrap_or(u32::MAX),
            depth,
            is_attached,
        });
    }

    fn note_use(&mut self, node: Node<'t>, kind: NodeKind) {
        if let Some(field) = kind.callee
            && let Some(callee) = node.child_by_field_id(field)
        {
            self.called_ends.insert(callee.end_byte());
        }
        let range = node.byte_range();
        if kind.is_identifier
            && !range.is_empty()
            && node.child_count() == 0
            // A definition is not a use of its own name.
            && !self.name_starts.contains(&range.start)
        {
            self.found.uses.push(Use {
                is_call: self.called_ends.contains(&range.end),
                span: span(range.start, range.end),
            });
        }
    }
}

fn span(start: usize, end: usize) -> Span {
    let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Span {
        start: number(start),
        end: number(end),
    }
}

/// The string with which a body begins.
fn doc_of_body(body: Node<'_>) -> Option<std::ops::Range<usize>> {
    let first = body.named_child(0)?;
    let string = match first.kind() {
        "expression_statement" => first.named_child(0)?,
        _ => first,
    };
    (string.kind() == "string").then(|| string.byte_range())
}
