/** The id of the extension for the usage of a key (RFC 5280, 4.2.1.3), in DER. */
const keyUsageId = Buffer.from('0603551d0f', 'hex')
/** The tags of the list of extensions, of any other list, and of bytes. */
const [extensionsTag, sequenceTag, bytesTag] = [0xa3, 0x30, 0x04]

/** A value of DER. */
interface Value {
  readonly tag: number
  readonly content: Buffer
}

/**
 * Whether the key of a certificate in DER may sign, as every handshake with a key of an elliptic
 * curve and all of TLS 1.3 need it. A certificate that does not limit its key allows it. Pure.
 */
export function maySign(certificate: Buffer): boolean {
  const [outer] = valuesIn(certificate)
  const [signed] = valuesIn(outer?.content)
  const list = valuesIn(signed?.content).find(({ tag }) => tag === extensionsTag)
  const extensions = valuesIn(valuesIn(list?.content)[0]?.content)
  const usage = extensions.find(({ tag, content }) => tag === sequenceTag && hasId(content))
  if (!usage) return true
  const bits = valuesIn(usage.content).find(({ tag }) => tag === bytesTag)
  const [flags] = valuesIn(bits?.content)
  // The first byte counts unused bits. The first flag of the second one is the signature.
  return ((flags?.content.at(1) ?? 0) & 0x80) !== 0
}

const hasId = (content: Buffer): boolean => content.subarray(0, keyUsageId.length).equals(keyUsageId)

/** Reads the values of DER one after the other, up to the first one that is cut off. */
function valuesIn(bytes: Buffer = Buffer.alloc(0)): readonly Value[] {
  const found: Value[] = []
  let at = 0
  while (at + 2 <= bytes.length) {
    const first = bytes.readUInt8(at + 1)
    const more = first < 0x80 ? 0 : first & 0x7f
    const begin = at + 2 + more
    if (more > 4 || begin > bytes.length) return found
    const size = more === 0 ? first & 0x7f : bytes.readUIntBE(at + 2, more)
    const end = begin + size
    if (end > bytes.length) return found
    found.push({ tag: bytes.readUInt8(at), content: bytes.subarray(begin, end) })
    at = end
  }
  return found
}
