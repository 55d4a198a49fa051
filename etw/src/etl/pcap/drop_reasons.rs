//! Names of the reasons why packets are dropped, without the prefix `PktMonDrop_` of PKTMON_DROP_REASON.
//!
//! There are two sources. The older list is the enumeration in the Windows Driver Kit of build 18362 and later, as copied in
//! scripts for PktMon traces. The newer list is in Microsoft's Retina (`pkg/metrics/types_windows.go`). They differ in one common
//! reason: Http_ReceiveSuppressed is 801 in the older list and 3600 in the newer one. Only the newer list has the reasons 205 to
//! 228, 614, 615 and 998 to 1002.

/// Builds before this one may number the reasons above [`COMMON`] differently, as Microsoft's Network Monitor parser for build
/// 17763 does. The exact build is unknown, because no list for a build in between is known.
const RENUMBERED: u32 = 18_362;
/// The last reason with the same number in both numberings.
const COMMON: u32 = 38;

/// The name of a reason; `None` if it is unknown.
pub fn name(reason: u32, build: u32) -> Option<&'static str> {
    if reason > COMMON && build < RENUMBERED {
        return None;
    }
    let (first, names) = REASONS.iter().rev().find(|(first, _)| *first <= reason)?;
    names.split_ascii_whitespace().nth((reason - first) as usize)
}

