use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// usage: onebin LIST.json PRISTINE OUT EXCLUDED.txt INFO.json
#[derive(Clone, Debug)]
struct Mutant { id: usize, genre: String, start: usize, end: usize, repl: String }

enum Piece { Text(String), Child(usize, usize) }
struct Node { start: usize, end: usize, rank: u8, pieces: Vec<Piece>, used: std::cell::Cell<bool> }

struct Lines(Vec<usize>, String);
impl Lines {
    fn new(text: &str) -> Self {
        let mut at = vec![0];
        for (i, b) in text.bytes().enumerate() { if b == b'\n' { at.push(i + 1) } }
        Lines(at, text.to_owned())
    }
    /// line 1-based, column 0-based in chars
    fn byte(&self, line: usize, col: usize) -> usize {
        let s = self.0[line - 1];
        s + self.1[s..].chars().take(col).map(char::len_utf8).sum::<usize>()
    }
    fn range(&self, span: proc_macro2::Span) -> (usize, usize) {
        let (a, b) = (span.start(), span.end());
        (self.byte(a.line, a.column), self.byte(b.line, b.column))
    }
}

struct Walk<'a> {
    lines: &'a Lines,
    /// by (genre class, start)
    by_start: HashMap<(String, usize), Vec<Mutant>>,
    fns: Vec<Mutant>,
    nodes: Vec<Node>,
    konst: usize,
    done: BTreeSet<usize>,
    why: BTreeMap<usize, String>,
}

fn alt(id: usize, text: String) -> String { format!("/*<{id}*/{text}/*>{id}*/") }
fn t(s: impl Into<String>) -> Piece { Piece::Text(s.into()) }

fn has_let(e: &syn::Expr) -> bool {
    match e {
        syn::Expr::Let(_) => true,
        syn::Expr::Binary(b) => has_let(&b.left) || has_let(&b.right),
        _ => false,
    }
}

impl Walk<'_> {
    fn take(&mut self, genre: &str, start: usize) -> Vec<Mutant> {
        self.by_start.remove(&(genre.to_owned(), start)).unwrap_or_default()
    }
    fn skip(&mut self, all: &[Mutant], why: &str) {
        for m in all { self.why.insert(m.id, why.to_owned()); self.done.insert(m.id); }
    }
    fn node(&mut self, all: &[Mutant], start: usize, end: usize, rank: u8, pieces: Vec<Piece>) {
        let ids: Vec<_> = all.iter().map(|m| m.id.to_string()).collect();
        let mut p = vec![t(format!("/*[{}*/", ids.join(",")))];
        p.extend(pieces);
        p.push(t(format!("/*]{}*/", ids.join(","))));
        self.nodes.push(Node { start, end, rank, pieces: p, used: Default::default() });
        for m in all { self.done.insert(m.id); }
    }
    fn function(&mut self, sig: &syn::Signature, block: &syn::Block) {
        let (s, e) = self.lines.range(block.span());
        let all: Vec<_> = self.fns.iter().filter(|m| s <= m.start && m.end <= e).cloned().collect();
        // the innermost function whose body holds the span
        let (mine, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|m| {
            let body = self.lines.1[s..e].trim_start_matches('{').trim_start();
            let first = e - body.len();
            m.start <= first
        });
        let _ = rest;
        if mine.is_empty() { return }
        self.fns.retain(|m| !mine.iter().any(|x| x.id == m.id));
        if sig.constness.is_some() || self.konst > 0 { return self.skip(&mine, "const") }
        let is_impl = matches!(&sig.output, syn::ReturnType::Type(_, ty) if matches!(**ty, syn::Type::ImplTrait(_)));
        if is_impl {
            // Either::A(..) chain around the whole body
            let mut pieces = vec![t("{ ")];
            let mut wrap = String::new();
            let mut close = String::new();
            for m in &mine {
                pieces.push(t(format!("if crate::mutant({}) {{ {wrap}crate::Either::A({}){close} }} else ", m.id, alt(m.id, m.repl.replace("Box::leak(", "&*Box::leak(")))));
                wrap.push_str("crate::Either::B(");
                close.push(')');
            }
            pieces.push(t(format!("{{ {wrap}")));
            pieces.push(Piece::Child(s, e));
            pieces.push(t(format!("{close} }} }}")));
            self.node(&mine, s, e, 0, pieces);
        } else {
            let mut text = String::new();
            for m in &mine {
                text.push_str(&format!(" if crate::mutant({}) {{ return {}; }}", m.id, alt(m.id, m.repl.clone())));
            }
            self.node(&mine, s + 1, s + 1, 0, vec![t(text)]);
        }
    }
}

