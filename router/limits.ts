/** Every limit of the traffic process, in one place. Times in milliseconds, sizes in bytes. */
export const limits = {
  /** Of one request's or response's header block. */
  headerBytes: 32 * 1024,
  /** A client must have sent its whole header block within this time. */
  clientHeadersMs: 10_000,
  /** A client of a UDP port that was silent for so long is forgotten … */
  udpIdleMs: 60_000,
  /** … and after so long, where its endpoint has left the route. */
  udpLeavingMs: 2_000,
  /**
   * Clients of one UDP port, and how many of them may share an address: one address can have many
   * ports.
   */
  udpClients: 4_096,
  udpClientsPerAddress: 512,
  /** Datagrams of one client that are kept until there is an endpoint. */
  udpEarly: 16,
  /** How long an idle client connection is kept; clients are told so in `Keep-Alive`. */
  clientIdleMs: 72_000,
  /** A client has this long to read the last answer of a connection and to close it. */
  lingerMs: 2_000,
  /** How often connections of TCP ports are looked at, whether bytes went through. */
  silenceMs: 5_000,
  /** Where a TCP connection is silent for so long, the kernel asks whether the other side is still there. */
  tcpSilentMs: 60_000,
  /** A connection to an endpoint must be established within this time. */
  connectMs: 1_000,
  /** An endpoint must have begun its answer within this time; bodies and streams have no limit. */
  answerMs: 120_000,
  /** How long an idle connection to an endpoint is kept; a shorter time that the endpoint tells wins. */
  endpointIdleMs: 4_000,
  /** Requests open at one endpoint at the same time, and connections to it. */
  openPerEndpoint: 1_024,
  /** A request that failed without having had an effect is tried again until this much time has passed. */
  retryMs: 1_500,
  /** An endpoint that could not be reached is avoided for this long while the route has others. */
  asideMs: 1_000,
  /** A request for a service that is asleep waits for it at most so long … */
  heldMs: 60_000,
  /** … while no more than so many wait for the same service, and for all together. */
  heldPerService: 256,
  heldRequests: 2_048,
  /** A control plane that did not ask for so long is away. */
  awayMs: 5_000,
  /** How long the control plane may wait for news. */
  wakesMs: 60_000,
  /** Wrong passwords of one client at once; one more each second. */
  wrongPasswords: 20,
  /** Passwords that are looked at for the first time, of all clients, at once, … */
  unknownPasswords: 100,
  /** … and after that each second: a fraction of what the process can do. */
  unknownPasswordsPerSecond: 30,
  /** Passwords that were found good, and clients with wrong ones, that are remembered. */
  knownPasswords: 10_000,
  /** Of a route table sent by the control plane. */
  tableBytes: 32 * 1024 * 1024,
  /** At a shutdown, open requests have this long to finish. */
  shutdownMs: 30_000,
} as const
