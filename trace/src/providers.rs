//! Providers with manifests whose events this crate reads.

use etw_layouts_etl::Uuid;

/// Microsoft-Windows-DotNETRuntime.
pub const RUNTIME: Uuid = Uuid::from_u128(0xe13c0d23_ccbc_4e12_931b_d9cc2eee27e4);

/// Microsoft-Windows-Kernel-File.
pub const KERNEL_FILE: Uuid = Uuid::from_u128(0xedd08927_9cc4_4e65_b970_c2560fb5c289);

/// Microsoft-Windows-Kernel-Process.
pub const KERNEL_PROCESS: Uuid = Uuid::from_u128(0x22fb2cd6_0e7b_422b_a0c7_2fad1fd0e716);
