//! The titles above each place of a text that is read from its start to its end.

use kb_types::Heading;

/// Follows the headings of a document from its start to its end.
#[derive(Debug)]
pub struct SectionPath<'o> {
    outline: &'o [Heading],
    /// The heading above each.
    above: Vec<Option<usize>>,
    /// The headings in the order of the text, which that of bookmarks need not be.
    order: Vec<usize>,
    /// How many of `order` were reached.
    reached: usize,
}

impl<'o> SectionPath<'o> {
    /// Before the first byte.
    pub fn new(outline: &'o [Heading]) -> SectionPath<'o> {
        let mut open: Vec<(u8, usize)> = Vec::new();
        let above = outline.iter().enumerate().map(|(position, heading)| {
            while open
                .last()
                .is_some_and(|(level, _)| *level >= heading.level)
            {
                open.pop();
            }
            let above = open.last().map(|(_, above)| *above);
            open.push((heading.level, position));
            above
        });
        let above = above.collect();
        let mut order: Vec<usize> = (0..outline.len()).collect();
        order.sort_by_key(|position| outline.get(*position).map(|heading| heading.start));
        SectionPath {
            outline,
            above,
            order,
            reached: 0,
        }
    }

    /// Titles of the headings that `start` lies under, outermost first, without symbols that end before; `start` never
    /// goes back.
    pub fn at(&mut self, start: u32) -> impl Iterator<Item = &'o str> + use<'o> {
        let outline = self.outline;
        let is_before = |position: &usize| {
            let heading = outline.get(*position);
            heading.is_some_and(|heading| heading.start <= start)
        };
        let rest = self.order.iter().skip(self.reached);
        self.reached += rest.take_while(|position| is_before(position)).count();
        let nearest = self.reached.checked_sub(1);
        let mut next = nearest.and_then(|nearest| self.order.get(nearest).copied());
        let mut titles = Vec::new();
        while let Some(position) = next {
            let heading = outline.get(position).filter(|heading| {
                let symbol = heading.symbol;
                symbol.is_none_or(|symbol| start < symbol.end)
            });
            titles.extend(heading.map(|heading| heading.title.as_str()));
            next = self.above.get(position).copied().flatten();
        }
        titles.into_iter().rev()
    }
}