impl<'ast> Visit<'ast> for Walk<'_> {
    fn visit_item_fn(&mut self, f: &'ast syn::ItemFn) {
        self.function(&f.sig, &f.block);
        let k = usize::from(f.sig.constness.is_some());
        self.konst += k;
        let before = std::mem::take(&mut self.konst);
        self.konst = k;
        visit::visit_item_fn(self, f);
        self.konst = before - k;
    }
    fn visit_impl_item_fn(&mut self, f: &'ast syn::ImplItemFn) {
        self.function(&f.sig, &f.block);
        let before = self.konst;
        self.konst = usize::from(f.sig.constness.is_some());
        visit::visit_impl_item_fn(self, f);
        self.konst = before;
    }
    fn visit_trait_item_fn(&mut self, f: &'ast syn::TraitItemFn) {
        if let Some(b) = &f.default { self.function(&f.sig, b) }
        visit::visit_trait_item_fn(self, f);
    }
    fn visit_item_const(&mut self, c: &'ast syn::ItemConst) { self.konst += 1; visit::visit_item_const(self, c); self.konst -= 1; }
    fn visit_impl_item_const(&mut self, c: &'ast syn::ImplItemConst) { self.konst += 1; visit::visit_impl_item_const(self, c); self.konst -= 1; }
    fn visit_item_static(&mut self, c: &'ast syn::ItemStatic) { self.konst += 1; visit::visit_item_static(self, c); self.konst -= 1; }
    fn visit_type_array(&mut self, c: &'ast syn::TypeArray) { self.konst += 1; visit::visit_type_array(self, c); self.konst -= 1; }
    fn visit_expr_repeat(&mut self, c: &'ast syn::ExprRepeat) {
        self.visit_expr(&c.expr);
        self.konst += 1; self.visit_expr(&c.len); self.konst -= 1;
    }
    fn visit_expr_const(&mut self, c: &'ast syn::ExprConst) { self.konst += 1; visit::visit_expr_const(self, c); self.konst -= 1; }

    fn visit_expr_binary(&mut self, b: &'ast syn::ExprBinary) {
        let op = self.lines.range(b.op.span());
        let all = self.take("BinaryOperator", op.0);
        if !all.is_empty() {
            let (s, e) = self.lines.range(b.span());
            let l = self.lines.range(b.left.span());
            let r = self.lines.range(b.right.span());
            let optext = self.lines.1[op.0..op.1].to_owned();
            if self.konst > 0 { self.skip(&all, "const") }
            else if has_let(&b.left) || has_let(&b.right) { self.skip(&all, "let chain: does not compile") }
            else {
                match (&b.op, &all[..]) {
                    (syn::BinOp::And(_), [m]) if m.repl == "||" => {
                        let id = m.id;
                        self.node(&all, s, e, 1, vec![
                            t("({ let __l: bool = "), Piece::Child(l.0, l.1),
                            t(format!("; if __l != crate::mutant({id}) {{ ")), Piece::Child(r.0, r.1), t(" } else { __l } })"),
                        ]);
                    }
                    (syn::BinOp::Or(_), [m]) if m.repl == "&&" => {
                        let id = m.id;
                        self.node(&all, s, e, 1, vec![
                            t("({ let __l: bool = "), Piece::Child(l.0, l.1),
                            t(format!("; if __l == crate::mutant({id}) {{ ")), Piece::Child(r.0, r.1), t(" } else { __l } })"),
                        ]);
                    }
                    (syn::BinOp::Eq(_), [m]) if m.repl == "!=" => {
                        let id = m.id;
                        self.node(&all, s, e, 1, vec![
                            t("(("), Piece::Child(l.0, l.1), t(") == ("), Piece::Child(r.0, r.1), t(format!(") ) != crate::mutant({id})"))]);
                        let n = self.nodes.last_mut().unwrap();
                        n.pieces.insert(1, t("("));
                        let last = n.pieces.len() - 1;
                        n.pieces.insert(last, t(")"));
                    }
                    (syn::BinOp::Ne(_), [m]) if m.repl == "==" => {
                        let id = m.id;
                        self.node(&all, s, e, 1, vec![
                            t("((("), Piece::Child(l.0, l.1), t(") != ("), Piece::Child(r.0, r.1), t(format!(") ) != crate::mutant({id}))"))]);
                    }
                    _ => {
                        let assign = optext.ends_with('=') && !matches!(optext.as_str(), "==" | "!=" | "<=" | ">=");
                        let (lo, lc) = if assign { ("", "") } else { ("(", ")") };
                        let mut p = vec![t("(")];
                        for m in &all {
                            p.push(t(format!("if crate::mutant({}) {{ /*<{}*/{lo}", m.id, m.id)));
                            p.push(Piece::Child(l.0, l.1));
                            p.push(t(format!("{lc} {} (", m.repl)));
                            p.push(Piece::Child(r.0, r.1));
                            p.push(t(format!(")/*>{}*/ }} else ", m.id)));
                        }
                        p.push(t(format!("{{ {lo}")));
                        p.push(Piece::Child(l.0, l.1));
                        p.push(t(format!("{lc} {optext} (")));
                        p.push(Piece::Child(r.0, r.1));
                        p.push(t(") })"));
                        self.node(&all, s, e, 1, p);
                    }
                }
            }
        }
        visit::visit_expr_binary(self, b);
    }
    fn visit_expr_unary(&mut self, u: &'ast syn::ExprUnary) {
        let op = self.lines.range(u.op.span());
        let all = self.take("UnaryOperator", op.0);
        if let [m] = &all[..] {
            let (s, e) = self.lines.range(u.span());
            let x = self.lines.range(u.expr.span());
            let optext = self.lines.1[op.0..op.1].to_owned();
            if self.konst > 0 { self.skip(&all, "const") } else {
                self.node(&all, s, e, 1, vec![
                    t(format!("(if crate::mutant({}) {{ /*<{}*/", m.id, m.id)), Piece::Child(x.0, x.1),
                    t(format!("/*>{}*/ }} else {{ {optext}", m.id)), Piece::Child(x.0, x.1), t(" })")]);
            }
        }
        visit::visit_expr_unary(self, u);
    }
    fn visit_arm(&mut self, a: &'ast syn::Arm) {
        let (s, _) = self.lines.range(a.span());
        let mut del = self.take("MatchArm", s);
        if del.is_empty() {
            let p = self.lines.range(a.pat.span());
            del = self.take("MatchArm", p.0);
        }
        if self.konst > 0 { self.skip(&del.clone(), "const"); del.clear() }
        match &a.guard {
            None => {
                if let [m] = &del[..] {
                    let p = self.lines.range(a.pat.span());
                    self.node(&del, p.1, p.1, 1, vec![t(format!(" if !crate::mutant({})", m.id))]);
                }
            }
            Some((_, guard)) => {
                let g = self.lines.range(guard.span());
                let on = self.take("MatchArmGuard", g.0);
                let with_let = has_let(guard);
                let (mut pre, mut post) = (String::new(), String::new());
                let mut used = Vec::new();
                let mut trues = Vec::new();
                for m in del.iter().chain(&on) {
                    if self.konst > 0 { self.skip(&[m.clone()], "const"); continue }
                    if m.repl == "true" {
                        if with_let { self.skip(&[m.clone()], "let guard: does not compile"); continue }
                        trues.push(m.clone());
                    } else {
                        pre.push_str(&format!("!crate::mutant({}) && ", m.id));
                    }
                    used.push(m.clone());
                }
                if !used.is_empty() {
                    // falses last, so that "reached" is only where the guard would be true
                    if with_let {
                        self.node(&used, g.0, g.1, 0, vec![t(pre), Piece::Child(g.0, g.1)]);
                    } else {
                        let falses: String = used.iter().filter(|m| m.repl != "true").map(|m| format!(" && !crate::mutant({})", m.id)).collect();
                        let mut open = String::from("((");
                        for m in &trues { open.push_str(&format!("crate::mutant({}) || ", m.id)) }
                        open.push('(');
                        post.push_str(&format!(")){falses})"));
                        self.node(&used, g.0, g.1, 0, vec![t(open), Piece::Child(g.0, g.1), t(post)]);
                    }
                }
            }
        }
        visit::visit_arm(self, a);
    }
    fn visit_expr_struct(&mut self, x: &'ast syn::ExprStruct) {
        let (s, e) = self.lines.range(x.span());
        let mut pieces = vec![t("(")];
        let mut used = Vec::new();
        for f in &x.fields {
            let (fs, fe) = self.lines.range(f.span());
            let all = self.take("StructField", fs);
            let [m] = &all[..] else { continue };
            if self.konst > 0 { self.skip(&all, "const"); continue }
            let rest = &self.lines.1[fe..];
            let after = fe + rest.find(',').map_or(0, |i| i + 1);
            pieces.push(t(format!("if crate::mutant({}) {{ /*<{}*/", m.id, m.id)));
            pieces.push(Piece::Child(s, fs));
            pieces.push(Piece::Child(after, e));
            pieces.push(t(format!("/*>{}*/ }} else ", m.id)));
            used.push(m.clone());
        }
        if !used.is_empty() {
            pieces.push(t("{ "));
            pieces.push(Piece::Child(s, e));
            pieces.push(t(" })"));
            self.node(&used, s, e, 0, pieces);
        }
        visit::visit_expr_struct(self, x);
    }
    fn visit_expr_match(&mut self, x: &'ast syn::ExprMatch) {
        let total = x.arms.iter().any(|a| a.guard.is_none() && matches!(a.pat, syn::Pat::Wild(_) | syn::Pat::Ident(_)));
        let mine: Vec<usize> = x.arms.iter().flat_map(|a| {
            let (s, _) = self.lines.range(a.span());
            let p = self.lines.range(a.pat.span()).0;
            [s, p].into_iter().filter_map(|s| self.by_start.get(&("MatchArm".to_owned(), s))).flatten().map(|m| m.id).collect::<BTreeSet<_>>()
        }).collect();
        if !total && !mine.is_empty() {
            let (_, e) = self.lines.range(x.span());
            self.nodes.push(Node { start: e - 1, end: e - 1, rank: 1, pieces: vec![t(", _ => unreachable!()")], used: Default::default() });
            let before = self.lines.1[..e - 1].trim_end();
            if before.ends_with(',') || before.ends_with('}') { self.nodes.last_mut().unwrap().pieces = vec![t(" _ => unreachable!()")]; }
            eprintln!("ALONE {mine:?}");
        }
        visit::visit_expr_match(self, x);
    }
}

fn render(text: &str, nodes: &[Node], all: &[usize], from: usize, to: usize, out: &mut String) {
    // `all`: indices of nodes that may be inside from..to, sorted outer first
    let mut pos = from;
    let mut i = 0;
    while i < all.len() {
        let n = &nodes[all[i]];
        if n.start < pos || n.start < from || n.end > to { i += 1; continue }
        out.push_str(&text[pos..n.start]);
        let mut inner = Vec::new();
        for &k in &all[i + 1..] {
            let c = &nodes[k];
            if c.start >= n.start && c.end <= n.end && !(n.start == n.end) { inner.push(k) }
        }
        for p in &n.pieces {
            match p {
                Piece::Text(s) => out.push_str(s),
                Piece::Child(a, b) => render(text, nodes, &inner, *a, *b, out),
            }
        }
        n.used.set(true);
        pos = n.end;
        if n.start == n.end { i += 1; continue }
        i += 1;
        while i < all.len() && nodes[all[i]].start < n.end { i += 1 }
    }
    out.push_str(&text[pos..to]);
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let list: serde_json::Value = serde_json::from_str(&fs::read_to_string(&args[1]).unwrap()).unwrap();
    let (pristine, outdir) = (&args[2], &args[3]);
    let excluded: BTreeSet<usize> = fs::read_to_string(&args[4]).unwrap_or_default().split_whitespace().map(|x| x.parse().unwrap()).collect();
    let mut files: BTreeMap<String, Vec<(usize, &serde_json::Value)>> = BTreeMap::new();
    for (id, m) in list.as_array().unwrap().iter().enumerate() {
        files.entry(m["file"].as_str().unwrap().to_owned()).or_default().push((id + 1, m));
    }
    let mut status: BTreeMap<usize, String> = BTreeMap::new();
    for (file, ms) in &files {
        let text = fs::read_to_string(format!("{pristine}/{file}")).unwrap();
        let lines = Lines::new(&text);
        let ast = syn::parse_file(&text).unwrap();
        let mut by_start: HashMap<(String, usize), Vec<Mutant>> = HashMap::new();
        let mut fns = Vec::new();
        for (id, m) in ms {
            if excluded.contains(id) { status.insert(*id, "excluded".into()); continue }
            let p = |which: &str| {
                let s = &m["span"][which];
                lines.byte(s["line"].as_u64().unwrap() as usize, s["column"].as_u64().unwrap() as usize - 1)
            };
            let genre = m["genre"].as_str().unwrap().to_owned();
            let x = Mutant { id: *id, genre: genre.clone(), start: p("start"), end: p("end"), repl: m["replacement"].as_str().unwrap().to_owned() };
            if genre == "FnValue" { fns.push(x) } else { by_start.entry((genre, x.start)).or_default().push(x) }
        }
        let mut w = Walk { lines: &lines, by_start, fns, nodes: vec![], konst: 0, done: Default::default(), why: Default::default() };
        w.visit_file(&ast);
        for (id, why) in &w.why { status.insert(*id, why.clone()); }
        for m in w.by_start.values().flatten().chain(&w.fns) { status.insert(m.id, format!("unmatched {} {}", m.genre, m.repl)); }
        let mut order: Vec<usize> = (0..w.nodes.len()).collect();
        order.sort_by_key(|&i| { let n = &w.nodes[i]; (n.start, std::cmp::Reverse(n.end), n.rank) });
        // zero-width nodes go before nodes that start there
        let mut out = String::new();
        render(&text, &w.nodes, &order, 0, text.len(), &mut out);
        for id in &w.done { status.entry(*id).or_insert_with(|| "in".into()); }
        for n in &w.nodes { if !n.used.get() { eprintln!("{file}: a node at {} is not rendered", n.start) } }
        if file.ends_with("src/lib.rs") || std::path::Path::new(file).file_name().is_some_and(|n| n == "lib.rs") { panic!("lib has mutants") }
        fs::write(format!("{outdir}/{file}"), out).unwrap();
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for s in status.values() { *counts.entry(s.clone()).or_default() += 1; }
    eprintln!("{counts:#?}");
    fs::write(&args[5], serde_json::to_string(&status).unwrap()).unwrap();
}
