// Allocates as programs in Rust do. cases_languages.bash says which functions have rows.
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::rc::Rc;

struct Index {
    words: HashMap<String, Vec<String>>,
}
impl Index {
    #[inline(never)]
    fn add(&mut self, word: &str, line: &str) {
        self.words.entry(word.to_string()).or_default().push(line.to_string());
    }
    #[inline(never)]
    fn copy_lines(&self) -> Vec<Vec<String>> {
        self.words.values().cloned().collect()
    }
}

struct Log {
    bytes: Vec<u64>,
}
impl Log {
    #[inline(never)]
    fn append(&mut self, value: u64) {
        self.bytes.push(value);
    }
}

trait Shape {
    fn outline(&self) -> Vec<f64>;
    fn name(&self) -> String;
}
struct Square(f64);
struct Ring<const N: usize>;
impl Shape for Square {
    fn outline(&self) -> Vec<f64> {
        vec![self.0; 400]
    }
    fn name(&self) -> String {
        format!("square of {}", self.0)
    }
}
impl<const N: usize> Shape for Ring<N> {
    fn outline(&self) -> Vec<f64> {
        (0..N).map(|i| (i as f64).sin()).collect()
    }
    fn name(&self) -> String {
        String::from("a ring")
    }
}

struct Order {
    id: u64,
    items: Vec<String>,
}
impl Clone for Order {
    #[inline(never)]
    fn clone(&self) -> Order {
        Order { id: self.id, items: self.items.clone() }
    }
}
impl fmt::Display for Order {
    #[inline(never)]
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let joined = self.items.join(", ");
        write!(f, "{}: {}", self.id, joined)
    }
}
impl Iterator for Order {
    type Item = String;
    #[inline(never)]
    fn next(&mut self) -> Option<String> {
        self.id += 1;
        if self.id > 300 { None } else { Some("n".repeat(self.id as usize)) }
    }
}
impl From<Order> for String {
    #[inline(never)]
    fn from(order: Order) -> String {
        let mut text = String::with_capacity(5000);
        text.push_str(&order.items[0]);
        text
    }
}

struct Node {
    peer: RefCell<Option<Rc<Node>>>,
    data: [u64; 20],
}

#[inline(never)]
fn leak_cycle(i: u64) -> u64 {
    let a = Rc::new(Node { peer: RefCell::new(None), data: [i; 20] });
    let b = Rc::new(Node { peer: RefCell::new(Some(a.clone())), data: [i; 20] });
    *a.peer.borrow_mut() = Some(b);
    a.data[3]
}

#[inline(never)]
fn apply<F: FnMut(u64)>(mut f: F) {
    for i in 0..100 {
        f(i)
    }
}

#[inline(never)]
fn boxes() -> usize {
    let mut all: Vec<Box<dyn Shape>> = Vec::new();
    for i in 0..50 {
        all.push(Box::new(Square(i as f64)));
        all.push(Box::new(Ring::<300>));
    }
    all.iter().map(|shape| shape.outline().len() + shape.name().len()).sum()
}

#[inline(never)]
fn sorted(n: u64) -> usize {
    let map: BTreeMap<u64, u64> = (0..n).map(|i| (i * 7919 % 1000, i)).collect();
    map.len()
}

#[inline(never)]
fn unique(lines: &[String]) -> usize {
    let set: HashSet<&str> = lines.iter().map(|line| line.as_str()).collect();
    set.len() + lines[0].to_uppercase().len()
}

#[inline(never)]
fn read(path: &str) -> usize {
    std::fs::read_to_string(path).unwrap().len()
}

#[inline(never)]
fn generic<T: Clone>(x: &T, n: usize) -> Vec<T> {
    let mut all = Vec::with_capacity(n);
    all.push(x.clone());
    all
}

fn main() {
    let mut index = Index { words: HashMap::new() };
    let mut log = Log { bytes: Vec::new() };
    for i in 0..2000u64 {
        index.add(["one", "two", "three"][i as usize % 3], "a line that is long enough to see");
        log.append(i);
    }
    let copies = index.copy_lines();
    let mut kept: Vec<u64> = Vec::new();
    apply(|i| kept.push(i));
    let total = boxes();
    let cycles: u64 = (0..100).map(leak_cycle).sum();
    let order = Order { id: 7, items: vec!["an item".to_string(); 100] };
    let text = order.to_string();
    let orders: Vec<Order> = vec![order.clone(); 20];
    let all: Vec<String> = Order { id: 0, items: vec![] }.collect();
    let letter = String::from(order);
    let (s, u, g) = (sorted(500), unique(&all), generic(&"x".to_string(), 100));
    let n = std::thread::spawn(|| (0..3000).collect::<Vec<u64>>().len()).join().unwrap();
    let sum = copies.len() + log.bytes.len() + total + text.len() + orders.len() + letter.len() + s + u + g.len() + n;
    println!("{} {} {} {}", sum, cycles, read("shop.rs"), kept.len());
}
// SPDX-License-Identifier: MIT
