//! The tests of a source file: functions marked as tests, those inside `proptest!`, and the cases of
//! a conformance suite.

use std::collections::BTreeSet;
use std::ops::Range;

use proc_macro2::{TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Attribute, Expr, Ident, Item, ItemMacro, Lit, Meta, Path, Token};

use super::names;

/// A function that proves something.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Test {
    pub(super) name: String,
    /// What its doc comment names.
    pub(super) requirements: Vec<String>,
}

/// What a file holds of tests.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) tests: Vec<Test>,
    /// Where the file speaks of proofs only, in bytes.
    pub(super) test_code: Vec<Range<usize>>,
}

/// Finds the tests of a file, in its order.
pub(super) fn of(file: &syn::File) -> Contents {
    let mut contents = Contents::default();
    contents.add(&file.items);
    contents
}

impl Contents {
    fn add(&mut self, items: &[Item]) {
        let cases: BTreeSet<Ident> = items.iter().flat_map(cases).collect();
        for item in items {
            match item {
                Item::Fn(function) => {
                    let name = &function.sig.ident;
                    if is_test(&function.attrs) || cases.contains(name) {
                        self.add_test(name, &function.attrs);
                        self.test_code.push(function.span().byte_range());
                    }
                }
                Item::Macro(call) if ends_in(&call.mac.path, "proptest") => {
                    self.add_properties(call);
                }
                Item::Mod(module) => {
                    if module.attrs.iter().any(is_test_configuration) {
                        self.test_code.push(module.span().byte_range());
                    }
                    if let Some((_, items)) = &module.content {
                        self.add(items);
                    }
                }
                _ => {}
            }
        }
    }

    fn add_properties(&mut self, call: &ItemMacro) {
        self.test_code.push(call.span().byte_range());
        // A block that is not understood does not compile either.
        let properties = properties.parse2(call.mac.tokens.clone());
        for (attributes, name) in properties.unwrap_or_default() {
            if is_test(&attributes) {
                self.add_test(&name, &attributes);
            }
        }
    }

    fn add_test(&mut self, name: &Ident, attributes: &[Attribute]) {
        let found = names::find(&documentation(attributes));
        self.tests.push(Test {
            name: name.to_string(),
            requirements: found.into_iter().map(|named| named.name).collect(),
        });
    }
}

/// The functions in `proptest! { … }`, whose parameters are no Rust.
fn properties(input: ParseStream<'_>) -> syn::Result<Vec<(Vec<Attribute>, Ident)>> {
    let mut properties = Vec::new();
    input.call(Attribute::parse_inner)?;
    while !input.is_empty() {
        let attributes = input.call(Attribute::parse_outer)?;
        input.parse::<Token![fn]>()?;
        properties.push((attributes, input.parse()?));
        // Parameters and, behind whatever else there is, the body.
        while !input.is_empty() {
            let token: TokenTree = input.parse()?;
            if matches!(token, TokenTree::Group(group) if group.delimiter() == proc_macro2::Delimiter::Brace)
            {
                break;
            }
        }
    }
    Ok(properties)
}

/// The functions that `const … = cases![Need: one, another];` lists.
fn cases(item: &Item) -> Vec<Ident> {
    match item {
        Item::Const(list) => match &*list.expr {
            Expr::Macro(call) if ends_in(&call.mac.path, "cases") => idents(&call.mac.tokens),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn idents(tokens: &TokenStream) -> Vec<Ident> {
    let tokens = tokens.clone().into_iter();
    let idents = tokens.filter_map(|token| match token {
        TokenTree::Ident(ident) => Some(ident),
        _ => None,
    });
    idents.collect()
}

/// `#[test]`, or another crate's such as `#[tokio::test]`.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes
        .iter()
        .any(|attribute| ends_in(attribute.path(), "test"))
}

fn is_test_configuration(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
        && attribute
            .parse_args::<Path>()
            .is_ok_and(|condition| condition.is_ident("test"))
}

fn ends_in(path: &Path, name: &str) -> bool {
    path.segments
        .last()
        .is_some_and(|segment| segment.ident == name)
}

/// The text of the doc comments.
fn documentation(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| {
        let Meta::NameValue(doc) = &attribute.meta else {
            return None;
        };
        match &doc.value {
            Expr::Lit(value) if doc.path.is_ident("doc") => match &value.lit {
                Lit::Str(text) => Some(text.value()),
                _ => None,
            },
            _ => None,
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(String, String)> {
        let contents = of(&syn::parse_file(text).unwrap());
        let tests = contents.tests.into_iter();
        tests
            .map(|test| (test.name, test.requirements.join(" ")))
            .collect()
    }

    fn expected(tests: &[(&str, &str)]) -> Vec<(String, String)> {
        tests
            .iter()
            .map(|(name, requirements)| ((*name).to_owned(), (*requirements).to_owned()))
            .collect()
    }

    #[test]
    fn tests_of_every_kind_are_found() {
        let text = r#"
            /// SUB-01: a helper proves nothing.
            fn helper() {}

            /// SUB-02, INB-15 to
            /// 16: over two lines.
            #[test]
            fn plain() {}

            #[tokio::test(start_paused = true)]
            /** SUB-03 */
            async fn asynchronous() { let text = "SUB-04"; }

            #[test]
            fn silent() {}

            mod within {
                /// SUB-05
                #[test]
                #[ignore = "SUB-06"]
                fn nested() {}
            }
        "#;
        let tests = [
            ("plain", "SUB-02 INB-15 INB-16"),
            ("asynchronous", "SUB-03"),
            ("silent", ""),
            ("nested", "SUB-05"),
        ];
        assert_eq!(found(text), expected(&tests));
    }

    #[test]
    fn properties_are_found() {
        let text = r#"
            proptest! {
                #![proptest_config(ProptestConfig::with_cases(8))]

                /// INB-02
                #[test]
                fn one(a in (id(), id()), b in any::<u8>()) { let x = { 1 }; }

                /// INB-03
                fn helper(a in 0..1) {}

                /// INB-05
                #[test]
                fn two(text in "x{0,9}") -> Result<(), Error> {}
            }
        "#;
        let tests = [("one", "INB-02"), ("two", "INB-05")];
        assert_eq!(found(text), expected(&tests));
    }

    #[test]
    fn listed_cases_are_found() {
        let text = "
            pub(super) const CASES: &[StoreCase] = cases![Nothing:
                a_case,
                another,
            ];
            /// INB-21
            async fn a_case(subject: Subject) {}
            /// INB-22
            async fn not_listed(subject: Subject) {}
            async fn another(subject: Subject) {}
        ";
        let tests = [("a_case", "INB-21"), ("another", "")];
        assert_eq!(found(text), expected(&tests));
    }
}
