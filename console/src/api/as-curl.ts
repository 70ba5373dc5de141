/** A request that a form would send. */
export interface RecordedRequest {
  readonly method: string
  readonly url: string
  /** Undefined if it has none. */
  readonly body: string | undefined
  readonly contentType: string | undefined
  /** Texts of the body that are secret, whatever the names of their fields. */
  readonly secrets?: readonly string[]
}

/** Stands for a secret, which nothing shows again. */
export const secretMark = '<secret>'
/** Stands for the name of the file that a request sends. */
export const fileMark = 'FILE'
/** The last words of the names of fields that have secrets. */
const secretWords = [
  ...['token', 'password', 'passphrase', 'secret', 'secret_key', 'secret_access_key', 'private_key', 'signing_key'],
  ...['kubeconfig', 'json_credentials', 'credentials_json'],
]
const isSecretName = (name: string): boolean =>
  secretWords.some((word) => name.toLowerCase() === word || name.toLowerCase().endsWith(`_${word}`))

/** Pure: the requests as commands of a shell. The token is in a variable of the shell. */
export const asCurl = (requests: readonly RecordedRequest[]): string => requests.map(commandOf).join('\n\n')

function commandOf({ method, url, body, contentType, secrets = [] }: RecordedRequest): string {
  return [
    `curl --fail-with-body --request ${method} ${quoted(url)}`,
    '--header "Authorization: Bearer $QUAYSIDE_TOKEN"',
    ...(contentType === undefined ? [] : [`--header ${quoted(`Content-Type: ${contentType}`)}`]),
    ...(body === undefined ? [] : [dataOf(body, contentType, new Set(secrets))]),
    // An address with brackets is not a pattern of several addresses.
    ...(/[[\]{}]/.test(url) ? ['--globoff'] : []),
  ].join(' \\\n  ')
}

/** Pure: a text as one word of a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** Text that is not JSON is a file, such as a kubeconfig, and may be a secret as a whole. */
const dataOf = (body: string, contentType: string | undefined, secrets: ReadonlySet<string>): string =>
  contentType === 'application/json'
    ? `--data-raw ${quoted(withEscapes(JSON.stringify(masked(JSON.parse(body), secrets), null, 2)))}`
    : `--data-binary @${fileMark}`

/**
 * Pure: escapes the characters of a JSON text that a reader does not see, or that change what he
 * sees, and `!`: old versions of bash replace it at a prompt, even between quotes.
 */
const withEscapes = (json: string): string =>
  json.replace(/[!\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => (character === '\n' ? character : escaped(character)))

const escaped = (character: string): string =>
  // A character beyond the first plane is two units.
  Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('')

function masked(value: unknown, secrets: ReadonlySet<string>): unknown {
  if (typeof value === 'string') return value !== '' && secrets.has(value) ? secretMark : value
  if (Array.isArray(value)) return value.map((item) => masked(item, secrets))
  if (typeof value !== 'object' || value === null) return value
  const isSecret = Object(value).is_secret === true || Object(value).secret === true
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const hides = typeof inner === 'string' && inner !== '' && (isSecretName(name) || (isSecret && name === 'value'))
      return [name, hides ? secretMark : masked(inner, secrets)]
    }),
  )
}
