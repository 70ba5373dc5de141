/** Who sent the request, as told to the endpoint. */
export interface Sender {
  readonly address: string
  readonly proto: 'http' | 'https'
  readonly port: string
  /** The peer's own `X-Forwarded-*` are believed and added to. */
  readonly trusted: boolean
}

/** Headers that tell who sent a request, also in the spelling with underscores, which CGI-like programs cannot tell from the other. */
export function isSenderName(lower: string): boolean {
  const first = lower.charCodeAt(0)
  if (first !== 0x78 && first !== 0x66) return false
  const name = lower.replaceAll('_', '-')
  return name.startsWith('x-forwarded-') || name === 'forwarded' || name === 'x-real-ip'
}

/** Adds the headers that tell who sent a request; `forwardedFor` is what a trusted peer said. */
export function addSender(headers: string[], host: string, sender: Sender, forwardedFor: string): void {
  headers.push('X-Forwarded-For', forwardedFor === '' ? sender.address : `${forwardedFor}, ${sender.address}`)
  if (!sender.trusted || !has(headers, 'x-forwarded-proto')) headers.push('X-Forwarded-Proto', sender.proto)
  if (!sender.trusted || !has(headers, 'x-forwarded-host')) headers.push('X-Forwarded-Host', host)
  if (!sender.trusted || !has(headers, 'x-forwarded-port')) headers.push('X-Forwarded-Port', sender.port)
}

const has = (headers: readonly string[], lower: string): boolean =>
  headers.some((name, index) => index % 2 === 0 && name.toLowerCase() === lower)