/// The number of the first reason of each group, and the names from it on.
const REASONS: [(u32, &str); 12] = [
    (
        0,
        "Unknown InvalidData InvalidPacket Resources NotReady Disconnected NotAccepted Busy Filtered FilteredVLAN UnauthorizedVLAN
        UnauthorizedMAC FailedSecurityPolicy FailedPvlanSetting Qos Ipsec MacSpoofing DhcpGuard RouterGuard BridgeReserved
        VirtualSubnetId RequiredExtensionMissing InvalidConfig MTUMismatch NativeFwdingReq InvalidVlanFormat InvalidDestMac
        InvalidSourceMac InvalidFirstNBTooSmall Wnv StormLimit InjectedIcmp FailedDestinationListUpdate NicDisabled
        FailedPacketFilter SwitchDataFlowDisabled FilteredIsolationUntagged InvalidPDQueue LowPower",
    ),
    (
        201,
        "Pause Reset SendAborted ProtocolNotBound Failure InvalidLength HostOutOfMemory FrameTooLong FrameTooShort FrameLengthError
        CrcError BadFrameChecksum FcsError SymbolError HeadQTimeout StalledDiscard RxQFull PhysLayerError DmaError FirmwareError
        DecryptionFailed BadSignature CoalescingError",
    ),
    (225, "VlanSpoofing UnallowedEtherType VportDown SteeringMismatch"),
    (401, "MicroportError VfNotReady MicroportNotReady VMBusError"),
    (
        601,
        "FL_LoopbackPacket FL_InvalidSnapHeader FL_InvalidEthernetType FL_InvalidPacketLength FL_HeaderNotContiguous
        FL_InvalidDestinationType FL_InterfaceNotReady FL_ProviderNotReady FL_InvalidLsoInfo FL_InvalidUsoInfo FL_InvalidMedium
        FL_InvalidArpHeader FL_NoClientInterface FL_TooManyNetBuffers FL_FlsNpiClientDrop",
    ),
    (
        701,
        "ArpGuard ArpLimiter DhcpLimiter BlockBroadcast BlockNonIp ArpFilter Ipv4Guard Ipv6Guard MacGuard BroadcastNoDestinations
        UnicastNoDestination UnicastPortNotReady SwitchCallbackFailed Icmpv6Limiter Intercept InterceptBlock NDPGuard PortBlocked
        NicSuspended",
    ),
    (801, "Http_ReceiveSuppressed"),
    (
        901,
        "NL_BadSourceAddress NL_NotLocallyDestined NL_ProtocolUnreachable NL_PortUnreachable NL_BadLength NL_MalformedHeader
        NL_NoRoute NL_BeyondScope NL_InspectionDrop NL_TooManyDecapsulations NL_AdministrativelyProhibited NL_BadChecksum
        NL_ReceivePathMax NL_HopLimitExceeded NL_AddressUnreachable NL_RscPacket NL_ForwardPathMax NL_ArbitrationUnhandled
        NL_InspectionAbsorb NL_DontFragmentMtuExceeded NL_BufferLengthExceeded NL_AddressResolutionTimeout
        NL_AddressResolutionFailure NL_IpsecFailure NL_ExtensionHeadersFailure NL_IpsnpiClientDrop NL_UnsupportedOffload
        NL_RoutingFailure NL_AncillaryDataFailure NL_RawDataFailure NL_SessionStateFailure NL_IpsnpiModifiedButNotForwarded
        NL_IpsnpiNoNextHop NL_IpsnpiNoCompartment NL_IpsnpiNoInterface NL_IpsnpiNoSubInterface NL_IpsnpiInterfaceDisabled
        NL_IpsnpiSegmentationFailed NL_IpsnpiNoEthernetHeader NL_IpsnpiUnexpectedFragment NL_IpsnpiUnsupportedInterfaceType
        NL_IpsnpiInvalidLsoInfo NL_IpsnpiInvalidUsoInfo NL_InternalError NL_AdministrativelyConfigured NL_BadOption
        NL_LoopbackDisallowed NL_SmallerScope NL_QueueFull NL_InterfaceDisabled NL_IcmpGeneric NL_IcmpTruncatedHeader
        NL_IcmpInvalidChecksum NL_IcmpInspection NL_IcmpNeighborDiscoveryLoopback NL_IcmpUnknownType NL_IcmpTruncatedIpHeader
        NL_IcmpOversizedIpHeader NL_IcmpNoHandler NL_IcmpRespondingToError NL_IcmpInvalidSource NL_IcmpInterfaceRateLimit
        NL_IcmpPathRateLimit NL_IcmpNoRoute NL_IcmpMatchingRequestNotFound NL_IcmpBufferTooSmall NL_IcmpAncillaryDataQuery
        NL_IcmpIncorrectHopLimit NL_IcmpUnknownCode NL_IcmpSourceNotLinkLocal NL_IcmpTruncatedNdHeader
        NL_IcmpInvalidNdOptSourceLinkAddr NL_IcmpInvalidNdOptMtu NL_IcmpInvalidNdOptPrefixInformation
        NL_IcmpInvalidNdOptRouteInformation NL_IcmpInvalidNdOptRdnss NL_IcmpInvalidNdOptDnssl NL_IcmpPacketParsingFailure
        NL_IcmpDisallowed NL_IcmpInvalidRouterAdvertisement NL_IcmpSourceFromDifferentLink
        NL_IcmpInvalidRedirectDestinationOrTarget NL_IcmpInvalidNdTarget NL_IcmpNaMulticastAndSolicited
        NL_IcmpNdLinkLayerAddressIsLocal NL_IcmpDuplicateEchoRequest NL_IcmpNotAPotentialRouter NL_IcmpInvalidMldQuery
        NL_IcmpInvalidMldReport NL_IcmpLocallySourcedMldReport NL_IcmpNotLocallyDestined NL_ArpInvalidSource NL_ArpInvalidTarget
        NL_ArpDlSourceIsLocal NL_ArpNotLocallyDestined NL_NlClientDiscard NL_IpsnpiUroSegmentSizeExceedsMtu
        NL_IcmpFragmentedPacket NL_FirstFragmentIncomplete NL_SourceViolation NL_IcmpJumbogram NL_SwUsoFailure",
    ),
    (
        1200,
        "INET_SourceUnspecified INET_DestinationMulticast INET_HeaderInvalid INET_ChecksumInvalid INET_EndpointNotFound
        INET_ConnectedPath INET_SessionState INET_ReceiveInspection INET_AckInvalid INET_ExpectedSyn INET_Rst INET_SynRcvdSyn
        INET_SimultaneousConnect INET_PawsFailed INET_LandAttack INET_MissedReset INET_OutsideWindow INET_DuplicateSegment
        INET_ClosedWindow INET_TcbRemoved INET_FinWait2 INET_ReassemblyConflict INET_FinReceived INET_ListenerInvalidFlags
        INET_TcbNotInTcbTable INET_TimeWaitTcbReceivedRstOutsideWindow INET_TimeWaitTcbSynAndOtherFlags INET_TimeWaitTcb
        INET_SynAckWithFastopenCookieRequest INET_PauseAccept INET_SynAttack INET_AcceptInspection INET_AcceptRedirection",
    ),
    (
        1301,
        "SlbMux_ParsingFailure SlbMux_FirstFragmentMiss SlbMux_ICMPErrorPayloadValidationFailure
        SlbMux_ICMPErrorPacketMatchNoSession SlbMux_ExternalHairpinNexthopLookupFailure SlbMux_NoMatchingStaticMapping
        SlbMux_NexthopReferenceFailure SlbMux_CloningFailure SlbMux_TranslationFailure SlbMux_HopLimitExceeded
        SlbMux_PacketBiggerThanMTU SlbMux_UnexpectedRouteLookupFailure SlbMux_NoRoute SlbMux_SessionCreationFailure
        SlbMux_NexthopNotOverExternalInterface SlbMux_NexthopExternalInterfaceMissNATInstance
        SlbMux_NATItselfCantBeInternalNexthop SlbMux_PacketRoutableInItsArrivalCompartment
        SlbMux_PacketTransportProtocolNotSupported SlbMux_PacketIsDestinedLocally
        SlbMux_PacketDestinationIPandPortNotSubjectToNAT SlbMux_MuxReject SlbMux_DipLookupFailure SlbMux_MuxEncapsulationFailure
        SlbMux_InvalidDiagPacketEncapType SlbMux_DiagPacketIsRedirect SlbMux_UnableToHandleRedirect",
    ),
    (
        1401,
        "Ipsec_BadSpi Ipsec_SALifetimeExpired Ipsec_WrongSA Ipsec_ReplayCheckFailed Ipsec_InvalidPacket Ipsec_IntegrityCheckFailed
        Ipsec_ClearTextDrop Ipsec_AuthFirewallDrop Ipsec_ThrottleDrop Ipsec_Dosp_Block Ipsec_Dosp_ReceivedMulticast
        Ipsec_Dosp_InvalidPacket Ipsec_Dosp_StateLookupFailed Ipsec_Dosp_MaxEntries Ipsec_Dosp_KeymodNotAllowed
        Ipsec_Dosp_MaxPerIpRateLimitQueues Ipsec_NoMemory Ipsec_Unsuccessful",
    ),
    (
        1501,
        "NetCx_NetPacketLayoutParseFailure NetCx_SoftwareChecksumFailure NetCx_NicQueueStop NetCx_InvalidNetBufferLength
        NetCx_LSOFailure NetCx_USOFailure NetCx_BufferBounceFailureAndPacketIgnore",
    ),
];
