/** Every limit of the traffic process, in one place. Times in milliseconds, sizes in bytes. */
export const limits = {
  /** Of one request's or response's header block. */
  headerBytes: 32 * 1024,
  /**
   * Connections of a listener that wait to be accepted. If the router's socket has no room, HAProxy
   * answers 503. The kernel allows `net.core.somaxconn`, usually 4,096.
   */
  waitingConnections: 4_096,
  /** A client must have sent its whole header block within this time. */
  clientHeadersMs: 10_000,
  /** A client must have begun its first request this long after the router accepts no more. */
  firstByteMs: 1_000,
  /** A TLS handshake must be complete within this time. */
  handshakeMs: 10_000,
  /** Concurrent HTTP/2 streams of one connection. */
  streamsPerConnection: 100,
  /** Names that a request may announce as its trailers, and the size of these trailers. */
  trailerNames: 64,
  trailerBytes: 8 * 1024,
  /** Bytes that one stream may send before they are read. */
  streamWindowBytes: 256 * 1024,
  /** Header fields of one HTTP/2 request, with its pseudo-header fields. */
  streamFields: 128,
  /**
   * Header fields of one response over HTTP/2. With `headerBytes` of names and values they fit into
   * the 64 KiB that nghttp2 sends. More would end the connection.
   */
  responseFields: 1_000,
  /** Early hints (103) of one response that its client gets. */
  hintsPerResponse: 20,
  /**
   * Streams that a client may reset in a burst, and each second after it. More close its
   * connection.
   */
  streamResets: 200,
  streamResetsPerSecond: 20,
  /** Invalid frames, and streams with too large headers, until a connection is closed. */
  invalidFrames: 50,
  rejectedStreams: 20,
  /** How often open requests of signed-in people are looked at. */
  visitsMs: 5_000,
  /** Tokens of signed-in people of one organization that are not checked again. */
  knownTokens: 2_000,
  /** Cookies of one name that are tried. Browsers may send several with different paths. */
  triedCookies: 3,
  /** Clients of one organization whose requests are counted for the limits of routes. */
  countedClients: 20_000,
  /** How many certificates are kept ready for handshakes. The others are prepared when needed. */
  readyCertificates: 500,
  /** A UDP client that is silent for this long is forgotten. */
  udpIdleMs: 60_000,
  /** The same, once its endpoint has left the route. */
  udpLeavingMs: 2_000,
  /**
   * Clients of one UDP port, and how many of them may share an address: one address can have many
   * ports.
   */
  udpClients: 4_096,
  udpClientsPerAddress: 512,
  /** Datagrams of one client that are kept until an endpoint is available. */
  udpEarly: 16,
  /** How long an idle client connection is kept. The `Keep-Alive` header announces it. */
  clientIdleMs: 72_000,
  /** A client has this long to read the last response of a connection and to close it. */
  lingerMs: 2_000,
  /** How often TCP connections are checked for traffic. */
  silenceMs: 5_000,
  /**
   * After this much silence, the kernel probes whether the other side of a TCP connection is alive.
   */
  tcpSilentMs: 60_000,
  /** A connection to an endpoint must be established within this time. */
  connectMs: 1_000,
  /** An endpoint must begin its response within this time. Bodies and streams have no limit. */
  answerMs: 120_000,
  /**
   * Bytes of a request's body that are kept until its response begins, because an endpoint of
   * HTTP/2 may say that it has not processed the request.
   */
  repeatedBodyBytes: 16 * 1024,
  /** An endpoint must send its first frame over a new connection of HTTP/2 within this time. */
  settingsMs: 20_000,
  /**
   * An endpoint that was silent for too long over HTTP/2 must reply to a ping within this time, or
   * its connection is closed.
   */
  probeMs: 5_000,
  /**
   * How long an idle connection to an endpoint is kept, unless the endpoint announces a shorter
   * time.
   */
  endpointIdleMs: 4_000,
  /** Concurrent requests and connections of one endpoint. */
  openPerEndpoint: 1_024,
  /** A request that failed without an effect is retried until this much time has passed. */
  retryMs: 1_500,
  /** An unreachable endpoint is avoided for this long while the route has others. */
  asideMs: 1_000,
  /** How long a request waits for a sleeping service. */
  heldMs: 60_000,
  /** How many requests may wait for one service, and for all services. Organizations share them. */
  heldPerService: 256,
  heldRequests: 2_048,
  /** A control plane that has not asked for this long is considered away. */
  awayMs: 5_000,
  /** How long one request of the control plane for wakes may wait. */
  wakesMs: 60_000,
  /** Passwords that are checked at the same time. Each takes one of the four threads of Node.js. */
  passwordChecks: 2,
  /** Checks that wait: of one organization, of one service, and of one client of a service. */
  waitingChecks: [128, 32, 4],
  /** Wrong passwords that one client may send to a service in a burst. It gains one a second. */
  wrongPasswords: { burst: 20, perSecond: 1 },
  /** Unknown passwords of one service, and of one organization, that are checked. */
  servicePasswords: { burst: 100, perSecond: 20 },
  organizationPasswords: { burst: 200, perSecond: 40 },
  /** How many valid passwords, and how many clients, are remembered for one organization. */
  knownPasswords: 2_000,
  /** While the control plane is away, numbers about traffic are written to a file this often. */
  keptCountsMs: 10_000,
  /** A file of a process that was killed is read once it is this old. */
  endedCountsMs: 60_000,
  /** Files of ended processes that one answer reads. */
  keptCountFiles: 20,
  /** Files with lines of requests that ended processes leave. */
  keptLineFiles: 10,
  /**
   * Lines of requests of one service, and of all, that wait for the control plane. Organizations
   * share them.
   */
  accessLinesPerService: 2_000,
  accessLines: 10_000,
  /**
   * Responses that are compressed at the same time, of all services and of one. Others are not. An
   * organization gets one more only if it then has no more than the remainder.
   */
  compressors: 64,
  compressorsPerService: 32,
  /**
   * Size of a route table that the control plane sends. A route may list all members of its
   * organization.
   */
  tableBytes: 128 * 1024 * 1024,
  /** Size of all certificates and keys that the control plane sends: 10,000 of 10 KiB and more. */
  tlsBytes: 128 * 1024 * 1024,
  /**
   * A router in a pod that starts with a stored table waits this long for the control plane, which
   * may have a newer one.
   */
  unconfirmedMs: 15_000,
  /** How soon what the cluster keeps is read again, if it could not be read. */
  keptAgainMs: 5_000,
  /** How long the control plane is silent before a router follows the names of replicas. */
  silentControlMs: 15_000,
  /** How often a router follows the names of replicas. */
  followMs: 3_000,
  /** How long an idle control connection to a pod is kept. */
  controlIdleMs: 30_000,
  /** A leaving router waits this long for services that wake up. */
  leavingHeldMs: 20_000,
  /** At a shutdown, open requests have this long to finish. */
  shutdownMs: 30_000,
} as const
