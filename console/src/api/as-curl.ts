/** A request that a form would send. */
export interface RecordedRequest {
  readonly method: string
  readonly url: string
  /** Undefined if it has none. */
  readonly body: string | undefined
  readonly contentType: string | undefined
}

/** Stands for a secret, which nothing shows again. */
export const secretMark = '<secret>'
/** The last words of the names of fields that have secrets. */
const secretWords = [
  ...['token', 'password', 'passphrase', 'secret', 'secret_key', 'secret_access_key', 'private_key', 'signing_key'],
  ...['kubeconfig', 'json_credentials', 'credentials_json'],
]
const isSecretName = (name: string): boolean =>
  secretWords.some((word) => name.toLowerCase() === word || name.toLowerCase().endsWith(`_${word}`))

/** Pure: the requests as commands of a shell. The token is in a variable of the shell. */
export const asCurl = (requests: readonly RecordedRequest[]): string => requests.map(commandOf).join('\n\n')

function commandOf({ method, url, body, contentType }: RecordedRequest): string {
  return [
    `curl --fail-with-body --request ${method} ${quoted(url)}`,
    '--header "Authorization: Bearer $QUAYSIDE_TOKEN"',
    ...(contentType === undefined ? [] : [`--header ${quoted(`Content-Type: ${contentType}`)}`]),
    ...(body === undefined ? [] : [`--data-raw ${quoted(withoutSecrets(body))}`]),
  ].join(' \\\n  ')
}

/** Pure: a text as one word of a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** Text that is not JSON is a file, such as a kubeconfig, and may be a secret as a whole. */
function withoutSecrets(body: string): string {
  try {
    return JSON.stringify(masked(JSON.parse(body)), null, 2)
  } catch {
    return '<file>'
  }
}

function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(masked)
  if (typeof value !== 'object' || value === null) return value
  const isSecret = Object(value).is_secret === true || Object(value).secret === true
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const hides = typeof inner === 'string' && inner !== '' && (isSecretName(name) || (isSecret && name === 'value'))
      return [name, hides ? secretMark : masked(inner)]
    }),
  )
}
