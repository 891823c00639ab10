//! A folder of office documents, for the tests of tools.

use std::fmt::Write as _;

use serde_json::Value;

use super::client::Client;
use crate::support::Folder;

/// Documents of an office in text formats, and a small code repository.
pub(crate) fn office() -> Folder {
    let folder = Folder::empty();
    let write = |name: &str, text: &str| {
        folder.write(format!("office/{name}"), text);
    };
    write(
        "Finance/2024/Q1/Q1_Report.md",
        "# Q1 Report\n\nQuarterly financial results of the first quarter.\n\n## Financial Results\n\n\
         Revenue grew by 15% to 4.2 million.\n\n## Outlook\n\nThe trend is expected to hold.\n",
    );
    write(
        "Finance/2024/Q1/Q1_Budget.md",
        "# Q1 Budget\n\nThe budget of the first quarter against the financial results.\n",
    );
    write(
        "Finance/2024/Q4/Q4_Forecast.md",
        "# Q4 Forecast\n\nTravel costs will double.\n",
    );
    write(
        "Legal/Contracts/supply.md",
        "# Supply contract\n\nWrite to legal@example.com or sales@example.org within ten days.\n",
    );
    write("Sales/customers.csv", "name,city\nAnna,Oslo\nBert,Bergen\n");
    write(
        "Sales/日本語.md",
        "# 会議の記録\n\n売上は増えました。 The Tokyo meeting.\n",
    );
    write("Sales/empty.txt", "");
    let mut huge = String::new();
    for n in 0..40_000 {
        writeln!(
            huge,
            "Line {n} of a text that does not end soon, lorem ipsum dolor."
        )
        .unwrap();
    }
    write("huge_text.txt", &huge);
    write(
        "src/auth/login.py",
        "from .models import User\n\n\ndef validate_login(username: str, password: str) -> User:\n    \
         \"\"\"Authenticate a user and validate the login.\"\"\"\n    return User(username)\n",
    );
    write(
        "src/billing.ts",
        "export function invoiceTotal(lines: number[]): number {\n  return lines.reduce((a, b) => a + b, 0);\n}\n",
    );
    folder.kb("index office").expect(0);
    folder
}

pub(crate) fn served(folder: &Folder) -> Client {
    Client::stdio(folder, &["office.kb"])
}

pub(crate) fn paths<'v>(results: &'v Value, key: &str) -> Vec<&'v str> {
    let results = results.as_array().unwrap().iter();
    results
        .map(|result| result[key].as_str().unwrap())
        .collect()
}
