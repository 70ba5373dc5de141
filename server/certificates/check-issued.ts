import { createPrivateKey } from 'node:crypto'
import { type Issued, RefusedError } from './authority.ts'
import { covers, namesOf, readChain } from './read-chain.ts'

/**
 * Checks that the router can serve what an authority has made for a host. Otherwise it would
 * replace a certificate that is still valid. Throws RefusedError.
 */
export function checkIssued(host: string, { chain, key }: Pick<Issued, 'chain' | 'key'>): Issued {
  const certificates = readChain(chain, refused)
  const [leaf] = certificates
  if (!leaf) throw refused('has no certificate')
  if (!leaf.checkPrivateKey(createPrivateKey(key.reveal()))) throw refused('is for another key')
  if (!covers(leaf, host))
    throw refused(`is for ${namesOf(leaf).slice(0, 10).join(', ') || 'no host'}, not for ${host}`)
  const { validFromDate: notBefore, validToDate: notAfter } = leaf
  return { chain: certificates.map(String).join(''), key, notBefore, notAfter }
}

const refused = (fault: string, cause?: unknown): RefusedError =>
  new RefusedError(`The certificate authority sent a chain that ${fault}.`, { cause })
