/** Ports of the machine itself, from the first to the last. */
export interface OpenPorts {
  readonly first: number
  readonly last: number
  readonly protocol: 'tcp' | 'udp'
}

/** The ports of the machine that containers and build steps reach, or all of them. */
export type HostAccess = 'open' | readonly OpenPorts[]

/** Whether containers and build steps reach the metadata service of a cloud. */
export type CloudMetadata = 'closed' | 'open'

/**
 * The destinations beside the Internet that containers and build steps reach. An undefined field
 * leaves its rules unchanged.
 */
export interface NetworkGuards {
  readonly metadata?: CloudMetadata | undefined
  readonly host?: HostAccess | undefined
}
