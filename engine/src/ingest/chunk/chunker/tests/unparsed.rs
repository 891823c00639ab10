//! Programs in languages without a grammar: cut at blank lines and indentation.

use super::*;

/// A language, and an item of a file in it; `@` is its number.
#[rustfmt::skip]
const ITEMS: &[(&str, &str)] = &[
    ("swift", "    /// Loads tides, number @.\n    /// - Parameter harbour: Its name.\n    @discardableResult\n    func load@(harbour: String) async throws -> [Tide] {\n        guard let answer = try? await get(harbour) else {\n            throw TideError.unreachable\n        }\n\n        switch answer.status {\n        case 200:\n            tides = try decode(answer.body)\n        default:\n            throw TideError.refused\n        }\n        return tides\n    } // load@\n\n"),
    ("ex", "  @doc \"\"\"\n  Loads tides, number @.\n\n      iex> load@(\"north\")\n  \"\"\"\n  @spec load@(String.t()) :: {:ok, list}\n  def load@(name) when is_binary(name) do\n    with {:ok, answer} <- get(name),\n         {:ok, body} <- decode(answer) do\n      {:ok, body}\n    else\n      error -> error\n    end\n  end # load@\n\n"),
    ("zig", "/// Loads tides, number @.\n/// The caller owns the memory.\npub fn load@(allocator: Allocator, name: []const u8) ![]Tide {\n    var list = List(Tide).init(allocator);\n    errdefer list.deinit();\n\n    while (lines.next()) |line| {\n        if (line.len == 0) continue;\n        try list.append(try Tide.parse(line));\n    }\n    return list.toOwnedSlice();\n} // load@\n\n"),
    ("hs", "-- | Loads tides, number @.\n--\n-- They are sorted.\nload@ :: Text -> Map Text Tide -> Either Error [Tide]\nload@ name known =\n  case lookup name known of\n    Nothing -> Left (Unknown name)\n    Just tide\n      | isOld tide -> Left Old\n      | otherwise -> Right tides\n  where\n    isOld = (< limit) . at -- load@\n\n"),
    ("jl", "\"\"\"\n    load@(name; limit = 10)\n\nLoads tides, number @, of `name`.\n\n# Examples\n\n    load@(\"north\")\n\"\"\"\nfunction load@(name::AbstractString; limit::Integer = 10)\n    tides = Tide[]\n    for line in eachline(path(name))\n        isempty(line) && continue\n        push!(tides, parse(Tide, line))\n    end\n    return first(tides, limit)\nend # load@\n\n"),
    ("pl", "# Loads tides, number @.\n#\n# They are sorted.\nsub load@ {\n    my ($name, $limit) = @_;\n    open(my $file, '<', path($name)) or die \"no $name: $!\";\n\n    my @tides = map { chomp; parse($_) } <$file>;\n    return sort { $a->{at} <=> $b->{at} } @tides;\n} # load@\n\n"),
];

#[test]
fn items_of_languages_without_a_grammar_stay_whole() {
    for (ending, item) in ITEMS {
        let items: Vec<String> = (0..30)
            .map(|number| {
                item.replace("load@", &format!("load{number}"))
                    .replace("number @", &format!("number {number}"))
            })
            .collect();
        let document = document(&format!("a.{ending}"), &items.concat());
        assert!(document.syntax.cuts.is_empty());
        let pieces = checked(&document);
        assert!(pieces.len() > 5, "{ending}");
        for item in &items {
            let item = item.trim_end();
            assert!(
                pieces.iter().any(|piece| piece.contains(item)),
                "{ending}: {item}"
            );
        }
    }
}

#[test]
fn a_mark_of_a_text_that_nothing_closes_ends_after_a_while() {
    let function = "function f()\n    g()\n    h()\nend\n\n";
    let text = format!("# \"\"\"\n{}", function.repeat(400));
    let document = document("a.jl", &text);
    let pieces = checked(&document);
    let starts = pieces.iter().skip(pieces.len() / 2);
    assert!(starts.clone().all(|piece| piece.starts_with("function")));
}

#[test]
fn entries_of_the_outermost_level_of_data_stay_whole() {
    let yaml: Vec<String> = (0..30)
        .map(|number| {
            format!(
                "job{number}:\n  # Runs.\n  steps:\n{}",
                "    - run: make\n      name: all\n".repeat(9)
            )
        })
        .collect();
    let json: Vec<String> = (0..30)
        .map(|number| {
            format!(
                "  \"job{number}\": {{\n    \"steps\": [\n{}    ]\n  }},\n",
                "      {\"run\": \"make\"},\n".repeat(16)
            )
        })
        .collect();
    for (name, entries, head) in [("a.yml", yaml, ""), ("a.json", json, "{\n")] {
        let document = document(name, &format!("{head}{}", entries.concat()));
        let pieces = checked(&document);
        for entry in &entries {
            assert!(
                pieces.iter().any(|piece| piece.contains(&**entry)),
                "{name}: {entry}\n{pieces:?}"
            );
        }
    }
}
