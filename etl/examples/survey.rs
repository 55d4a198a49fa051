use etw_layouts_etl::*;
use std::collections::BTreeMap;
fn main() {
    for f in std::env::args().skip(1) {
        let b = std::fs::read(&f).unwrap();
        let t = Trace::new(&b).unwrap();
        let mut s = Scratch::default();
        let (mut n, mut c, mut e) = (0, 0, 0);
        let mut k: BTreeMap<&str, u32> = BTreeMap::new();
        let mut items: BTreeMap<u16, u32> = BTreeMap::new();
        let mut disorder = 0;
        let mut untimed = 0;
        for buf in t.buffers() {
            let buf = match buf {
                Ok(b) => b,
                Err(f) => {
                    println!("  {f}");
                    continue;
                }
            };
            n += 1;
            c += buf.head().is_compressed() as u32;
            let im = buf.image(&mut s);
            let mut last = i64::MIN;
            for ev in im.events() {
                match ev {
                    Ok(ev) => {
                        e += 1;
                        *k.entry(ev.kind().name()).or_default() += 1;
                        for i in ev.items() {
                            *items.entry(i.ty.0).or_default() += 1
                        }
                        match ev.time_stamp() {
                            None => untimed += 1,
                            Some(t) => {
                                if t < last {
                                    disorder += 1;
                                }
                                last = t;
                            }
                        }
                    }
                    Err(f) => println!("  {f}"),
                }
            }
        }
        println!("{} {n} {c} {e} {k:?} {items:?} in-buffer disorder {disorder} untimed {untimed}", f.rsplit('/').next().unwrap());
        let mut cf = 0;
        check::check(&t, &mut |f| {
            cf += 1;
            if cf < 6 {
                println!("   CHECK {f}")
            }
        });
        if cf > 0 {
            println!("   {cf} findings");
        }
        let mut r = Reader::new(&b[..]).unwrap();
        let mut m = 0;
        while let Some(i) = r.next_image().unwrap() {
            m += i.unwrap().events().filter(|e| e.is_ok()).count();
        }
        let mut bt = t.by_time();
        let (mut q, mut d, mut last) = (0, 0, i64::MIN);
        while let Some(x) = bt.next_event() {
            let x = x.unwrap();
            q += 1;
            if let Some(t) = x.event.time_stamp() {
                if t < last {
                    d += 1
                }
                last = t;
            }
        }
        println!(
            "   stream {m} time {q} disorder {d} {:?} {:?} {}",
            t.log_file().logger_name,
            t.log_file().file_name,
            Stamp(t.log_file().start_time)
        );
    }
}
#[allow(dead_code)]
fn _x() {}
