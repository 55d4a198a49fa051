//! Data that was sent and received.

use super::key::{Key, KeyValue, Subject};
use super::sums::{Amounts, Sums, number};
use etw_layouts_trace::etl::Uuid;
use etw_layouts_trace::kernel::{TypedEvent, tcpip, udpip};
use etw_layouts_trace::{Error, Event, EventKind};

/// Transfers over TCP and UDP.
#[derive(Default)]
pub struct Transfers {
    /// The number of events of kernel classes, and of the provider with a manifest.
    counts: [u64; 2],
}

/// Microsoft-Windows-Kernel-Network.
const KERNEL_NETWORK: Uuid = Uuid::from_u128(0x7dd42a49_5329_4832_8dfd_43d979153a88);

const TCP: Uuid = <tcpip::SendIPV6>::CLASS;
const UDP: Uuid = <udpip::SendIPV6>::CLASS;

/// Protocol, and whether data was sent.
fn transfer(kind: EventKind) -> Option<(&'static str, bool)> {
    Some(match kind {
        (TCP | KERNEL_NETWORK, 10 | 26) => ("tcp", true),
        (TCP | KERNEL_NETWORK, 11 | 27) => ("tcp", false),
        (UDP, 10 | 26) | (KERNEL_NETWORK, 42 | 58) => ("udp", true),
        (UDP, 11 | 27) | (KERNEL_NETWORK, 43 | 59) => ("udp", false),
        _ => return None,
    })
}

impl<'t> Amounts<'t> for Transfers {
    fn add(&mut self, event: &Event<'t>, kind: EventKind, sums: &mut Sums<'t, '_>) -> Result<(), Error> {
        let Some((protocol, is_sent)) = transfer(kind) else { return Ok(()) };
        let Some(decoded) = event.decode() else { return Ok(()) };
        sums.count_relevant(event);
        self.counts[usize::from(kind.0 == KERNEL_NETWORK)] += 1;
        let bytes = number(&decoded, &["size"]).unwrap_or_default();
        let mut subject = Subject::new(event);
        // Events of a TCP connection have the other computer in `daddr`, also if data was received. Those of UDP have the source and the destination of
        // the datagram: in traces, the event of a received datagram equals that of the sent one, and those to groups have the group in `daddr`.
        let (address, remote, local) =
            if protocol == "udp" && !is_sent { ("saddr", "sport", "dport") } else { ("daddr", "dport", "sport") };
        if sums.has(Key::Endpoint) {
            let endpoint = match (decoded.get(address), number(&decoded, &[remote])) {
                (Some(address), Some(port)) if address.to_string().contains(':') => {
                    KeyValue::text(format!("{protocol} [{address}]:{port}"))
                }
                (Some(address), Some(port)) => KeyValue::text(format!("{protocol} {address}:{port}")),
                _ => KeyValue::Unknown,
            };
            subject = subject.with(Key::Endpoint, endpoint);
        }
        if sums.has(Key::Local) {
            let port = number(&decoded, &[local]).map_or(KeyValue::Unknown, |port| KeyValue::text(format!("{protocol} {port}")));
            subject = subject.with(Key::Local, port);
        }
        let (sent, received) = if is_sent { (bytes, 0) } else { (0, bytes) };
        sums.add(&subject, &[1, bytes, sent, received])?;
        Ok(())
    }

    fn end(&mut self, sums: &mut Sums<'t, '_>) {
        let [classic, manifest] = self.counts;
        if classic > 0 {
            sums.note(
                "events of Microsoft-Windows-Kernel-Network beside those of TcpIp and UdpIp: they can be the same transfers",
                manifest,
            );
        }
    }
}
