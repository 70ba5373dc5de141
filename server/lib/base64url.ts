/**
 * Decodes unpadded base64url (RFC 4648 §5) in its one canonical spelling; undefined for any other: padding, another alphabet, an impossible
 * length, or bits set behind the last byte. Node's decoder accepts all of these, so that two texts could be one credential.
 */
export function decodeBase64url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? bytes : undefined
}
