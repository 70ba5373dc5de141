/** A TXT record with which a host proves itself (RFC 8555, 8.4). */
export interface DnsRecord {
  /** The name of the record, without a dot at the end. */
  readonly name: string
  readonly value: string
}

/**
 * The TXT records of the operator's DNS. Both methods throw RefusedError with the reason if DNS
 * does not accept the change, and the reason of `signal` on abort.
 */
export interface DnsRecords {
  /** Adds a record. Other records of the name stay. Adding it again changes nothing. */
  add(record: DnsRecord, signal: AbortSignal): Promise<void>
  /** Removes a record. It need not exist. */
  remove(record: DnsRecord, signal: AbortSignal): Promise<void>
}
