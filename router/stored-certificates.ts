import { type KeptDocument, readKeptDocument } from './kept-document.ts'
import { record } from './record.ts'
import { type MarkedMaterial, parseTlsMaterial } from './tls-material.ts'

/** No certificates of the control plane have this mark, so it always sends its own. */
const keptMark = ''

/**
 * Returns the certificates that the control plane keeps in a folder for new pods. Undefined if it
 * keeps none. Throws an Error if they cannot be read now.
 */
export async function readStoredCertificates(folder: string): Promise<MarkedMaterial | undefined> {
  const kept = await readKeptDocument(folder)
  return kept && parseTlsMaterial({ certificates: certificatesIn(kept), challenges: [], mark: keptMark })
}

function certificatesIn(kept: KeptDocument): unknown {
  if ('whole' in kept) return record(kept.whole, 'the certificates')['certificates']
  return kept.parts.flatMap((part, index) => {
    const { certificates } = record(part, `part ${index}`)
    if (!Array.isArray(certificates)) throw new Error(`part ${index} has no certificates`)
    return certificates
  })
}
