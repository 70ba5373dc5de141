import { startDeadline } from '../lib/deadline.ts'
import { messageOf } from '../lib/error.ts'
import { type HostProof, RefusedError } from './authority.ts'
import { type CertificateName, hostIn } from './certificate-name.ts'
import { type AttemptProof, clearChallenge, type DueHost, setChallenge } from './certificate-store.ts'
import type { DnsRecord } from './dns-records.ts'
import type { CertificateOptions } from './reconciler.ts'
import { serveProof } from './serve-in-time.ts'

type ProofOptions = Pick<CertificateOptions, 'database' | 'clock' | 'log' | 'serve' | 'dns' | 'at'>

/**
 * Returns once the authority can see the proof of a certificate: at the router, or in DNS. The
 * returned function takes a record out of DNS again. Throws RefusedError.
 */
export async function publishProof(
  options: ProofOptions,
  { name, proof, triedAt }: { readonly name: CertificateName; readonly proof: HostProof; readonly triedAt: Date },
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  const { dns } = options
  if (proof.kind !== 'dns-01') {
    await note(options, { ...proof, name, triedAt }, signal)
    await serveProof(options, proof.host, signal)
    return async () => {}
  }
  if (!dns) throw new Error('a proof in DNS was asked for without DNS')
  const record = { name: await dns.place(hostIn(name), signal), value: proof.answer }
  // An attempt that does not end leaves the record. The next one finds it here.
  await note(options, { ...proof, name, triedAt, token: record.name }, signal)
  // Also after the time of the attempt.
  const removal = (): Promise<void> => withdraw(options, name, record, AbortSignal.timeout(withdrawMs))
  try {
    await dns.show(record, signal)
  } catch (error) {
    await removal()
    throw error
  }
  return removal
}

/** Stores the proof of an attempt that has not ended, and that no other one has followed. */
async function note({ database, clock }: ProofOptions, proof: AttemptProof, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  if (await setChallenge(database, proof, clock.now())) return
  throw new RefusedError('Another order of this name began meanwhile.')
}

/**
 * Takes the record of an attempt that did not end out of DNS. It proves nothing, and its zone may
 * be gone, so a failure is logged only.
 */
export async function withdrawProof(options: ProofOptions, due: DueHost, signal: AbortSignal): Promise<void> {
  const { host, challenge_kind: kind, left_token: name, left_answer: value } = due
  if (kind !== 'dns-01' || name === null || value === null) return
  await withdraw(options, host, { name, value }, startDeadline(withdrawMs, signal).signal)
  signal.throwIfAborted()
}

const withdrawMs = 10_000

/** Takes a record out of DNS. One that stays is logged, and the next attempt tries it again. */
async function withdraw(
  { database, dns, log }: ProofOptions,
  host: CertificateName,
  record: DnsRecord,
  signal: AbortSignal,
): Promise<void> {
  try {
    await dns?.remove(record, signal)
    await clearChallenge(database, host, record.value)
  } catch (error) {
    log.warn({ name: record.name, reason: messageOf(error) }, 'DNS record could not be removed')
  }
}
