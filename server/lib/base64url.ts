/**
 * Decodes canonical unpadded base64url (RFC 4648 §5). Returns undefined for padding, another
 * alphabet, an impossible length, or bits set after the last byte. Node's decoder accepts all of
 * these, so two texts could be the same credential.
 */
export function decodeBase64url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? bytes : undefined
}
